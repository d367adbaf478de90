// RUN: tenon-opt %s --tenon-split-kernels | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-split-kernels,func.func(tenon-plan-memory))' \
// RUN:   | FileCheck %s --check-prefix=PLAN

// Each operation becomes a kernel of its own; the norm keeps the order that it had in the region.
// CHECK-LABEL: func @norm_of_squares
// CHECK: %[[SQUARE:.*]] = tenon.kernel {{.*}} schedule #tenon.schedule<"elementwise"
// CHECK-NEXT: tenon.square
// CHECK-NEXT: tenon.yield
// CHECK: %[[Y:.*]] = tenon.kernel (%{{.*}} = %[[SQUARE]] {{.*}} schedule #tenon.schedule<"rms_norm", tiles = 1>
// CHECK-NEXT: tenon.rms_norm {{.*}} order <chunk = 0, lanes = 128, tree = halving>
// CHECK-NEXT: tenon.yield
// CHECK: return %[[Y]]

// What lies between them has a place in the workspace then.
// PLAN-LABEL: func @norm_of_squares
// PLAN-SAME: tenon.workspace = 256
// PLAN: tenon.kernel {{.*}} buffers [#tenon.buffer<offset = 0, bytes = 256>]
// PLAN: tenon.kernel {{.*}} buffers [unit]
module attributes {tenon.target = #tenon.target<"v4", cpu, features = [], {vector_bits = 512 : i64, vector_registers = 32 : i64, l2_bytes = 1048576 : i64}>} {
func.func @norm_of_squares(%x: tensor<1x64xf32>, %w: tensor<64xf32>) -> tensor<1x64xf32> {
  %y = tenon.kernel (%a = %x : tensor<1x64xf32>, %b = %w : tensor<64xf32>) -> tensor<1x64xf32>
      schedule #tenon.schedule<"rms_norm", tiles = 1> {
    %0 = tenon.square %a : (tensor<1x64xf32>) -> tensor<1x64xf32>
    %1 = tenon.rms_norm %0, %b eps 1.0e-5 order <chunk = 0, lanes = 128, tree = halving>
        : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
    tenon.yield %1 : tensor<1x64xf32>
  }
  return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func @alone
// CHECK: tenon.kernel {{.*}} schedule #tenon.schedule<"elementwise", tiles = 7>
// CHECK-NOT: tenon.kernel
// CHECK: return
func.func @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tenon.kernel (%a = %x : tensor<4xf32>) -> tensor<4xf32>
      schedule #tenon.schedule<"elementwise", tiles = 7> {
    %0 = tenon.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
}
