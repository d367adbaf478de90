module attributes {tenon.phase = #tenon.phase<planned>, tenon.target = #tenon.target<"x86-64-v3", cpu, features = ["cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"], {cache_line_bytes = 64 : i64, cache_mb_per_s = 242000 : i64, cores = 2 : i64, decode_q4_0_ps = 50 : i64, decode_q4_k_ps = 38 : i64, decode_q6_k_ps = 73 : i64, decode_q8_0_ps = 26 : i64, dram_mb_per_s = 52000 : i64, f32_gflops = 235 : i64, i8_gops = 390 : i64, i8_q8_0_gops = 180 : i64, l2_bytes = 262144 : i64, measured = 0 : i64, step_ns = 1000 : i64, unpack_q4_0_ps = 28 : i64, unpack_q4_k_ps = 23 : i64, unpack_q6_k_ps = 29 : i64, unpack_q8_0_ps = 29 : i64, vector_bits = 256 : i64, vector_registers = 16 : i64}>} {
  func.func @rows(%arg0: tensor<5x37xf32>, %arg1: tensor<37xf32>, %arg2: tensor<50x37xf16>, %arg3: tensor<5xi32>) -> (tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x1xf32>, tensor<5xi32>, tensor<5x3xf32>, tensor<5x3xi32>) attributes {tenon.workspace = 1508 : i64} {
    %0 = tenon.kernel (%arg4 = %arg2 : tensor<50x37xf16>, %arg5 = %arg3 : tensor<5xi32>) -> tensor<5x37xf32> schedule #tenon.schedule<"embedding", tiles = 1, {rows_per_tile = 5 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 740>] {
      %7 = tenon.embedding %arg4, %arg5 : (tensor<50x37xf16>, tensor<5xi32>) -> tensor<5x37xf32>
      tenon.yield %7 : tensor<5x37xf32>
    }
    %1 = tenon.kernel (%arg4 = %arg0 : tensor<5x37xf32>, %arg5 = %0 : tensor<5x37xf32>) -> tensor<5x37xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 185 : i64, row_elements = 185 : i64, rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 768, bytes = 740>] {
      %7 = tenon.add %arg4, %arg5 : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
      tenon.yield %7 : tensor<5x37xf32>
    }
    %2 = tenon.kernel (%arg4 = %1 : tensor<5x37xf32>, %arg5 = %arg1 : tensor<37xf32>) -> tensor<5x37xf32> schedule #tenon.schedule<"layer_norm", tiles = 1, {rows_per_tile = 5 : i64}> buffers [unit] {
      %7 = tenon.layer_norm %arg4 weight %arg5 eps 1.000000e-05 order <chunk = 0, lanes = 32, tree = halving> : (tensor<5x37xf32>, tensor<37xf32>) -> tensor<5x37xf32>
      tenon.yield %7 : tensor<5x37xf32>
    }
    %3 = tenon.kernel (%arg4 = %2 : tensor<5x37xf32>) -> tensor<5x37xf32> schedule #tenon.schedule<"softmax", tiles = 1, {rows_per_tile = 5 : i64}> buffers [unit] {
      %7 = tenon.softmax %arg4 order <chunk = 0, lanes = 32, tree = halving> : (tensor<5x37xf32>) -> tensor<5x37xf32>
      tenon.yield %7 : tensor<5x37xf32>
    }
    %4 = tenon.kernel (%arg4 = %1 : tensor<5x37xf32>) -> tensor<5x1xf32> schedule #tenon.schedule<"reduce", tiles = 1, {rows_per_tile = 5 : i64}> buffers [unit] {
      %7 = tenon.reduce  sum %arg4 order <chunk = 0, lanes = 32, tree = halving> : (tensor<5x37xf32>) -> tensor<5x1xf32>
      tenon.yield %7 : tensor<5x1xf32>
    }
    %5 = tenon.kernel (%arg4 = %1 : tensor<5x37xf32>) -> tensor<5xi32> schedule #tenon.schedule<"argmax", tiles = 1, {rows_per_tile = 5 : i64}> buffers [unit] {
      %7 = tenon.argmax %arg4 : (tensor<5x37xf32>) -> tensor<5xi32>
      tenon.yield %7 : tensor<5xi32>
    }
    %6:2 = tenon.kernel (%arg4 = %1 : tensor<5x37xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>) schedule #tenon.schedule<"top_k", tiles = 1, {rows_per_tile = 5 : i64}> buffers [unit, unit] {
      %values, %indices = tenon.top_k %arg4 k 3 : (tensor<5x37xf32>) -> (tensor<5x3xf32>, tensor<5x3xi32>)
      tenon.yield %values, %indices : tensor<5x3xf32>, tensor<5x3xi32>
    }
    return %2, %3, %4, %5, %6#0, %6#1 : tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x1xf32>, tensor<5xi32>, tensor<5x3xf32>, tensor<5x3xi32>
  }
  func.func @moves(%arg0: tensor<4x6x8xf32>) -> (tensor<8x4x6xf32>, tensor<4x3x4xf32>, tensor<4x12x8xf32>) attributes {tenon.workspace = 0 : i64} {
    %0 = tenon.kernel (%arg1 = %arg0 : tensor<4x6x8xf32>) -> tensor<8x4x6xf32> schedule #tenon.schedule<"copy", tiles = 1, {rows_per_tile = 32 : i64}> buffers [unit] {
      %3 = tenon.transpose %arg1 by [2, 0, 1] : (tensor<4x6x8xf32>) -> tensor<8x4x6xf32>
      tenon.yield %3 : tensor<8x4x6xf32>
    }
    %1 = tenon.kernel (%arg1 = %arg0 : tensor<4x6x8xf32>) -> tensor<4x3x4xf32> schedule #tenon.schedule<"copy", tiles = 1, {rows_per_tile = 12 : i64}> buffers [unit] {
      %3 = tenon.slice %arg1 [0, 1, 0] [4, 3, 4] [1, 2, 2] : (tensor<4x6x8xf32>) -> tensor<4x3x4xf32>
      tenon.yield %3 : tensor<4x3x4xf32>
    }
    %2 = tenon.kernel (%arg1 = %arg0 : tensor<4x6x8xf32>) -> tensor<4x12x8xf32> schedule #tenon.schedule<"copy", tiles = 1, {rows_per_tile = 4 : i64}> buffers [unit] {
      %3 = tenon.concat %arg1, %arg1 along 1 : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x12x8xf32>
      tenon.yield %3 : tensor<4x12x8xf32>
    }
    return %0, %1, %2 : tensor<8x4x6xf32>, tensor<4x3x4xf32>, tensor<4x12x8xf32>
  }
}

