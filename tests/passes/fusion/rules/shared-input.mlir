// RUN: tenon dump %s --as=fused --target=x86-64-v4 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=PARTS
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=WHY
// RUN: tenon explain %s --target=x86-64-v4 --plan=auto | FileCheck %s --check-prefix=COST

// One norm feeds Q, K and V: one kernel with three results; each product has tiles of its own.
// CHECK-LABEL: func.func @qkv
// CHECK-NEXT: tenon.kernel
// CHECK-NEXT:   tenon.rms_norm
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.matmul
// CHECK-NOT: tenon.kernel
// CHECK: return
// PARTS-LABEL: func.func @qkv
// PARTS: schedule #tenon.schedule<"sequence", tiles = 24
// PARTS: tenon.rms_norm {{.*}} {first_tile = -1 : i64, part = #tenon.schedule<"rms_norm", tiles = 1
// PARTS: tenon.matmul {{.*}} {part = #tenon.schedule<"matmul", tiles = 16
// PARTS: tenon.matmul {{.*}} {first_tile = 16 : i64, part = #tenon.schedule<"matmul", tiles = 4
// PARTS: tenon.matmul {{.*}} {first_tile = 20 : i64, part = #tenon.schedule<"matmul", tiles = 4
// WHY-LABEL: @qkv
// WHY: yes {{.*}} shared-input: rms_norm matmul matmul matmul
func.func @qkv(%x: tensor<1x512xf32>, %n: tensor<512xf32>, %q: tensor<1024x512xf16>, %k: tensor<256x512xf16>, %v: tensor<256x512xf16>) -> (tensor<1x1024xf32>, tensor<1x256xf32>, tensor<1x256xf32>) {
  %0 = tenon.rms_norm %x, %n eps 1.0e-5 : (tensor<1x512xf32>, tensor<512xf32>) -> tensor<1x512xf32>
  %1 = tenon.matmul %0, %q : (tensor<1x512xf32>, tensor<1024x512xf16>) -> tensor<1x1024xf32>
  %2 = tenon.matmul %0, %k : (tensor<1x512xf32>, tensor<256x512xf16>) -> tensor<1x256xf32>
  %3 = tenon.matmul %0, %v : (tensor<1x512xf32>, tensor<256x512xf16>) -> tensor<1x256xf32>
  return %1, %2, %3 : tensor<1x1024xf32>, tensor<1x256xf32>, tensor<1x256xf32>
}

// Weights of two encodings do not stand together.
// WHY-LABEL: @two_encodings
// WHY: no {{.*}} weights of different encodings cannot stand together: f16 of matmul and !tenon.block<q8_0> of matmul
func.func @two_encodings(%x: tensor<1x512xf32>, %k: tensor<256x512xf16>, %v: tensor<256x512x!tenon.block<q8_0>>) -> (tensor<1x256xf32>, tensor<1x256xf32>) {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<1x512xf32>) -> tensor<1x512xf32>
  %2 = tenon.matmul %0, %k : (tensor<1x512xf32>, tensor<256x512xf16>) -> tensor<1x256xf32>
  %3 = tenon.matmul %0, %v : (tensor<1x512xf32>, tensor<256x512x!tenon.block<q8_0>>) -> tensor<1x256xf32>
  return %2, %3 : tensor<1x256xf32>, tensor<1x256xf32>
}

// Two products that one thread computes without waiting for another: apart, neither costs a step.
// COST-LABEL: @tiny
// COST: no {{.*}} shared-input: {{.*}}matmul matmul → tensor<1x8xf32>; takes {{[0-9]+}} ns longer than its operations one by one
func.func @tiny(%x: tensor<1x16xf32>, %k: tensor<8x16xf16>, %v: tensor<8x16xf16>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %2 = tenon.matmul %0, %k : (tensor<1x16xf32>, tensor<8x16xf16>) -> tensor<1x8xf32>
  %3 = tenon.matmul %0, %v : (tensor<1x16xf32>, tensor<8x16xf16>) -> tensor<1x8xf32>
  return %2, %3 : tensor<1x8xf32>, tensor<1x8xf32>
}
