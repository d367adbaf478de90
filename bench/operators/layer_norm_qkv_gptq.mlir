// LayerNorm and the product of Q, K and V: y = LayerNorm(x) · Wᵀ, one row, 4096 → 12288,
// in eight copies with inputs and weights of their own, so that no weight is in the L2 cache when its turn
// comes: a copy takes an eighth of a call.
// GPTQ of 4 bits in groups of 128, symmetric.
//
//   tenon bench bench/operators/layer_norm_qkv_gptq.mlir --random-weights=1 --device=cuda --plans=unfused,auto --steps=1000
tenon.file @weights "operators.weights" bytes 207749120 fingerprint 0
tenon.weight @copy0.norm.weight : tensor<4096xf16> from [#tenon.range<@weights, offset = 0, bytes = 8192>]
tenon.weight @copy0.norm.bias : tensor<4096xf16> from [#tenon.range<@weights, offset = 8192, bytes = 8192>]
tenon.weight @copy0.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>> from [#tenon.range<@weights, offset = 16384, bytes = 25952256>]
tenon.weight @copy1.norm.weight : tensor<4096xf16> from [#tenon.range<@weights, offset = 25968640, bytes = 8192>]
tenon.weight @copy1.norm.bias : tensor<4096xf16> from [#tenon.range<@weights, offset = 25976832, bytes = 8192>]
tenon.weight @copy1.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>> from [#tenon.range<@weights, offset = 25985024, bytes = 25952256>]
tenon.weight @copy2.norm.weight : tensor<4096xf16> from [#tenon.range<@weights, offset = 51937280, bytes = 8192>]
tenon.weight @copy2.norm.bias : tensor<4096xf16> from [#tenon.range<@weights, offset = 51945472, bytes = 8192>]
tenon.weight @copy2.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>> from [#tenon.range<@weights, offset = 51953664, bytes = 25952256>]
tenon.weight @copy3.norm.weight : tensor<4096xf16> from [#tenon.range<@weights, offset = 77905920, bytes = 8192>]
tenon.weight @copy3.norm.bias : tensor<4096xf16> from [#tenon.range<@weights, offset = 77914112, bytes = 8192>]
tenon.weight @copy3.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>> from [#tenon.range<@weights, offset = 77922304, bytes = 25952256>]
tenon.weight @copy4.norm.weight : tensor<4096xf16> from [#tenon.range<@weights, offset = 103874560, bytes = 8192>]
tenon.weight @copy4.norm.bias : tensor<4096xf16> from [#tenon.range<@weights, offset = 103882752, bytes = 8192>]
tenon.weight @copy4.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>> from [#tenon.range<@weights, offset = 103890944, bytes = 25952256>]
tenon.weight @copy5.norm.weight : tensor<4096xf16> from [#tenon.range<@weights, offset = 129843200, bytes = 8192>]
tenon.weight @copy5.norm.bias : tensor<4096xf16> from [#tenon.range<@weights, offset = 129851392, bytes = 8192>]
tenon.weight @copy5.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>> from [#tenon.range<@weights, offset = 129859584, bytes = 25952256>]
tenon.weight @copy6.norm.weight : tensor<4096xf16> from [#tenon.range<@weights, offset = 155811840, bytes = 8192>]
tenon.weight @copy6.norm.bias : tensor<4096xf16> from [#tenon.range<@weights, offset = 155820032, bytes = 8192>]
tenon.weight @copy6.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>> from [#tenon.range<@weights, offset = 155828224, bytes = 25952256>]
tenon.weight @copy7.norm.weight : tensor<4096xf16> from [#tenon.range<@weights, offset = 181780480, bytes = 8192>]
tenon.weight @copy7.norm.bias : tensor<4096xf16> from [#tenon.range<@weights, offset = 181788672, bytes = 8192>]
tenon.weight @copy7.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>> from [#tenon.range<@weights, offset = 181796864, bytes = 25952256>]

func.func @layer_norm_qkv(%x0: tensor<1x4096xf16>, %x1: tensor<1x4096xf16>, %x2: tensor<1x4096xf16>, %x3: tensor<1x4096xf16>, %x4: tensor<1x4096xf16>, %x5: tensor<1x4096xf16>, %x6: tensor<1x4096xf16>, %x7: tensor<1x4096xf16>)
    -> (tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>) {
  %g0 = tenon.get_weight @copy0.norm.weight : tensor<4096xf16>
  %b0 = tenon.get_weight @copy0.norm.bias : tensor<4096xf16>
  %w0 = tenon.get_weight @copy0.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>>
  %n0 = tenon.layer_norm %x0 weight %g0 bias %b0 eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %y0 = tenon.matmul %n0, %w0 : (tensor<1x4096xf16>, tensor<12288x4096x!tenon.block<int4_g128x8_f16>>) -> tensor<1x12288xf16>
  %g1 = tenon.get_weight @copy1.norm.weight : tensor<4096xf16>
  %b1 = tenon.get_weight @copy1.norm.bias : tensor<4096xf16>
  %w1 = tenon.get_weight @copy1.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>>
  %n1 = tenon.layer_norm %x1 weight %g1 bias %b1 eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %y1 = tenon.matmul %n1, %w1 : (tensor<1x4096xf16>, tensor<12288x4096x!tenon.block<int4_g128x8_f16>>) -> tensor<1x12288xf16>
  %g2 = tenon.get_weight @copy2.norm.weight : tensor<4096xf16>
  %b2 = tenon.get_weight @copy2.norm.bias : tensor<4096xf16>
  %w2 = tenon.get_weight @copy2.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>>
  %n2 = tenon.layer_norm %x2 weight %g2 bias %b2 eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %y2 = tenon.matmul %n2, %w2 : (tensor<1x4096xf16>, tensor<12288x4096x!tenon.block<int4_g128x8_f16>>) -> tensor<1x12288xf16>
  %g3 = tenon.get_weight @copy3.norm.weight : tensor<4096xf16>
  %b3 = tenon.get_weight @copy3.norm.bias : tensor<4096xf16>
  %w3 = tenon.get_weight @copy3.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>>
  %n3 = tenon.layer_norm %x3 weight %g3 bias %b3 eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %y3 = tenon.matmul %n3, %w3 : (tensor<1x4096xf16>, tensor<12288x4096x!tenon.block<int4_g128x8_f16>>) -> tensor<1x12288xf16>
  %g4 = tenon.get_weight @copy4.norm.weight : tensor<4096xf16>
  %b4 = tenon.get_weight @copy4.norm.bias : tensor<4096xf16>
  %w4 = tenon.get_weight @copy4.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>>
  %n4 = tenon.layer_norm %x4 weight %g4 bias %b4 eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %y4 = tenon.matmul %n4, %w4 : (tensor<1x4096xf16>, tensor<12288x4096x!tenon.block<int4_g128x8_f16>>) -> tensor<1x12288xf16>
  %g5 = tenon.get_weight @copy5.norm.weight : tensor<4096xf16>
  %b5 = tenon.get_weight @copy5.norm.bias : tensor<4096xf16>
  %w5 = tenon.get_weight @copy5.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>>
  %n5 = tenon.layer_norm %x5 weight %g5 bias %b5 eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %y5 = tenon.matmul %n5, %w5 : (tensor<1x4096xf16>, tensor<12288x4096x!tenon.block<int4_g128x8_f16>>) -> tensor<1x12288xf16>
  %g6 = tenon.get_weight @copy6.norm.weight : tensor<4096xf16>
  %b6 = tenon.get_weight @copy6.norm.bias : tensor<4096xf16>
  %w6 = tenon.get_weight @copy6.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>>
  %n6 = tenon.layer_norm %x6 weight %g6 bias %b6 eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %y6 = tenon.matmul %n6, %w6 : (tensor<1x4096xf16>, tensor<12288x4096x!tenon.block<int4_g128x8_f16>>) -> tensor<1x12288xf16>
  %g7 = tenon.get_weight @copy7.norm.weight : tensor<4096xf16>
  %b7 = tenon.get_weight @copy7.norm.bias : tensor<4096xf16>
  %w7 = tenon.get_weight @copy7.qkv : tensor<12288x4096x!tenon.block<int4_g128x8_f16>>
  %n7 = tenon.layer_norm %x7 weight %g7 bias %b7 eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %y7 = tenon.matmul %n7, %w7 : (tensor<1x4096xf16>, tensor<12288x4096x!tenon.block<int4_g128x8_f16>>) -> tensor<1x12288xf16>
  return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7 : tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>, tensor<1x12288xf16>
}
