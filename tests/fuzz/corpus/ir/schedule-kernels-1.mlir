module attributes {tenon.target = #tenon.target<"v3", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 262144 : i64}>} {
  tenon.state @k : !tenon.state<1x64x2x128xf32>
  func.func @prefill(%x: tensor<32x64xf32>, %w: tensor<251x64xf32>) -> tensor<32x251xf32> {
    %y = tenon.matmul %x, %w : (tensor<32x64xf32>, tensor<251x64xf32>) -> tensor<32x251xf32>
    return %y : tensor<32x251xf32>
  }
  func.func @rows(%x: tensor<256x256xf32>, %w: tensor<256xf32>) -> tensor<256x256xf32> {
    %0 = tenon.silu %x : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = tenon.mul %0, %w : (tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
    %2 = tenon.rms_norm %1, %w eps 1.0e-5 : (tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
    %3 = tenon.transpose %2 by [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    return %3 : tensor<256x256xf32>
  }
  func.func @attention(%q: tensor<2x12x128xf32>, %k: tensor<2x2x128xf32>, %s: tensor<1xi32>, %p: tensor<2xi32>) -> tensor<2x12x128xf32> {
    %k0 = tenon.get_state @k : !tenon.state<1x64x2x128xf32>
    %k1 = tenon.kv_write %k, %s, %p into %k0 : (tensor<2x2x128xf32>, tensor<1xi32>, tensor<2xi32>, !tenon.state<1x64x2x128xf32>) -> !tenon.state<1x64x2x128xf32>
    %y = tenon.attention %q, %k1, %k1, %s, %p scale 0.1 : (tensor<2x12x128xf32>, !tenon.state<1x64x2x128xf32>, !tenon.state<1x64x2x128xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<2x12x128xf32>
    return %y : tensor<2x12x128xf32>
  }
  func.func @one(%x: tensor<f32>) -> tensor<f32> {
    %0 = tenon.silu %x : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
