// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels)' | FileCheck %s

tenon.state @k : !tenon.state<1x8x2x4xf32>

// A computation gets a kernel of its own, a view stays outside, an operand used twice is one input.
// CHECK-LABEL: func @wraps
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[K:.*]] = tenon.kernel (%[[A:.*]] = %[[X]] : tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:   %[[S:.*]] = tenon.add %[[A]], %[[A]]
// CHECK-NEXT:   tenon.yield %[[S]] : tensor<2x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[R:.*]] = tenon.reshape %[[K]] to [8]
// CHECK-NEXT: %[[E:.*]] = tenon.kernel
// CHECK-NEXT:   tenon.exp
// CHECK: return %[[E]]
func.func @wraps(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %0 = tenon.add %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.reshape %0 to [8] : (tensor<2x4xf32>) -> tensor<8xf32>
  %2 = tenon.exp %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// An argument that is returned is copied by a kernel.
// CHECK-LABEL: func @returns_argument
// CHECK: %[[K:.*]] = tenon.kernel
// CHECK-NEXT: tenon.reshape
// CHECK: return %[[K]]
func.func @returns_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// Two results may not be the same bytes: the second is copied, also through a view.
// CHECK-LABEL: func @returns_twice
// CHECK: %[[E:.*]] = tenon.kernel
// CHECK-NEXT: tenon.exp
// CHECK: %[[V:.*]] = tenon.reshape %[[E]] to [2, 2]
// CHECK: %[[C:.*]] = tenon.kernel (%{{.*}} = %[[V]] : tensor<2x2xf32>)
// CHECK: return %[[E]], %[[C]]
func.func @returns_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tenon.reshape %0 to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func @writes
// CHECK: %[[S:.*]] = tenon.get_state @k
// CHECK-NEXT: tenon.kernel ({{.*}} = %[[S]] : !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
// CHECK-NEXT: tenon.kv_write
func.func @writes(%v: tensor<1x2x4xf32>, %seq: tensor<1xi32>, %pos: tensor<1xi32>) {
  %s = tenon.get_state @k : !tenon.state<1x8x2x4xf32>
  %t = tenon.kv_write %v, %seq, %pos into %s : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}
