func.func @unary(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.neg %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.abs %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tenon.square %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tenon.sqrt %2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tenon.rsqrt %3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tenon.exp %4 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tenon.log %5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tenon.sin %6 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = tenon.cos %7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %9 = tenon.tanh %8 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = tenon.erf %9 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = tenon.sigmoid %10 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %12 = tenon.silu %11 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %13 = tenon.relu %12 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %14 = tenon.gelu %13 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = tenon.gelu_tanh %14 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %15 : tensor<2x4xf32>
}
func.func @binary(%x: tensor<2x4xf32>, %b: tensor<4xf16>) -> tensor<2x4xbf16> {
  %0 = tenon.add %x, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %1 = tenon.sub %0, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %2 = tenon.mul %1, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %3 = tenon.div %2, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %4 = tenon.max %3, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  %5 = tenon.min %4, %b : (tensor<2x4xf32>, tensor<4xf16>) -> tensor<2x4xbf16>
  return %5 : tensor<2x4xbf16>
}
func.func @broadcast(%x: tensor<3x1x4xf32>, %y: tensor<5x1xf32>, %s: tensor<f32>) -> tensor<3x5x4xf32> {
  %0 = tenon.add %x, %y : (tensor<3x1x4xf32>, tensor<5x1xf32>) -> tensor<3x5x4xf32>
  %1 = tenon.mul %0, %s : (tensor<3x5x4xf32>, tensor<f32>) -> tensor<3x5x4xf32>
  return %1 : tensor<3x5x4xf32>
}
func.func @others(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.cast %x : (tensor<2x4xf32>) -> tensor<2x4xf16>
  %1 = tenon.scale %0 by 0.125 : (tensor<2x4xf16>) -> tensor<2x4xf32>
  %2 = tenon.glu silu %1, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tenon.glu gelu %2, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tenon.glu gelu_tanh %3, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tenon.glu relu %4, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tenon.glu sigmoid %5, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}
