// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused --disable=residual-norm | FileCheck %s --check-prefix=WHY

// CHECK-LABEL: func.func @scaled
// CHECK-NEXT: tenon.kernel
// CHECK-NEXT:   tenon.embedding
// CHECK-NEXT:   tenon.scale
// CHECK-NEXT:   tenon.rms_norm
// CHECK-NOT: tenon.kernel
// CHECK: return
// WHY-LABEL: @scaled
// WHY: yes {{.*}} embedding-norm{{.*}}: embedding scale rms_norm
func.func @scaled(%t: tensor<100x64xf16>, %i: tensor<3xi32>, %w: tensor<64xf16>) -> (tensor<3x64xf16>, tensor<3x64xf16>) {
  %e = tenon.embedding %t, %i : (tensor<100x64xf16>, tensor<3xi32>) -> tensor<3x64xf16>
  %h = tenon.scale %e by 8.0 : (tensor<3x64xf16>) -> tensor<3x64xf16>
  %y = tenon.rms_norm %h, %w eps 1.0e-5 : (tensor<3x64xf16>, tensor<64xf16>) -> tensor<3x64xf16>
  return %h, %y : tensor<3x64xf16>, tensor<3x64xf16>
}

// Token and position embeddings, as GPT-2 has them.
// CHECK-LABEL: func.func @sum
// CHECK-NEXT: tenon.kernel
// CHECK:   tenon.layer_norm
// CHECK-NOT: tenon.kernel
// CHECK: return
func.func @sum(%t: tensor<100x64xf16>, %p: tensor<50x64xf16>, %i: tensor<3xi32>, %j: tensor<3xi32>) -> (tensor<3x64xf16>, tensor<3x64xf16>) {
  %a = tenon.embedding %t, %i : (tensor<100x64xf16>, tensor<3xi32>) -> tensor<3x64xf16>
  %b = tenon.embedding %p, %j : (tensor<50x64xf16>, tensor<3xi32>) -> tensor<3x64xf16>
  %h = tenon.add %a, %b : (tensor<3x64xf16>, tensor<3x64xf16>) -> tensor<3x64xf16>
  %y = tenon.layer_norm %h eps 1.0e-5 : (tensor<3x64xf16>) -> tensor<3x64xf16>
  return %h, %y : tensor<3x64xf16>, tensor<3x64xf16>
}
