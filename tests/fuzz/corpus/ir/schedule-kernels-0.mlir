module attributes {tenon.target = #tenon.target<"v4", cpu, features = [], {vector_bits = 512 : i64, vector_registers = 32 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @decode(%x: tensor<1x4096xf32>, %w: tensor<256x4096xf16>) -> tensor<1x256xf32> {
    %y = tenon.matmul %x, %w : (tensor<1x4096xf32>, tensor<256x4096xf16>) -> tensor<1x256xf32>
    return %y : tensor<1x256xf32>
  }
  func.func @prefill(%x: tensor<32x4096xf32>, %w: tensor<256x4096xf16>) -> tensor<32x256xf32> {
    %y = tenon.matmul %x, %w : (tensor<32x4096xf32>, tensor<256x4096xf16>) -> tensor<32x256xf32>
    return %y : tensor<32x256xf32>
  }
  func.func @quantised(%x: tensor<32x4096xf32>, %w: tensor<256x4096x!tenon.block<q8_0>>) -> tensor<32x256xf32> {
    %y = tenon.matmul %x, %w : (tensor<32x4096xf32>, tensor<256x4096x!tenon.block<q8_0>>) -> tensor<32x256xf32>
    return %y : tensor<32x256xf32>
  }
}
