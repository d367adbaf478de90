// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=fused --target=h200 --plan=fused --disable=sibling-norms | FileCheck %s --check-prefix=APART
// RUN: tenon dump %s --as=scheduled --target=h200 --plan=split | FileCheck %s --check-prefix=SPLIT
// RUN: tenon explain %s --target=h200 | FileCheck %s --check-prefix=WHY

// A parallel residual: attention and feed-forward take norms of one value, of other weights.
// CHECK-LABEL: func.func @parallel_residual
// CHECK-NEXT: %[[K:.*]]:2 = tenon.kernel
// CHECK-NEXT:   %[[A:.*]] = tenon.layer_norm
// CHECK-NEXT:   %[[F:.*]] = tenon.layer_norm
// CHECK-NEXT:   tenon.yield %[[A]], %[[F]]
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]#0, %[[K]]#1
// APART-LABEL: func.func @parallel_residual
// APART-COUNT-2: tenon.kernel
// SPLIT-LABEL: func.func @parallel_residual
// SPLIT: tenon.kernel {{.*}} #tenon.schedule<"layer_norm", tiles = 1024, {group = 64 : i64, threads = 128 : i64, vector = 8 : i64}>
// SPLIT-NEXT: tenon.layer_norm {{.*}} order <chunk = 1280, lanes = 256, tree = halving>
// SPLIT: tenon.kernel {{.*}} #tenon.schedule<"layer_norm", tiles = 1024, {group = 64 : i64, threads = 128 : i64, vector = 8 : i64}>
// SPLIT-NEXT: tenon.layer_norm {{.*}} order <chunk = 1280, lanes = 256, tree = halving>
// WHY-LABEL: @parallel_residual
// WHY: yes {{.*}} sibling-norms: layer_norm layer_norm → {{.*}}; saves
func.func @parallel_residual(%x: tensor<2048x2560xf16>, %g: tensor<2560xf32>, %b: tensor<2560xf32>, %h: tensor<2560xf32>) -> (tensor<2048x2560xf16>, tensor<2048x2560xf16>) {
  %0 = tenon.layer_norm %x weight %g bias %b eps 1.0e-5 : (tensor<2048x2560xf16>, tensor<2560xf32>, tensor<2560xf32>) -> tensor<2048x2560xf16>
  %1 = tenon.layer_norm %x weight %h eps 1.0e-5 : (tensor<2048x2560xf16>, tensor<2560xf32>) -> tensor<2048x2560xf16>
  return %0, %1 : tensor<2048x2560xf16>, tensor<2048x2560xf16>
}

// Three of them, behind the embedding that they share.
// CHECK-LABEL: func.func @three
// CHECK-NEXT: tenon.kernel
// CHECK-NEXT:   tenon.embedding
// CHECK-NEXT:   tenon.rms_norm
// CHECK-NEXT:   tenon.rms_norm
// CHECK-NEXT:   tenon.rms_norm
// CHECK-NOT: tenon.kernel
// CHECK: return
func.func @three(%t: tensor<90x64xf16>, %i: tensor<4xi32>, %g: tensor<64xf16>, %h: tensor<64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>) {
  %x = tenon.embedding %t, %i : (tensor<90x64xf16>, tensor<4xi32>) -> tensor<4x64xf16>
  %0 = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<4x64xf16>, tensor<64xf16>) -> tensor<4x64xf16>
  %1 = tenon.rms_norm %x, %h eps 1.0e-5 : (tensor<4x64xf16>, tensor<64xf16>) -> tensor<4x64xf16>
  %2 = tenon.rms_norm %x eps 1.0e-5 : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %0, %1, %2 : tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>
}

// Norms whose factors differ share nothing but what they read.
// CHECK-LABEL: func.func @other_factors
// CHECK-COUNT-3: tenon.kernel
func.func @other_factors(%x: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>) {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %1 = tenon.rms_norm %x eps 1.0e-6 : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %2 = tenon.layer_norm %x eps 1.0e-5 : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %0, %1, %2 : tensor<4x64xf16>, tensor<4x64xf16>, tensor<4x64xf16>
}
