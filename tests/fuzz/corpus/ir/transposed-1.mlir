tenon.file @m "m" bytes 4096 fingerprint 7
tenon.weight @experts : tensor<3x6x4xf32> from [#tenon.range<@m, offset = 0, bytes = 288>]
tenon.weight @batches : tensor<2x6x4xf32> from [#tenon.range<@m, offset = 288, bytes = 192>]
func.func @batched(%x: tensor<5x6xf32>, %i: tensor<5x2xi32>, %z: tensor<2x5x6xf32>)
    -> (tensor<5x2x4xf32>, tensor<2x5x4xf32>) {
  %e = tenon.get_weight @experts : tensor<3x6x4xf32>
  %f = tenon.transpose %e by [0, 2, 1] : (tensor<3x6x4xf32>) -> tensor<3x4x6xf32>
  %y = tenon.expert_matmul %x, %f, %i : (tensor<5x6xf32>, tensor<3x4x6xf32>, tensor<5x2xi32>) -> tensor<5x2x4xf32>
  %b = tenon.get_weight @batches : tensor<2x6x4xf32>
  %c = tenon.transpose %b by [0, 2, 1] : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32>
  %w = tenon.matmul %z, %c : (tensor<2x5x6xf32>, tensor<2x4x6xf32>) -> tensor<2x5x4xf32>
  return %y, %w : tensor<5x2x4xf32>, tensor<2x5x4xf32>
}
