func.func @views(%x: tensor<2x6xf32>, %i: tensor<4xi32>) -> (tensor<3x7xf32>, tensor<2x2xi32>) {
  %0 = tenon.reshape %x to [3, 4] : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = tenon.transpose %0 by [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %2 = tenon.slice %1 [1, 0] [3, 3] [1, 1] : (tensor<4x3xf32>) -> tensor<3x3xf32>
  %3 = tenon.concat %2, %0 along 1 : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x7xf32>
  %4 = tenon.reshape %i to [2, 2] : (tensor<4xi32>) -> tensor<2x2xi32>
  return %3, %4 : tensor<3x7xf32>, tensor<2x2xi32>
}
func.func @scalar(%x: tensor<1x1xf32>) -> tensor<f32> {
  %0 = tenon.reshape %x to [] : (tensor<1x1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
