module attributes {tenon.model = #tenon.model<architecture = "llama", name = "a test's model", file = @model, vocabulary = 5, contextLength = 16, sequences = 1>, tenon.phase = #tenon.phase<input>} {
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
  func.func @decode_1(%arg0: tensor<1xi32> {tenon.name = "ids", tenon.role = #tenon.port<ids>}, %arg1: tensor<1xi32> {tenon.name = "sequences", tenon.role = #tenon.port<sequences>}, %arg2: tensor<1xi32> {tenon.name = "positions", tenon.role = #tenon.port<positions>}) -> (tensor<1x5xf32> {tenon.name = "logits", tenon.role = #tenon.port<logits>}) attributes {tenon.entry = #tenon.entry<decode, rows = 1>} {
    %cst = tenon.constant dense<1.000000e+00> : tensor<1xf32> : tensor<1xf32>
    %token_embd.weight = tenon.get_weight @token_embd.weight : tensor<5x8xf32>
    %0 = tenon.embedding %token_embd.weight, %arg0 : (tensor<5x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
    %blk.0.attn_norm.weight = tenon.get_weight @blk.0.attn_norm.weight : tensor<8xf32>
    %1 = tenon.rms_norm %0, %blk.0.attn_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %blk.0.attn_q.weight = tenon.get_weight @blk.0.attn_q.weight : tensor<8x8xf32>
    %2 = tenon.matmul %1, %blk.0.attn_q.weight : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %blk.0.attn_k.weight = tenon.get_weight @blk.0.attn_k.weight : tensor<4x8xf32>
    %3 = tenon.matmul %1, %blk.0.attn_k.weight : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %blk.0.attn_v.weight = tenon.get_weight @blk.0.attn_v.weight : tensor<4x8xf32>
    %4 = tenon.matmul %1, %blk.0.attn_v.weight : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %5 = tenon.reshape %2 to [1, 4, 2] : (tensor<1x8xf32>) -> tensor<1x4x2xf32>
    %6 = tenon.reshape %3 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %7 = tenon.reshape %4 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %8 = tenon.rope  adjacent %5, %arg2, %cst : (tensor<1x4x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x4x2xf32>
    %9 = tenon.rope  adjacent %6, %arg2, %cst : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x2x2xf32>
    %kv.0.k = tenon.get_state @kv.0.k : <1x16x2x2xf32>
    %kv.0.v = tenon.get_state @kv.0.v : <1x16x2x2xf32>
    %10 = tenon.kv_write %9, %arg1, %arg2 into %kv.0.k : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
    %11 = tenon.kv_write %7, %arg1, %arg2 into %kv.0.v : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
    %12 = tenon.attention %8, %10, %11, %arg1, %arg2 scale 0.70710678118654746 : (tensor<1x4x2xf32>, !tenon.state<1x16x2x2xf32>, !tenon.state<1x16x2x2xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x2xf32>
    %13 = tenon.reshape %12 to [1, 8] : (tensor<1x4x2xf32>) -> tensor<1x8xf32>
    %blk.0.attn_output.weight = tenon.get_weight @blk.0.attn_output.weight : tensor<8x8xf32>
    %14 = tenon.matmul %13, %blk.0.attn_output.weight : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %15 = tenon.add %0, %14 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %blk.0.ffn_norm.weight = tenon.get_weight @blk.0.ffn_norm.weight : tensor<8xf32>
    %16 = tenon.rms_norm %15, %blk.0.ffn_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %blk.0.ffn_gate.weight = tenon.get_weight @blk.0.ffn_gate.weight : tensor<32x8xf32>
    %17 = tenon.matmul %16, %blk.0.ffn_gate.weight : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
    %blk.0.ffn_up.weight = tenon.get_weight @blk.0.ffn_up.weight : tensor<32x8xf32>
    %18 = tenon.matmul %16, %blk.0.ffn_up.weight : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
    %19 = tenon.glu  silu %17, %18 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %blk.0.ffn_down.weight = tenon.get_weight @blk.0.ffn_down.weight : tensor<8x32xf32>
    %20 = tenon.matmul %19, %blk.0.ffn_down.weight : (tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<1x8xf32>
    %21 = tenon.add %15, %20 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %blk.1.attn_norm.weight = tenon.get_weight @blk.1.attn_norm.weight : tensor<8xf32>
    %22 = tenon.rms_norm %21, %blk.1.attn_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %blk.1.attn_q.weight = tenon.get_weight @blk.1.attn_q.weight : tensor<8x8xf32>
    %23 = tenon.matmul %22, %blk.1.attn_q.weight : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %blk.1.attn_k.weight = tenon.get_weight @blk.1.attn_k.weight : tensor<4x8xf32>
    %24 = tenon.matmul %22, %blk.1.attn_k.weight : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %blk.1.attn_v.weight = tenon.get_weight @blk.1.attn_v.weight : tensor<4x8xf32>
    %25 = tenon.matmul %22, %blk.1.attn_v.weight : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %26 = tenon.reshape %23 to [1, 4, 2] : (tensor<1x8xf32>) -> tensor<1x4x2xf32>
    %27 = tenon.reshape %24 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %28 = tenon.reshape %25 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %29 = tenon.rope  adjacent %26, %arg2, %cst : (tensor<1x4x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x4x2xf32>
    %30 = tenon.rope  adjacent %27, %arg2, %cst : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x2x2xf32>
    %kv.1.k = tenon.get_state @kv.1.k : <1x16x2x2xf32>
    %kv.1.v = tenon.get_state @kv.1.v : <1x16x2x2xf32>
    %31 = tenon.kv_write %30, %arg1, %arg2 into %kv.1.k : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
    %32 = tenon.kv_write %28, %arg1, %arg2 into %kv.1.v : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
    %33 = tenon.attention %29, %31, %32, %arg1, %arg2 scale 0.70710678118654746 : (tensor<1x4x2xf32>, !tenon.state<1x16x2x2xf32>, !tenon.state<1x16x2x2xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x2xf32>
    %34 = tenon.reshape %33 to [1, 8] : (tensor<1x4x2xf32>) -> tensor<1x8xf32>
    %blk.1.attn_output.weight = tenon.get_weight @blk.1.attn_output.weight : tensor<8x8xf32>
    %35 = tenon.matmul %34, %blk.1.attn_output.weight : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %36 = tenon.add %21, %35 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %blk.1.ffn_norm.weight = tenon.get_weight @blk.1.ffn_norm.weight : tensor<8xf32>
    %37 = tenon.rms_norm %36, %blk.1.ffn_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %blk.1.ffn_gate.weight = tenon.get_weight @blk.1.ffn_gate.weight : tensor<32x8xf32>
    %38 = tenon.matmul %37, %blk.1.ffn_gate.weight : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
    %blk.1.ffn_up.weight = tenon.get_weight @blk.1.ffn_up.weight : tensor<32x8xf32>
    %39 = tenon.matmul %37, %blk.1.ffn_up.weight : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
    %40 = tenon.glu  silu %38, %39 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %blk.1.ffn_down.weight = tenon.get_weight @blk.1.ffn_down.weight : tensor<8x32xf32>
    %41 = tenon.matmul %40, %blk.1.ffn_down.weight : (tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<1x8xf32>
    %42 = tenon.add %36, %41 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %output_norm.weight = tenon.get_weight @output_norm.weight : tensor<8xf32>
    %43 = tenon.rms_norm %42, %output_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %output.weight = tenon.get_weight @output.weight : tensor<5x8xf32>
    %44 = tenon.matmul %43, %output.weight : (tensor<1x8xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
    return %44 : tensor<1x5xf32>
  }
}

