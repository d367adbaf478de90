module attributes {tenon.model = #tenon.model<architecture = "llama", name = "a test's model", file = @model, vocabulary = 5, contextLength = 16, sequences = 1>, tenon.phase = #tenon.phase<planned>, tenon.target = #tenon.target<"x86-64-v3", cpu, features = ["cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"], {cache_line_bytes = 64 : i64, l2_bytes = 262144 : i64, measured = 0 : i64, vector_bits = 256 : i64, vector_registers = 16 : i64}>} {
  tenon.file @model "llama.gguf" bytes 10080 fingerprint -2937027529850317749
  tenon.state @kv.0.k : !tenon.state<1x16x2x2xf32>
  tenon.state @kv.0.v : !tenon.state<1x16x2x2xf32>
  tenon.state @kv.1.k : !tenon.state<1x16x2x2xf32>
  tenon.state @kv.1.v : !tenon.state<1x16x2x2xf32>
  tenon.weight @token_embd.weight : tensor<5x8xf32> from [#tenon.range<@model, offset = 9920, bytes = 160>]
  tenon.weight @blk.0.attn_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 2048, bytes = 32>]
  tenon.weight @blk.0.attn_q.weight : tensor<8x8xf32> from [#tenon.range<@model, offset = 2336, bytes = 256>]
  tenon.weight @blk.0.attn_k.weight : tensor<4x8xf32> from [#tenon.range<@model, offset = 1920, bytes = 128>]
  tenon.weight @blk.0.attn_v.weight : tensor<4x8xf32> from [#tenon.range<@model, offset = 2592, bytes = 128>]
  tenon.weight @blk.0.attn_output.weight : tensor<8x8xf32> from [#tenon.range<@model, offset = 2080, bytes = 256>]
  tenon.weight @blk.0.ffn_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 4768, bytes = 32>]
  tenon.weight @blk.0.ffn_gate.weight : tensor<32x8xf32> from [#tenon.range<@model, offset = 3744, bytes = 1024>]
  tenon.weight @blk.0.ffn_up.weight : tensor<32x8xf32> from [#tenon.range<@model, offset = 4800, bytes = 1024>]
  tenon.weight @blk.0.ffn_down.weight : tensor<8x32xf32> from [#tenon.range<@model, offset = 2720, bytes = 1024>]
  tenon.weight @blk.1.attn_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 5952, bytes = 32>]
  tenon.weight @blk.1.attn_q.weight : tensor<8x8xf32> from [#tenon.range<@model, offset = 6240, bytes = 256>]
  tenon.weight @blk.1.attn_k.weight : tensor<4x8xf32> from [#tenon.range<@model, offset = 5824, bytes = 128>]
  tenon.weight @blk.1.attn_v.weight : tensor<4x8xf32> from [#tenon.range<@model, offset = 6496, bytes = 128>]
  tenon.weight @blk.1.attn_output.weight : tensor<8x8xf32> from [#tenon.range<@model, offset = 5984, bytes = 256>]
  tenon.weight @blk.1.ffn_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 8672, bytes = 32>]
  tenon.weight @blk.1.ffn_gate.weight : tensor<32x8xf32> from [#tenon.range<@model, offset = 7648, bytes = 1024>]
  tenon.weight @blk.1.ffn_up.weight : tensor<32x8xf32> from [#tenon.range<@model, offset = 8704, bytes = 1024>]
  tenon.weight @blk.1.ffn_down.weight : tensor<8x32xf32> from [#tenon.range<@model, offset = 6624, bytes = 1024>]
  tenon.weight @output_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 9888, bytes = 32>]
  tenon.weight @output.weight : tensor<5x8xf32> from [#tenon.range<@model, offset = 9728, bytes = 160>]
  func.func @decode_1(%arg0: tensor<1xi32> {tenon.name = "ids", tenon.role = #tenon.port<ids>}, %arg1: tensor<1xi32> {tenon.name = "sequences", tenon.role = #tenon.port<sequences>}, %arg2: tensor<1xi32> {tenon.name = "positions", tenon.role = #tenon.port<positions>}) -> (tensor<1x5xf32> {tenon.name = "logits", tenon.role = #tenon.port<logits>}) attributes {tenon.entry = #tenon.entry<decode, rows = 1>, tenon.workspace = 1040 : i64} {
    %cst = tenon.constant dense<1.000000e+00> : tensor<1xf32> : tensor<1xf32>
    %token_embd.weight = tenon.get_weight @token_embd.weight : tensor<5x8xf32>
    %0 = tenon.kernel (%arg3 = %token_embd.weight : tensor<5x8xf32>, %arg4 = %arg0 : tensor<1xi32>) -> tensor<1x8xf32> schedule #tenon.schedule<"embedding", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 32>] {
      %45 = tenon.embedding %arg3, %arg4 : (tensor<5x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.0.attn_norm.weight = tenon.get_weight @blk.0.attn_norm.weight : tensor<8xf32>
    %1 = tenon.kernel (%arg3 = %0 : tensor<1x8xf32>, %arg4 = %blk.0.attn_norm.weight : tensor<8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 256, bytes = 32>] {
      %45 = tenon.rms_norm %arg3, %arg4 eps 9.9999997473787516E-6 order <chunk = 0, lanes = 32, tree = halving> : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.0.attn_q.weight = tenon.get_weight @blk.0.attn_q.weight : tensor<8x8xf32>
    %2 = tenon.kernel (%arg3 = %1 : tensor<1x8xf32>, %arg4 = %blk.0.attn_q.weight : tensor<8x8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 32>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.0.attn_k.weight = tenon.get_weight @blk.0.attn_k.weight : tensor<4x8xf32>
    %3 = tenon.kernel (%arg3 = %1 : tensor<1x8xf32>, %arg4 = %blk.0.attn_k.weight : tensor<4x8xf32>) -> tensor<1x4xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 768, bytes = 16>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
      tenon.yield %45 : tensor<1x4xf32>
    }
    %blk.0.attn_v.weight = tenon.get_weight @blk.0.attn_v.weight : tensor<4x8xf32>
    %4 = tenon.kernel (%arg3 = %1 : tensor<1x8xf32>, %arg4 = %blk.0.attn_v.weight : tensor<4x8xf32>) -> tensor<1x4xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 1024, bytes = 16>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
      tenon.yield %45 : tensor<1x4xf32>
    }
    %5 = tenon.reshape %2 to [1, 4, 2] : (tensor<1x8xf32>) -> tensor<1x4x2xf32>
    %6 = tenon.reshape %3 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %7 = tenon.reshape %4 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %8 = tenon.kernel (%arg3 = %5 : tensor<1x4x2xf32>, %arg4 = %arg2 : tensor<1xi32>, %arg5 = %cst : tensor<1xf32>) -> tensor<1x4x2xf32> schedule #tenon.schedule<"rope", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 256, bytes = 32>] {
      %45 = tenon.rope  adjacent %arg3, %arg4, %arg5 : (tensor<1x4x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x4x2xf32>
      tenon.yield %45 : tensor<1x4x2xf32>
    }
    %9 = tenon.kernel (%arg3 = %6 : tensor<1x2x2xf32>, %arg4 = %arg2 : tensor<1xi32>, %arg5 = %cst : tensor<1xf32>) -> tensor<1x2x2xf32> schedule #tenon.schedule<"rope", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 16>] {
      %45 = tenon.rope  adjacent %arg3, %arg4, %arg5 : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x2x2xf32>
      tenon.yield %45 : tensor<1x2x2xf32>
    }
    %kv.0.k = tenon.get_state @kv.0.k : <1x16x2x2xf32>
    %kv.0.v = tenon.get_state @kv.0.v : <1x16x2x2xf32>
    %10 = tenon.kernel (%arg3 = %9 : tensor<1x2x2xf32>, %arg4 = %arg1 : tensor<1xi32>, %arg5 = %arg2 : tensor<1xi32>, %arg6 = %kv.0.k : !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32> schedule #tenon.schedule<"kv_write", tiles = 1, {bytes_per_tile = 16 : i64}> buffers [unit] {
      %45 = tenon.kv_write %arg3, %arg4, %arg5 into %arg6 : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
      tenon.yield %45 : !tenon.state<1x16x2x2xf32>
    }
    %11 = tenon.kernel (%arg3 = %7 : tensor<1x2x2xf32>, %arg4 = %arg1 : tensor<1xi32>, %arg5 = %arg2 : tensor<1xi32>, %arg6 = %kv.0.v : !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32> schedule #tenon.schedule<"kv_write", tiles = 1, {bytes_per_tile = 16 : i64}> buffers [unit] {
      %45 = tenon.kv_write %arg3, %arg4, %arg5 into %arg6 : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
      tenon.yield %45 : !tenon.state<1x16x2x2xf32>
    }
    %12 = tenon.kernel (%arg3 = %8 : tensor<1x4x2xf32>, %arg4 = %10 : !tenon.state<1x16x2x2xf32>, %arg5 = %11 : !tenon.state<1x16x2x2xf32>, %arg6 = %arg1 : tensor<1xi32>, %arg7 = %arg2 : tensor<1xi32>) -> tensor<1x4x2xf32> schedule #tenon.schedule<"attention", tiles = 2, {heads_per_tile = 2 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 32>] {
      %45 = tenon.attention %arg3, %arg4, %arg5, %arg6, %arg7 scale 0.70710678118654746 order <chunk = 64, lanes = 8, tree = halving> : (tensor<1x4x2xf32>, !tenon.state<1x16x2x2xf32>, !tenon.state<1x16x2x2xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x2xf32>
      tenon.yield %45 : tensor<1x4x2xf32>
    }
    %13 = tenon.reshape %12 to [1, 8] : (tensor<1x4x2xf32>) -> tensor<1x8xf32>
    %blk.0.attn_output.weight = tenon.get_weight @blk.0.attn_output.weight : tensor<8x8xf32>
    %14 = tenon.kernel (%arg3 = %13 : tensor<1x8xf32>, %arg4 = %blk.0.attn_output.weight : tensor<8x8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 256, bytes = 32>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %15 = tenon.kernel (%arg3 = %0 : tensor<1x8xf32>, %arg4 = %14 : tensor<1x8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 8 : i64, row_elements = 8 : i64, rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 768, bytes = 32>] {
      %45 = tenon.add %arg3, %arg4 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.0.ffn_norm.weight = tenon.get_weight @blk.0.ffn_norm.weight : tensor<8xf32>
    %16 = tenon.kernel (%arg3 = %15 : tensor<1x8xf32>, %arg4 = %blk.0.ffn_norm.weight : tensor<8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 32>] {
      %45 = tenon.rms_norm %arg3, %arg4 eps 9.9999997473787516E-6 order <chunk = 0, lanes = 32, tree = halving> : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.0.ffn_gate.weight = tenon.get_weight @blk.0.ffn_gate.weight : tensor<32x8xf32>
    %17 = tenon.kernel (%arg3 = %16 : tensor<1x8xf32>, %arg4 = %blk.0.ffn_gate.weight : tensor<32x8xf32>) -> tensor<1x32xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 128>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
      tenon.yield %45 : tensor<1x32xf32>
    }
    %blk.0.ffn_up.weight = tenon.get_weight @blk.0.ffn_up.weight : tensor<32x8xf32>
    %18 = tenon.kernel (%arg3 = %16 : tensor<1x8xf32>, %arg4 = %blk.0.ffn_up.weight : tensor<32x8xf32>) -> tensor<1x32xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 256, bytes = 128>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
      tenon.yield %45 : tensor<1x32xf32>
    }
    %19 = tenon.kernel (%arg3 = %17 : tensor<1x32xf32>, %arg4 = %18 : tensor<1x32xf32>) -> tensor<1x32xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 32 : i64, row_elements = 32 : i64, rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 128>] {
      %45 = tenon.glu  silu %arg3, %arg4 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
      tenon.yield %45 : tensor<1x32xf32>
    }
    %blk.0.ffn_down.weight = tenon.get_weight @blk.0.ffn_down.weight : tensor<8x32xf32>
    %20 = tenon.kernel (%arg3 = %19 : tensor<1x32xf32>, %arg4 = %blk.0.ffn_down.weight : tensor<8x32xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 512 : i64, prefetch_bytes = 512 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 32>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %21 = tenon.kernel (%arg3 = %15 : tensor<1x8xf32>, %arg4 = %20 : tensor<1x8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 8 : i64, row_elements = 8 : i64, rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 256, bytes = 32>] {
      %45 = tenon.add %arg3, %arg4 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.1.attn_norm.weight = tenon.get_weight @blk.1.attn_norm.weight : tensor<8xf32>
    %22 = tenon.kernel (%arg3 = %21 : tensor<1x8xf32>, %arg4 = %blk.1.attn_norm.weight : tensor<8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 32>] {
      %45 = tenon.rms_norm %arg3, %arg4 eps 9.9999997473787516E-6 order <chunk = 0, lanes = 32, tree = halving> : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.1.attn_q.weight = tenon.get_weight @blk.1.attn_q.weight : tensor<8x8xf32>
    %23 = tenon.kernel (%arg3 = %22 : tensor<1x8xf32>, %arg4 = %blk.1.attn_q.weight : tensor<8x8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 32>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.1.attn_k.weight = tenon.get_weight @blk.1.attn_k.weight : tensor<4x8xf32>
    %24 = tenon.kernel (%arg3 = %22 : tensor<1x8xf32>, %arg4 = %blk.1.attn_k.weight : tensor<4x8xf32>) -> tensor<1x4xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 768, bytes = 16>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
      tenon.yield %45 : tensor<1x4xf32>
    }
    %blk.1.attn_v.weight = tenon.get_weight @blk.1.attn_v.weight : tensor<4x8xf32>
    %25 = tenon.kernel (%arg3 = %22 : tensor<1x8xf32>, %arg4 = %blk.1.attn_v.weight : tensor<4x8xf32>) -> tensor<1x4xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 1024, bytes = 16>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
      tenon.yield %45 : tensor<1x4xf32>
    }
    %26 = tenon.reshape %23 to [1, 4, 2] : (tensor<1x8xf32>) -> tensor<1x4x2xf32>
    %27 = tenon.reshape %24 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %28 = tenon.reshape %25 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %29 = tenon.kernel (%arg3 = %26 : tensor<1x4x2xf32>, %arg4 = %arg2 : tensor<1xi32>, %arg5 = %cst : tensor<1xf32>) -> tensor<1x4x2xf32> schedule #tenon.schedule<"rope", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 32>] {
      %45 = tenon.rope  adjacent %arg3, %arg4, %arg5 : (tensor<1x4x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x4x2xf32>
      tenon.yield %45 : tensor<1x4x2xf32>
    }
    %30 = tenon.kernel (%arg3 = %27 : tensor<1x2x2xf32>, %arg4 = %arg2 : tensor<1xi32>, %arg5 = %cst : tensor<1xf32>) -> tensor<1x2x2xf32> schedule #tenon.schedule<"rope", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 16>] {
      %45 = tenon.rope  adjacent %arg3, %arg4, %arg5 : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x2x2xf32>
      tenon.yield %45 : tensor<1x2x2xf32>
    }
    %kv.1.k = tenon.get_state @kv.1.k : <1x16x2x2xf32>
    %kv.1.v = tenon.get_state @kv.1.v : <1x16x2x2xf32>
    %31 = tenon.kernel (%arg3 = %30 : tensor<1x2x2xf32>, %arg4 = %arg1 : tensor<1xi32>, %arg5 = %arg2 : tensor<1xi32>, %arg6 = %kv.1.k : !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32> schedule #tenon.schedule<"kv_write", tiles = 1, {bytes_per_tile = 16 : i64}> buffers [unit] {
      %45 = tenon.kv_write %arg3, %arg4, %arg5 into %arg6 : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
      tenon.yield %45 : !tenon.state<1x16x2x2xf32>
    }
    %32 = tenon.kernel (%arg3 = %28 : tensor<1x2x2xf32>, %arg4 = %arg1 : tensor<1xi32>, %arg5 = %arg2 : tensor<1xi32>, %arg6 = %kv.1.v : !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32> schedule #tenon.schedule<"kv_write", tiles = 1, {bytes_per_tile = 16 : i64}> buffers [unit] {
      %45 = tenon.kv_write %arg3, %arg4, %arg5 into %arg6 : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
      tenon.yield %45 : !tenon.state<1x16x2x2xf32>
    }
    %33 = tenon.kernel (%arg3 = %29 : tensor<1x4x2xf32>, %arg4 = %31 : !tenon.state<1x16x2x2xf32>, %arg5 = %32 : !tenon.state<1x16x2x2xf32>, %arg6 = %arg1 : tensor<1xi32>, %arg7 = %arg2 : tensor<1xi32>) -> tensor<1x4x2xf32> schedule #tenon.schedule<"attention", tiles = 2, {heads_per_tile = 2 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 32>] {
      %45 = tenon.attention %arg3, %arg4, %arg5, %arg6, %arg7 scale 0.70710678118654746 order <chunk = 64, lanes = 8, tree = halving> : (tensor<1x4x2xf32>, !tenon.state<1x16x2x2xf32>, !tenon.state<1x16x2x2xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x2xf32>
      tenon.yield %45 : tensor<1x4x2xf32>
    }
    %34 = tenon.reshape %33 to [1, 8] : (tensor<1x4x2xf32>) -> tensor<1x8xf32>
    %blk.1.attn_output.weight = tenon.get_weight @blk.1.attn_output.weight : tensor<8x8xf32>
    %35 = tenon.kernel (%arg3 = %34 : tensor<1x8xf32>, %arg4 = %blk.1.attn_output.weight : tensor<8x8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 32>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %36 = tenon.kernel (%arg3 = %21 : tensor<1x8xf32>, %arg4 = %35 : tensor<1x8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 8 : i64, row_elements = 8 : i64, rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 768, bytes = 32>] {
      %45 = tenon.add %arg3, %arg4 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.1.ffn_norm.weight = tenon.get_weight @blk.1.ffn_norm.weight : tensor<8xf32>
    %37 = tenon.kernel (%arg3 = %36 : tensor<1x8xf32>, %arg4 = %blk.1.ffn_norm.weight : tensor<8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 32>] {
      %45 = tenon.rms_norm %arg3, %arg4 eps 9.9999997473787516E-6 order <chunk = 0, lanes = 32, tree = halving> : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %blk.1.ffn_gate.weight = tenon.get_weight @blk.1.ffn_gate.weight : tensor<32x8xf32>
    %38 = tenon.kernel (%arg3 = %37 : tensor<1x8xf32>, %arg4 = %blk.1.ffn_gate.weight : tensor<32x8xf32>) -> tensor<1x32xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 128>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
      tenon.yield %45 : tensor<1x32xf32>
    }
    %blk.1.ffn_up.weight = tenon.get_weight @blk.1.ffn_up.weight : tensor<32x8xf32>
    %39 = tenon.kernel (%arg3 = %37 : tensor<1x8xf32>, %arg4 = %blk.1.ffn_up.weight : tensor<32x8xf32>) -> tensor<1x32xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 256, bytes = 128>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
      tenon.yield %45 : tensor<1x32xf32>
    }
    %40 = tenon.kernel (%arg3 = %38 : tensor<1x32xf32>, %arg4 = %39 : tensor<1x32xf32>) -> tensor<1x32xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 32 : i64, row_elements = 32 : i64, rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 512, bytes = 128>] {
      %45 = tenon.glu  silu %arg3, %arg4 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
      tenon.yield %45 : tensor<1x32xf32>
    }
    %blk.1.ffn_down.weight = tenon.get_weight @blk.1.ffn_down.weight : tensor<8x32xf32>
    %41 = tenon.kernel (%arg3 = %40 : tensor<1x32xf32>, %arg4 = %blk.1.ffn_down.weight : tensor<8x32xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 512 : i64, prefetch_bytes = 512 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 32>] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %42 = tenon.kernel (%arg3 = %36 : tensor<1x8xf32>, %arg4 = %41 : tensor<1x8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"elementwise", tiles = 1, {columns_per_tile = 8 : i64, row_elements = 8 : i64, rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 256, bytes = 32>] {
      %45 = tenon.add %arg3, %arg4 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %output_norm.weight = tenon.get_weight @output_norm.weight : tensor<8xf32>
    %43 = tenon.kernel (%arg3 = %42 : tensor<1x8xf32>, %arg4 = %output_norm.weight : tensor<8xf32>) -> tensor<1x8xf32> schedule #tenon.schedule<"rms_norm", tiles = 1, {rows_per_tile = 1 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 32>] {
      %45 = tenon.rms_norm %arg3, %arg4 eps 9.9999997473787516E-6 order <chunk = 0, lanes = 32, tree = halving> : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
      tenon.yield %45 : tensor<1x8xf32>
    }
    %output.weight = tenon.get_weight @output.weight : tensor<5x8xf32>
    %44 = tenon.kernel (%arg3 = %43 : tensor<1x8xf32>, %arg4 = %output.weight : tensor<5x8xf32>) -> tensor<1x5xf32> schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 4 : i64, columns_per_tile = 2048 : i64, prefetch_bytes = 128 : i64, row_block = 1 : i64, step = 16 : i64}> buffers [unit] {
      %45 = tenon.matmul %arg3, %arg4 order <chunk = 0, lanes = 8, tree = halving> : (tensor<1x8xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
      tenon.yield %45 : tensor<1x5xf32>
    }
    return %44 : tensor<1x5xf32>
  }
}

