// RUN: tenon explain %s --target=h200 --plan=auto | FileCheck %s
// RUN: tenon explain %s --target=a100 --plan=auto | FileCheck %s --check-prefix=AMPERE

// Q, K and V of many rows, their biases with them, are one kernel of warpgroups: less than cuBLASLt's three, which
// leave multiprocessors idle. Without warpgroups no emitter has them.
// CHECK-LABEL: @qkv_bias
// CHECK: yes {{.*}}shared-input{{.*}}: matmul add matmul add matmul add
// AMPERE-LABEL: @qkv_bias
// AMPERE: no {{.*}} shared-input: matmul matmul matmul {{.*}}; no emitter
func.func @qkv_bias(%r: tensor<512x2048xf16>, %g: tensor<2048xf16>, %q: tensor<2048x2048xf16>, %k: tensor<512x2048xf16>, %v: tensor<512x2048xf16>, %b: tensor<2048xf16>, %c: tensor<512xf16>) -> (tensor<512x2048xf16>, tensor<512x512xf16>, tensor<512x512xf16>) {
  %x = tenon.rms_norm %r, %g eps 1.0e-5 : (tensor<512x2048xf16>, tensor<2048xf16>) -> tensor<512x2048xf16>
  %0 = tenon.matmul %x, %q : (tensor<512x2048xf16>, tensor<2048x2048xf16>) -> tensor<512x2048xf16>
  %1 = tenon.add %0, %b : (tensor<512x2048xf16>, tensor<2048xf16>) -> tensor<512x2048xf16>
  %2 = tenon.matmul %x, %k : (tensor<512x2048xf16>, tensor<512x2048xf16>) -> tensor<512x512xf16>
  %3 = tenon.add %2, %c : (tensor<512x512xf16>, tensor<512xf16>) -> tensor<512x512xf16>
  %4 = tenon.matmul %x, %v : (tensor<512x2048xf16>, tensor<512x2048xf16>) -> tensor<512x512xf16>
  %5 = tenon.add %4, %c : (tensor<512x512xf16>, tensor<512xf16>) -> tensor<512x512xf16>
  return %1, %3, %5 : tensor<512x2048xf16>, tensor<512x512xf16>, tensor<512x512xf16>
}
