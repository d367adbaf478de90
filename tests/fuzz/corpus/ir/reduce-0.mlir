func.func @reduce(%x: tensor<2x8xf32>) -> tensor<2x1xf32> {
  %0 = tenon.reduce sum %x : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %1 = tenon.reduce mean %0 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %2 = tenon.reduce max %1 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %3 = tenon.reduce min %2 order <chunk = 0, lanes = 2, tree = halving> : (tensor<2x1xf32>) -> tensor<2x1xf32>
  return %3 : tensor<2x1xf32>
}
func.func @argmax(%x: tensor<2x8xf16>, %y: tensor<8xf32>) -> (tensor<2xi32>, tensor<i32>) {
  %0 = tenon.argmax %x : (tensor<2x8xf16>) -> tensor<2xi32>
  %1 = tenon.argmax %y : (tensor<8xf32>) -> tensor<i32>
  return %0, %1 : tensor<2xi32>, tensor<i32>
}
func.func @top_k(%x: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0:2 = tenon.top_k %x k 3 : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}
