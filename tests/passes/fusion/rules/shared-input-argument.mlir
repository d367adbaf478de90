// RUN: tenon explain %s --target=h200 --plan=auto | FileCheck %s

// Q, K and V of an argument of the function are proposed once, without the product that has the argument
// for its weight.
// CHECK-LABEL: @qkv
// CHECK-NOT: matmul matmul matmul matmul
// CHECK: yes {{.*}}shared-input{{.*}}: matmul matmul matmul
// CHECK-NOT: shared-input{{.*}}: matmul matmul matmul
func.func @qkv(%x: tensor<64x2048xf16>, %q: tensor<2048x2048xf16>, %k: tensor<512x2048xf16>, %v: tensor<512x2048xf16>, %y: tensor<64x2048xf16>) -> (tensor<64x2048xf16>, tensor<64x512xf16>, tensor<64x512xf16>, tensor<64x64xf16>) {
  %0 = tenon.matmul %x, %q : (tensor<64x2048xf16>, tensor<2048x2048xf16>) -> tensor<64x2048xf16>
  %1 = tenon.matmul %x, %k : (tensor<64x2048xf16>, tensor<512x2048xf16>) -> tensor<64x512xf16>
  %2 = tenon.matmul %x, %v : (tensor<64x2048xf16>, tensor<512x2048xf16>) -> tensor<64x512xf16>
  %3 = tenon.matmul %y, %x : (tensor<64x2048xf16>, tensor<64x2048xf16>) -> tensor<64x64xf16>
  return %0, %1, %2, %3 : tensor<64x2048xf16>, tensor<64x512xf16>, tensor<64x512xf16>, tensor<64x64xf16>
}
