// RUN: tenon dump %s --as=fused --target=x86-64-v4 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY

// CHECK-LABEL: func.func @swiglu
// CHECK-NEXT: %[[K:.*]] = tenon.kernel
// CHECK-NEXT:   tenon.rms_norm
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.glu
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]
// WHY: yes {{.*}} gated-linear+{{.*}}: rms_norm matmul matmul glu
func.func @swiglu(%x: tensor<1x2048xf16>, %g: tensor<4096x2048xf16>, %u: tensor<4096x2048xf16>) -> tensor<1x4096xf16> {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<1x2048xf16>) -> tensor<1x2048xf16>
  %1 = tenon.matmul %0, %g : (tensor<1x2048xf16>, tensor<4096x2048xf16>) -> tensor<1x4096xf16>
  %2 = tenon.matmul %0, %u : (tensor<1x2048xf16>, tensor<4096x2048xf16>) -> tensor<1x4096xf16>
  %y = tenon.glu silu %1, %2 : (tensor<1x4096xf16>, tensor<1x4096xf16>) -> tensor<1x4096xf16>
  return %y : tensor<1x4096xf16>
}

// Each half of an input of its own: one kernel, too.
// WHY-LABEL: @two_inputs
// WHY: yes {{.*}} gated-linear{{.*}}: matmul matmul glu
func.func @two_inputs(%x: tensor<1x2048xf16>, %z: tensor<1x2048xf16>, %g: tensor<4096x2048xf16>, %u: tensor<4096x2048xf16>) -> tensor<1x4096xf16> {
  %1 = tenon.matmul %x, %g : (tensor<1x2048xf16>, tensor<4096x2048xf16>) -> tensor<1x4096xf16>
  %2 = tenon.matmul %z, %u : (tensor<1x2048xf16>, tensor<4096x2048xf16>) -> tensor<1x4096xf16>
  %y = tenon.glu silu %1, %2 : (tensor<1x4096xf16>, tensor<1x4096xf16>) -> tensor<1x4096xf16>
  return %y : tensor<1x4096xf16>
}

// WHY-LABEL: @two_encodings
// WHY: no {{.*}} gated-linear{{.*}}: matmul matmul glu {{.*}} weights of different encodings cannot stand together
func.func @two_encodings(%x: tensor<1x2048xf16>, %g: tensor<4096x2048xf16>, %u: tensor<4096x2048x!tenon.block<q8_0>>) -> tensor<1x4096xf16> {
  %1 = tenon.matmul %x, %g : (tensor<1x2048xf16>, tensor<4096x2048xf16>) -> tensor<1x4096xf16>
  %2 = tenon.matmul %x, %u : (tensor<1x2048xf16>, tensor<4096x2048x!tenon.block<q8_0>>) -> tensor<1x4096xf16>
  %y = tenon.glu silu %1, %2 : (tensor<1x4096xf16>, tensor<1x4096xf16>) -> tensor<1x4096xf16>
  return %y : tensor<1x4096xf16>
}
