// Embeddings and a block of BERT (Devlin et al. 2019, arXiv 1810.04805), 16
// tokens; a token whose mask is 0 is no key.
tenon.file @weights "bert_block.safetensors" bytes 278496 fingerprint 2461655570539574031
tenon.weight @words : tensor<64x72xf32> from [#tenon.range<@weights, offset = 1728, bytes = 18432>]
tenon.weight @segments : tensor<2x72xf32> from [#tenon.range<@weights, offset = 20160, bytes = 576>]
tenon.weight @places : tensor<16x72xf32> from [#tenon.range<@weights, offset = 20736, bytes = 4608>]
tenon.weight @norm.weight : tensor<72xf32> from [#tenon.range<@weights, offset = 25344, bytes = 288>]
tenon.weight @norm.bias : tensor<72xf32> from [#tenon.range<@weights, offset = 25632, bytes = 288>]
tenon.weight @query.bias : tensor<72xf32> from [#tenon.range<@weights, offset = 25920, bytes = 288>]
tenon.weight @query.weight : tensor<72x72xf32> from [#tenon.range<@weights, offset = 26208, bytes = 20736>]
tenon.weight @key.bias : tensor<72xf32> from [#tenon.range<@weights, offset = 46944, bytes = 288>]
tenon.weight @key.weight : tensor<72x72xf32> from [#tenon.range<@weights, offset = 47232, bytes = 20736>]
tenon.weight @value.bias : tensor<72xf32> from [#tenon.range<@weights, offset = 67968, bytes = 288>]
tenon.weight @value.weight : tensor<72x72xf32> from [#tenon.range<@weights, offset = 68256, bytes = 20736>]
tenon.weight @out.bias : tensor<72xf32> from [#tenon.range<@weights, offset = 88992, bytes = 288>]
tenon.weight @out.weight : tensor<72x72xf32> from [#tenon.range<@weights, offset = 89280, bytes = 20736>]
tenon.weight @norm1.weight : tensor<72xf32> from [#tenon.range<@weights, offset = 110016, bytes = 288>]
tenon.weight @norm1.bias : tensor<72xf32> from [#tenon.range<@weights, offset = 110304, bytes = 288>]
tenon.weight @up.bias : tensor<288xf32> from [#tenon.range<@weights, offset = 110592, bytes = 1152>]
tenon.weight @up.weight : tensor<288x72xf32> from [#tenon.range<@weights, offset = 111744, bytes = 82944>]
tenon.weight @down.bias : tensor<72xf32> from [#tenon.range<@weights, offset = 194688, bytes = 288>]
tenon.weight @down.weight : tensor<72x288xf32> from [#tenon.range<@weights, offset = 194976, bytes = 82944>]
tenon.weight @norm2.weight : tensor<72xf32> from [#tenon.range<@weights, offset = 277920, bytes = 288>]
tenon.weight @norm2.bias : tensor<72xf32> from [#tenon.range<@weights, offset = 278208, bytes = 288>]

func.func @bert_block(%ids: tensor<16xi32> {tenon.name = "ids"}, %types: tensor<16xi32> {tenon.name = "types"}, %mask: tensor<16xf32> {tenon.name = "mask"})
    -> (tensor<16x72xf32> {tenon.name = "hidden"}) {
  %words = tenon.get_weight @words : tensor<64x72xf32>
  %rows = tenon.embedding %words, %ids : (tensor<64x72xf32>, tensor<16xi32>) -> tensor<16x72xf32>
  %segments = tenon.get_weight @segments : tensor<2x72xf32>
  %rows_2 = tenon.embedding %segments, %types : (tensor<2x72xf32>, tensor<16xi32>) -> tensor<16x72xf32>
  %add = tenon.add %rows, %rows_2 : (tensor<16x72xf32>, tensor<16x72xf32>) -> tensor<16x72xf32>
  %places = tenon.get_weight @places : tensor<16x72xf32>
  %placed = tenon.add %add, %places : (tensor<16x72xf32>, tensor<16x72xf32>) -> tensor<16x72xf32>
  %norm.weight = tenon.get_weight @norm.weight : tensor<72xf32>
  %norm.bias = tenon.get_weight @norm.bias : tensor<72xf32>
  %mean = tenon.reduce mean %placed : (tensor<16x72xf32>) -> tensor<16x1xf32>
  %centred = tenon.sub %placed, %mean : (tensor<16x72xf32>, tensor<16x1xf32>) -> tensor<16x72xf32>
  %square = tenon.square %centred : (tensor<16x72xf32>) -> tensor<16x72xf32>
  %mean_2 = tenon.reduce mean %square : (tensor<16x72xf32>) -> tensor<16x1xf32>
  %c = tenon.constant dense<1.000000000e-12> : tensor<1xf32> : tensor<1xf32>
  %add_2 = tenon.add %mean_2, %c : (tensor<16x1xf32>, tensor<1xf32>) -> tensor<16x1xf32>
  %rsqrt = tenon.rsqrt %add_2 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %mul = tenon.mul %centred, %rsqrt : (tensor<16x72xf32>, tensor<16x1xf32>) -> tensor<16x72xf32>
  %mul_2 = tenon.mul %mul, %norm.weight : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %norm = tenon.add %mul_2, %norm.bias : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %c_2 = tenon.constant dense<1.000000000e+00> : tensor<1xf32> : tensor<1xf32>
  %sub = tenon.sub %mask, %c_2 : (tensor<16xf32>, tensor<1xf32>) -> tensor<16xf32>
  %unseen = tenon.scale %sub by 1.000000000e+09 : (tensor<16xf32>) -> tensor<16xf32>

  // attention
  %query.bias = tenon.get_weight @query.bias : tensor<72xf32>
  %query.weight = tenon.get_weight @query.weight : tensor<72x72xf32>
  %query = tenon.matmul %norm, %query.weight : (tensor<16x72xf32>, tensor<72x72xf32>) -> tensor<16x72xf32>
  %query_biased = tenon.add %query, %query.bias : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %key.bias = tenon.get_weight @key.bias : tensor<72xf32>
  %key.weight = tenon.get_weight @key.weight : tensor<72x72xf32>
  %key = tenon.matmul %norm, %key.weight : (tensor<16x72xf32>, tensor<72x72xf32>) -> tensor<16x72xf32>
  %key_biased = tenon.add %key, %key.bias : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %value.bias = tenon.get_weight @value.bias : tensor<72xf32>
  %value.weight = tenon.get_weight @value.weight : tensor<72x72xf32>
  %value = tenon.matmul %norm, %value.weight : (tensor<16x72xf32>, tensor<72x72xf32>) -> tensor<16x72xf32>
  %value_biased = tenon.add %value, %value.bias : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %view = tenon.reshape %query_biased to [16, 6, 12] : (tensor<16x72xf32>) -> tensor<16x6x12xf32>
  %heads = tenon.transpose %view by [1, 0, 2] : (tensor<16x6x12xf32>) -> tensor<6x16x12xf32>
  %view_2 = tenon.reshape %key_biased to [16, 6, 12] : (tensor<16x72xf32>) -> tensor<16x6x12xf32>
  %heads_2 = tenon.transpose %view_2 by [1, 0, 2] : (tensor<16x6x12xf32>) -> tensor<6x16x12xf32>
  %view_3 = tenon.reshape %value_biased to [16, 6, 12] : (tensor<16x72xf32>) -> tensor<16x6x12xf32>
  %values = tenon.transpose %view_3 by [1, 2, 0] : (tensor<16x6x12xf32>) -> tensor<6x12x16xf32>
  %scores = tenon.matmul %heads, %heads_2 : (tensor<6x16x12xf32>, tensor<6x16x12xf32>) -> tensor<6x16x16xf32>
  %scaled = tenon.scale %scores by 2.886751346e-01 : (tensor<6x16x16xf32>) -> tensor<6x16x16xf32>
  %masked = tenon.add %scaled, %unseen : (tensor<6x16x16xf32>, tensor<16xf32>) -> tensor<6x16x16xf32>
  %shares = tenon.softmax %masked : (tensor<6x16x16xf32>) -> tensor<6x16x16xf32>
  %mixed = tenon.matmul %shares, %values : (tensor<6x16x16xf32>, tensor<6x12x16xf32>) -> tensor<6x16x12xf32>
  %turned = tenon.transpose %mixed by [1, 0, 2] : (tensor<6x16x12xf32>) -> tensor<16x6x12xf32>
  %view_4 = tenon.reshape %turned to [16, 72] : (tensor<16x6x12xf32>) -> tensor<16x72xf32>
  %out.bias = tenon.get_weight @out.bias : tensor<72xf32>
  %out.weight = tenon.get_weight @out.weight : tensor<72x72xf32>
  %out = tenon.matmul %view_4, %out.weight : (tensor<16x72xf32>, tensor<72x72xf32>) -> tensor<16x72xf32>
  %out_biased = tenon.add %out, %out.bias : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %residual = tenon.add %norm, %out_biased : (tensor<16x72xf32>, tensor<16x72xf32>) -> tensor<16x72xf32>
  %norm1.weight = tenon.get_weight @norm1.weight : tensor<72xf32>
  %norm1.bias = tenon.get_weight @norm1.bias : tensor<72xf32>
  %mean_3 = tenon.reduce mean %residual : (tensor<16x72xf32>) -> tensor<16x1xf32>
  %centred_2 = tenon.sub %residual, %mean_3 : (tensor<16x72xf32>, tensor<16x1xf32>) -> tensor<16x72xf32>
  %square_2 = tenon.square %centred_2 : (tensor<16x72xf32>) -> tensor<16x72xf32>
  %mean_4 = tenon.reduce mean %square_2 : (tensor<16x72xf32>) -> tensor<16x1xf32>
  %add_3 = tenon.add %mean_4, %c : (tensor<16x1xf32>, tensor<1xf32>) -> tensor<16x1xf32>
  %rsqrt_2 = tenon.rsqrt %add_3 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %mul_3 = tenon.mul %centred_2, %rsqrt_2 : (tensor<16x72xf32>, tensor<16x1xf32>) -> tensor<16x72xf32>
  %mul_4 = tenon.mul %mul_3, %norm1.weight : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %norm_2 = tenon.add %mul_4, %norm1.bias : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>

  // MLP
  %up.bias = tenon.get_weight @up.bias : tensor<288xf32>
  %up.weight = tenon.get_weight @up.weight : tensor<288x72xf32>
  %up = tenon.matmul %norm_2, %up.weight : (tensor<16x72xf32>, tensor<288x72xf32>) -> tensor<16x288xf32>
  %up_biased = tenon.add %up, %up.bias : (tensor<16x288xf32>, tensor<288xf32>) -> tensor<16x288xf32>
  %scaled_2 = tenon.scale %up_biased by 7.071067812e-01 : (tensor<16x288xf32>) -> tensor<16x288xf32>
  %erf = tenon.erf %scaled_2 : (tensor<16x288xf32>) -> tensor<16x288xf32>
  %add_4 = tenon.add %erf, %c_2 : (tensor<16x288xf32>, tensor<1xf32>) -> tensor<16x288xf32>
  %mul_5 = tenon.mul %up_biased, %add_4 : (tensor<16x288xf32>, tensor<16x288xf32>) -> tensor<16x288xf32>
  %gelu = tenon.scale %mul_5 by 5.000000000e-01 : (tensor<16x288xf32>) -> tensor<16x288xf32>
  %down.bias = tenon.get_weight @down.bias : tensor<72xf32>
  %down.weight = tenon.get_weight @down.weight : tensor<72x288xf32>
  %down = tenon.matmul %gelu, %down.weight : (tensor<16x288xf32>, tensor<72x288xf32>) -> tensor<16x72xf32>
  %down_biased = tenon.add %down, %down.bias : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %residual_2 = tenon.add %norm_2, %down_biased : (tensor<16x72xf32>, tensor<16x72xf32>) -> tensor<16x72xf32>
  %norm2.weight = tenon.get_weight @norm2.weight : tensor<72xf32>
  %norm2.bias = tenon.get_weight @norm2.bias : tensor<72xf32>
  %mean_5 = tenon.reduce mean %residual_2 : (tensor<16x72xf32>) -> tensor<16x1xf32>
  %centred_3 = tenon.sub %residual_2, %mean_5 : (tensor<16x72xf32>, tensor<16x1xf32>) -> tensor<16x72xf32>
  %square_3 = tenon.square %centred_3 : (tensor<16x72xf32>) -> tensor<16x72xf32>
  %mean_6 = tenon.reduce mean %square_3 : (tensor<16x72xf32>) -> tensor<16x1xf32>
  %add_5 = tenon.add %mean_6, %c : (tensor<16x1xf32>, tensor<1xf32>) -> tensor<16x1xf32>
  %rsqrt_3 = tenon.rsqrt %add_5 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %mul_6 = tenon.mul %centred_3, %rsqrt_3 : (tensor<16x72xf32>, tensor<16x1xf32>) -> tensor<16x72xf32>
  %mul_7 = tenon.mul %mul_6, %norm2.weight : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  %norm_3 = tenon.add %mul_7, %norm2.bias : (tensor<16x72xf32>, tensor<72xf32>) -> tensor<16x72xf32>
  return %norm_3 : tensor<16x72xf32>
}
