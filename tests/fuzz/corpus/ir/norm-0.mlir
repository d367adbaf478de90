func.func @rms_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> tensor<2x8xf16> {
  %0 = tenon.rms_norm %x, %w eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %1 = tenon.rms_norm %0 eps 0.0 order <chunk = 4, lanes = 2, tree = ascending> : (tensor<2x8xf32>) -> tensor<2x8xf16>
  return %1 : tensor<2x8xf16>
}
func.func @layer_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %0 = tenon.layer_norm %x weight %w bias %b eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %1 = tenon.layer_norm %0 weight %w eps 1.0e-5 order <chunk = 0, lanes = 1, tree = ascending> : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %2 = tenon.layer_norm %1 bias %b eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %3 = tenon.layer_norm %2 eps 1.0e-5 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}
func.func @softmax(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tenon.softmax %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tenon.softmax %0 order <chunk = 0, lanes = 8, tree = halving> : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}
