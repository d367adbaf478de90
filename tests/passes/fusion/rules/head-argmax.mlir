// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s

// The largest logit of a row is known when every tile of the product is: no emitter has that yet.
// CHECK: no {{.*}} head-argmax: matmul argmax → tensor<1xi32>; no emitter: {{.*}} argmax
func.func @greedy(%x: tensor<1x64xf16>, %w: tensor<512x64xf16>) -> tensor<1xi32> {
  %0 = tenon.matmul %x, %w : (tensor<1x64xf16>, tensor<512x64xf16>) -> tensor<1x512xf32>
  %1 = tenon.argmax %0 : (tensor<1x512xf32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}
