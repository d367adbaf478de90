tenon.state @k : !tenon.state<1x8x2x4xf32>
func.func @wraps(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %0 = tenon.add %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.reshape %0 to [8] : (tensor<2x4xf32>) -> tensor<8xf32>
  %2 = tenon.exp %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func @returns_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @returns_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tenon.reshape %0 to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2x2xf32>
}
func.func @writes(%v: tensor<1x2x4xf32>, %seq: tensor<1xi32>, %pos: tensor<1xi32>) {
  %s = tenon.get_state @k : !tenon.state<1x8x2x4xf32>
  %t = tenon.kv_write %v, %seq, %pos into %s : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}
