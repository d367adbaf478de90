// RUN: tenon-opt %s --tenon-defer-norms | FileCheck %s

// The factor of a row, in f32, once; each product in f32 up to it.
// CHECK-LABEL: func @pair
func.func @pair(%x: tensor<4x64xbf16>, %g: tensor<64xf32>, %u: tensor<96x64xbf16>, %v: tensor<96x64xbf16>) -> tensor<4x96xbf16> {
  // CHECK-NEXT: %[[SQUARES:.*]] = tenon.square %arg0 : (tensor<4x64xbf16>) -> tensor<4x64xf32>
  // CHECK-NEXT: %[[MEAN:.*]] = tenon.reduce mean %[[SQUARES]] : (tensor<4x64xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: %[[EPSILON:.*]] = tenon.constant dense<9.99999974E-6>
  // CHECK-NEXT: %[[SUM:.*]] = tenon.add %[[MEAN]], %[[EPSILON]] : (tensor<4x1xf32>, tensor<1xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: %[[FACTOR:.*]] = tenon.rsqrt %[[SUM]] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: %[[SCALED:.*]] = tenon.mul %arg0, %arg1 : (tensor<4x64xbf16>, tensor<64xf32>) -> tensor<4x64xbf16>
  // CHECK-NEXT: %[[GATE:.*]] = tenon.matmul %[[SCALED]], %arg2 : (tensor<4x64xbf16>, tensor<96x64xbf16>) -> tensor<4x96xf32>
  // CHECK-NEXT: %[[A:.*]] = tenon.mul %[[GATE]], %[[FACTOR]] : (tensor<4x96xf32>, tensor<4x1xf32>) -> tensor<4x96xbf16>
  // CHECK-NEXT: %[[UP:.*]] = tenon.matmul %[[SCALED]], %arg3
  // CHECK-NEXT: %[[B:.*]] = tenon.mul %[[UP]], %[[FACTOR]]
  // CHECK-NEXT: tenon.glu silu %[[A]], %[[B]]
  %0 = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<4x64xbf16>, tensor<64xf32>) -> tensor<4x64xbf16>
  %1 = tenon.matmul %0, %u : (tensor<4x64xbf16>, tensor<96x64xbf16>) -> tensor<4x96xbf16>
  %2 = tenon.matmul %0, %v : (tensor<4x64xbf16>, tensor<96x64xbf16>) -> tensor<4x96xbf16>
  %3 = tenon.glu silu %1, %2 : (tensor<4x96xbf16>, tensor<4x96xbf16>) -> tensor<4x96xbf16>
  return %3 : tensor<4x96xbf16>
}

// Without a weight a product takes x itself, or x in the norm's type; f16 holds it.
// CHECK-LABEL: func @alone
func.func @alone(%x: tensor<1x64xf16>, %u: tensor<96x64x!tenon.block<q8_0>>) -> tensor<1x96xf16> {
  // CHECK-NOT: tenon.cast
  // CHECK: tenon.matmul %arg0, %arg1 : (tensor<1x64xf16>, tensor<96x64x!tenon.block<q8_0>>) -> tensor<1x96xf32>
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<1x64xf16>) -> tensor<1x64xf16>
  %1 = tenon.matmul %0, %u : (tensor<1x64xf16>, tensor<96x64x!tenon.block<q8_0>>) -> tensor<1x96xf16>
  return %1 : tensor<1x96xf16>
}

// CHECK-LABEL: func @narrower
func.func @narrower(%x: tensor<1x64xf32>, %u: tensor<96x64xbf16>) -> tensor<1x96xf32> {
  // CHECK: %[[X:.*]] = tenon.cast %arg0 : (tensor<1x64xf32>) -> tensor<1x64xbf16>
  // CHECK: tenon.matmul %[[X]], %arg1
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<1x64xf32>) -> tensor<1x64xbf16>
  %1 = tenon.matmul %0, %u : (tensor<1x64xbf16>, tensor<96x64xbf16>) -> tensor<1x96xf32>
  return %1 : tensor<1x96xf32>
}

// A product of each head: the factor has the axes of its rows.
// CHECK-LABEL: func @batched
func.func @batched(%x: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>) -> tensor<2x3x5xf32> {
  // CHECK: %[[FACTOR:.*]] = tenon.rsqrt %{{.*}} -> tensor<2x3x1xf32>
  // CHECK: tenon.mul %{{.*}}, %[[FACTOR]] : (tensor<2x3x5xf32>, tensor<2x3x1xf32>) -> tensor<2x3x5xf32>
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %1 = tenon.matmul %0, %k : (tensor<2x3x8xf32>, tensor<2x5x8xf32>) -> tensor<2x3x5xf32>
  return %1 : tensor<2x3x5xf32>
}

// x · w of f16 may overflow; a norm that the function returns is computed anyway; a norm that no
// product reads is none of the pass's business.
// CHECK-LABEL: func @kept
func.func @kept(%x: tensor<4x64xf16>, %g: tensor<64xf16>, %u: tensor<96x64xf16>, %z: tensor<4x64xf32>, %w: tensor<96x64xf32>)
    -> (tensor<4x96xf16>, tensor<4x96xf32>, tensor<4x64xf32>, tensor<4x64xf32>) {
  // CHECK-COUNT-3: tenon.rms_norm
  // CHECK-NOT: tenon.rsqrt
  %0 = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<4x64xf16>, tensor<64xf16>) -> tensor<4x64xf16>
  %1 = tenon.matmul %0, %u : (tensor<4x64xf16>, tensor<96x64xf16>) -> tensor<4x96xf16>
  %2 = tenon.rms_norm %z eps 1.0e-5 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %3 = tenon.matmul %2, %w : (tensor<4x64xf32>, tensor<96x64xf32>) -> tensor<4x96xf32>
  %4 = tenon.rms_norm %z eps 1.0e-6 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %1, %3, %2, %4 : tensor<4x96xf16>, tensor<4x96xf32>, tensor<4x64xf32>, tensor<4x64xf32>
}
