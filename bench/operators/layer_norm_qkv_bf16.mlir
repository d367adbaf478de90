// LayerNorm and the product of Q, K and V: y = LayerNorm(x) · Wᵀ, one row, 4096 → 12288,
// in eight copies with inputs and weights of their own, so that no weight is in the L2 cache when its turn
// comes: a copy takes an eighth of a call.
// The same in bfloat16.
//
//   tenon bench bench/operators/layer_norm_qkv_bf16.mlir --random-weights=1 --device=cuda --plans=unfused,auto --steps=1000
tenon.file @weights "operators.weights" bytes 805437440 fingerprint 0
tenon.weight @copy0.norm.weight : tensor<4096xbf16> from [#tenon.range<@weights, offset = 0, bytes = 8192>]
tenon.weight @copy0.norm.bias : tensor<4096xbf16> from [#tenon.range<@weights, offset = 8192, bytes = 8192>]
tenon.weight @copy0.qkv : tensor<12288x4096xbf16> from [#tenon.range<@weights, offset = 16384, bytes = 100663296>]
tenon.weight @copy1.norm.weight : tensor<4096xbf16> from [#tenon.range<@weights, offset = 100679680, bytes = 8192>]
tenon.weight @copy1.norm.bias : tensor<4096xbf16> from [#tenon.range<@weights, offset = 100687872, bytes = 8192>]
tenon.weight @copy1.qkv : tensor<12288x4096xbf16> from [#tenon.range<@weights, offset = 100696064, bytes = 100663296>]
tenon.weight @copy2.norm.weight : tensor<4096xbf16> from [#tenon.range<@weights, offset = 201359360, bytes = 8192>]
tenon.weight @copy2.norm.bias : tensor<4096xbf16> from [#tenon.range<@weights, offset = 201367552, bytes = 8192>]
tenon.weight @copy2.qkv : tensor<12288x4096xbf16> from [#tenon.range<@weights, offset = 201375744, bytes = 100663296>]
tenon.weight @copy3.norm.weight : tensor<4096xbf16> from [#tenon.range<@weights, offset = 302039040, bytes = 8192>]
tenon.weight @copy3.norm.bias : tensor<4096xbf16> from [#tenon.range<@weights, offset = 302047232, bytes = 8192>]
tenon.weight @copy3.qkv : tensor<12288x4096xbf16> from [#tenon.range<@weights, offset = 302055424, bytes = 100663296>]
tenon.weight @copy4.norm.weight : tensor<4096xbf16> from [#tenon.range<@weights, offset = 402718720, bytes = 8192>]
tenon.weight @copy4.norm.bias : tensor<4096xbf16> from [#tenon.range<@weights, offset = 402726912, bytes = 8192>]
tenon.weight @copy4.qkv : tensor<12288x4096xbf16> from [#tenon.range<@weights, offset = 402735104, bytes = 100663296>]
tenon.weight @copy5.norm.weight : tensor<4096xbf16> from [#tenon.range<@weights, offset = 503398400, bytes = 8192>]
tenon.weight @copy5.norm.bias : tensor<4096xbf16> from [#tenon.range<@weights, offset = 503406592, bytes = 8192>]
tenon.weight @copy5.qkv : tensor<12288x4096xbf16> from [#tenon.range<@weights, offset = 503414784, bytes = 100663296>]
tenon.weight @copy6.norm.weight : tensor<4096xbf16> from [#tenon.range<@weights, offset = 604078080, bytes = 8192>]
tenon.weight @copy6.norm.bias : tensor<4096xbf16> from [#tenon.range<@weights, offset = 604086272, bytes = 8192>]
tenon.weight @copy6.qkv : tensor<12288x4096xbf16> from [#tenon.range<@weights, offset = 604094464, bytes = 100663296>]
tenon.weight @copy7.norm.weight : tensor<4096xbf16> from [#tenon.range<@weights, offset = 704757760, bytes = 8192>]
tenon.weight @copy7.norm.bias : tensor<4096xbf16> from [#tenon.range<@weights, offset = 704765952, bytes = 8192>]
tenon.weight @copy7.qkv : tensor<12288x4096xbf16> from [#tenon.range<@weights, offset = 704774144, bytes = 100663296>]

func.func @layer_norm_qkv(%x0: tensor<1x4096xbf16>, %x1: tensor<1x4096xbf16>, %x2: tensor<1x4096xbf16>, %x3: tensor<1x4096xbf16>, %x4: tensor<1x4096xbf16>, %x5: tensor<1x4096xbf16>, %x6: tensor<1x4096xbf16>, %x7: tensor<1x4096xbf16>)
    -> (tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>) {
  %g0 = tenon.get_weight @copy0.norm.weight : tensor<4096xbf16>
  %b0 = tenon.get_weight @copy0.norm.bias : tensor<4096xbf16>
  %w0 = tenon.get_weight @copy0.qkv : tensor<12288x4096xbf16>
  %n0 = tenon.layer_norm %x0 weight %g0 bias %b0 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y0 = tenon.matmul %n0, %w0 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %g1 = tenon.get_weight @copy1.norm.weight : tensor<4096xbf16>
  %b1 = tenon.get_weight @copy1.norm.bias : tensor<4096xbf16>
  %w1 = tenon.get_weight @copy1.qkv : tensor<12288x4096xbf16>
  %n1 = tenon.layer_norm %x1 weight %g1 bias %b1 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y1 = tenon.matmul %n1, %w1 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %g2 = tenon.get_weight @copy2.norm.weight : tensor<4096xbf16>
  %b2 = tenon.get_weight @copy2.norm.bias : tensor<4096xbf16>
  %w2 = tenon.get_weight @copy2.qkv : tensor<12288x4096xbf16>
  %n2 = tenon.layer_norm %x2 weight %g2 bias %b2 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y2 = tenon.matmul %n2, %w2 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %g3 = tenon.get_weight @copy3.norm.weight : tensor<4096xbf16>
  %b3 = tenon.get_weight @copy3.norm.bias : tensor<4096xbf16>
  %w3 = tenon.get_weight @copy3.qkv : tensor<12288x4096xbf16>
  %n3 = tenon.layer_norm %x3 weight %g3 bias %b3 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y3 = tenon.matmul %n3, %w3 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %g4 = tenon.get_weight @copy4.norm.weight : tensor<4096xbf16>
  %b4 = tenon.get_weight @copy4.norm.bias : tensor<4096xbf16>
  %w4 = tenon.get_weight @copy4.qkv : tensor<12288x4096xbf16>
  %n4 = tenon.layer_norm %x4 weight %g4 bias %b4 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y4 = tenon.matmul %n4, %w4 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %g5 = tenon.get_weight @copy5.norm.weight : tensor<4096xbf16>
  %b5 = tenon.get_weight @copy5.norm.bias : tensor<4096xbf16>
  %w5 = tenon.get_weight @copy5.qkv : tensor<12288x4096xbf16>
  %n5 = tenon.layer_norm %x5 weight %g5 bias %b5 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y5 = tenon.matmul %n5, %w5 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %g6 = tenon.get_weight @copy6.norm.weight : tensor<4096xbf16>
  %b6 = tenon.get_weight @copy6.norm.bias : tensor<4096xbf16>
  %w6 = tenon.get_weight @copy6.qkv : tensor<12288x4096xbf16>
  %n6 = tenon.layer_norm %x6 weight %g6 bias %b6 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y6 = tenon.matmul %n6, %w6 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %g7 = tenon.get_weight @copy7.norm.weight : tensor<4096xbf16>
  %b7 = tenon.get_weight @copy7.norm.bias : tensor<4096xbf16>
  %w7 = tenon.get_weight @copy7.qkv : tensor<12288x4096xbf16>
  %n7 = tenon.layer_norm %x7 weight %g7 bias %b7 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y7 = tenon.matmul %n7, %w7 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7 : tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>
}
