// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=fused --target=h200 --plan=fused --disable=residual-norm | FileCheck %s --check-prefix=APART
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY

// The sum is a result, too.
// CHECK-LABEL: func.func @both_outputs
// CHECK-NEXT: %[[K:.*]]:2 = tenon.kernel
// CHECK-NEXT:   %[[H:.*]] = tenon.add
// CHECK-NEXT:   %[[Y:.*]] = tenon.rms_norm %[[H]]
// CHECK-NEXT:   tenon.yield %[[H]], %[[Y]]
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]#0, %[[K]]#1
// APART-LABEL: func.func @both_outputs
// APART: tenon.kernel
// APART: tenon.kernel
// WHY-LABEL: @both_outputs
// WHY: yes {{.*}} residual-norm: add rms_norm → tensor<1x64xf16>; part of the cover with fewest kernels
func.func @both_outputs(%x: tensor<1x64xf16>, %a: tensor<1x64xf16>, %w: tensor<64xf16>) -> (tensor<1x64xf16>, tensor<1x64xf16>) {
  %h = tenon.add %x, %a : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
  %y = tenon.rms_norm %h, %w eps 1.0e-5 : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
  return %h, %y : tensor<1x64xf16>, tensor<1x64xf16>
}

// Several residuals: (mlp + attention) + x.
// CHECK-LABEL: func.func @several_residuals
// CHECK-NEXT: tenon.kernel
// CHECK-NEXT:   tenon.add
// CHECK-NEXT:   tenon.add
// CHECK-NEXT:   tenon.layer_norm
// CHECK-NOT: tenon.kernel
// CHECK: return
func.func @several_residuals(%x: tensor<4x64xf16>, %a: tensor<4x64xf16>, %m: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>) {
  %0 = tenon.add %m, %a : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  %h = tenon.add %0, %x : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  %y = tenon.layer_norm %h eps 1.0e-5 : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %h, %y : tensor<4x64xf16>, tensor<4x64xf16>
}

// Two norms of one sum with other factors: no emitter has two heroes, so one norm takes the sum
// along.
// WHY-LABEL: @two_norms
// WHY: no {{.*}} residual-norm: add rms_norm rms_norm {{.*}} no emitter: the emitter of row reductions computes one rms_norm a kernel, not also rms_norm
func.func @two_norms(%x: tensor<1x64xf16>, %a: tensor<1x64xf16>, %w: tensor<64xf16>) -> (tensor<1x64xf16>, tensor<1x64xf16>) {
  %h = tenon.add %x, %a : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
  %y = tenon.rms_norm %h, %w eps 1.0e-5 : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
  %z = tenon.rms_norm %h eps 1.0e-6 : (tensor<1x64xf16>) -> tensor<1x64xf16>
  return %y, %z : tensor<1x64xf16>, tensor<1x64xf16>
}

// A sum of fewer elements than what follows would be stored once for several rows.
// WHY-LABEL: @stored_once
// WHY: no {{.*}} elementwise-chain: add add {{.*}} no emitter: the emitter of elementwise chains works on positions [64], to which add [4, 64] does not broadcast
func.func @stored_once(%x: tensor<64xf16>, %a: tensor<64xf16>, %z: tensor<4x64xf16>) -> (tensor<64xf16>, tensor<4x64xf16>) {
  %h = tenon.add %x, %a : (tensor<64xf16>, tensor<64xf16>) -> tensor<64xf16>
  %i = tenon.add %h, %z : (tensor<64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  %y = tenon.rms_norm %i eps 1.0e-5 : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %u = tenon.exp %h : (tensor<64xf16>) -> tensor<64xf16>
  return %u, %y : tensor<64xf16>, tensor<4x64xf16>
}
