module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"x86-64-v3", cpu, features = ["cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"], {cache_line_bytes = 64 : i64, cache_mb_per_s = 242000 : i64, cores = 2 : i64, decode_q4_0_ps = 50 : i64, decode_q4_k_ps = 38 : i64, decode_q6_k_ps = 73 : i64, decode_q8_0_ps = 26 : i64, dram_mb_per_s = 52000 : i64, f32_gflops = 235 : i64, i8_gops = 390 : i64, i8_q8_0_gops = 180 : i64, l2_bytes = 262144 : i64, measured = 0 : i64, step_ns = 1000 : i64, unpack_q4_0_ps = 28 : i64, unpack_q4_k_ps = 23 : i64, unpack_q6_k_ps = 29 : i64, unpack_q8_0_ps = 29 : i64, vector_bits = 256 : i64, vector_registers = 16 : i64}>} {
  func.func @f(%arg0: tensor<1x64xf32>, %arg1: tensor<1x64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<512x64xf32>) -> tensor<1x512xf32> {
    %0 = tenon.kernel (%arg4 = %arg0 : tensor<1x64xf32>, %arg5 = %arg1 : tensor<1x64xf32>, %arg6 = %arg2 : tensor<64xf32>, %arg7 = %arg3 : tensor<512x64xf32>) -> tensor<1x512xf32> schedule #tenon.schedule<"sequence", tiles = 1099511627776, {}> {
      %1 = tenon.add %arg4, %arg5 {first_tile = -1 : i64, part = #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 64 : i64, row_elements = 64 : i64, rows_per_tile = 1 : i64}>} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
      %2 = tenon.rms_norm %1, %arg6 eps 1.000000e-05 order <chunk = 0, lanes = 32, tree = halving> {first_tile = -1 : i64, part = #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 1 : i64}>} : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
      %3 = tenon.matmul %2, %arg7 order <chunk = 0, lanes = 8, tree = halving> {part = #tenon.schedule<"matmul", tiles = 2, {column_block = 4 : i64, columns_per_tile = 256 : i64, prefetch_bytes = 1024 : i64, row_block = 1 : i64, step = 16 : i64}>} : (tensor<1x64xf32>, tensor<512x64xf32>) -> tensor<1x512xf32>
      tenon.yield %3 : tensor<1x512xf32>
    }
    return %0 : tensor<1x512xf32>
  }
}

