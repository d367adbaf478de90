// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-LABEL: func @views
func.func @views(%x: tensor<2x6xf32>, %i: tensor<4xi32>) -> (tensor<3x7xf32>, tensor<2x2xi32>) {
  // CHECK: tenon.reshape %{{.*}} to [3, 4] : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %0 = tenon.reshape %x to [3, 4] : (tensor<2x6xf32>) -> tensor<3x4xf32>
  // CHECK: tenon.transpose %{{.*}} by [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = tenon.transpose %0 by [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  // CHECK: tenon.slice %{{.*}} [1, 0] [3, 3] [1, 1] : (tensor<4x3xf32>) -> tensor<3x3xf32>
  %2 = tenon.slice %1 [1, 0] [3, 3] [1, 1] : (tensor<4x3xf32>) -> tensor<3x3xf32>
  // CHECK: tenon.concat %{{.*}}, %{{.*}} along 1 : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x7xf32>
  %3 = tenon.concat %2, %0 along 1 : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x7xf32>
  // CHECK: tenon.reshape %{{.*}} to [2, 2] : (tensor<4xi32>) -> tensor<2x2xi32>
  %4 = tenon.reshape %i to [2, 2] : (tensor<4xi32>) -> tensor<2x2xi32>
  return %3, %4 : tensor<3x7xf32>, tensor<2x2xi32>
}

// CHECK-LABEL: func @scalar
func.func @scalar(%x: tensor<1x1xf32>) -> tensor<f32> {
  // CHECK: tenon.reshape %{{.*}} to [] : (tensor<1x1xf32>) -> tensor<f32>
  %0 = tenon.reshape %x to [] : (tensor<1x1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
