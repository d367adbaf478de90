module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"x86-64-v3", cpu, features = ["cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"], {cache_line_bytes = 64 : i64, cache_mb_per_s = 242000 : i64, cores = 2 : i64, decode_q4_0_ps = 50 : i64, decode_q4_k_ps = 38 : i64, decode_q6_k_ps = 73 : i64, decode_q8_0_ps = 26 : i64, dram_mb_per_s = 52000 : i64, f32_gflops = 235 : i64, i8_gops = 390 : i64, i8_q8_0_gops = 180 : i64, l2_bytes = 262144 : i64, measured = 0 : i64, step_ns = 1000 : i64, unpack_q4_0_ps = 28 : i64, unpack_q4_k_ps = 23 : i64, unpack_q6_k_ps = 29 : i64, unpack_q8_0_ps = 29 : i64, vector_bits = 256 : i64, vector_registers = 16 : i64}>} {
  func.func @products(%arg0: tensor<24x64xf32>, %arg1: tensor<40x64x!tenon.block<q8_0>>, %arg2: tensor<40xf32>) -> tensor<24x40xf32> {
    %0 = tenon.kernel (%arg3 = %arg0 : tensor<24x64xf32>, %arg4 = %arg1 : tensor<40x64x!tenon.block<q8_0>>, %arg5 = %arg2 : tensor<40xf32>) -> tensor<24x40xf32> schedule #tenon.schedule<"sequence", tiles = 2, {}> {
      %1 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> {part = #tenon.schedule<"packed_matmul", tiles = 2, {column_block = 3 : i64, columns_per_tile = 24 : i64, depth_block = 64 : i64, row_block = 3 : i64, rows_per_pass = 24 : i64}>} : (tensor<24x64xf32>, tensor<40x64x!tenon.block<q8_0>>) -> tensor<24x40xf32>
      %2 = tenon.add %1, %arg5 {part = #tenon.schedule<"elementwise", tiles = 2, {columns_per_tile = 24 : i64, row_elements = 40 : i64, rows_per_tile = 24 : i64}>} : (tensor<24x40xf32>, tensor<40xf32>) -> tensor<24x40xf32>
      tenon.yield %2 : tensor<24x40xf32>
    }
    return %0 : tensor<24x40xf32>
  }
  func.func @quants(%arg0: tensor<3x256xf32>, %arg1: tensor<40x256x!tenon.block<q4_k>>) -> tensor<3x40xf32> {
    %0 = tenon.kernel (%arg2 = %arg0 : tensor<3x256xf32>) -> tensor<3x256x!tenon.block<q8_k>> schedule #tenon.schedule<"quantize", tiles = 1, {rows_per_tile = 3 : i64}> {
      %2 = tenon.quantize %arg2 : (tensor<3x256xf32>) -> tensor<3x256x!tenon.block<q8_k>>
      tenon.yield %2 : tensor<3x256x!tenon.block<q8_k>>
    }
    %1 = tenon.kernel (%arg2 = %0 : tensor<3x256x!tenon.block<q8_k>>, %arg3 = %arg1 : tensor<40x256x!tenon.block<q4_k>>) -> tensor<3x40xf32> schedule #tenon.schedule<"quantized_matmul", tiles = 3, {column_vectors = 2 : i64, columns_per_tile = 16 : i64, prefetch_bytes = 2304 : i64, row_block = 2 : i64, rows_per_pass = 3 : i64}> {
      %2 = tenon.matmul %arg2, %arg3 order <chunk = 0, lanes = 1, tree = halving> : (tensor<3x256x!tenon.block<q8_k>>, tensor<40x256x!tenon.block<q4_k>>) -> tensor<3x40xf32>
      tenon.yield %2 : tensor<3x40xf32>
    }
    return %1 : tensor<3x40xf32>
  }
  func.func @prefill(%arg0: tensor<20x4x16xf32>, %arg1: tensor<1x32x2x16xf32>, %arg2: tensor<1x32x2x16xf32>, %arg3: tensor<1xi32>, %arg4: tensor<20xi32>) -> tensor<20x4x16xf32> {
    %0 = tenon.kernel (%arg5 = %arg0 : tensor<20x4x16xf32>, %arg6 = %arg1 : tensor<1x32x2x16xf32>, %arg7 = %arg2 : tensor<1x32x2x16xf32>, %arg8 = %arg3 : tensor<1xi32>, %arg9 = %arg4 : tensor<20xi32>) -> tensor<20x4x16xf32> schedule #tenon.schedule<"attention", tiles = 40, {heads_per_tile = 2 : i64}> {
      %1 = tenon.attention %arg5, %arg6, %arg7, %arg8, %arg9 scale 2.500000e-01 order <chunk = 64, lanes = 8, tree = halving> : (tensor<20x4x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1xi32>, tensor<20xi32>) -> tensor<20x4x16xf32>
      tenon.yield %1 : tensor<20x4x16xf32>
    }
    return %0 : tensor<20x4x16xf32>
  }
}

