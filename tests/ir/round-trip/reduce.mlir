// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-LABEL: func @reduce
func.func @reduce(%x: tensor<2x8xf32>) -> tensor<2x1xf32> {
  // CHECK: tenon.reduce sum %{{.*}} : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %0 = tenon.reduce sum %x : (tensor<2x8xf32>) -> tensor<2x1xf32>
  // CHECK: tenon.reduce mean
  %1 = tenon.reduce mean %0 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK: tenon.reduce max
  %2 = tenon.reduce max %1 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK: tenon.reduce min %{{.*}} order <chunk = 0, lanes = 2, tree = halving> :
  %3 = tenon.reduce min %2 order <chunk = 0, lanes = 2, tree = halving> : (tensor<2x1xf32>) -> tensor<2x1xf32>
  return %3 : tensor<2x1xf32>
}

// CHECK-LABEL: func @cumulative_sum
func.func @cumulative_sum(%x: tensor<2x8xf16>) -> tensor<2x8xf32> {
  // CHECK: tenon.cumulative_sum %{{.*}} : (tensor<2x8xf16>) -> tensor<2x8xf32>
  %0 = tenon.cumulative_sum %x : (tensor<2x8xf16>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: func @argmax
func.func @argmax(%x: tensor<2x8xf16>, %y: tensor<8xf32>) -> (tensor<2xi32>, tensor<i32>) {
  // CHECK: tenon.argmax %{{.*}} : (tensor<2x8xf16>) -> tensor<2xi32>
  %0 = tenon.argmax %x : (tensor<2x8xf16>) -> tensor<2xi32>
  // CHECK: tenon.argmax %{{.*}} : (tensor<8xf32>) -> tensor<i32>
  %1 = tenon.argmax %y : (tensor<8xf32>) -> tensor<i32>
  return %0, %1 : tensor<2xi32>, tensor<i32>
}

// CHECK-LABEL: func @top_k
func.func @top_k(%x: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  // CHECK: tenon.top_k %{{.*}} k 3 : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  %0:2 = tenon.top_k %x k 3 : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}
