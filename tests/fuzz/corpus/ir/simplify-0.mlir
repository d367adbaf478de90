tenon.file @model "model.gguf" bytes 1024 fingerprint 7
tenon.weight @used : tensor<4xf32> from [#tenon.range<@model, offset = 0, bytes = 16>]
tenon.weight @unused : tensor<4xf32> from [#tenon.range<@model, offset = 16, bytes = 16>]
tenon.state @unused_state : !tenon.state<1x8x2x4xf32>
func.func @reshapes(%x: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %0 = tenon.reshape %x to [12] : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = tenon.reshape %0 to [3, 4] : (tensor<12xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
func.func @silu(%x: tensor<4xf16>) -> tensor<4xf16> {
  %s = tenon.sigmoid %x : (tensor<4xf16>) -> tensor<4xf16>
  %y = tenon.mul %s, %x : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %y : tensor<4xf16>
}
func.func @gated(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %s = tenon.sigmoid %x : (tensor<4xf16>) -> tensor<4xf16>
  %r = tenon.mul %y, %s : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %r : tensor<4xf16>
}
func.func @swiglu(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %s = tenon.silu %g : (tensor<4xf32>) -> tensor<4xf32>
  %y = tenon.mul %s, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @kept(%g: tensor<4xf32>, %u: tensor<4xf32>, %b: tensor<3x4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>) {
  %s = tenon.silu %g : (tensor<4xf32>) -> tensor<4xf32>
  %y = tenon.mul %s, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = tenon.relu %u : (tensor<4xf32>) -> tensor<4xf32>
  %z = tenon.mul %t, %b : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %s, %y, %z : tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>
}
func.func @common() -> tensor<4xf32> {
  %w = tenon.get_weight @used : tensor<4xf32>
  %v = tenon.get_weight @used : tensor<4xf32>
  %a = tenon.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  %b = tenon.exp %v : (tensor<4xf32>) -> tensor<4xf32>
  %c = tenon.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
