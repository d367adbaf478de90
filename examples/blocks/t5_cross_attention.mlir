// Attention of 12 rows to 20 that an encoder gave, with a bias that
// depends on the distance, and a gated MLP, after T5 1.1 (Raffel et al. 2020, arXiv 1910.10683).
tenon.file @weights "t5_cross_attention.safetensors" bytes 190272 fingerprint 3552115518634277304
tenon.weight @distances : tensor<32x4xf32> from [#tenon.range<@weights, offset = 832, bytes = 512>]
tenon.weight @norm1 : tensor<64xf32> from [#tenon.range<@weights, offset = 1344, bytes = 256>]
tenon.weight @query.weight : tensor<64x64xf32> from [#tenon.range<@weights, offset = 1600, bytes = 16384>]
tenon.weight @key.weight : tensor<64x64xf32> from [#tenon.range<@weights, offset = 17984, bytes = 16384>]
tenon.weight @value.weight : tensor<64x64xf32> from [#tenon.range<@weights, offset = 34368, bytes = 16384>]
tenon.weight @out.weight : tensor<64x64xf32> from [#tenon.range<@weights, offset = 50752, bytes = 16384>]
tenon.weight @norm2 : tensor<64xf32> from [#tenon.range<@weights, offset = 67136, bytes = 256>]
tenon.weight @gate.weight : tensor<160x64xf32> from [#tenon.range<@weights, offset = 67392, bytes = 40960>]
tenon.weight @up.weight : tensor<160x64xf32> from [#tenon.range<@weights, offset = 108352, bytes = 40960>]
tenon.weight @down.weight : tensor<64x160xf32> from [#tenon.range<@weights, offset = 149312, bytes = 40960>]

func.func @t5_cross_attention(%x: tensor<12x64xf32> {tenon.name = "x"}, %encoded: tensor<20x64xf32> {tenon.name = "encoded"}, %mask: tensor<20xf32> {tenon.name = "mask"})
    -> (tensor<12x64xf32> {tenon.name = "hidden"}) {

  // A bias a head, by the bucket that the distance of row and key falls into.
  %buckets = tenon.constant dense<[[0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25, 25, 25, 25, 26, 26, 26, 26], [1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25, 25, 25, 25, 26, 26, 26], [2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25, 25, 25, 25, 26, 26], [3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25, 25, 25, 25, 26], [4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25, 25, 25, 25], [5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25, 25, 25], [6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25, 25], [7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25], [8, 7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24], [8, 8, 7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24], [8, 8, 8, 7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24], [8, 8, 8, 8, 7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24]]> : tensor<12x20xi32> : tensor<12x20xi32>
  %distances = tenon.get_weight @distances : tensor<32x4xf32>
  %rows = tenon.embedding %distances, %buckets : (tensor<32x4xf32>, tensor<12x20xi32>) -> tensor<12x20x4xf32>
  %bias = tenon.transpose %rows by [2, 0, 1] : (tensor<12x20x4xf32>) -> tensor<4x12x20xf32>
  %c = tenon.constant dense<1.000000000e+00> : tensor<1xf32> : tensor<1xf32>
  %sub = tenon.sub %mask, %c : (tensor<20xf32>, tensor<1xf32>) -> tensor<20xf32>
  %unseen = tenon.scale %sub by 1.000000000e+09 : (tensor<20xf32>) -> tensor<20xf32>

  // attention
  %norm1 = tenon.get_weight @norm1 : tensor<64xf32>
  %square = tenon.square %x : (tensor<12x64xf32>) -> tensor<12x64xf32>
  %mean = tenon.reduce mean %square : (tensor<12x64xf32>) -> tensor<12x1xf32>
  %c_2 = tenon.constant dense<1.000000000e-06> : tensor<1xf32> : tensor<1xf32>
  %add = tenon.add %mean, %c_2 : (tensor<12x1xf32>, tensor<1xf32>) -> tensor<12x1xf32>
  %rsqrt = tenon.rsqrt %add : (tensor<12x1xf32>) -> tensor<12x1xf32>
  %mul = tenon.mul %x, %rsqrt : (tensor<12x64xf32>, tensor<12x1xf32>) -> tensor<12x64xf32>
  %norm = tenon.mul %mul, %norm1 : (tensor<12x64xf32>, tensor<64xf32>) -> tensor<12x64xf32>
  %query.weight = tenon.get_weight @query.weight : tensor<64x64xf32>
  %query = tenon.matmul %norm, %query.weight : (tensor<12x64xf32>, tensor<64x64xf32>) -> tensor<12x64xf32>
  %key.weight = tenon.get_weight @key.weight : tensor<64x64xf32>
  %key = tenon.matmul %encoded, %key.weight : (tensor<20x64xf32>, tensor<64x64xf32>) -> tensor<20x64xf32>
  %value.weight = tenon.get_weight @value.weight : tensor<64x64xf32>
  %value = tenon.matmul %encoded, %value.weight : (tensor<20x64xf32>, tensor<64x64xf32>) -> tensor<20x64xf32>
  %view = tenon.reshape %query to [12, 4, 16] : (tensor<12x64xf32>) -> tensor<12x4x16xf32>
  %heads = tenon.transpose %view by [1, 0, 2] : (tensor<12x4x16xf32>) -> tensor<4x12x16xf32>
  %view_2 = tenon.reshape %key to [20, 4, 16] : (tensor<20x64xf32>) -> tensor<20x4x16xf32>
  %heads_2 = tenon.transpose %view_2 by [1, 0, 2] : (tensor<20x4x16xf32>) -> tensor<4x20x16xf32>
  %view_3 = tenon.reshape %value to [20, 4, 16] : (tensor<20x64xf32>) -> tensor<20x4x16xf32>
  %values = tenon.transpose %view_3 by [1, 2, 0] : (tensor<20x4x16xf32>) -> tensor<4x16x20xf32>
  %scores = tenon.matmul %heads, %heads_2 : (tensor<4x12x16xf32>, tensor<4x20x16xf32>) -> tensor<4x12x20xf32>
  %masked = tenon.add %scores, %bias : (tensor<4x12x20xf32>, tensor<4x12x20xf32>) -> tensor<4x12x20xf32>
  %masked_2 = tenon.add %masked, %unseen : (tensor<4x12x20xf32>, tensor<20xf32>) -> tensor<4x12x20xf32>
  %shares = tenon.softmax %masked_2 : (tensor<4x12x20xf32>) -> tensor<4x12x20xf32>
  %mixed = tenon.matmul %shares, %values : (tensor<4x12x20xf32>, tensor<4x16x20xf32>) -> tensor<4x12x16xf32>
  %turned = tenon.transpose %mixed by [1, 0, 2] : (tensor<4x12x16xf32>) -> tensor<12x4x16xf32>
  %view_4 = tenon.reshape %turned to [12, 64] : (tensor<12x4x16xf32>) -> tensor<12x64xf32>
  %out.weight = tenon.get_weight @out.weight : tensor<64x64xf32>
  %out = tenon.matmul %view_4, %out.weight : (tensor<12x64xf32>, tensor<64x64xf32>) -> tensor<12x64xf32>
  %residual = tenon.add %x, %out : (tensor<12x64xf32>, tensor<12x64xf32>) -> tensor<12x64xf32>

  // MLP
  %norm2 = tenon.get_weight @norm2 : tensor<64xf32>
  %square_2 = tenon.square %residual : (tensor<12x64xf32>) -> tensor<12x64xf32>
  %mean_2 = tenon.reduce mean %square_2 : (tensor<12x64xf32>) -> tensor<12x1xf32>
  %add_2 = tenon.add %mean_2, %c_2 : (tensor<12x1xf32>, tensor<1xf32>) -> tensor<12x1xf32>
  %rsqrt_2 = tenon.rsqrt %add_2 : (tensor<12x1xf32>) -> tensor<12x1xf32>
  %mul_2 = tenon.mul %residual, %rsqrt_2 : (tensor<12x64xf32>, tensor<12x1xf32>) -> tensor<12x64xf32>
  %norm_2 = tenon.mul %mul_2, %norm2 : (tensor<12x64xf32>, tensor<64xf32>) -> tensor<12x64xf32>
  %gate.weight = tenon.get_weight @gate.weight : tensor<160x64xf32>
  %gate = tenon.matmul %norm_2, %gate.weight : (tensor<12x64xf32>, tensor<160x64xf32>) -> tensor<12x160xf32>
  %square_3 = tenon.square %gate : (tensor<12x160xf32>) -> tensor<12x160xf32>
  %mul_3 = tenon.mul %square_3, %gate : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  %scaled = tenon.scale %mul_3 by 4.471500000e-02 : (tensor<12x160xf32>) -> tensor<12x160xf32>
  %add_3 = tenon.add %gate, %scaled : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  %scaled_2 = tenon.scale %add_3 by 7.978845608e-01 : (tensor<12x160xf32>) -> tensor<12x160xf32>
  %tanh = tenon.tanh %scaled_2 : (tensor<12x160xf32>) -> tensor<12x160xf32>
  %add_4 = tenon.add %tanh, %c : (tensor<12x160xf32>, tensor<1xf32>) -> tensor<12x160xf32>
  %mul_4 = tenon.mul %gate, %add_4 : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  %gelu = tenon.scale %mul_4 by 5.000000000e-01 : (tensor<12x160xf32>) -> tensor<12x160xf32>
  %up.weight = tenon.get_weight @up.weight : tensor<160x64xf32>
  %up = tenon.matmul %norm_2, %up.weight : (tensor<12x64xf32>, tensor<160x64xf32>) -> tensor<12x160xf32>
  %gated = tenon.mul %gelu, %up : (tensor<12x160xf32>, tensor<12x160xf32>) -> tensor<12x160xf32>
  %down.weight = tenon.get_weight @down.weight : tensor<64x160xf32>
  %down = tenon.matmul %gated, %down.weight : (tensor<12x160xf32>, tensor<64x160xf32>) -> tensor<12x64xf32>
  %residual_2 = tenon.add %residual, %down : (tensor<12x64xf32>, tensor<12x64xf32>) -> tensor<12x64xf32>
  return %residual_2 : tensor<12x64xf32>
}
