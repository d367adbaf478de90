module attributes {tenon.phase = #tenon.phase<planned>, tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {attention_ns = 1331 : i64, blocks_per_sm = 32 : i64, bulk_early_bytes = 65536 : i64, bulk_ring_bytes = 131072 : i64, copy_mb_per_s = 4260000 : i64, decode_blocks_per_sm = 2 : i64, decode_ring_bytes = 65536 : i64, decode_ring_elements = 128 : i64, dependent_load_ns = 49 : i64, dram_bytes = 141000000000 : i64, dram_mb_per_s = 4665000 : i64, element_vectors_per_sm = 1024 : i64, f32_gflops = 67000 : i64, gemv_gflops = 23147 : i64, gemv_warps = 16384 : i64, held_prologue_ps_per_element = 38 : i64, held_reduction_ns = 1100 : i64, key_step_ns = 1129 : i64, l2_bytes = 62914560 : i64, l2_mb_per_s = 7281554 : i64, launch_graph_ns = 500 : i64, launch_graph_pdl_ns = 400 : i64, launch_stream_ns = 3100 : i64, library_rows = 16 : i64, measured = 1 : i64, mma_percent = 19 : i64, narrow_blocks_per_sm = 2 : i64, next_reduction_ns = 1 : i64, prefill_tiles_per_sm = 2 : i64, prologue_ps_per_element = 77 : i64, quants_early_bytes = 24576 : i64, quants_ring_bytes = 98304 : i64, read_ramp_bytes = 20591322 : i64, read_ramp_ns = 3300 : i64, read_ramp_pdl_ns = 647 : i64, reduction_ns = 1 : i64, registers_per_sm = 65536 : i64, row_barrier_ns = 155 : i64, sm_mb_per_s = 65000 : i64, smem_bytes_per_block = 232448 : i64, smem_bytes_per_sm = 233472 : i64, sms = 132 : i64, spread_ns = 876 : i64, tensor_16bit_gflops = 790000 : i64, threads_per_sm = 2048 : i64, unhidden_percent = 85 : i64, vector_ns = 17 : i64, warp_prologue_ps_per_element = 2411 : i64}>} {
  func.func @one(%arg0: tensor<1x2048xf16>, %arg1: tensor<2048xf16>, %arg2: tensor<512x2048xf16>, %arg3: tensor<1x512xf16>) -> (tensor<1x512xf16>, tensor<1x2048xf16>) attributes {tenon.workspace = 1024 : i64} {
    %0 = tenon.kernel (%arg4 = %arg0 : tensor<1x2048xf16>, %arg5 = %arg1 : tensor<2048xf16>) -> tensor<1x2048xf16> schedule #tenon.schedule<"rms_norm", tiles = 1, {group = 256 : i64, threads = 256 : i64, vector = 8 : i64}> buffers [unit] {
      %3 = tenon.rms_norm %arg4, %arg5 eps 1.000000e-05 order <chunk = 256, lanes = 256, tree = halving> : (tensor<1x2048xf16>, tensor<2048xf16>) -> tensor<1x2048xf16>
      tenon.yield %3 : tensor<1x2048xf16>
    }
    %1 = tenon.kernel (%arg4 = %0 : tensor<1x2048xf16>, %arg5 = %arg2 : tensor<512x2048xf16>) -> tensor<1x512xf16> schedule #tenon.schedule<"gemv_bulk", tiles = 132, {early = 1 : i64, held = 1 : i64, stages = 2 : i64, threads = 512 : i64, vector = 8 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 1024>] {
      %3 = tenon.matmul %arg4, %arg5 order <chunk = 0, lanes = 256, tree = halving> : (tensor<1x2048xf16>, tensor<512x2048xf16>) -> tensor<1x512xf16>
      tenon.yield %3 : tensor<1x512xf16>
    }
    %2 = tenon.kernel (%arg4 = %1 : tensor<1x512xf16>, %arg5 = %arg3 : tensor<1x512xf16>) -> tensor<1x512xf16> schedule #tenon.schedule<"elementwise", tiles = 1, {row_elements = 512 : i64, threads = 64 : i64, vector = 8 : i64}> buffers [unit] {
      %3 = tenon.add %arg4, %arg5 : (tensor<1x512xf16>, tensor<1x512xf16>) -> tensor<1x512xf16>
      tenon.yield %3 : tensor<1x512xf16>
    }
    return %2, %0 : tensor<1x512xf16>, tensor<1x2048xf16>
  }
  func.func @few(%arg0: tensor<4x4096xf16>, %arg1: tensor<4096xf16>, %arg2: tensor<512x4096xf16>, %arg3: tensor<512x4096xf16>, %arg4: tensor<64x512xf16>) -> tensor<4x64xf16> attributes {tenon.workspace = 40960 : i64} {
    %0 = tenon.kernel (%arg5 = %arg0 : tensor<4x4096xf16>, %arg6 = %arg1 : tensor<4096xf16>) -> tensor<4x4096xf16> schedule #tenon.schedule<"rms_norm", tiles = 4, {group = 512 : i64, threads = 512 : i64, vector = 8 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 32768>] {
      %5 = tenon.rms_norm %arg5, %arg6 eps 1.000000e-05 order <chunk = 256, lanes = 256, tree = halving> : (tensor<4x4096xf16>, tensor<4096xf16>) -> tensor<4x4096xf16>
      tenon.yield %5 : tensor<4x4096xf16>
    }
    %1 = tenon.kernel (%arg5 = %0 : tensor<4x4096xf16>, %arg6 = %arg2 : tensor<512x4096xf16>) -> tensor<4x512xf16> schedule #tenon.schedule<"held_gemm", tiles = 128, {stages = 4 : i64, threads = 512 : i64, tile_lines = 4 : i64}> buffers [#tenon.buffer<offset = 32768, bytes = 4096>] {
      %5 = tenon.matmul %arg5, %arg6 : (tensor<4x4096xf16>, tensor<512x4096xf16>) -> tensor<4x512xf16>
      tenon.yield %5 : tensor<4x512xf16>
    }
    %2 = tenon.kernel (%arg5 = %0 : tensor<4x4096xf16>, %arg6 = %arg3 : tensor<512x4096xf16>) -> tensor<4x512xf16> schedule #tenon.schedule<"held_gemm", tiles = 128, {stages = 4 : i64, threads = 512 : i64, tile_lines = 4 : i64}> buffers [#tenon.buffer<offset = 36864, bytes = 4096>] {
      %5 = tenon.matmul %arg5, %arg6 : (tensor<4x4096xf16>, tensor<512x4096xf16>) -> tensor<4x512xf16>
      tenon.yield %5 : tensor<4x512xf16>
    }
    %3 = tenon.kernel (%arg5 = %1 : tensor<4x512xf16>, %arg6 = %2 : tensor<4x512xf16>) -> tensor<4x512xf16> schedule #tenon.schedule<"elementwise", tiles = 4, {row_elements = 2048 : i64, threads = 64 : i64, vector = 8 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 4096>] {
      %5 = tenon.glu  silu %arg5, %arg6 : (tensor<4x512xf16>, tensor<4x512xf16>) -> tensor<4x512xf16>
      tenon.yield %5 : tensor<4x512xf16>
    }
    %4 = tenon.kernel (%arg5 = %3 : tensor<4x512xf16>, %arg6 = %arg4 : tensor<64x512xf16>) -> tensor<4x64xf16> schedule #tenon.schedule<"narrow_gemm", tiles = 4, {blocks_per_sm = 2 : i64, held_pieces = 1 : i64, stages = 5 : i64, threads = 256 : i64, tile_lines = 16 : i64}> buffers [unit] {
      %5 = tenon.matmul %arg5, %arg6 : (tensor<4x512xf16>, tensor<64x512xf16>) -> tensor<4x64xf16>
      tenon.yield %5 : tensor<4x64xf16>
    }
    return %4 : tensor<4x64xf16>
  }
  func.func @many(%arg0: tensor<100x256xf16>, %arg1: tensor<512x256xf16>, %arg2: tensor<100x96xf32>, %arg3: tensor<70x96xf32>) -> (tensor<100x512xf16>, tensor<100x70xf32>) attributes {tenon.workspace = 0 : i64} {
    %0 = tenon.kernel (%arg4 = %arg0 : tensor<100x256xf16>, %arg5 = %arg1 : tensor<512x256xf16>) -> tensor<100x512xf16> schedule #tenon.schedule<"cublaslt", tiles = 1, {workspace_bytes = 33554432 : i64}> buffers [unit] {
      %2 = tenon.matmul %arg4, %arg5 : (tensor<100x256xf16>, tensor<512x256xf16>) -> tensor<100x512xf16>
      tenon.yield %2 : tensor<100x512xf16>
    }
    %1 = tenon.kernel (%arg4 = %arg2 : tensor<100x96xf32>, %arg5 = %arg3 : tensor<70x96xf32>) -> tensor<100x70xf32> schedule #tenon.schedule<"cublaslt", tiles = 1, {workspace_bytes = 33554432 : i64}> buffers [unit] {
      %2 = tenon.matmul %arg4, %arg5 : (tensor<100x96xf32>, tensor<70x96xf32>) -> tensor<100x70xf32>
      tenon.yield %2 : tensor<100x70xf32>
    }
    return %0, %1 : tensor<100x512xf16>, tensor<100x70xf32>
  }
  func.func @quants(%arg0: tensor<1x2048xf16>, %arg1: tensor<512x2048x!tenon.block<q4_k>>) -> (tensor<1x512xf16>, tensor<1xi32>) attributes {tenon.workspace = 0 : i64} {
    %0 = tenon.kernel (%arg2 = %arg0 : tensor<1x2048xf16>, %arg3 = %arg1 : tensor<512x2048x!tenon.block<q4_k>>) -> tensor<1x512xf16> schedule #tenon.schedule<"gemv_bulk", tiles = 132, {early = 2 : i64, stages = 6 : i64, threads = 512 : i64, vector = 8 : i64}> buffers [unit] {
      %2 = tenon.matmul %arg2, %arg3 order <chunk = 0, lanes = 256, tree = tensor_cores> : (tensor<1x2048xf16>, tensor<512x2048x!tenon.block<q4_k>>) -> tensor<1x512xf16>
      tenon.yield %2 : tensor<1x512xf16>
    }
    %1 = tenon.kernel (%arg2 = %0 : tensor<1x512xf16>) -> tensor<1xi32> schedule #tenon.schedule<"argmax", tiles = 1, {threads = 128 : i64}> buffers [unit] {
      %2 = tenon.argmax %arg2 : (tensor<1x512xf16>) -> tensor<1xi32>
      tenon.yield %2 : tensor<1xi32>
    }
    return %0, %1 : tensor<1x512xf16>, tensor<1xi32>
  }
  func.func @prefill(%arg0: tensor<100x8x64xf16>, %arg1: tensor<1x512x2x64xf16>, %arg2: tensor<1x512x2x64xf16>, %arg3: tensor<1xi32>, %arg4: tensor<100xi32>) -> tensor<100x8x64xf16> attributes {tenon.workspace = 0 : i64} {
    %0 = tenon.kernel (%arg5 = %arg0 : tensor<100x8x64xf16>, %arg6 = %arg1 : tensor<1x512x2x64xf16>, %arg7 = %arg2 : tensor<1x512x2x64xf16>, %arg8 = %arg3 : tensor<1xi32>, %arg9 = %arg4 : tensor<100xi32>) -> tensor<100x8x64xf16> schedule #tenon.schedule<"tensor_prefill_attention", tiles = 16, {blocks_per_sm = 2 : i64, keys_per_block = 64 : i64, row_tiles = 1 : i64, threads = 128 : i64}> buffers [unit] {
      %1 = tenon.attention %arg5, %arg6, %arg7, %arg8, %arg9 scale 1.250000e-01 : (tensor<100x8x64xf16>, tensor<1x512x2x64xf16>, tensor<1x512x2x64xf16>, tensor<1xi32>, tensor<100xi32>) -> tensor<100x8x64xf16>
      tenon.yield %1 : tensor<100x8x64xf16>
    }
    return %0 : tensor<100x8x64xf16>
  }
}

