module attributes {tenon.model = #tenon.model<architecture = "gemma2", name = "a test's model", file = @model, vocabulary = 5, contextLength = 16, sequences = 1>, tenon.phase = #tenon.phase<input>} {
  tenon.file @model "gemma2.gguf" bytes 10208 fingerprint -7214541058029100502
  tenon.state @kv.0.k : !tenon.state<1x16x2x2xf32>
  tenon.state @kv.0.v : !tenon.state<1x16x2x2xf32>
  tenon.state @kv.1.k : !tenon.state<1x16x2x2xf32>
  tenon.state @kv.1.v : !tenon.state<1x16x2x2xf32>
  tenon.weight @token_embd.weight : tensor<5x8xf32> from [#tenon.range<@model, offset = 10048, bytes = 160>]
  tenon.weight @blk.0.attn_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 2208, bytes = 32>]
  tenon.weight @blk.0.attn_q.weight : tensor<8x8xf32> from [#tenon.range<@model, offset = 2496, bytes = 256>]
  tenon.weight @blk.0.attn_k.weight : tensor<4x8xf32> from [#tenon.range<@model, offset = 2080, bytes = 128>]
  tenon.weight @blk.0.attn_v.weight : tensor<4x8xf32> from [#tenon.range<@model, offset = 2752, bytes = 128>]
  tenon.weight @blk.0.attn_output.weight : tensor<8x8xf32> from [#tenon.range<@model, offset = 2240, bytes = 256>]
  tenon.weight @blk.0.post_attention_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 5984, bytes = 32>]
  tenon.weight @blk.0.ffn_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 4928, bytes = 32>]
  tenon.weight @blk.0.ffn_gate.weight : tensor<32x8xf32> from [#tenon.range<@model, offset = 3904, bytes = 1024>]
  tenon.weight @blk.0.ffn_up.weight : tensor<32x8xf32> from [#tenon.range<@model, offset = 4960, bytes = 1024>]
  tenon.weight @blk.0.ffn_down.weight : tensor<8x32xf32> from [#tenon.range<@model, offset = 2880, bytes = 1024>]
  tenon.weight @blk.0.post_ffw_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 6016, bytes = 32>]
  tenon.weight @blk.1.attn_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 6176, bytes = 32>]
  tenon.weight @blk.1.attn_q.weight : tensor<8x8xf32> from [#tenon.range<@model, offset = 6464, bytes = 256>]
  tenon.weight @blk.1.attn_k.weight : tensor<4x8xf32> from [#tenon.range<@model, offset = 6048, bytes = 128>]
  tenon.weight @blk.1.attn_v.weight : tensor<4x8xf32> from [#tenon.range<@model, offset = 6720, bytes = 128>]
  tenon.weight @blk.1.attn_output.weight : tensor<8x8xf32> from [#tenon.range<@model, offset = 6208, bytes = 256>]
  tenon.weight @blk.1.post_attention_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 9952, bytes = 32>]
  tenon.weight @blk.1.ffn_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 8896, bytes = 32>]
  tenon.weight @blk.1.ffn_gate.weight : tensor<32x8xf32> from [#tenon.range<@model, offset = 7872, bytes = 1024>]
  tenon.weight @blk.1.ffn_up.weight : tensor<32x8xf32> from [#tenon.range<@model, offset = 8928, bytes = 1024>]
  tenon.weight @blk.1.ffn_down.weight : tensor<8x32xf32> from [#tenon.range<@model, offset = 6848, bytes = 1024>]
  tenon.weight @blk.1.post_ffw_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 9984, bytes = 32>]
  tenon.weight @output_norm.weight : tensor<8xf32> from [#tenon.range<@model, offset = 10016, bytes = 32>]
  func.func @decode_1(%arg0: tensor<1xi32> {tenon.name = "ids", tenon.role = #tenon.port<ids>}, %arg1: tensor<1xi32> {tenon.name = "sequences", tenon.role = #tenon.port<sequences>}, %arg2: tensor<1xi32> {tenon.name = "positions", tenon.role = #tenon.port<positions>}) -> (tensor<1x5xf32> {tenon.name = "logits", tenon.role = #tenon.port<logits>}) attributes {tenon.entry = #tenon.entry<decode, rows = 1>} {
    %cst = tenon.constant dense<1.000000e+00> : tensor<1xf32> : tensor<1xf32>
    %token_embd.weight = tenon.get_weight @token_embd.weight : tensor<5x8xf32>
    %0 = tenon.embedding %token_embd.weight, %arg0 : (tensor<5x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
    %1 = tenon.scale %0 by 2.8284270763397217 : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %blk.0.attn_norm.weight = tenon.get_weight @blk.0.attn_norm.weight : tensor<8xf32>
    %2 = tenon.rms_norm %1, %blk.0.attn_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %blk.0.attn_q.weight = tenon.get_weight @blk.0.attn_q.weight : tensor<8x8xf32>
    %3 = tenon.matmul %2, %blk.0.attn_q.weight : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %blk.0.attn_k.weight = tenon.get_weight @blk.0.attn_k.weight : tensor<4x8xf32>
    %4 = tenon.matmul %2, %blk.0.attn_k.weight : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %blk.0.attn_v.weight = tenon.get_weight @blk.0.attn_v.weight : tensor<4x8xf32>
    %5 = tenon.matmul %2, %blk.0.attn_v.weight : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %6 = tenon.reshape %3 to [1, 4, 2] : (tensor<1x8xf32>) -> tensor<1x4x2xf32>
    %7 = tenon.reshape %4 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %8 = tenon.reshape %5 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %9 = tenon.rope  halves %6, %arg2, %cst : (tensor<1x4x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x4x2xf32>
    %10 = tenon.rope  halves %7, %arg2, %cst : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x2x2xf32>
    %kv.0.k = tenon.get_state @kv.0.k : <1x16x2x2xf32>
    %kv.0.v = tenon.get_state @kv.0.v : <1x16x2x2xf32>
    %11 = tenon.kv_write %10, %arg1, %arg2 into %kv.0.k : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
    %12 = tenon.kv_write %8, %arg1, %arg2 into %kv.0.v : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
    %13 = tenon.attention %9, %11, %12, %arg1, %arg2 scale 0.70710678118654746 {softcap = 4.000000e+01 : f64, window = 6 : i64} : (tensor<1x4x2xf32>, !tenon.state<1x16x2x2xf32>, !tenon.state<1x16x2x2xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x2xf32>
    %14 = tenon.reshape %13 to [1, 8] : (tensor<1x4x2xf32>) -> tensor<1x8xf32>
    %blk.0.attn_output.weight = tenon.get_weight @blk.0.attn_output.weight : tensor<8x8xf32>
    %15 = tenon.matmul %14, %blk.0.attn_output.weight : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %blk.0.post_attention_norm.weight = tenon.get_weight @blk.0.post_attention_norm.weight : tensor<8xf32>
    %16 = tenon.rms_norm %15, %blk.0.post_attention_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %17 = tenon.add %1, %16 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %blk.0.ffn_norm.weight = tenon.get_weight @blk.0.ffn_norm.weight : tensor<8xf32>
    %18 = tenon.rms_norm %17, %blk.0.ffn_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %blk.0.ffn_gate.weight = tenon.get_weight @blk.0.ffn_gate.weight : tensor<32x8xf32>
    %19 = tenon.matmul %18, %blk.0.ffn_gate.weight : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
    %blk.0.ffn_up.weight = tenon.get_weight @blk.0.ffn_up.weight : tensor<32x8xf32>
    %20 = tenon.matmul %18, %blk.0.ffn_up.weight : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
    %21 = tenon.glu  gelu_tanh %19, %20 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %blk.0.ffn_down.weight = tenon.get_weight @blk.0.ffn_down.weight : tensor<8x32xf32>
    %22 = tenon.matmul %21, %blk.0.ffn_down.weight : (tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<1x8xf32>
    %blk.0.post_ffw_norm.weight = tenon.get_weight @blk.0.post_ffw_norm.weight : tensor<8xf32>
    %23 = tenon.rms_norm %22, %blk.0.post_ffw_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %24 = tenon.add %17, %23 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %blk.1.attn_norm.weight = tenon.get_weight @blk.1.attn_norm.weight : tensor<8xf32>
    %25 = tenon.rms_norm %24, %blk.1.attn_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %blk.1.attn_q.weight = tenon.get_weight @blk.1.attn_q.weight : tensor<8x8xf32>
    %26 = tenon.matmul %25, %blk.1.attn_q.weight : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %blk.1.attn_k.weight = tenon.get_weight @blk.1.attn_k.weight : tensor<4x8xf32>
    %27 = tenon.matmul %25, %blk.1.attn_k.weight : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %blk.1.attn_v.weight = tenon.get_weight @blk.1.attn_v.weight : tensor<4x8xf32>
    %28 = tenon.matmul %25, %blk.1.attn_v.weight : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %29 = tenon.reshape %26 to [1, 4, 2] : (tensor<1x8xf32>) -> tensor<1x4x2xf32>
    %30 = tenon.reshape %27 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %31 = tenon.reshape %28 to [1, 2, 2] : (tensor<1x4xf32>) -> tensor<1x2x2xf32>
    %32 = tenon.rope  halves %29, %arg2, %cst : (tensor<1x4x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x4x2xf32>
    %33 = tenon.rope  halves %30, %arg2, %cst : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x2x2xf32>
    %kv.1.k = tenon.get_state @kv.1.k : <1x16x2x2xf32>
    %kv.1.v = tenon.get_state @kv.1.v : <1x16x2x2xf32>
    %34 = tenon.kv_write %33, %arg1, %arg2 into %kv.1.k : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
    %35 = tenon.kv_write %31, %arg1, %arg2 into %kv.1.v : (tensor<1x2x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x16x2x2xf32>) -> !tenon.state<1x16x2x2xf32>
    %36 = tenon.attention %32, %34, %35, %arg1, %arg2 scale 0.70710678118654746 {softcap = 4.000000e+01 : f64} : (tensor<1x4x2xf32>, !tenon.state<1x16x2x2xf32>, !tenon.state<1x16x2x2xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x2xf32>
    %37 = tenon.reshape %36 to [1, 8] : (tensor<1x4x2xf32>) -> tensor<1x8xf32>
    %blk.1.attn_output.weight = tenon.get_weight @blk.1.attn_output.weight : tensor<8x8xf32>
    %38 = tenon.matmul %37, %blk.1.attn_output.weight : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %blk.1.post_attention_norm.weight = tenon.get_weight @blk.1.post_attention_norm.weight : tensor<8xf32>
    %39 = tenon.rms_norm %38, %blk.1.post_attention_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %40 = tenon.add %24, %39 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %blk.1.ffn_norm.weight = tenon.get_weight @blk.1.ffn_norm.weight : tensor<8xf32>
    %41 = tenon.rms_norm %40, %blk.1.ffn_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %blk.1.ffn_gate.weight = tenon.get_weight @blk.1.ffn_gate.weight : tensor<32x8xf32>
    %42 = tenon.matmul %41, %blk.1.ffn_gate.weight : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
    %blk.1.ffn_up.weight = tenon.get_weight @blk.1.ffn_up.weight : tensor<32x8xf32>
    %43 = tenon.matmul %41, %blk.1.ffn_up.weight : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<1x32xf32>
    %44 = tenon.glu  gelu_tanh %42, %43 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %blk.1.ffn_down.weight = tenon.get_weight @blk.1.ffn_down.weight : tensor<8x32xf32>
    %45 = tenon.matmul %44, %blk.1.ffn_down.weight : (tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<1x8xf32>
    %blk.1.post_ffw_norm.weight = tenon.get_weight @blk.1.post_ffw_norm.weight : tensor<8xf32>
    %46 = tenon.rms_norm %45, %blk.1.post_ffw_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %47 = tenon.add %40, %46 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %output_norm.weight = tenon.get_weight @output_norm.weight : tensor<8xf32>
    %48 = tenon.rms_norm %47, %output_norm.weight eps 9.9999997473787516E-6 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
    %49 = tenon.matmul %48, %token_embd.weight : (tensor<1x8xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
    %cst_0 = tenon.constant dense<2.000000e+01> : tensor<1xf32> : tensor<1xf32>
    %50 = tenon.div %49, %cst_0 : (tensor<1x5xf32>, tensor<1xf32>) -> tensor<1x5xf32>
    %51 = tenon.tanh %50 : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %52 = tenon.scale %51 by 2.000000e+01 : (tensor<1x5xf32>) -> tensor<1x5xf32>
    return %52 : tensor<1x5xf32>
  }
}

