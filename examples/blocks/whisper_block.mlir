// 40 frames of a spectrogram through two convolutions, one of stride 2, and a
// block of Whisper's encoder (Radford et al. 2022, arXiv 2212.04356).
tenon.file @weights "whisper_block.safetensors" bytes 285248 fingerprint -7687351026327583873
tenon.weight @conv1.weight : tensor<64x80x3xf32> from [#tenon.range<@weights, offset = 1856, bytes = 61440>]
tenon.weight @conv1.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 63296, bytes = 256>]
tenon.weight @conv2.weight : tensor<64x64x3xf32> from [#tenon.range<@weights, offset = 63552, bytes = 49152>]
tenon.weight @conv2.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 112704, bytes = 256>]
tenon.weight @positions : tensor<20x64xf32> from [#tenon.range<@weights, offset = 112960, bytes = 5120>]
tenon.weight @norm1.weight : tensor<64xf32> from [#tenon.range<@weights, offset = 118080, bytes = 256>]
tenon.weight @norm1.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 118336, bytes = 256>]
tenon.weight @query.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 118592, bytes = 256>]
tenon.weight @query.weight : tensor<64x64xf32> from [#tenon.range<@weights, offset = 118848, bytes = 16384>]
tenon.weight @key.weight : tensor<64x64xf32> from [#tenon.range<@weights, offset = 135232, bytes = 16384>]
tenon.weight @value.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 151616, bytes = 256>]
tenon.weight @value.weight : tensor<64x64xf32> from [#tenon.range<@weights, offset = 151872, bytes = 16384>]
tenon.weight @out.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 168256, bytes = 256>]
tenon.weight @out.weight : tensor<64x64xf32> from [#tenon.range<@weights, offset = 168512, bytes = 16384>]
tenon.weight @norm2.weight : tensor<64xf32> from [#tenon.range<@weights, offset = 184896, bytes = 256>]
tenon.weight @norm2.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 185152, bytes = 256>]
tenon.weight @up.bias : tensor<192xf32> from [#tenon.range<@weights, offset = 185408, bytes = 768>]
tenon.weight @up.weight : tensor<192x64xf32> from [#tenon.range<@weights, offset = 186176, bytes = 49152>]
tenon.weight @down.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 235328, bytes = 256>]
tenon.weight @down.weight : tensor<64x192xf32> from [#tenon.range<@weights, offset = 235584, bytes = 49152>]
tenon.weight @norm.weight : tensor<64xf32> from [#tenon.range<@weights, offset = 284736, bytes = 256>]
tenon.weight @norm.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 284992, bytes = 256>]

func.func @whisper_block(%mel: tensor<1x80x40xf32> {tenon.name = "mel"})
    -> (tensor<20x64xf32> {tenon.name = "hidden"}) {

  // conv1: its windows, and a product with all of each
  %patches = tenon.patches %mel window [3] strides [1] low [1] high [1] : (tensor<1x80x40xf32>) -> tensor<1x40x240xf32>
  %conv1.weight = tenon.get_weight @conv1.weight : tensor<64x80x3xf32>
  %view = tenon.reshape %conv1.weight to [64, 240] : (tensor<64x80x3xf32>) -> tensor<64x240xf32>
  %conv1.bias = tenon.get_weight @conv1.bias : tensor<64xf32>
  %conv1 = tenon.matmul %patches, %view : (tensor<1x40x240xf32>, tensor<64x240xf32>) -> tensor<1x40x64xf32>
  %conv1_biased = tenon.add %conv1, %conv1.bias : (tensor<1x40x64xf32>, tensor<64xf32>) -> tensor<1x40x64xf32>
  %scaled = tenon.scale %conv1_biased by 7.071067812e-01 : (tensor<1x40x64xf32>) -> tensor<1x40x64xf32>
  %erf = tenon.erf %scaled : (tensor<1x40x64xf32>) -> tensor<1x40x64xf32>
  %c = tenon.constant dense<1.000000000e+00> : tensor<1xf32> : tensor<1xf32>
  %add = tenon.add %erf, %c : (tensor<1x40x64xf32>, tensor<1xf32>) -> tensor<1x40x64xf32>
  %mul = tenon.mul %conv1_biased, %add : (tensor<1x40x64xf32>, tensor<1x40x64xf32>) -> tensor<1x40x64xf32>
  %gelu = tenon.scale %mul by 5.000000000e-01 : (tensor<1x40x64xf32>) -> tensor<1x40x64xf32>
  %channels = tenon.transpose %gelu by [0, 2, 1] : (tensor<1x40x64xf32>) -> tensor<1x64x40xf32>

  // conv2: its windows, and a product with all of each
  %patches_2 = tenon.patches %channels window [3] strides [2] low [1] high [1] : (tensor<1x64x40xf32>) -> tensor<1x20x192xf32>
  %conv2.weight = tenon.get_weight @conv2.weight : tensor<64x64x3xf32>
  %view_2 = tenon.reshape %conv2.weight to [64, 192] : (tensor<64x64x3xf32>) -> tensor<64x192xf32>
  %conv2.bias = tenon.get_weight @conv2.bias : tensor<64xf32>
  %conv2 = tenon.matmul %patches_2, %view_2 : (tensor<1x20x192xf32>, tensor<64x192xf32>) -> tensor<1x20x64xf32>
  %conv2_biased = tenon.add %conv2, %conv2.bias : (tensor<1x20x64xf32>, tensor<64xf32>) -> tensor<1x20x64xf32>
  %scaled_2 = tenon.scale %conv2_biased by 7.071067812e-01 : (tensor<1x20x64xf32>) -> tensor<1x20x64xf32>
  %erf_2 = tenon.erf %scaled_2 : (tensor<1x20x64xf32>) -> tensor<1x20x64xf32>
  %add_2 = tenon.add %erf_2, %c : (tensor<1x20x64xf32>, tensor<1xf32>) -> tensor<1x20x64xf32>
  %mul_2 = tenon.mul %conv2_biased, %add_2 : (tensor<1x20x64xf32>, tensor<1x20x64xf32>) -> tensor<1x20x64xf32>
  %gelu_2 = tenon.scale %mul_2 by 5.000000000e-01 : (tensor<1x20x64xf32>) -> tensor<1x20x64xf32>
  %view_3 = tenon.reshape %gelu_2 to [20, 64] : (tensor<1x20x64xf32>) -> tensor<20x64xf32>
  %positions = tenon.get_weight @positions : tensor<20x64xf32>
  %placed = tenon.add %view_3, %positions : (tensor<20x64xf32>, tensor<20x64xf32>) -> tensor<20x64xf32>

  // attention
  %norm1.weight = tenon.get_weight @norm1.weight : tensor<64xf32>
  %norm1.bias = tenon.get_weight @norm1.bias : tensor<64xf32>
  %mean = tenon.reduce mean %placed : (tensor<20x64xf32>) -> tensor<20x1xf32>
  %centred = tenon.sub %placed, %mean : (tensor<20x64xf32>, tensor<20x1xf32>) -> tensor<20x64xf32>
  %square = tenon.square %centred : (tensor<20x64xf32>) -> tensor<20x64xf32>
  %mean_2 = tenon.reduce mean %square : (tensor<20x64xf32>) -> tensor<20x1xf32>
  %c_2 = tenon.constant dense<1.000000000e-05> : tensor<1xf32> : tensor<1xf32>
  %add_3 = tenon.add %mean_2, %c_2 : (tensor<20x1xf32>, tensor<1xf32>) -> tensor<20x1xf32>
  %rsqrt = tenon.rsqrt %add_3 : (tensor<20x1xf32>) -> tensor<20x1xf32>
  %mul_3 = tenon.mul %centred, %rsqrt : (tensor<20x64xf32>, tensor<20x1xf32>) -> tensor<20x64xf32>
  %mul_4 = tenon.mul %mul_3, %norm1.weight : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %norm = tenon.add %mul_4, %norm1.bias : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %query.bias = tenon.get_weight @query.bias : tensor<64xf32>
  %query.weight = tenon.get_weight @query.weight : tensor<64x64xf32>
  %query = tenon.matmul %norm, %query.weight : (tensor<20x64xf32>, tensor<64x64xf32>) -> tensor<20x64xf32>
  %query_biased = tenon.add %query, %query.bias : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %key.weight = tenon.get_weight @key.weight : tensor<64x64xf32>
  %key = tenon.matmul %norm, %key.weight : (tensor<20x64xf32>, tensor<64x64xf32>) -> tensor<20x64xf32>
  %value.bias = tenon.get_weight @value.bias : tensor<64xf32>
  %value.weight = tenon.get_weight @value.weight : tensor<64x64xf32>
  %value = tenon.matmul %norm, %value.weight : (tensor<20x64xf32>, tensor<64x64xf32>) -> tensor<20x64xf32>
  %value_biased = tenon.add %value, %value.bias : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %view_4 = tenon.reshape %query_biased to [20, 4, 16] : (tensor<20x64xf32>) -> tensor<20x4x16xf32>
  %heads = tenon.transpose %view_4 by [1, 0, 2] : (tensor<20x4x16xf32>) -> tensor<4x20x16xf32>
  %view_5 = tenon.reshape %key to [20, 4, 16] : (tensor<20x64xf32>) -> tensor<20x4x16xf32>
  %heads_2 = tenon.transpose %view_5 by [1, 0, 2] : (tensor<20x4x16xf32>) -> tensor<4x20x16xf32>
  %view_6 = tenon.reshape %value_biased to [20, 4, 16] : (tensor<20x64xf32>) -> tensor<20x4x16xf32>
  %values = tenon.transpose %view_6 by [1, 2, 0] : (tensor<20x4x16xf32>) -> tensor<4x16x20xf32>
  %scores = tenon.matmul %heads, %heads_2 : (tensor<4x20x16xf32>, tensor<4x20x16xf32>) -> tensor<4x20x20xf32>
  %scaled_3 = tenon.scale %scores by 2.500000000e-01 : (tensor<4x20x20xf32>) -> tensor<4x20x20xf32>
  %shares = tenon.softmax %scaled_3 : (tensor<4x20x20xf32>) -> tensor<4x20x20xf32>
  %mixed = tenon.matmul %shares, %values : (tensor<4x20x20xf32>, tensor<4x16x20xf32>) -> tensor<4x20x16xf32>
  %turned = tenon.transpose %mixed by [1, 0, 2] : (tensor<4x20x16xf32>) -> tensor<20x4x16xf32>
  %view_7 = tenon.reshape %turned to [20, 64] : (tensor<20x4x16xf32>) -> tensor<20x64xf32>
  %out.bias = tenon.get_weight @out.bias : tensor<64xf32>
  %out.weight = tenon.get_weight @out.weight : tensor<64x64xf32>
  %out = tenon.matmul %view_7, %out.weight : (tensor<20x64xf32>, tensor<64x64xf32>) -> tensor<20x64xf32>
  %out_biased = tenon.add %out, %out.bias : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %residual = tenon.add %placed, %out_biased : (tensor<20x64xf32>, tensor<20x64xf32>) -> tensor<20x64xf32>

  // MLP
  %norm2.weight = tenon.get_weight @norm2.weight : tensor<64xf32>
  %norm2.bias = tenon.get_weight @norm2.bias : tensor<64xf32>
  %mean_3 = tenon.reduce mean %residual : (tensor<20x64xf32>) -> tensor<20x1xf32>
  %centred_2 = tenon.sub %residual, %mean_3 : (tensor<20x64xf32>, tensor<20x1xf32>) -> tensor<20x64xf32>
  %square_2 = tenon.square %centred_2 : (tensor<20x64xf32>) -> tensor<20x64xf32>
  %mean_4 = tenon.reduce mean %square_2 : (tensor<20x64xf32>) -> tensor<20x1xf32>
  %add_4 = tenon.add %mean_4, %c_2 : (tensor<20x1xf32>, tensor<1xf32>) -> tensor<20x1xf32>
  %rsqrt_2 = tenon.rsqrt %add_4 : (tensor<20x1xf32>) -> tensor<20x1xf32>
  %mul_5 = tenon.mul %centred_2, %rsqrt_2 : (tensor<20x64xf32>, tensor<20x1xf32>) -> tensor<20x64xf32>
  %mul_6 = tenon.mul %mul_5, %norm2.weight : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %norm_2 = tenon.add %mul_6, %norm2.bias : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %up.bias = tenon.get_weight @up.bias : tensor<192xf32>
  %up.weight = tenon.get_weight @up.weight : tensor<192x64xf32>
  %up = tenon.matmul %norm_2, %up.weight : (tensor<20x64xf32>, tensor<192x64xf32>) -> tensor<20x192xf32>
  %up_biased = tenon.add %up, %up.bias : (tensor<20x192xf32>, tensor<192xf32>) -> tensor<20x192xf32>
  %scaled_4 = tenon.scale %up_biased by 7.071067812e-01 : (tensor<20x192xf32>) -> tensor<20x192xf32>
  %erf_3 = tenon.erf %scaled_4 : (tensor<20x192xf32>) -> tensor<20x192xf32>
  %add_5 = tenon.add %erf_3, %c : (tensor<20x192xf32>, tensor<1xf32>) -> tensor<20x192xf32>
  %mul_7 = tenon.mul %up_biased, %add_5 : (tensor<20x192xf32>, tensor<20x192xf32>) -> tensor<20x192xf32>
  %gelu_3 = tenon.scale %mul_7 by 5.000000000e-01 : (tensor<20x192xf32>) -> tensor<20x192xf32>
  %down.bias = tenon.get_weight @down.bias : tensor<64xf32>
  %down.weight = tenon.get_weight @down.weight : tensor<64x192xf32>
  %down = tenon.matmul %gelu_3, %down.weight : (tensor<20x192xf32>, tensor<64x192xf32>) -> tensor<20x64xf32>
  %down_biased = tenon.add %down, %down.bias : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %residual_2 = tenon.add %residual, %down_biased : (tensor<20x64xf32>, tensor<20x64xf32>) -> tensor<20x64xf32>
  %norm.weight = tenon.get_weight @norm.weight : tensor<64xf32>
  %norm.bias = tenon.get_weight @norm.bias : tensor<64xf32>
  %mean_5 = tenon.reduce mean %residual_2 : (tensor<20x64xf32>) -> tensor<20x1xf32>
  %centred_3 = tenon.sub %residual_2, %mean_5 : (tensor<20x64xf32>, tensor<20x1xf32>) -> tensor<20x64xf32>
  %square_3 = tenon.square %centred_3 : (tensor<20x64xf32>) -> tensor<20x64xf32>
  %mean_6 = tenon.reduce mean %square_3 : (tensor<20x64xf32>) -> tensor<20x1xf32>
  %add_6 = tenon.add %mean_6, %c_2 : (tensor<20x1xf32>, tensor<1xf32>) -> tensor<20x1xf32>
  %rsqrt_3 = tenon.rsqrt %add_6 : (tensor<20x1xf32>) -> tensor<20x1xf32>
  %mul_8 = tenon.mul %centred_3, %rsqrt_3 : (tensor<20x64xf32>, tensor<20x1xf32>) -> tensor<20x64xf32>
  %mul_9 = tenon.mul %mul_8, %norm.weight : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  %norm_3 = tenon.add %mul_9, %norm.bias : (tensor<20x64xf32>, tensor<64xf32>) -> tensor<20x64xf32>
  return %norm_3 : tensor<20x64xf32>
}
