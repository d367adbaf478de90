module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"x86-64-v3", cpu, features = ["cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"], {cache_line_bytes = 64 : i64, cache_mb_per_s = 242000 : i64, cores = 2 : i64, decode_q4_0_ps = 50 : i64, decode_q4_k_ps = 38 : i64, decode_q6_k_ps = 73 : i64, decode_q8_0_ps = 26 : i64, dram_mb_per_s = 52000 : i64, f32_gflops = 235 : i64, i8_gops = 390 : i64, i8_q8_0_gops = 180 : i64, l2_bytes = 262144 : i64, measured = 0 : i64, step_ns = 1000 : i64, unpack_q4_0_ps = 28 : i64, unpack_q4_k_ps = 23 : i64, unpack_q6_k_ps = 29 : i64, unpack_q8_0_ps = 29 : i64, vector_bits = 256 : i64, vector_registers = 16 : i64}>} {
  tenon.state @k : !tenon.state<2x16x2x16xf32>
  tenon.state @v : !tenon.state<2x16x2x16xf32>
  func.func @f(%arg0: tensor<1x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<32x64xf32>, %arg4: tensor<32x64xf32>, %arg5: tensor<64x64xf16>, %arg6: tensor<96x64xf32>, %arg7: tensor<96x64xf32>, %arg8: tensor<64x96xf32>, %arg9: tensor<1xi32>, %arg10: tensor<1xi32>, %arg11: tensor<8xf32>) -> tensor<1x64xf32> {
    %k = tenon.get_state @k : <2x16x2x16xf32>
    %v = tenon.get_state @v : <2x16x2x16xf32>
    %0:3 = tenon.kernel (%arg12 = %arg0 : tensor<1x64xf32>, %arg13 = %arg1 : tensor<64xf32>, %arg14 = %arg2 : tensor<64x64xf32>, %arg15 = %arg3 : tensor<32x64xf32>, %arg16 = %arg4 : tensor<32x64xf32>) -> (tensor<1x64xf32>, tensor<1x32xf32>, tensor<1x32xf32>) schedule #tenon.schedule<"sequence", tiles = 3, {}> {
      %10 = tenon.rms_norm %arg12, %arg13 eps 1.000000e-05 order <chunk = 0, lanes = 32, tree = halving> {first_tile = -1 : i64, part = #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 1 : i64}>} : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
      %11 = tenon.matmul %10, %arg14 order <chunk = 0, lanes = 8, tree = halving> {part = #tenon.schedule<"matmul", tiles = 1, {column_block = 1024 : i64, columns_per_tile = 256 : i64, prefetch_bytes = 1024 : i64, row_block = 1 : i64, step = 16 : i64}>} : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
      %12 = tenon.matmul %10, %arg15 order <chunk = 0, lanes = 8, tree = halving> {first_tile = 1 : i64, part = #tenon.schedule<"matmul", tiles = 1, {column_block = 1024 : i64, columns_per_tile = 256 : i64, prefetch_bytes = 1024 : i64, row_block = 1 : i64, step = 16 : i64}>} : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32>
      %13 = tenon.matmul %10, %arg16 order <chunk = 0, lanes = 8, tree = halving> {first_tile = 2 : i64, part = #tenon.schedule<"matmul", tiles = 1, {column_block = 1024 : i64, columns_per_tile = 256 : i64, prefetch_bytes = 1024 : i64, row_block = 1 : i64, step = 16 : i64}>} : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32>
      tenon.yield %11, %12, %13 : tensor<1x64xf32>, tensor<1x32xf32>, tensor<1x32xf32>
    }
    %1 = tenon.reshape %0#0 to [1, 4, 16] : (tensor<1x64xf32>) -> tensor<1x4x16xf32>
    %2 = tenon.reshape %0#1 to [1, 2, 16] : (tensor<1x32xf32>) -> tensor<1x2x16xf32>
    %3 = tenon.reshape %0#2 to [1, 2, 16] : (tensor<1x32xf32>) -> tensor<1x2x16xf32>
    %4:3 = tenon.kernel (%arg12 = %1 : tensor<1x4x16xf32>, %arg13 = %arg10 : tensor<1xi32>, %arg14 = %arg11 : tensor<8xf32>, %arg15 = %2 : tensor<1x2x16xf32>, %arg16 = %arg9 : tensor<1xi32>, %arg17 = %k : !tenon.state<2x16x2x16xf32>, %arg18 = %3 : tensor<1x2x16xf32>, %arg19 = %v : !tenon.state<2x16x2x16xf32>) -> (tensor<1x4x16xf32>, !tenon.state<2x16x2x16xf32>, !tenon.state<2x16x2x16xf32>) schedule #tenon.schedule<"sequence", tiles = 3, {}> {
      %10 = tenon.rope  halves %arg12, %arg13, %arg14 {part = #tenon.schedule<"rope", tiles = 1, {rows_per_tile = 1 : i64}>} : (tensor<1x4x16xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<1x4x16xf32>
      %11 = tenon.rope  halves %arg15, %arg13, %arg14 {first_tile = 1 : i64, part = #tenon.schedule<"rope", tiles = 1, {rows_per_tile = 1 : i64}>} : (tensor<1x2x16xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<1x2x16xf32>
      %12 = tenon.kv_write %11, %arg16, %arg13 into %arg17 {first_tile = 1 : i64, part = #tenon.schedule<"kv_write", tiles = 1, {bytes_per_tile = 128 : i64}>} : (tensor<1x2x16xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x16x2x16xf32>) -> !tenon.state<2x16x2x16xf32>
      %13 = tenon.kv_write %arg18, %arg16, %arg13 into %arg19 {first_tile = 2 : i64, part = #tenon.schedule<"kv_write", tiles = 1, {bytes_per_tile = 128 : i64}>} : (tensor<1x2x16xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x16x2x16xf32>) -> !tenon.state<2x16x2x16xf32>
      tenon.yield %10, %12, %13 : tensor<1x4x16xf32>, !tenon.state<2x16x2x16xf32>, !tenon.state<2x16x2x16xf32>
    }
    %5 = tenon.kernel (%arg12 = %4#0 : tensor<1x4x16xf32>, %arg13 = %4#1 : !tenon.state<2x16x2x16xf32>, %arg14 = %4#2 : !tenon.state<2x16x2x16xf32>, %arg15 = %arg9 : tensor<1xi32>, %arg16 = %arg10 : tensor<1xi32>) -> tensor<1x4x16xf32> schedule #tenon.schedule<"attention", tiles = 2, {heads_per_tile = 2 : i64}> {
      %10 = tenon.attention %arg12, %arg13, %arg14, %arg15, %arg16 scale 2.500000e-01 order <chunk = 64, lanes = 8, tree = halving> : (tensor<1x4x16xf32>, !tenon.state<2x16x2x16xf32>, !tenon.state<2x16x2x16xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x16xf32>
      tenon.yield %10 : tensor<1x4x16xf32>
    }
    %6 = tenon.reshape %5 to [1, 64] : (tensor<1x4x16xf32>) -> tensor<1x64xf32>
    %7 = tenon.kernel (%arg12 = %6 : tensor<1x64xf32>, %arg13 = %arg5 : tensor<64x64xf16>, %arg14 = %arg0 : tensor<1x64xf32>) -> tensor<1x64xf32> schedule #tenon.schedule<"sequence", tiles = 1, {}> {
      %10 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 8, tree = halving> {part = #tenon.schedule<"matmul", tiles = 1, {column_block = 1024 : i64, columns_per_tile = 512 : i64, prefetch_bytes = 512 : i64, row_block = 1 : i64, step = 32 : i64}>} : (tensor<1x64xf32>, tensor<64x64xf16>) -> tensor<1x64xf32>
      %11 = tenon.add %arg14, %10 {part = #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 64 : i64, row_elements = 64 : i64, rows_per_tile = 1 : i64}>} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
      tenon.yield %11 : tensor<1x64xf32>
    }
    %8 = tenon.kernel (%arg12 = %7 : tensor<1x64xf32>, %arg13 = %arg1 : tensor<64xf32>, %arg14 = %arg6 : tensor<96x64xf32>, %arg15 = %arg7 : tensor<96x64xf32>) -> tensor<1x96xf32> schedule #tenon.schedule<"sequence", tiles = 1, {}> {
      %10 = tenon.rms_norm %arg12, %arg13 eps 1.000000e-05 order <chunk = 0, lanes = 32, tree = halving> {first_tile = -1 : i64, part = #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 1 : i64}>} : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
      %11 = tenon.matmul %10, %arg14 order <chunk = 0, lanes = 8, tree = halving> {part = #tenon.schedule<"matmul", tiles = 1, {column_block = 1024 : i64, columns_per_tile = 256 : i64, prefetch_bytes = 1024 : i64, row_block = 1 : i64, step = 16 : i64}>} : (tensor<1x64xf32>, tensor<96x64xf32>) -> tensor<1x96xf32>
      %12 = tenon.matmul %10, %arg15 order <chunk = 0, lanes = 8, tree = halving> {part = #tenon.schedule<"matmul", tiles = 1, {column_block = 1024 : i64, columns_per_tile = 256 : i64, prefetch_bytes = 1024 : i64, row_block = 1 : i64, step = 16 : i64}>} : (tensor<1x64xf32>, tensor<96x64xf32>) -> tensor<1x96xf32>
      %13 = tenon.glu  silu %11, %12 {part = #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 96 : i64, row_elements = 96 : i64, rows_per_tile = 1 : i64}>} : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
      tenon.yield %13 : tensor<1x96xf32>
    }
    %9 = tenon.kernel (%arg12 = %8 : tensor<1x96xf32>, %arg13 = %arg8 : tensor<64x96xf32>, %arg14 = %7 : tensor<1x64xf32>) -> tensor<1x64xf32> schedule #tenon.schedule<"sequence", tiles = 1, {}> {
      %10 = tenon.matmul %arg12, %arg13 order <chunk = 0, lanes = 8, tree = halving> {part = #tenon.schedule<"matmul", tiles = 1, {column_block = 1024 : i64, columns_per_tile = 168 : i64, prefetch_bytes = 1536 : i64, row_block = 1 : i64, step = 16 : i64}>} : (tensor<1x96xf32>, tensor<64x96xf32>) -> tensor<1x64xf32>
      %11 = tenon.add %arg14, %10 {part = #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 64 : i64, row_elements = 64 : i64, rows_per_tile = 1 : i64}>} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
      tenon.yield %11 : tensor<1x64xf32>
    }
    return %9 : tensor<1x64xf32>
  }
}

