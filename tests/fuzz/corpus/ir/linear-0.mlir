func.func @matmul(%x: tensor<2x3x64xf16>, %w: tensor<8x64x!tenon.block<q8_0>>) -> tensor<2x3x8xf32> {
  %0 = tenon.matmul %x, %w : (tensor<2x3x64xf16>, tensor<8x64x!tenon.block<q8_0>>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}
func.func @batched_with_order(%x: tensor<2x3x4xf32>, %w: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %0 = tenon.matmul %x, %w order <chunk = 0, lanes = 16, tree = halving> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}
func.func @embedding(%t: tensor<16x32x!tenon.block<q4_0>>, %ids: tensor<3xi32>) -> tensor<3x32xf16> {
  %0 = tenon.embedding %t, %ids : (tensor<16x32x!tenon.block<q4_0>>, tensor<3xi32>) -> tensor<3x32xf16>
  return %0 : tensor<3x32xf16>
}
func.func @dequantize(%t: tensor<4x64x!tenon.block<q8_0>>) -> tensor<4x64xf32> {
  %0 = tenon.dequantize %t : (tensor<4x64x!tenon.block<q8_0>>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
