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

// CHECK-LABEL: func @indices
func.func @indices(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>, %u: tensor<4x2xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: tenon.gather %{{.*}}, %{{.*}} along 1 : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  %0 = tenon.gather %x, %i along 1 : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  // CHECK: tenon.scatter %{{.*}}, %{{.*}}, %{{.*}} along 1 : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  %1 = tenon.scatter %x, %i, %0 along 1 : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  // CHECK: tenon.scatter %{{.*}}, %{{.*}}, %{{.*}} along 1 accumulate : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  %2 = tenon.scatter %x, %i, %u along 1 accumulate : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func @convolutions
func.func @convolutions(%x: tensor<1x80x100xf16>, %image: tensor<2x3x8x8xf16>) -> (tensor<1x50x240xf16>, tensor<2x4x48xf16>) {
  // CHECK: tenon.patches %{{.*}} window [3] strides [2] low [1] high [1] : (tensor<1x80x100xf16>) -> tensor<1x50x240xf16>
  %0 = tenon.patches %x window [3] strides [2] low [1] high [1] : (tensor<1x80x100xf16>) -> tensor<1x50x240xf16>
  // CHECK: tenon.patches %{{.*}} window [4, 4] strides [4, 4] low [0, 0] high [0, 0] : (tensor<2x3x8x8xf16>) -> tensor<2x4x48xf16>
  %1 = tenon.patches %image window [4, 4] strides [4, 4] low [0, 0] high [0, 0] : (tensor<2x3x8x8xf16>) -> tensor<2x4x48xf16>
  return %0, %1 : tensor<1x50x240xf16>, tensor<2x4x48xf16>
}
