module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"x86-64-v3", cpu, features = ["cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"], {cache_line_bytes = 64 : i64, cache_mb_per_s = 242000 : i64, cores = 2 : i64, decode_q4_0_ps = 50 : i64, decode_q4_k_ps = 38 : i64, decode_q6_k_ps = 73 : i64, decode_q8_0_ps = 26 : i64, dram_mb_per_s = 52000 : i64, f32_gflops = 235 : i64, i8_gops = 390 : i64, i8_q8_0_gops = 180 : i64, l2_bytes = 262144 : i64, measured = 0 : i64, step_ns = 1000 : i64, unpack_q4_0_ps = 28 : i64, unpack_q4_k_ps = 23 : i64, unpack_q6_k_ps = 29 : i64, unpack_q8_0_ps = 29 : i64, vector_bits = 256 : i64, vector_registers = 16 : i64}>} {
  func.func @chosen(%arg0: tensor<6x40xf32>, %arg1: tensor<9x40xi32>) -> (tensor<6x4xf32>, tensor<9x40xf32>) {
    %0 = tenon.kernel (%arg2 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 240 : i64, row_elements = 240 : i64, rows_per_tile = 1 : i64}> {
      %7 = tenon.gelu %arg2 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %7 : tensor<6x40xf32>
    }
    %1:2 = tenon.kernel (%arg2 = %0 : tensor<6x40xf32>) -> (tensor<6x4xf32>, tensor<6x4xi32>) schedule #tenon.schedule<"top_k", tiles = 1, {rows_per_tile = 6 : i64}> {
      %values, %indices = tenon.top_k %arg2 k 4 : (tensor<6x40xf32>) -> (tensor<6x4xf32>, tensor<6x4xi32>)
      tenon.yield %values, %indices : tensor<6x4xf32>, tensor<6x4xi32>
    }
    %2 = tenon.kernel (%arg2 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 240 : i64, row_elements = 240 : i64, rows_per_tile = 1 : i64}> {
      %7 = tenon.exp %arg2 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %7 : tensor<6x40xf32>
    }
    %3 = tenon.kernel (%arg2 = %2 : tensor<6x40xf32>, %arg3 = %1#1 : tensor<6x4xi32>) -> tensor<6x4xf32> schedule #tenon.schedule<"gather", tiles = 1, {rows_per_tile = 6 : i64}> {
      %7 = tenon.gather %arg2, %arg3 along 1 : (tensor<6x40xf32>, tensor<6x4xi32>) -> tensor<6x4xf32>
      tenon.yield %7 : tensor<6x4xf32>
    }
    %4 = tenon.kernel (%arg2 = %3 : tensor<6x4xf32>, %arg3 = %1#0 : tensor<6x4xf32>) -> tensor<6x4xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 24 : i64, row_elements = 24 : i64, rows_per_tile = 1 : i64}> {
      %7 = tenon.mul %arg2, %arg3 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
      tenon.yield %7 : tensor<6x4xf32>
    }
    %5 = tenon.kernel (%arg2 = %2 : tensor<6x40xf32>, %arg3 = %arg1 : tensor<9x40xi32>) -> tensor<9x40xf32> schedule #tenon.schedule<"gather", tiles = 1, {rows_per_tile = 9 : i64}> {
      %7 = tenon.gather %arg2, %arg3 along 0 : (tensor<6x40xf32>, tensor<9x40xi32>) -> tensor<9x40xf32>
      tenon.yield %7 : tensor<9x40xf32>
    }
    %6 = tenon.kernel (%arg2 = %5 : tensor<9x40xf32>) -> tensor<9x40xf32> schedule #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 9 : i64}> {
      %7 = tenon.rms_norm %arg2 eps 1.000000e-05 order <chunk = 0, lanes = 32, tree = halving> : (tensor<9x40xf32>) -> tensor<9x40xf32>
      tenon.yield %7 : tensor<9x40xf32>
    }
    return %4, %6 : tensor<6x4xf32>, tensor<9x40xf32>
  }
  func.func @written(%arg0: tensor<6x40xf32>, %arg1: tensor<6x5xi32>, %arg2: tensor<6x5xf32>) -> tensor<6x40xf32> {
    %0 = tenon.kernel (%arg3 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 240 : i64, row_elements = 240 : i64, rows_per_tile = 1 : i64}> {
      %4 = tenon.silu %arg3 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %4 : tensor<6x40xf32>
    }
    %1 = tenon.kernel (%arg3 = %arg2 : tensor<6x5xf32>) -> tensor<6x5xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 30 : i64, row_elements = 30 : i64, rows_per_tile = 1 : i64}> {
      %4 = tenon.scale %arg3 by 5.000000e-01 : (tensor<6x5xf32>) -> tensor<6x5xf32>
      tenon.yield %4 : tensor<6x5xf32>
    }
    %2 = tenon.kernel (%arg3 = %0 : tensor<6x40xf32>, %arg4 = %arg1 : tensor<6x5xi32>, %arg5 = %1 : tensor<6x5xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"scatter", tiles = 1, {rows_per_tile = 6 : i64}> {
      %4 = tenon.scatter %arg3, %arg4, %arg5 along 1 accumulate : (tensor<6x40xf32>, tensor<6x5xi32>, tensor<6x5xf32>) -> tensor<6x40xf32>
      tenon.yield %4 : tensor<6x40xf32>
    }
    %3 = tenon.kernel (%arg3 = %2 : tensor<6x40xf32>, %arg4 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"sequence", tiles = 1, {}> {
      %4 = tenon.add %arg3, %arg4 {part = #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 40 : i64, row_elements = 40 : i64, rows_per_tile = 6 : i64}>} : (tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
      %5 = tenon.rms_norm %4 eps 1.000000e-05 order <chunk = 0, lanes = 32, tree = halving> {part = #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 6 : i64}>} : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %5 : tensor<6x40xf32>
    }
    return %3 : tensor<6x40xf32>
  }
  func.func @convolved(%arg0: tensor<1x12x30xf32>, %arg1: tensor<16x36xf32>, %arg2: tensor<16xf32>) -> tensor<1x15x16xf32> {
    %0 = tenon.kernel (%arg3 = %arg0 : tensor<1x12x30xf32>) -> tensor<1x12x30xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 360 : i64, row_elements = 360 : i64, rows_per_tile = 1 : i64}> {
      %3 = tenon.relu %arg3 : (tensor<1x12x30xf32>) -> tensor<1x12x30xf32>
      tenon.yield %3 : tensor<1x12x30xf32>
    }
    %1 = tenon.kernel (%arg3 = %0 : tensor<1x12x30xf32>) -> tensor<1x15x36xf32> schedule #tenon.schedule<"patches", tiles = 1, {rows_per_tile = 15 : i64}> {
      %3 = tenon.patches %arg3 window [3] strides [2] low [1] high [1] : (tensor<1x12x30xf32>) -> tensor<1x15x36xf32>
      tenon.yield %3 : tensor<1x15x36xf32>
    }
    %2 = tenon.kernel (%arg3 = %1 : tensor<1x15x36xf32>, %arg4 = %arg1 : tensor<16x36xf32>, %arg5 = %arg2 : tensor<16xf32>) -> tensor<1x15x16xf32> schedule #tenon.schedule<"sequence", tiles = 1, {}> {
      %3 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> {part = #tenon.schedule<"packed_matmul", tiles = 1, {column_block = 3 : i64, columns_per_tile = 24 : i64, depth_block = 40 : i64, row_block = 3 : i64, rows_per_pass = 15 : i64}>} : (tensor<1x15x36xf32>, tensor<16x36xf32>) -> tensor<1x15x16xf32>
      %4 = tenon.add %3, %arg5 {part = #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 16 : i64, row_elements = 16 : i64, rows_per_tile = 15 : i64}>} : (tensor<1x15x16xf32>, tensor<16xf32>) -> tensor<1x15x16xf32>
      %5 = tenon.gelu %4 {part = #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 16 : i64, row_elements = 16 : i64, rows_per_tile = 15 : i64}>} : (tensor<1x15x16xf32>) -> tensor<1x15x16xf32>
      tenon.yield %5 : tensor<1x15x16xf32>
    }
    return %2 : tensor<1x15x16xf32>
  }
  func.func @summed(%arg0: tensor<6x40xf32>, %arg1: tensor<40xf32>) -> tensor<6x40xf32> {
    %0 = tenon.kernel (%arg2 = %arg0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"softmax", tiles = 1, {rows_per_tile = 6 : i64}> {
      %3 = tenon.softmax %arg2 order <chunk = 0, lanes = 32, tree = halving> : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %3 : tensor<6x40xf32>
    }
    %1 = tenon.kernel (%arg2 = %0 : tensor<6x40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"cumulative_sum", tiles = 1, {rows_per_tile = 6 : i64}> {
      %3 = tenon.cumulative_sum %arg2 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      tenon.yield %3 : tensor<6x40xf32>
    }
    %2 = tenon.kernel (%arg2 = %1 : tensor<6x40xf32>, %arg3 = %arg1 : tensor<40xf32>) -> tensor<6x40xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 40 : i64, row_elements = 40 : i64, rows_per_tile = 6 : i64}> {
      %3 = tenon.scale %arg2 by 7.250000e+00 : (tensor<6x40xf32>) -> tensor<6x40xf32>
      %4 = tenon.mod %3, %arg3 : (tensor<6x40xf32>, tensor<40xf32>) -> tensor<6x40xf32>
      tenon.yield %4 : tensor<6x40xf32>
    }
    return %2 : tensor<6x40xf32>
  }
}

