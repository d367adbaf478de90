// RUN: tenon-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @identity
// CHECK-SAME: (%[[X:.*]]: tensor<4xf16>)
// CHECK-NEXT: return %[[X]]
func.func @identity(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = tenon.cast %x : (tensor<4xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// Widening is exact: nothing is left of it.
// CHECK-LABEL: func @widen_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<4xf16>)
// CHECK-NEXT: return %[[X]]
func.func @widen_and_back(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = tenon.cast %x : (tensor<4xf16>) -> tensor<4xf32>
  %1 = tenon.cast %0 : (tensor<4xf32>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// CHECK-LABEL: func @widen_and_round
// CHECK-SAME: (%[[X:.*]]: tensor<4xf16>)
// CHECK-NEXT: %[[Y:.*]] = tenon.cast %[[X]] : (tensor<4xf16>) -> tensor<4xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @widen_and_round(%x: tensor<4xf16>) -> tensor<4xbf16> {
  %0 = tenon.cast %x : (tensor<4xf16>) -> tensor<4xf32>
  %1 = tenon.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// Rounding stays, whatever follows.
// CHECK-LABEL: func @round_and_widen
// CHECK-NEXT: tenon.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: tenon.cast %{{.*}} : (tensor<4xf16>) -> tensor<4xf32>
func.func @round_and_widen(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %1 = tenon.cast %0 : (tensor<4xf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func @bf16_to_f16_to_bf16
// CHECK-COUNT-2: tenon.cast
func.func @bf16_to_f16_to_bf16(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = tenon.cast %x : (tensor<4xbf16>) -> tensor<4xf16>
  %1 = tenon.cast %0 : (tensor<4xf16>) -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// To nearest, ties to even, in f16: 2049 lies between 2048 and 2050; 65520 is the first to be
// infinite.
// CHECK-LABEL: func @constant
// CHECK-NEXT: tenon.constant dense<[1.000000e+00, 2.048000e+03, 0x7C00, -0.000000e+00]> : tensor<4xf16>
func.func @constant() -> tensor<4xf16> {
  %c = tenon.constant dense<[1.0, 2049.0, 65520.0, -0.0]> : tensor<4xf32> : tensor<4xf32>
  %0 = tenon.cast %c : (tensor<4xf32>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
