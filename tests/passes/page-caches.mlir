// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-page-caches{positions=16 pages=5})' | FileCheck %s
// RUN: tenon-opt %s --tenon-page-caches | FileCheck %s --check-prefix=ALL

// 40 positions are three pages of 16, and one of 128.
// CHECK: tenon.state @k : !tenon.state<5x2x16x8xf32, paged<16>>
// ALL: tenon.state @k : !tenon.state<2x2x128x8xf32, paged<128>>
tenon.state @k : !tenon.state<2x40x2x8xf32>
tenon.state @v : !tenon.state<2x40x2x8x!tenon.block<int8_h8>>

// CHECK-LABEL: @f
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2x3xi32> {tenon.name = "block_table", tenon.role = #tenon.port<block_table>})
// ALL-LABEL: @f
// ALL-SAME: tensor<2x1xi32> {tenon.name = "block_table"
func.func @f(%k: tensor<3x2x8xf32>, %q: tensor<3x4x8xf32>, %s: tensor<3xi32>, %p: tensor<3xi32>) -> tensor<3x4x8xf32> {
  %k0 = tenon.get_state @k : !tenon.state<2x40x2x8xf32>
  // CHECK: tenon.get_state @v : <5x2x16x8x!tenon.block<int8_h8>, paged<16>>
  %v0 = tenon.get_state @v : !tenon.state<2x40x2x8x!tenon.block<int8_h8>>
  // CHECK: tenon.kv_write {{.*}} block_table %[[T]]
  %k1 = tenon.kv_write %k, %s, %p into %k0 : (tensor<3x2x8xf32>, tensor<3xi32>, tensor<3xi32>, !tenon.state<2x40x2x8xf32>) -> !tenon.state<2x40x2x8xf32>
  // CHECK: tenon.kv_write {{.*}} block_table %[[T]]
  %v1 = tenon.kv_write %k, %s, %p into %v0 : (tensor<3x2x8xf32>, tensor<3xi32>, tensor<3xi32>, !tenon.state<2x40x2x8x!tenon.block<int8_h8>>) -> !tenon.state<2x40x2x8x!tenon.block<int8_h8>>
  // CHECK: tenon.attention {{.*}} block_table %[[T]] scale
  %r = tenon.attention %q, %k1, %v1, %s, %p scale 0.2 : (tensor<3x4x8xf32>, !tenon.state<2x40x2x8xf32>, !tenon.state<2x40x2x8x!tenon.block<int8_h8>>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return %r : tensor<3x4x8xf32>
}

// Attention over tensors has no pages, nor has a function without caches a table.
// CHECK-LABEL: @g
// CHECK-NOT: block_table
func.func @g(%q: tensor<3x4x8xf32>, %k: tensor<1x40x2x8xf32>, %s: tensor<3xi32>, %p: tensor<3xi32>) -> tensor<3x4x8xf32> {
  %r = tenon.attention %q, %k, %k, %s, %p scale 0.2 : (tensor<3x4x8xf32>, tensor<1x40x2x8xf32>, tensor<1x40x2x8xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return %r : tensor<3x4x8xf32>
}
