// LayerNorm and the product of Q, K and V: y = LayerNorm(x) · Wᵀ, one row, 4096 → 12288,
// in 40 copies with inputs of their own and eight sets of weights in turn, so that no weight is in the L2
// cache when its turn comes: a copy takes a fortieth of a call, of which launching the graph and ending it
// are little then.
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

func.func @layer_norm_qkv(
    %x0: tensor<1x4096xbf16>, %x1: tensor<1x4096xbf16>, %x2: tensor<1x4096xbf16>, %x3: tensor<1x4096xbf16>,
    %x4: tensor<1x4096xbf16>, %x5: tensor<1x4096xbf16>, %x6: tensor<1x4096xbf16>, %x7: tensor<1x4096xbf16>,
    %x8: tensor<1x4096xbf16>, %x9: tensor<1x4096xbf16>, %x10: tensor<1x4096xbf16>, %x11: tensor<1x4096xbf16>,
    %x12: tensor<1x4096xbf16>, %x13: tensor<1x4096xbf16>, %x14: tensor<1x4096xbf16>, %x15: tensor<1x4096xbf16>,
    %x16: tensor<1x4096xbf16>, %x17: tensor<1x4096xbf16>, %x18: tensor<1x4096xbf16>, %x19: tensor<1x4096xbf16>,
    %x20: tensor<1x4096xbf16>, %x21: tensor<1x4096xbf16>, %x22: tensor<1x4096xbf16>, %x23: tensor<1x4096xbf16>,
    %x24: tensor<1x4096xbf16>, %x25: tensor<1x4096xbf16>, %x26: tensor<1x4096xbf16>, %x27: tensor<1x4096xbf16>,
    %x28: tensor<1x4096xbf16>, %x29: tensor<1x4096xbf16>, %x30: tensor<1x4096xbf16>, %x31: tensor<1x4096xbf16>,
    %x32: tensor<1x4096xbf16>, %x33: tensor<1x4096xbf16>, %x34: tensor<1x4096xbf16>, %x35: tensor<1x4096xbf16>,
    %x36: tensor<1x4096xbf16>, %x37: tensor<1x4096xbf16>, %x38: tensor<1x4096xbf16>, %x39: tensor<1x4096xbf16>)
    -> (tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
        tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
        tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
        tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
        tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
        tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
        tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
        tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>) {
  %g0 = tenon.get_weight @copy0.norm.weight : tensor<4096xbf16>
  %b0 = tenon.get_weight @copy0.norm.bias : tensor<4096xbf16>
  %w0 = tenon.get_weight @copy0.qkv : tensor<12288x4096xbf16>
  %g1 = tenon.get_weight @copy1.norm.weight : tensor<4096xbf16>
  %b1 = tenon.get_weight @copy1.norm.bias : tensor<4096xbf16>
  %w1 = tenon.get_weight @copy1.qkv : tensor<12288x4096xbf16>
  %g2 = tenon.get_weight @copy2.norm.weight : tensor<4096xbf16>
  %b2 = tenon.get_weight @copy2.norm.bias : tensor<4096xbf16>
  %w2 = tenon.get_weight @copy2.qkv : tensor<12288x4096xbf16>
  %g3 = tenon.get_weight @copy3.norm.weight : tensor<4096xbf16>
  %b3 = tenon.get_weight @copy3.norm.bias : tensor<4096xbf16>
  %w3 = tenon.get_weight @copy3.qkv : tensor<12288x4096xbf16>
  %g4 = tenon.get_weight @copy4.norm.weight : tensor<4096xbf16>
  %b4 = tenon.get_weight @copy4.norm.bias : tensor<4096xbf16>
  %w4 = tenon.get_weight @copy4.qkv : tensor<12288x4096xbf16>
  %g5 = tenon.get_weight @copy5.norm.weight : tensor<4096xbf16>
  %b5 = tenon.get_weight @copy5.norm.bias : tensor<4096xbf16>
  %w5 = tenon.get_weight @copy5.qkv : tensor<12288x4096xbf16>
  %g6 = tenon.get_weight @copy6.norm.weight : tensor<4096xbf16>
  %b6 = tenon.get_weight @copy6.norm.bias : tensor<4096xbf16>
  %w6 = tenon.get_weight @copy6.qkv : tensor<12288x4096xbf16>
  %g7 = tenon.get_weight @copy7.norm.weight : tensor<4096xbf16>
  %b7 = tenon.get_weight @copy7.norm.bias : tensor<4096xbf16>
  %w7 = tenon.get_weight @copy7.qkv : tensor<12288x4096xbf16>
  %n0 = tenon.layer_norm %x0 weight %g0 bias %b0 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y0 = tenon.matmul %n0, %w0 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n1 = tenon.layer_norm %x1 weight %g1 bias %b1 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y1 = tenon.matmul %n1, %w1 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n2 = tenon.layer_norm %x2 weight %g2 bias %b2 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y2 = tenon.matmul %n2, %w2 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n3 = tenon.layer_norm %x3 weight %g3 bias %b3 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y3 = tenon.matmul %n3, %w3 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n4 = tenon.layer_norm %x4 weight %g4 bias %b4 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y4 = tenon.matmul %n4, %w4 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n5 = tenon.layer_norm %x5 weight %g5 bias %b5 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y5 = tenon.matmul %n5, %w5 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n6 = tenon.layer_norm %x6 weight %g6 bias %b6 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y6 = tenon.matmul %n6, %w6 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n7 = tenon.layer_norm %x7 weight %g7 bias %b7 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y7 = tenon.matmul %n7, %w7 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n8 = tenon.layer_norm %x8 weight %g0 bias %b0 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y8 = tenon.matmul %n8, %w0 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n9 = tenon.layer_norm %x9 weight %g1 bias %b1 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y9 = tenon.matmul %n9, %w1 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n10 = tenon.layer_norm %x10 weight %g2 bias %b2 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y10 = tenon.matmul %n10, %w2 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n11 = tenon.layer_norm %x11 weight %g3 bias %b3 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y11 = tenon.matmul %n11, %w3 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n12 = tenon.layer_norm %x12 weight %g4 bias %b4 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y12 = tenon.matmul %n12, %w4 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n13 = tenon.layer_norm %x13 weight %g5 bias %b5 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y13 = tenon.matmul %n13, %w5 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n14 = tenon.layer_norm %x14 weight %g6 bias %b6 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y14 = tenon.matmul %n14, %w6 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n15 = tenon.layer_norm %x15 weight %g7 bias %b7 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y15 = tenon.matmul %n15, %w7 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n16 = tenon.layer_norm %x16 weight %g0 bias %b0 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y16 = tenon.matmul %n16, %w0 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n17 = tenon.layer_norm %x17 weight %g1 bias %b1 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y17 = tenon.matmul %n17, %w1 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n18 = tenon.layer_norm %x18 weight %g2 bias %b2 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y18 = tenon.matmul %n18, %w2 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n19 = tenon.layer_norm %x19 weight %g3 bias %b3 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y19 = tenon.matmul %n19, %w3 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n20 = tenon.layer_norm %x20 weight %g4 bias %b4 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y20 = tenon.matmul %n20, %w4 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n21 = tenon.layer_norm %x21 weight %g5 bias %b5 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y21 = tenon.matmul %n21, %w5 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n22 = tenon.layer_norm %x22 weight %g6 bias %b6 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y22 = tenon.matmul %n22, %w6 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n23 = tenon.layer_norm %x23 weight %g7 bias %b7 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y23 = tenon.matmul %n23, %w7 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n24 = tenon.layer_norm %x24 weight %g0 bias %b0 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y24 = tenon.matmul %n24, %w0 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n25 = tenon.layer_norm %x25 weight %g1 bias %b1 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y25 = tenon.matmul %n25, %w1 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n26 = tenon.layer_norm %x26 weight %g2 bias %b2 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y26 = tenon.matmul %n26, %w2 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n27 = tenon.layer_norm %x27 weight %g3 bias %b3 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y27 = tenon.matmul %n27, %w3 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n28 = tenon.layer_norm %x28 weight %g4 bias %b4 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y28 = tenon.matmul %n28, %w4 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n29 = tenon.layer_norm %x29 weight %g5 bias %b5 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y29 = tenon.matmul %n29, %w5 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n30 = tenon.layer_norm %x30 weight %g6 bias %b6 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y30 = tenon.matmul %n30, %w6 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n31 = tenon.layer_norm %x31 weight %g7 bias %b7 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y31 = tenon.matmul %n31, %w7 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n32 = tenon.layer_norm %x32 weight %g0 bias %b0 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y32 = tenon.matmul %n32, %w0 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n33 = tenon.layer_norm %x33 weight %g1 bias %b1 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y33 = tenon.matmul %n33, %w1 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n34 = tenon.layer_norm %x34 weight %g2 bias %b2 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y34 = tenon.matmul %n34, %w2 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n35 = tenon.layer_norm %x35 weight %g3 bias %b3 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y35 = tenon.matmul %n35, %w3 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n36 = tenon.layer_norm %x36 weight %g4 bias %b4 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y36 = tenon.matmul %n36, %w4 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n37 = tenon.layer_norm %x37 weight %g5 bias %b5 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y37 = tenon.matmul %n37, %w5 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n38 = tenon.layer_norm %x38 weight %g6 bias %b6 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y38 = tenon.matmul %n38, %w6 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  %n39 = tenon.layer_norm %x39 weight %g7 bias %b7 eps 1.0e-5 : (tensor<1x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<1x4096xbf16>
  %y39 = tenon.matmul %n39, %w7 : (tensor<1x4096xbf16>, tensor<12288x4096xbf16>) -> tensor<1x12288xbf16>
  return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8, %y9, %y10, %y11, %y12, %y13, %y14, %y15, %y16, %y17, %y18, %y19,
      %y20, %y21, %y22, %y23, %y24, %y25, %y26, %y27, %y28, %y29, %y30, %y31, %y32, %y33, %y34, %y35, %y36, %y37, %y38, %y39 :
      tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
      tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
      tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
      tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
      tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
      tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
      tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>,
      tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>, tensor<1x12288xbf16>
}
