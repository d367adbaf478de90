// RUN: tenon explain %s --target=h200 | FileCheck %s

// The rows of softmax are known when all of them are done: what comes before and after it cannot be one kernel.
// CHECK: exp add → tensor<4x64xf16>: softmax has to run between exp and add
func.func @f(%x: tensor<4x64xf16>, %w: tensor<64x64xf16>) -> tensor<4x64xf16> {
  %e = tenon.exp %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %s = tenon.softmax %e : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %m = tenon.matmul %s, %w : (tensor<4x64xf16>, tensor<64x64xf16>) -> tensor<4x64xf16>
  %a = tenon.add %e, %m : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  %n = tenon.rms_norm %a eps 1.0e-5 : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %n : tensor<4x64xf16>
}
