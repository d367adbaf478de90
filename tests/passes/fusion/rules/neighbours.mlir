// RUN: tenon dump %s --as=fused --target=x86-64-v3 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=fused --target=h200 --plan=fused --disable=neighbours | FileCheck %s --check-prefix=APART
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY
// RUN: tenon verify %s --plans=fused --target=x86-64-v3 --threads=1

// An activation in front of a GEMM: every tile computes it again.
// CHECK-LABEL: func.func @activation_matmul
// CHECK: tenon.kernel
// CHECK: tenon.gelu
// CHECK-NEXT: tenon.matmul
// CHECK-NOT: tenon.kernel
// CHECK: return
// APART-LABEL: func.func @activation_matmul
// APART-COUNT-2: tenon.kernel
// WHY-LABEL: activation_matmul as predicted
// WHY: times share bound gained us gained chains that are one kernel
// WHY: {{.*}}gelu matmul
func.func @activation_matmul(%x: tensor<1x512xf32>, %w: tensor<1024x512xf32>) -> tensor<1x1024xf32> {
  %0 = tenon.gelu %x : (tensor<1x512xf32>) -> tensor<1x512xf32>
  %1 = tenon.matmul %0, %w : (tensor<1x512xf32>, tensor<1024x512xf32>) -> tensor<1x1024xf32>
  return %1 : tensor<1x1024xf32>
}

// CHECK-LABEL: func.func @scale_norm
// CHECK: tenon.kernel
// CHECK: tenon.scale
// CHECK: tenon.layer_norm
// CHECK-NOT: tenon.kernel
// CHECK: return
func.func @scale_norm(%x: tensor<64x768xf32>) -> tensor<64x768xf32> {
  %0 = tenon.scale %x by 0.5 : (tensor<64x768xf32>) -> tensor<64x768xf32>
  %1 = tenon.layer_norm %0 eps 1.0e-5 : (tensor<64x768xf32>) -> tensor<64x768xf32>
  return %1 : tensor<64x768xf32>
}

// The mask of attention, of all heads.
// CHECK-LABEL: func.func @mask_softmax
// CHECK: tenon.kernel
// CHECK: tenon.scale
// CHECK: tenon.add
// CHECK: tenon.softmax
// CHECK-NOT: tenon.kernel
// CHECK: return
func.func @mask_softmax(%x: tensor<8x64x64xf32>, %m: tensor<64x64xf32>) -> tensor<8x64x64xf32> {
  %0 = tenon.scale %x by 0.125 : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %1 = tenon.add %0, %m : (tensor<8x64x64xf32>, tensor<64x64xf32>) -> tensor<8x64x64xf32>
  %2 = tenon.softmax %1 : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  return %2 : tensor<8x64x64xf32>
}

// What has to be whole before it is read is refused, and said.
// WHY: softmax_matmul: neighbours that do not share a kernel
// WHY-NEXT: 1 times: softmax matmul → tensor<8x64x32xf32>: {{.+}}
func.func @softmax_matmul(%x: tensor<8x64x64xf32>, %v: tensor<8x32x64xf32>) -> tensor<8x64x32xf32> {
  %0 = tenon.softmax %x : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %1 = tenon.matmul %0, %v : (tensor<8x64x64xf32>, tensor<8x32x64xf32>) -> tensor<8x64x32xf32>
  return %1 : tensor<8x64x32xf32>
}
