// RUN: tenon-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @reshape_identity
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @reshape_identity(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.reshape %x to [2, 4] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func @reshape_reshape
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[Y:.*]] = tenon.reshape %[[X]] to [4, 2]
// CHECK-NEXT: return %[[Y]]
func.func @reshape_reshape(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %0 = tenon.reshape %x to [8] : (tensor<2x4xf32>) -> tensor<8xf32>
  %1 = tenon.reshape %0 to [4, 2] : (tensor<8xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// CHECK-LABEL: func @reshape_back
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @reshape_back(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.reshape %x to [8] : (tensor<2x4xf32>) -> tensor<8xf32>
  %1 = tenon.reshape %0 to [2, 4] : (tensor<8xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func @reshape_constant
// CHECK-NEXT: %[[C:.*]] = tenon.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT: return %[[C]]
func.func @reshape_constant() -> tensor<2x2xf32> {
  %c = tenon.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> : tensor<4xf32>
  %0 = tenon.reshape %c to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: func @transpose_identity
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @transpose_identity(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.transpose %x by [0, 1] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Axes of y: x's 1, 2, 0; of z: y's 2, 0, 1, which are x's 0, 1, 2.
// CHECK-LABEL: func @transpose_back
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @transpose_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = tenon.transpose %x by [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %z = tenon.transpose %y by [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %z : tensor<2x3x4xf32>
}

// Axes of y: x's 1, 2, 0; of z: y's 0, 2, 1, which are x's 1, 0, 2.
// CHECK-LABEL: func @transpose_transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT: %[[Z:.*]] = tenon.transpose %[[X]] by [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: return %[[Z]]
func.func @transpose_transpose(%x: tensor<2x3x4xf32>) -> tensor<3x2x4xf32> {
  %y = tenon.transpose %x by [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %z = tenon.transpose %y by [0, 2, 1] : (tensor<3x4x2xf32>) -> tensor<3x2x4xf32>
  return %z : tensor<3x2x4xf32>
}

// CHECK-LABEL: func @slice
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[Y:.*]] = tenon.slice %[[X]] [0, 1] [2, 2] [1, 1]
// CHECK-NEXT: return %[[Y]]
func.func @slice(%x: tensor<2x4xf32>) -> tensor<2x2xf32> {
  %0 = tenon.slice %x [0, 0] [2, 4] [1, 1] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.slice %0 [0, 1] [2, 2] [1, 1] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// CHECK-LABEL: func @concat
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[Y:.*]] = tenon.concat %[[X]], %[[X]] along 0
// CHECK-NEXT: return %[[Y]]
func.func @concat(%x: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %0 = tenon.concat %x along 1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.concat %0, %x along 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
