module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {attention_ns = 1331 : i64, blocks_per_sm = 32 : i64, bulk_early_bytes = 65536 : i64, bulk_ring_bytes = 131072 : i64, copy_mb_per_s = 4260000 : i64, decode_blocks_per_sm = 2 : i64, decode_ring_bytes = 65536 : i64, decode_ring_elements = 128 : i64, dependent_load_ns = 49 : i64, dram_bytes = 141000000000 : i64, dram_mb_per_s = 4665000 : i64, element_vectors_per_sm = 1024 : i64, f32_gflops = 67000 : i64, gemv_gflops = 23147 : i64, gemv_warps = 16384 : i64, held_prologue_ps_per_element = 38 : i64, held_reduction_ns = 1100 : i64, key_step_ns = 1129 : i64, l2_bytes = 62914560 : i64, l2_mb_per_s = 7281554 : i64, launch_graph_ns = 500 : i64, launch_graph_pdl_ns = 400 : i64, launch_stream_ns = 3100 : i64, library_rows = 16 : i64, measured = 1 : i64, mma_percent = 19 : i64, narrow_blocks_per_sm = 2 : i64, next_reduction_ns = 1 : i64, prefill_tiles_per_sm = 2 : i64, prologue_ps_per_element = 77 : i64, quants_early_bytes = 24576 : i64, quants_ring_bytes = 98304 : i64, read_ramp_bytes = 20591322 : i64, read_ramp_ns = 3300 : i64, read_ramp_pdl_ns = 647 : i64, reduction_ns = 1 : i64, registers_per_sm = 65536 : i64, row_barrier_ns = 155 : i64, sm_mb_per_s = 65000 : i64, smem_bytes_per_block = 232448 : i64, smem_bytes_per_sm = 233472 : i64, sms = 132 : i64, spread_ns = 876 : i64, tensor_16bit_gflops = 790000 : i64, threads_per_sm = 2048 : i64, unhidden_percent = 85 : i64, vector_ns = 17 : i64, warp_prologue_ps_per_element = 2411 : i64}>} {
  tenon.state @k : !tenon.state<2x16x2x16xf16>
  tenon.state @v : !tenon.state<2x16x2x16xf16>
  func.func @f(%arg0: tensor<1x64xf16>, %arg1: tensor<64xf16>, %arg2: tensor<64x64xf16>, %arg3: tensor<32x64xf16>, %arg4: tensor<32x64xf16>, %arg5: tensor<64x64xf16>, %arg6: tensor<96x64xf16>, %arg7: tensor<96x64xf16>, %arg8: tensor<64x96xf16>, %arg9: tensor<1xi32>, %arg10: tensor<1xi32>, %arg11: tensor<8xf32>) -> tensor<1x64xf16> {
    %k = tenon.get_state @k : <2x16x2x16xf16>
    %v = tenon.get_state @v : <2x16x2x16xf16>
    %0:3 = tenon.kernel (%arg12 = %arg0 : tensor<1x64xf16>, %arg13 = %arg1 : tensor<64xf16>, %arg14 = %arg2 : tensor<64x64xf16>, %arg15 = %arg3 : tensor<32x64xf16>, %arg16 = %arg4 : tensor<32x64xf16>) -> (tensor<1x64xf16>, tensor<1x32xf16>, tensor<1x32xf16>) schedule #tenon.schedule<"gemv_bulk", tiles = 128, {stages = 8 : i64, threads = 512 : i64, vector = 8 : i64}> {
      %9 = tenon.rms_norm %arg12, %arg13 eps 1.000000e-05 order <chunk = 0, lanes = 256, tree = halving> {part = #tenon.schedule<"rms_norm", tiles = 1, {group = 32 : i64, threads = 32 : i64, vector = 8 : i64}>} : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
      %10 = tenon.matmul %9, %arg14 order <chunk = 0, lanes = 256, tree = halving> {part = #tenon.schedule<"gemv_bulk", tiles = 64, {stages = 8 : i64, threads = 512 : i64, vector = 8 : i64}>} : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>
      %11 = tenon.matmul %9, %arg15 order <chunk = 0, lanes = 256, tree = halving> {part = #tenon.schedule<"gemv_bulk", tiles = 32, {stages = 8 : i64, threads = 512 : i64, vector = 8 : i64}>} : (tensor<1x64xf16>, tensor<32x64xf16>) -> tensor<1x32xf16>
      %12 = tenon.matmul %9, %arg16 order <chunk = 0, lanes = 256, tree = halving> {part = #tenon.schedule<"gemv_bulk", tiles = 32, {stages = 8 : i64, threads = 512 : i64, vector = 8 : i64}>} : (tensor<1x64xf16>, tensor<32x64xf16>) -> tensor<1x32xf16>
      tenon.yield %10, %11, %12 : tensor<1x64xf16>, tensor<1x32xf16>, tensor<1x32xf16>
    }
    %1 = tenon.reshape %0#0 to [1, 4, 16] : (tensor<1x64xf16>) -> tensor<1x4x16xf16>
    %2 = tenon.reshape %0#1 to [1, 2, 16] : (tensor<1x32xf16>) -> tensor<1x2x16xf16>
    %3 = tenon.reshape %0#2 to [1, 2, 16] : (tensor<1x32xf16>) -> tensor<1x2x16xf16>
    %4 = tenon.kernel (%arg12 = %1 : tensor<1x4x16xf16>, %arg13 = %arg10 : tensor<1xi32>, %arg14 = %arg11 : tensor<8xf32>, %arg15 = %2 : tensor<1x2x16xf16>, %arg16 = %arg9 : tensor<1xi32>, %arg17 = %k : !tenon.state<2x16x2x16xf16>, %arg18 = %3 : tensor<1x2x16xf16>, %arg19 = %v : !tenon.state<2x16x2x16xf16>) -> tensor<1x4x16xf16> schedule #tenon.schedule<"tensor_decode_attention", tiles = 2, {blocks_per_sm = 2 : i64, heads_per_tile = 2 : i64, run_bytes = 256 : i64, splits = 1 : i64, threads = 256 : i64}> {
      %9 = tenon.rope  halves %arg12, %arg13, %arg14 : (tensor<1x4x16xf16>, tensor<1xi32>, tensor<8xf32>) -> tensor<1x4x16xf16>
      %10 = tenon.rope  halves %arg15, %arg13, %arg14 : (tensor<1x2x16xf16>, tensor<1xi32>, tensor<8xf32>) -> tensor<1x2x16xf16>
      %11 = tenon.kv_write %10, %arg16, %arg13 into %arg17 : (tensor<1x2x16xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x16x2x16xf16>) -> !tenon.state<2x16x2x16xf16>
      %12 = tenon.kv_write %arg18, %arg16, %arg13 into %arg19 : (tensor<1x2x16xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x16x2x16xf16>) -> !tenon.state<2x16x2x16xf16>
      %13 = tenon.attention %9, %11, %12, %arg16, %arg13 scale 2.500000e-01 {part = #tenon.schedule<"tensor_decode_attention", tiles = 2, {blocks_per_sm = 2 : i64, heads_per_tile = 2 : i64, run_bytes = 256 : i64, splits = 1 : i64, threads = 256 : i64}>} : (tensor<1x4x16xf16>, !tenon.state<2x16x2x16xf16>, !tenon.state<2x16x2x16xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x16xf16>
      tenon.yield %13 : tensor<1x4x16xf16>
    }
    %5 = tenon.reshape %4 to [1, 64] : (tensor<1x4x16xf16>) -> tensor<1x64xf16>
    %6 = tenon.kernel (%arg12 = %5 : tensor<1x64xf16>, %arg13 = %arg5 : tensor<64x64xf16>, %arg14 = %arg0 : tensor<1x64xf16>) -> tensor<1x64xf16> schedule #tenon.schedule<"gemv", tiles = 8, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %9 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>
      %10 = tenon.add %arg14, %9 : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
      tenon.yield %10 : tensor<1x64xf16>
    }
    %7 = tenon.kernel (%arg12 = %6 : tensor<1x64xf16>, %arg13 = %arg1 : tensor<64xf16>, %arg14 = %arg6 : tensor<96x64xf16>, %arg15 = %arg7 : tensor<96x64xf16>) -> tensor<1x96xf16> schedule #tenon.schedule<"gemv_bulk", tiles = 96, {stages = 8 : i64, threads = 512 : i64, vector = 8 : i64}> {
      %9 = tenon.rms_norm %arg12, %arg13 eps 1.000000e-05 order <chunk = 0, lanes = 256, tree = halving> {part = #tenon.schedule<"rms_norm", tiles = 1, {group = 32 : i64, threads = 32 : i64, vector = 8 : i64}>} : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
      %10 = tenon.matmul %9, %arg14 order <chunk = 0, lanes = 256, tree = halving> {part = #tenon.schedule<"gemv_bulk", tiles = 96, {stages = 8 : i64, threads = 512 : i64, vector = 8 : i64}>} : (tensor<1x64xf16>, tensor<96x64xf16>) -> tensor<1x96xf16>
      %11 = tenon.matmul %9, %arg15 order <chunk = 0, lanes = 256, tree = halving> {part = #tenon.schedule<"gemv_bulk", tiles = 96, {stages = 8 : i64, threads = 512 : i64, vector = 8 : i64}>} : (tensor<1x64xf16>, tensor<96x64xf16>) -> tensor<1x96xf16>
      %12 = tenon.glu  silu %10, %11 : (tensor<1x96xf16>, tensor<1x96xf16>) -> tensor<1x96xf16>
      tenon.yield %12 : tensor<1x96xf16>
    }
    %8 = tenon.kernel (%arg12 = %7 : tensor<1x96xf16>, %arg13 = %arg8 : tensor<64x96xf16>, %arg14 = %6 : tensor<1x64xf16>) -> tensor<1x64xf16> schedule #tenon.schedule<"gemv", tiles = 8, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 8 : i64}> {
      %9 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x96xf16>, tensor<64x96xf16>) -> tensor<1x64xf16>
      %10 = tenon.add %arg14, %9 : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
      tenon.yield %10 : tensor<1x64xf16>
    }
    return %8 : tensor<1x64xf16>
  }
}

