// Two images through the patch embedding and a block of a vision transformer
// (Dosovitskiy et al. 2021, arXiv 2010.11929). Its matrices lie as in Flax's checkpoints: [inputs,
// outputs], of queries, keys and values [inputs, heads, head size], and back [heads, head size, outputs].
tenon.file @weights "vit_block.safetensors" bytes 255616 fingerprint -113179426140278697
tenon.weight @patches.weight : tensor<64x3x8x8xf32> from [#tenon.range<@weights, offset = 1664, bytes = 49152>]
tenon.weight @patches.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 50816, bytes = 256>]
tenon.weight @start : tensor<1x1x64xf32> from [#tenon.range<@weights, offset = 51072, bytes = 256>]
tenon.weight @positions : tensor<17x64xf32> from [#tenon.range<@weights, offset = 51328, bytes = 4352>]
tenon.weight @norm1.weight : tensor<64xf32> from [#tenon.range<@weights, offset = 55680, bytes = 256>]
tenon.weight @norm1.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 55936, bytes = 256>]
tenon.weight @query.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 56192, bytes = 256>]
tenon.weight @query.weight : tensor<64x4x16xf32> from [#tenon.range<@weights, offset = 56448, bytes = 16384>]
tenon.weight @key.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 72832, bytes = 256>]
tenon.weight @key.weight : tensor<64x4x16xf32> from [#tenon.range<@weights, offset = 73088, bytes = 16384>]
tenon.weight @value.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 89472, bytes = 256>]
tenon.weight @value.weight : tensor<64x4x16xf32> from [#tenon.range<@weights, offset = 89728, bytes = 16384>]
tenon.weight @out.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 106112, bytes = 256>]
tenon.weight @out.weight : tensor<4x16x64xf32> from [#tenon.range<@weights, offset = 106368, bytes = 16384>]
tenon.weight @norm2.weight : tensor<64xf32> from [#tenon.range<@weights, offset = 122752, bytes = 256>]
tenon.weight @norm2.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 123008, bytes = 256>]
tenon.weight @up.bias : tensor<256xf32> from [#tenon.range<@weights, offset = 123264, bytes = 1024>]
tenon.weight @up.weight : tensor<64x256xf32> from [#tenon.range<@weights, offset = 124288, bytes = 65536>]
tenon.weight @down.bias : tensor<64xf32> from [#tenon.range<@weights, offset = 189824, bytes = 256>]
tenon.weight @down.weight : tensor<256x64xf32> from [#tenon.range<@weights, offset = 190080, bytes = 65536>]

func.func @vit_block(%image: tensor<2x3x32x32xf32> {tenon.name = "image"})
    -> (tensor<2x17x64xf32> {tenon.name = "hidden"}) {
  %patches = tenon.patches %image window [8, 8] strides [8, 8] low [0, 0] high [0, 0] : (tensor<2x3x32x32xf32>) -> tensor<2x16x192xf32>
  %patches.weight = tenon.get_weight @patches.weight : tensor<64x3x8x8xf32>
  %view = tenon.reshape %patches.weight to [64, 192] : (tensor<64x3x8x8xf32>) -> tensor<64x192xf32>
  %patches.bias = tenon.get_weight @patches.bias : tensor<64xf32>
  %embedded = tenon.matmul %patches, %view : (tensor<2x16x192xf32>, tensor<64x192xf32>) -> tensor<2x16x64xf32>
  %embedded_biased = tenon.add %embedded, %patches.bias : (tensor<2x16x64xf32>, tensor<64xf32>) -> tensor<2x16x64xf32>
  %start = tenon.get_weight @start : tensor<1x1x64xf32>
  %joined = tenon.concat %start, %start along 0 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<2x1x64xf32>
  %joined_2 = tenon.concat %joined, %embedded_biased along 1 : (tensor<2x1x64xf32>, tensor<2x16x64xf32>) -> tensor<2x17x64xf32>
  %positions = tenon.get_weight @positions : tensor<17x64xf32>
  %placed = tenon.add %joined_2, %positions : (tensor<2x17x64xf32>, tensor<17x64xf32>) -> tensor<2x17x64xf32>

  // attention
  %norm1.weight = tenon.get_weight @norm1.weight : tensor<64xf32>
  %norm1.bias = tenon.get_weight @norm1.bias : tensor<64xf32>
  %mean = tenon.reduce mean %placed : (tensor<2x17x64xf32>) -> tensor<2x17x1xf32>
  %centred = tenon.sub %placed, %mean : (tensor<2x17x64xf32>, tensor<2x17x1xf32>) -> tensor<2x17x64xf32>
  %square = tenon.square %centred : (tensor<2x17x64xf32>) -> tensor<2x17x64xf32>
  %mean_2 = tenon.reduce mean %square : (tensor<2x17x64xf32>) -> tensor<2x17x1xf32>
  %c = tenon.constant dense<1.000000000e-06> : tensor<1xf32> : tensor<1xf32>
  %add = tenon.add %mean_2, %c : (tensor<2x17x1xf32>, tensor<1xf32>) -> tensor<2x17x1xf32>
  %rsqrt = tenon.rsqrt %add : (tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
  %mul = tenon.mul %centred, %rsqrt : (tensor<2x17x64xf32>, tensor<2x17x1xf32>) -> tensor<2x17x64xf32>
  %mul_2 = tenon.mul %mul, %norm1.weight : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %norm = tenon.add %mul_2, %norm1.bias : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %query.bias = tenon.get_weight @query.bias : tensor<64xf32>
  %query.weight = tenon.get_weight @query.weight : tensor<64x4x16xf32>
  %turned = tenon.transpose %query.weight by [1, 2, 0] : (tensor<64x4x16xf32>) -> tensor<4x16x64xf32>
  %view_2 = tenon.reshape %turned to [64, 64] : (tensor<4x16x64xf32>) -> tensor<64x64xf32>
  %query = tenon.matmul %norm, %view_2 : (tensor<2x17x64xf32>, tensor<64x64xf32>) -> tensor<2x17x64xf32>
  %query_biased = tenon.add %query, %query.bias : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %key.bias = tenon.get_weight @key.bias : tensor<64xf32>
  %key.weight = tenon.get_weight @key.weight : tensor<64x4x16xf32>
  %turned_2 = tenon.transpose %key.weight by [1, 2, 0] : (tensor<64x4x16xf32>) -> tensor<4x16x64xf32>
  %view_3 = tenon.reshape %turned_2 to [64, 64] : (tensor<4x16x64xf32>) -> tensor<64x64xf32>
  %key = tenon.matmul %norm, %view_3 : (tensor<2x17x64xf32>, tensor<64x64xf32>) -> tensor<2x17x64xf32>
  %key_biased = tenon.add %key, %key.bias : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %value.bias = tenon.get_weight @value.bias : tensor<64xf32>
  %value.weight = tenon.get_weight @value.weight : tensor<64x4x16xf32>
  %turned_3 = tenon.transpose %value.weight by [1, 2, 0] : (tensor<64x4x16xf32>) -> tensor<4x16x64xf32>
  %view_4 = tenon.reshape %turned_3 to [64, 64] : (tensor<4x16x64xf32>) -> tensor<64x64xf32>
  %value = tenon.matmul %norm, %view_4 : (tensor<2x17x64xf32>, tensor<64x64xf32>) -> tensor<2x17x64xf32>
  %value_biased = tenon.add %value, %value.bias : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %view_5 = tenon.reshape %query_biased to [2, 17, 4, 16] : (tensor<2x17x64xf32>) -> tensor<2x17x4x16xf32>
  %heads = tenon.transpose %view_5 by [0, 2, 1, 3] : (tensor<2x17x4x16xf32>) -> tensor<2x4x17x16xf32>
  %view_6 = tenon.reshape %key_biased to [2, 17, 4, 16] : (tensor<2x17x64xf32>) -> tensor<2x17x4x16xf32>
  %heads_2 = tenon.transpose %view_6 by [0, 2, 1, 3] : (tensor<2x17x4x16xf32>) -> tensor<2x4x17x16xf32>
  %view_7 = tenon.reshape %value_biased to [2, 17, 4, 16] : (tensor<2x17x64xf32>) -> tensor<2x17x4x16xf32>
  %values = tenon.transpose %view_7 by [0, 2, 3, 1] : (tensor<2x17x4x16xf32>) -> tensor<2x4x16x17xf32>
  %scores = tenon.matmul %heads, %heads_2 : (tensor<2x4x17x16xf32>, tensor<2x4x17x16xf32>) -> tensor<2x4x17x17xf32>
  %scaled = tenon.scale %scores by 2.500000000e-01 : (tensor<2x4x17x17xf32>) -> tensor<2x4x17x17xf32>
  %shares = tenon.softmax %scaled : (tensor<2x4x17x17xf32>) -> tensor<2x4x17x17xf32>
  %mixed = tenon.matmul %shares, %values : (tensor<2x4x17x17xf32>, tensor<2x4x16x17xf32>) -> tensor<2x4x17x16xf32>
  %turned_4 = tenon.transpose %mixed by [0, 2, 1, 3] : (tensor<2x4x17x16xf32>) -> tensor<2x17x4x16xf32>
  %view_8 = tenon.reshape %turned_4 to [2, 17, 64] : (tensor<2x17x4x16xf32>) -> tensor<2x17x64xf32>
  %out.bias = tenon.get_weight @out.bias : tensor<64xf32>
  %out.weight = tenon.get_weight @out.weight : tensor<4x16x64xf32>
  %turned_5 = tenon.transpose %out.weight by [2, 0, 1] : (tensor<4x16x64xf32>) -> tensor<64x4x16xf32>
  %view_9 = tenon.reshape %turned_5 to [64, 64] : (tensor<64x4x16xf32>) -> tensor<64x64xf32>
  %out = tenon.matmul %view_8, %view_9 : (tensor<2x17x64xf32>, tensor<64x64xf32>) -> tensor<2x17x64xf32>
  %out_biased = tenon.add %out, %out.bias : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %residual = tenon.add %placed, %out_biased : (tensor<2x17x64xf32>, tensor<2x17x64xf32>) -> tensor<2x17x64xf32>

  // MLP
  %norm2.weight = tenon.get_weight @norm2.weight : tensor<64xf32>
  %norm2.bias = tenon.get_weight @norm2.bias : tensor<64xf32>
  %mean_3 = tenon.reduce mean %residual : (tensor<2x17x64xf32>) -> tensor<2x17x1xf32>
  %centred_2 = tenon.sub %residual, %mean_3 : (tensor<2x17x64xf32>, tensor<2x17x1xf32>) -> tensor<2x17x64xf32>
  %square_2 = tenon.square %centred_2 : (tensor<2x17x64xf32>) -> tensor<2x17x64xf32>
  %mean_4 = tenon.reduce mean %square_2 : (tensor<2x17x64xf32>) -> tensor<2x17x1xf32>
  %add_2 = tenon.add %mean_4, %c : (tensor<2x17x1xf32>, tensor<1xf32>) -> tensor<2x17x1xf32>
  %rsqrt_2 = tenon.rsqrt %add_2 : (tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
  %mul_3 = tenon.mul %centred_2, %rsqrt_2 : (tensor<2x17x64xf32>, tensor<2x17x1xf32>) -> tensor<2x17x64xf32>
  %mul_4 = tenon.mul %mul_3, %norm2.weight : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %norm_2 = tenon.add %mul_4, %norm2.bias : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %up.bias = tenon.get_weight @up.bias : tensor<256xf32>
  %up.weight = tenon.get_weight @up.weight : tensor<64x256xf32>
  %turned_6 = tenon.transpose %up.weight by [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
  %up = tenon.matmul %norm_2, %turned_6 : (tensor<2x17x64xf32>, tensor<256x64xf32>) -> tensor<2x17x256xf32>
  %up_biased = tenon.add %up, %up.bias : (tensor<2x17x256xf32>, tensor<256xf32>) -> tensor<2x17x256xf32>
  %scaled_2 = tenon.scale %up_biased by 7.071067812e-01 : (tensor<2x17x256xf32>) -> tensor<2x17x256xf32>
  %erf = tenon.erf %scaled_2 : (tensor<2x17x256xf32>) -> tensor<2x17x256xf32>
  %c_2 = tenon.constant dense<1.000000000e+00> : tensor<1xf32> : tensor<1xf32>
  %add_3 = tenon.add %erf, %c_2 : (tensor<2x17x256xf32>, tensor<1xf32>) -> tensor<2x17x256xf32>
  %mul_5 = tenon.mul %up_biased, %add_3 : (tensor<2x17x256xf32>, tensor<2x17x256xf32>) -> tensor<2x17x256xf32>
  %gelu = tenon.scale %mul_5 by 5.000000000e-01 : (tensor<2x17x256xf32>) -> tensor<2x17x256xf32>
  %down.bias = tenon.get_weight @down.bias : tensor<64xf32>
  %down.weight = tenon.get_weight @down.weight : tensor<256x64xf32>
  %turned_7 = tenon.transpose %down.weight by [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
  %down = tenon.matmul %gelu, %turned_7 : (tensor<2x17x256xf32>, tensor<64x256xf32>) -> tensor<2x17x64xf32>
  %down_biased = tenon.add %down, %down.bias : (tensor<2x17x64xf32>, tensor<64xf32>) -> tensor<2x17x64xf32>
  %residual_2 = tenon.add %residual, %down_biased : (tensor<2x17x64xf32>, tensor<2x17x64xf32>) -> tensor<2x17x64xf32>
  return %residual_2 : tensor<2x17x64xf32>
}
