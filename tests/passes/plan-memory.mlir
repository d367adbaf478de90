// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory))' | FileCheck %s

// a is dead when c is written, so c takes its place; b lives beside both; the last result goes to
// the output and takes no workspace.
// CHECK-LABEL: func @reuses
// CHECK-SAME: attributes {tenon.workspace = 272 : i64}
// CHECK: tenon.kernel {{.*}} buffers [#tenon.buffer<offset = 0, bytes = 16>]
// CHECK: tenon.kernel {{.*}} buffers [#tenon.buffer<offset = 256, bytes = 16>]
// CHECK: tenon.kernel {{.*}} buffers [#tenon.buffer<offset = 0, bytes = 16>]
// CHECK: tenon.kernel {{.*}} buffers [unit]
func.func @reuses(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %b = tenon.kernel (%0 = %a : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %c = tenon.kernel (%0 = %b : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %d = tenon.kernel (%0 = %c : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %d : tensor<4xf32>
}

// A view keeps what it shows alive: a may not be overwritten by c.
// CHECK-LABEL: func @views
// CHECK: tenon.kernel {{.*}} buffers [#tenon.buffer<offset = 0, bytes = 16>]
// CHECK: tenon.kernel {{.*}} buffers [#tenon.buffer<offset = 256, bytes = 16>]
// CHECK: tenon.kernel {{.*}} buffers [unit]
func.func @views(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %v = tenon.reshape %a to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  %b = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %w = tenon.reshape %b to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  %c = tenon.kernel (%0 = %v : tensor<2x2xf32>, %1 = %w : tensor<2x2xf32>) -> tensor<2x2xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %2 = tenon.add %0, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    tenon.yield %2 : tensor<2x2xf32>
  }
  return %c : tensor<2x2xf32>
}
