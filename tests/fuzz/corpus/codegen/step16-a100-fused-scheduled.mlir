module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"a100", cuda, features = ["sm_80"], {attention_ns = 2000 : i64, blocks_per_sm = 32 : i64, bulk_early_bytes = 65536 : i64, bulk_ring_bytes = 131072 : i64, copy_mb_per_s = 2039000 : i64, decode_blocks_per_sm = 2 : i64, decode_ring_bytes = 65536 : i64, decode_ring_elements = 128 : i64, dependent_load_ns = 470 : i64, dram_bytes = 80000000000 : i64, dram_mb_per_s = 2039000 : i64, element_vectors_per_sm = 1024 : i64, f32_gflops = 19500 : i64, gemv_gflops = 12360 : i64, gemv_warps = 16384 : i64, held_prologue_ps_per_element = 38 : i64, held_reduction_ns = 1100 : i64, key_step_ns = 1450 : i64, l2_bytes = 41943040 : i64, l2_mb_per_s = 7500000 : i64, launch_graph_ns = 500 : i64, launch_stream_ns = 3100 : i64, library_rows = 16 : i64, measured = 0 : i64, mma_percent = 100 : i64, narrow_blocks_per_sm = 1 : i64, next_reduction_ns = 49 : i64, prefill_tiles_per_sm = 2 : i64, prologue_ps_per_element = 173 : i64, quants_early_bytes = 24576 : i64, quants_ring_bytes = 98304 : i64, read_ramp_bytes = 8388608 : i64, read_ramp_ns = 3300 : i64, reduction_ns = 930 : i64, registers_per_sm = 65536 : i64, row_barrier_ns = 49 : i64, sm_mb_per_s = 65000 : i64, smem_bytes_per_block = 166912 : i64, smem_bytes_per_sm = 167936 : i64, sms = 108 : i64, spread_ns = 350 : i64, tensor_16bit_gflops = 312000 : i64, threads_per_sm = 2048 : i64, unhidden_percent = 33 : i64, vector_ns = 11 : i64, warp_prologue_ps_per_element = 2000 : i64}>} {
  tenon.state @k : !tenon.state<2x16x2x16xf16>
  tenon.state @v : !tenon.state<2x16x2x16xf16>
  func.func @f(%arg0: tensor<1x64xf16>, %arg1: tensor<64xf16>, %arg2: tensor<64x64xf16>, %arg3: tensor<32x64xf16>, %arg4: tensor<32x64xf16>, %arg5: tensor<64x64xf16>, %arg6: tensor<96x64xf16>, %arg7: tensor<96x64xf16>, %arg8: tensor<64x96xf16>, %arg9: tensor<1xi32>, %arg10: tensor<1xi32>, %arg11: tensor<8xf32>) -> tensor<1x64xf16> {
    %k = tenon.get_state @k : <2x16x2x16xf16>
    %v = tenon.get_state @v : <2x16x2x16xf16>
    %0 = tenon.kernel (%arg12 = %arg0 : tensor<1x64xf16>, %arg13 = %arg1 : tensor<64xf16>) -> tensor<1x64xf16> schedule #tenon.schedule<"rms_norm", tiles = 1, {group = 32 : i64, threads = 32 : i64, vector = 8 : i64}> {
      %14 = tenon.rms_norm %arg12, %arg13 eps 1.000000e-05 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
      tenon.yield %14 : tensor<1x64xf16>
    }
    %1 = tenon.kernel (%arg12 = %0 : tensor<1x64xf16>, %arg13 = %arg2 : tensor<64x64xf16>) -> tensor<1x64xf16> schedule #tenon.schedule<"gemv", tiles = 8, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %14 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>
      tenon.yield %14 : tensor<1x64xf16>
    }
    %2 = tenon.kernel (%arg12 = %0 : tensor<1x64xf16>, %arg13 = %arg3 : tensor<32x64xf16>) -> tensor<1x32xf16> schedule #tenon.schedule<"gemv", tiles = 4, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %14 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<32x64xf16>) -> tensor<1x32xf16>
      tenon.yield %14 : tensor<1x32xf16>
    }
    %3 = tenon.kernel (%arg12 = %0 : tensor<1x64xf16>, %arg13 = %arg4 : tensor<32x64xf16>) -> tensor<1x32xf16> schedule #tenon.schedule<"gemv", tiles = 4, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %14 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<32x64xf16>) -> tensor<1x32xf16>
      tenon.yield %14 : tensor<1x32xf16>
    }
    %4 = tenon.reshape %1 to [1, 4, 16] : (tensor<1x64xf16>) -> tensor<1x4x16xf16>
    %5 = tenon.reshape %2 to [1, 2, 16] : (tensor<1x32xf16>) -> tensor<1x2x16xf16>
    %6 = tenon.reshape %3 to [1, 2, 16] : (tensor<1x32xf16>) -> tensor<1x2x16xf16>
    %7 = tenon.kernel (%arg12 = %4 : tensor<1x4x16xf16>, %arg13 = %arg10 : tensor<1xi32>, %arg14 = %arg11 : tensor<8xf32>, %arg15 = %5 : tensor<1x2x16xf16>, %arg16 = %arg9 : tensor<1xi32>, %arg17 = %k : !tenon.state<2x16x2x16xf16>, %arg18 = %6 : tensor<1x2x16xf16>, %arg19 = %v : !tenon.state<2x16x2x16xf16>) -> tensor<1x4x16xf16> schedule #tenon.schedule<"tensor_decode_attention", tiles = 2, {blocks_per_sm = 2 : i64, heads_per_tile = 2 : i64, run_bytes = 256 : i64, splits = 1 : i64, threads = 256 : i64}> {
      %14 = tenon.rope  halves %arg12, %arg13, %arg14 : (tensor<1x4x16xf16>, tensor<1xi32>, tensor<8xf32>) -> tensor<1x4x16xf16>
      %15 = tenon.rope  halves %arg15, %arg13, %arg14 : (tensor<1x2x16xf16>, tensor<1xi32>, tensor<8xf32>) -> tensor<1x2x16xf16>
      %16 = tenon.kv_write %15, %arg16, %arg13 into %arg17 : (tensor<1x2x16xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x16x2x16xf16>) -> !tenon.state<2x16x2x16xf16>
      %17 = tenon.kv_write %arg18, %arg16, %arg13 into %arg19 : (tensor<1x2x16xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x16x2x16xf16>) -> !tenon.state<2x16x2x16xf16>
      %18 = tenon.attention %14, %16, %17, %arg16, %arg13 scale 2.500000e-01 {part = #tenon.schedule<"tensor_decode_attention", tiles = 2, {blocks_per_sm = 2 : i64, heads_per_tile = 2 : i64, run_bytes = 256 : i64, splits = 1 : i64, threads = 256 : i64}>} : (tensor<1x4x16xf16>, !tenon.state<2x16x2x16xf16>, !tenon.state<2x16x2x16xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x16xf16>
      tenon.yield %18 : tensor<1x4x16xf16>
    }
    %8 = tenon.reshape %7 to [1, 64] : (tensor<1x4x16xf16>) -> tensor<1x64xf16>
    %9 = tenon.kernel (%arg12 = %8 : tensor<1x64xf16>, %arg13 = %arg5 : tensor<64x64xf16>, %arg14 = %arg0 : tensor<1x64xf16>) -> tensor<1x64xf16> schedule #tenon.schedule<"gemv", tiles = 8, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %14 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>
      %15 = tenon.add %arg14, %14 : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
      tenon.yield %15 : tensor<1x64xf16>
    }
    %10 = tenon.kernel (%arg12 = %9 : tensor<1x64xf16>, %arg13 = %arg1 : tensor<64xf16>) -> tensor<1x64xf16> schedule #tenon.schedule<"rms_norm", tiles = 1, {group = 32 : i64, threads = 32 : i64, vector = 8 : i64}> {
      %14 = tenon.rms_norm %arg12, %arg13 eps 1.000000e-05 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
      tenon.yield %14 : tensor<1x64xf16>
    }
    %11 = tenon.kernel (%arg12 = %10 : tensor<1x64xf16>, %arg13 = %arg7 : tensor<96x64xf16>) -> tensor<1x96xf16> schedule #tenon.schedule<"gemv", tiles = 12, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %14 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<96x64xf16>) -> tensor<1x96xf16>
      tenon.yield %14 : tensor<1x96xf16>
    }
    %12 = tenon.kernel (%arg12 = %10 : tensor<1x64xf16>, %arg13 = %arg6 : tensor<96x64xf16>, %arg14 = %11 : tensor<1x96xf16>) -> tensor<1x96xf16> schedule #tenon.schedule<"gemv", tiles = 12, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %14 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<96x64xf16>) -> tensor<1x96xf16>
      %15 = tenon.glu  silu %14, %arg14 : (tensor<1x96xf16>, tensor<1x96xf16>) -> tensor<1x96xf16>
      tenon.yield %15 : tensor<1x96xf16>
    }
    %13 = tenon.kernel (%arg12 = %12 : tensor<1x96xf16>, %arg13 = %arg8 : tensor<64x96xf16>, %arg14 = %9 : tensor<1x64xf16>) -> tensor<1x64xf16> schedule #tenon.schedule<"gemv", tiles = 8, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %14 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x96xf16>, tensor<64x96xf16>) -> tensor<1x64xf16>
      %15 = tenon.add %arg14, %14 : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
      tenon.yield %15 : tensor<1x64xf16>
    }
    return %13 : tensor<1x64xf16>
  }
}

