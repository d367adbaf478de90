tenon.file @m "m" bytes 4096 fingerprint 7
tenon.weight @heads : tensor<5x3x4xf32> from [#tenon.range<@m, offset = 0, bytes = 240>]
func.func @of_heads(%x: tensor<2x5xf32>) -> tensor<2x12xf32> {
  %w = tenon.get_weight @heads : tensor<5x3x4xf32>
  %t = tenon.transpose %w by [1, 2, 0] : (tensor<5x3x4xf32>) -> tensor<3x4x5xf32>
  %r = tenon.reshape %t to [12, 5] : (tensor<3x4x5xf32>) -> tensor<12x5xf32>
  %y = tenon.matmul %x, %r : (tensor<2x5xf32>, tensor<12x5xf32>) -> tensor<2x12xf32>
  return %y : tensor<2x12xf32>
}
