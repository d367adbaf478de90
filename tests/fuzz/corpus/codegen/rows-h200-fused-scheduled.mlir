module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {attention_ns = 1331 : i64, blocks_per_sm = 32 : i64, bulk_early_bytes = 65536 : i64, bulk_ring_bytes = 131072 : i64, copy_mb_per_s = 4260000 : i64, decode_blocks_per_sm = 2 : i64, decode_ring_bytes = 65536 : i64, decode_ring_elements = 128 : i64, dependent_load_ns = 49 : i64, dram_bytes = 141000000000 : i64, dram_mb_per_s = 4665000 : i64, element_vectors_per_sm = 1024 : i64, f32_gflops = 67000 : i64, gemv_gflops = 23147 : i64, gemv_warps = 16384 : i64, held_prologue_ps_per_element = 38 : i64, held_reduction_ns = 1100 : i64, key_step_ns = 1129 : i64, l2_bytes = 62914560 : i64, l2_mb_per_s = 7281554 : i64, launch_graph_ns = 500 : i64, launch_graph_pdl_ns = 400 : i64, launch_stream_ns = 3100 : i64, library_rows = 16 : i64, measured = 1 : i64, mma_percent = 19 : i64, narrow_blocks_per_sm = 2 : i64, next_reduction_ns = 1 : i64, prefill_tiles_per_sm = 2 : i64, prologue_ps_per_element = 77 : i64, quants_early_bytes = 24576 : i64, quants_ring_bytes = 98304 : i64, read_ramp_bytes = 20591322 : i64, read_ramp_ns = 3300 : i64, read_ramp_pdl_ns = 647 : i64, reduction_ns = 1 : i64, registers_per_sm = 65536 : i64, row_barrier_ns = 155 : i64, sm_mb_per_s = 65000 : i64, smem_bytes_per_block = 232448 : i64, smem_bytes_per_sm = 233472 : i64, sms = 132 : i64, spread_ns = 876 : i64, tensor_16bit_gflops = 790000 : i64, threads_per_sm = 2048 : i64, unhidden_percent = 85 : i64, vector_ns = 17 : i64, warp_prologue_ps_per_element = 2411 : i64}>} {
  func.func @rows(%arg0: tensor<5x37xf32>, %arg1: tensor<37xf32>, %arg2: tensor<50x37xf16>, %arg3: tensor<5xi32>) -> (tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x1xf32>, tensor<5xi32>, tensor<5x3xf32>, tensor<5x3xi32>) {
    %0:2 = tenon.kernel (%arg4 = %arg2 : tensor<50x37xf16>, %arg5 = %arg3 : tensor<5xi32>, %arg6 = %arg0 : tensor<5x37xf32>, %arg7 = %arg1 : tensor<37xf32>) -> (tensor<5x37xf32>, tensor<5x37xf32>) schedule #tenon.schedule<"layer_norm", tiles = 2, {group = 32 : i64, threads = 128 : i64, vector = 4 : i64}> {
      %5 = tenon.embedding %arg4, %arg5 : (tensor<50x37xf16>, tensor<5xi32>) -> tensor<5x37xf32>
      %6 = tenon.add %arg6, %5 : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
      %7 = tenon.layer_norm %6 weight %arg7 eps 1.000000e-05 order <chunk = 0, lanes = 128, tree = halving> : (tensor<5x37xf32>, tensor<37xf32>) -> tensor<5x37xf32>
      tenon.yield %6, %7 : tensor<5x37xf32>, tensor<5x37xf32>
    }
    %1 = tenon.kernel (%arg4 = %0#1 : tensor<5x37xf32>) -> tensor<5x37xf32> schedule #tenon.schedule<"softmax", tiles = 2, {group = 32 : i64, threads = 128 : i64, vector = 4 : i64}> {
      %5 = tenon.softmax %arg4 order <chunk = 0, lanes = 128, tree = halving> : (tensor<5x37xf32>) -> tensor<5x37xf32>
      tenon.yield %5 : tensor<5x37xf32>
    }
    %2 = tenon.kernel (%arg4 = %0#0 : tensor<5x37xf32>) -> tensor<5x1xf32> schedule #tenon.schedule<"reduce", tiles = 2, {group = 32 : i64, threads = 128 : i64, vector = 4 : i64}> {
      %5 = tenon.reduce  sum %arg4 order <chunk = 0, lanes = 128, tree = halving> : (tensor<5x37xf32>) -> tensor<5x1xf32>
      tenon.yield %5 : tensor<5x1xf32>
    }
    %3 = tenon.kernel (%arg4 = %0#0 : tensor<5x37xf32>) -> tensor<5xi32> schedule #tenon.schedule<"argmax", tiles = 5, {threads = 32 : i64}> {
      %5 = tenon.argmax %arg4 : (tensor<5x37xf32>) -> tensor<5xi32>
      tenon.yield %5 : tensor<5xi32>
    }
    %4:2 = tenon.kernel (%arg4 = %0#0 : tensor<5x37xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>) schedule #tenon.schedule<"top_k", tiles = 5, {threads = 32 : i64}> {
      %values, %indices = tenon.top_k %arg4 k 3 : (tensor<5x37xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>)
      tenon.yield %values, %indices : tensor<5x3xf32>, tensor<5x3xi32>
    }
    return %0#1, %1, %2, %3, %4#0, %4#1 : tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x1xf32>, tensor<5xi32>, tensor<5x3xf32>, tensor<5x3xi32>
  }
  func.func @moves(%arg0: tensor<4x6x8xf32>) -> (tensor<8x4x6xf32>, tensor<4x3x4xf32>, tensor<4x12x8xf32>) {
    %0 = tenon.kernel (%arg1 = %arg0 : tensor<4x6x8xf32>) -> tensor<8x4x6xf32> schedule #tenon.schedule<"copy", tiles = 2, {threads = 128 : i64, vector = 1 : i64}> {
      %3 = tenon.transpose %arg1 by [2, 0, 1] : (tensor<4x6x8xf32>) -> tensor<8x4x6xf32>
      tenon.yield %3 : tensor<8x4x6xf32>
    }
    %1 = tenon.kernel (%arg1 = %arg0 : tensor<4x6x8xf32>) -> tensor<4x3x4xf32> schedule #tenon.schedule<"copy", tiles = 1, {threads = 128 : i64, vector = 1 : i64}> {
      %3 = tenon.slice %arg1 [0, 1, 0] [4, 3, 4] [1, 2, 2] : (tensor<4x6x8xf32>) -> tensor<4x3x4xf32>
      tenon.yield %3 : tensor<4x3x4xf32>
    }
    %2 = tenon.kernel (%arg1 = %arg0 : tensor<4x6x8xf32>) -> tensor<4x12x8xf32> schedule #tenon.schedule<"copy", tiles = 1, {threads = 128 : i64, vector = 4 : i64}> {
      %3 = tenon.concat %arg1, %arg1 along 1 : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x12x8xf32>
      tenon.yield %3 : tensor<4x12x8xf32>
    }
    return %0, %1, %2 : tensor<8x4x6xf32>, tensor<4x3x4xf32>, tensor<4x12x8xf32>
  }
}

