// RUN: tenon-opt %s --canonicalize --cse | FileCheck %s

tenon.state @k : !tenon.state<1x8x2x4xf32>

// An unused computation goes, a kernel of such computations too; an unused write stays, also in a
// kernel, since the state lives on.
// CHECK-LABEL: func @dead
// CHECK-NEXT: %[[K:.*]] = tenon.get_state
// CHECK-NEXT: %[[W:.*]] = tenon.kv_write {{.*}} into %[[K]]
// CHECK-NEXT: tenon.kernel
// CHECK-NEXT:   tenon.kv_write
// CHECK-NEXT:   tenon.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @dead(%v: tensor<1x2x4xf32>, %p: tensor<1xi32>) {
  %k = tenon.get_state @k : <1x8x2x4xf32>
  %0 = tenon.exp %v : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %1 = tenon.kernel (%a = %v : tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
    %2 = tenon.exp %a : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    tenon.yield %2 : tensor<1x2x4xf32>
  }
  %k1 = tenon.kv_write %v, %p, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  %k2 = tenon.kernel (%a = %v : tensor<1x2x4xf32>, %b = %p : tensor<1xi32>, %c = %k1 : !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32> {
    %3 = tenon.kv_write %a, %b, %b into %c : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
    tenon.yield %3 : !tenon.state<1x8x2x4xf32>
  }
  return
}

// Equal computations become one; a constant moves to the right of a commutative operation.
// CHECK-LABEL: func @equal
// CHECK-NEXT: %[[C:.*]] = tenon.constant
// CHECK-NEXT: %[[A:.*]] = tenon.add %{{.*}}, %[[C]]
// CHECK-NEXT: %[[M:.*]] = tenon.mul %[[A]], %[[A]]
// CHECK-NEXT: return %[[M]]
func.func @equal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tenon.constant dense<2.0> : tensor<f32> : tensor<f32>
  %0 = tenon.add %c, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tenon.add %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = tenon.mul %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
