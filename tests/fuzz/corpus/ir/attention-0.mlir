tenon.state @k : !tenon.state<2x16x2x8xf16>
tenon.state @v : !tenon.state<2x16x2x4xf16>
func.func @rope(%x: tensor<3x4x8xf32>, %p: tensor<3xi32>, %f: tensor<2xf32>) -> tensor<3x4x8xf16> {
  %0 = tenon.rope adjacent %x, %p, %f : (tensor<3x4x8xf32>, tensor<3xi32>, tensor<2xf32>) -> tensor<3x4x8xf32>
  %1 = tenon.rope halves %0, %p, %f {magnitude = 1.25 : f64} : (tensor<3x4x8xf32>, tensor<3xi32>, tensor<2xf32>) -> tensor<3x4x8xf16>
  return %1 : tensor<3x4x8xf16>
}
func.func @states(%q: tensor<3x4x8xf16>, %kn: tensor<3x2x8xf16>, %s: tensor<3xi32>, %p: tensor<3xi32>) -> tensor<3x4x4xf32> {
  %k = tenon.get_state @k : <2x16x2x8xf16>
  %v = tenon.get_state @v : <2x16x2x4xf16>
  %k1 = tenon.kv_write %kn, %s, %p into %k : (tensor<3x2x8xf16>, tensor<3xi32>, tensor<3xi32>, !tenon.state<2x16x2x8xf16>) -> !tenon.state<2x16x2x8xf16>
  %0 = tenon.attention %q, %k1, %v, %s, %p scale 0.5 : (tensor<3x4x8xf16>, !tenon.state<2x16x2x8xf16>, !tenon.state<2x16x2x4xf16>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x4x4xf32>
  return %0 : tensor<3x4x4xf32>
}
func.func @tensors(%q: tensor<3x4x8xf32>, %k: tensor<1x5x1x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) -> tensor<3x4x8xf32> {
  %0 = tenon.attention %q, %k, %k, %s, %p scale 1.0 order <chunk = 64, lanes = 32, tree = halving> {causal = false, softcap = 30.0 : f64, window = 4 : i64} : (tensor<3x4x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return %0 : tensor<3x4x8xf32>
}
