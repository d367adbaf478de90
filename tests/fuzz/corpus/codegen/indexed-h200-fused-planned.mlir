module attributes {tenon.phase = #tenon.phase<planned>, tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {attention_ns = 1331 : i64, blocks_per_sm = 32 : i64, clock_mhz = 1750 : i64, clusters_of_four_percent = 91 : i64, clusters_of_three_percent = 89 : i64, copy_mb_per_s = 4260000 : i64, decode_issue_percent = 55 : i64, decode_unhidden_percent = 50 : i64, dependent_load_ns = 49 : i64, dram_bytes = 141000000000 : i64, dram_bytes_per_cycle = 2300 : i64, dram_mb_per_s = 4665000 : i64, epilogue_lanes = 128 : i64, f32_gflops = 67000 : i64, full_rate_tile_rows = 128 : i64, function_instructions = 20 : i64, gemv_gflops = 23147 : i64, held_prologue_ps_per_element = 38 : i64, held_reduction_ns = 1100 : i64, issue_percent = 65 : i64, key_step_ns = 1129 : i64, l2_all_percent = 50 : i64, l2_bytes = 62914560 : i64, l2_mb_per_s = 7281554 : i64, l2_none_percent = 125 : i64, l2_read_bytes_per_cycle = 39 : i64, l2_tie_percent = 4 : i64, launch_graph_ns = 500 : i64, launch_graph_pdl_ns = 400 : i64, launch_stream_ns = 3100 : i64, library_ns = 5300 : i64, library_percent = 90 : i64, measured = 1 : i64, mma_percent = 19 : i64, next_reduction_ns = 1 : i64, part_exchange_cycles = 600 : i64, prologue_ps_per_element = 77 : i64, read_ramp_bytes = 20591322 : i64, read_ramp_ns = 3300 : i64, read_ramp_pdl_ns = 647 : i64, reduction_ns = 1 : i64, registers_per_sm = 65536 : i64, row_barrier_ns = 155 : i64, simple_instructions = 2 : i64, sm_mb_per_s = 65000 : i64, sm_read_bytes_per_cycle = 65 : i64, smem_bytes_per_block = 232448 : i64, smem_bytes_per_sm = 233472 : i64, sms = 132 : i64, spread_ns = 876 : i64, stage_cycles = 260 : i64, stage_unhidden_percent = 20 : i64, tensor_16bit_gflops = 790000 : i64, threads_per_sm = 2048 : i64, tile_store_bytes_per_cycle = 18 : i64, tile_store_cycles = 650 : i64, unhidden_percent = 85 : i64, vector_ns = 17 : i64, warp_prologue_ps_per_element = 2411 : i64, warpgroups_ns = 1500 : i64, wgmma_elements_per_cycle = 28 : i64, wgmma_percent = 95 : i64}>} {
  func.func @chosen(%arg0: tensor<6x40xf32>, %arg1: tensor<9x40xi32>) -> (tensor<6x4xf32>, tensor<9x40xf32>) attributes {tenon.workspace = 2496 : i64} {
    %0 = tenon.kernel (%arg2 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {row_elements = 240 : i64, threads = 64 : i64, vector = 4 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 960>] {
      %7 = tenon.gelu %arg2 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %7 : tensor<6x40xf32>
    }
    %1:2 = tenon.kernel (%arg2 = %0 : tensor<6x40xf32>) -> (tensor<6x4xf32>, tensor<6x4xi32>) schedule #tenon.schedule<"top_k", tiles = 6, {threads = 32 : i64}> buffers [#tenon.buffer<offset = 1024, bytes = 96>, #tenon.buffer<offset = 1280, bytes = 96>] {
      %values, %indices = tenon.top_k %arg2 k 4 : (tensor<6x40xf32>) -> (tensor<6x4xf32>, tensor<6x4xi32>)
      tenon.yield %values, %indices : tensor<6x4xf32>, tensor<6x4xi32>
    }
    %2 = tenon.kernel (%arg2 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {row_elements = 240 : i64, threads = 64 : i64, vector = 4 : i64}> buffers [#tenon.buffer<offset = 1536, bytes = 960>] {
      %7 = tenon.exp %arg2 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %7 : tensor<6x40xf32>
    }
    %3 = tenon.kernel (%arg2 = %2 : tensor<6x40xf32>, %arg3 = %1#1 : tensor<6x4xi32>) -> tensor<6x4xf32> schedule #tenon.schedule<"gather", tiles = 1, {threads = 128 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 96>] {
      %7 = tenon.gather %arg2, %arg3 along 1 : (tensor<6x40xf32>, tensor<6x4xi32>) -> tensor<6x4xf32>
      tenon.yield %7 : tensor<6x4xf32>
    }
    %4 = tenon.kernel (%arg2 = %3 : tensor<6x4xf32>, %arg3 = %1#0 : tensor<6x4xf32>) -> tensor<6x4xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {row_elements = 24 : i64, threads = 64 : i64, vector = 4 : i64}> buffers [unit] {
      %7 = tenon.mul %arg2, %arg3 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
      tenon.yield %7 : tensor<6x4xf32>
    }
    %5 = tenon.kernel (%arg2 = %2 : tensor<6x40xf32>, %arg3 = %arg1 : tensor<9x40xi32>) -> tensor<9x40xf32> schedule #tenon.schedule<"gather", tiles = 3, {threads = 128 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 1440>] {
      %7 = tenon.gather %arg2, %arg3 along 0 : (tensor<6x40xf32>, tensor<9x40xi32>) -> tensor<9x40xf32>
      tenon.yield %7 : tensor<9x40xf32>
    }
    %6 = tenon.kernel (%arg2 = %5 : tensor<9x40xf32>) -> tensor<9x40xf32> schedule #tenon.schedule<"rms_norm", tiles = 3, {group = 32 : i64, threads = 128 : i64, vector = 4 : i64}> buffers [unit] {
      %7 = tenon.rms_norm %arg2 eps 1.000000e-05 order <chunk = 0, lanes = 128, tree = halving> : (tensor<9x40xf32>) -> tensor<9x40xf32>
      tenon.yield %7 : tensor<9x40xf32>
    }
    return %4, %6 : tensor<6x4xf32>, tensor<9x40xf32>
  }
  func.func @written(%arg0: tensor<6x40xf32>, %arg1: tensor<6x5xi32>, %arg2: tensor<6x5xf32>) -> tensor<6x40xf32> attributes {tenon.workspace = 2168 : i64} {
    %0 = tenon.kernel (%arg3 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {row_elements = 240 : i64, threads = 64 : i64, vector = 4 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 960>] {
      %4 = tenon.silu %arg3 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %4 : tensor<6x40xf32>
    }
    %1 = tenon.kernel (%arg3 = %arg2 : tensor<6x5xf32>) -> tensor<6x5xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {row_elements = 30 : i64, threads = 64 : i64, vector = 4 : i64}> buffers [#tenon.buffer<offset = 2048, bytes = 120>] {
      %4 = tenon.scale %arg3 by 5.000000e-01 : (tensor<6x5xf32>) -> tensor<6x5xf32>
      tenon.yield %4 : tensor<6x5xf32>
    }
    %2 = tenon.kernel (%arg3 = %0 : tensor<6x40xf32>, %arg4 = %arg1 : tensor<6x5xi32>, %arg5 = %1 : tensor<6x5xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"scatter", tiles = 2, {threads = 128 : i64}> buffers [#tenon.buffer<offset = 1024, bytes = 960>] {
      %4 = tenon.scatter %arg3, %arg4, %arg5 along 1 accumulate : (tensor<6x40xf32>, tensor<6x5xi32>, tensor<6x5xf32>) -> tensor<6x40xf32>
      tenon.yield %4 : tensor<6x40xf32>
    }
    %3 = tenon.kernel (%arg3 = %2 : tensor<6x40xf32>, %arg4 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"rms_norm", tiles = 2, {group = 32 : i64, threads = 128 : i64, vector = 4 : i64}> buffers [unit] {
      %4 = tenon.add %arg3, %arg4 : (tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
      %5 = tenon.rms_norm %4 eps 1.000000e-05 order <chunk = 0, lanes = 128, tree = halving> : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %5 : tensor<6x40xf32>
    }
    return %3 : tensor<6x40xf32>
  }
  func.func @convolved(%arg0: tensor<1x12x30xf32>, %arg1: tensor<16x36xf32>, %arg2: tensor<16xf32>) -> tensor<1x15x16xf32> attributes {tenon.workspace = 3744 : i64} {
    %0 = tenon.kernel (%arg3 = %arg0 : tensor<1x12x30xf32>) -> tensor<1x12x30xf32> schedule #tenon.schedule<"elementwise", tiles = 2, {row_elements = 360 : i64, threads = 64 : i64, vector = 4 : i64}> buffers [#tenon.buffer<offset = 2304, bytes = 1440>] {
      %3 = tenon.relu %arg3 : (tensor<1x12x30xf32>) -> tensor<1x12x30xf32>
      tenon.yield %3 : tensor<1x12x30xf32>
    }
    %1 = tenon.kernel (%arg3 = %0 : tensor<1x12x30xf32>) -> tensor<1x15x36xf32> schedule #tenon.schedule<"patches", tiles = 5, {threads = 128 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 2160>] {
      %3 = tenon.patches %arg3 window [3] strides [2] low [1] high [1] : (tensor<1x12x30xf32>) -> tensor<1x15x36xf32>
      tenon.yield %3 : tensor<1x15x36xf32>
    }
    %2 = tenon.kernel (%arg3 = %1 : tensor<1x15x36xf32>, %arg4 = %arg1 : tensor<16x36xf32>, %arg5 = %arg2 : tensor<16xf32>) -> tensor<1x15x16xf32> schedule #tenon.schedule<"gemv", tiles = 2, {columns_per_warp = 1 : i64, split = 1 : i64, threads = 256 : i64, vector = 4 : i64}> buffers [unit] {
      %3 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 128, tree = halving> : (tensor<1x15x36xf32>, tensor<16x36xf32>) -> tensor<1x15x16xf32>
      %4 = tenon.add %3, %arg5 : (tensor<1x15x16xf32>, tensor<16xf32>) -> tensor<1x15x16xf32>
      %5 = tenon.gelu %4 : (tensor<1x15x16xf32>) -> tensor<1x15x16xf32>
      tenon.yield %5 : tensor<1x15x16xf32>
    }
    return %2 : tensor<1x15x16xf32>
  }
  func.func @summed(%arg0: tensor<6x40xf32>, %arg1: tensor<40xf32>) -> tensor<6x40xf32> attributes {tenon.workspace = 1984 : i64} {
    %0 = tenon.kernel (%arg2 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"softmax", tiles = 2, {group = 32 : i64, threads = 128 : i64, vector = 4 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 960>] {
      %3 = tenon.softmax %arg2 order <chunk = 0, lanes = 128, tree = halving> : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %3 : tensor<6x40xf32>
    }
    %1 = tenon.kernel (%arg2 = %0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"cumulative_sum", tiles = 1, {threads = 32 : i64}> buffers [#tenon.buffer<offset = 1024, bytes = 960>] {
      %3 = tenon.cumulative_sum %arg2 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %3 : tensor<6x40xf32>
    }
    %2 = tenon.kernel (%arg2 = %1 : tensor<6x40xf32>, %arg3 = %arg1 : tensor<40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {row_elements = 40 : i64, threads = 64 : i64, vector = 4 : i64}> buffers [unit] {
      %3 = tenon.scale %arg2 by 7.250000e+00 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      %4 = tenon.mod %3, %arg3 : (tensor<6x40xf32>, tensor<40xf32>) -> tensor<6x40xf32>
      tenon.yield %4 : tensor<6x40xf32>
    }
    return %2 : tensor<6x40xf32>
  }
}

