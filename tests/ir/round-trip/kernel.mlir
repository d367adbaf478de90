// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-LABEL: func @kernels
func.func @kernels(%x: tensor<1x64xf32>, %w: tensor<64xf32>) -> tensor<1x64xf32> {
  // CHECK: %[[K:.*]] = tenon.kernel (%[[A:.*]] = %{{.*}} : tensor<1x64xf32>, %[[B:.*]] = %{{.*}} : tensor<64xf32>) -> tensor<1x64xf32> schedule #tenon.schedule<"rms_norm", tiles = 1, {rows = 4 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 256>] attributes {note = "x"} {
  // CHECK-NEXT: %[[Y:.*]] = tenon.rms_norm %[[A]], %[[B]]
  // CHECK-NEXT: tenon.yield %[[Y]] : tensor<1x64xf32>
  %k = tenon.kernel (%a = %x : tensor<1x64xf32>, %b = %w : tensor<64xf32>) -> tensor<1x64xf32> schedule #tenon.schedule<"rms_norm", tiles = 1, {rows = 4 : i64}> buffers [#tenon.buffer<offset = 0, bytes = 256>] attributes {note = "x"} {
    %0 = tenon.rms_norm %a, %b eps 1.0e-5 : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
    tenon.yield %0 : tensor<1x64xf32>
  }
  // CHECK: tenon.kernel (%{{.*}} = %[[K]] : tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1xi32>) schedule #tenon.schedule<"row", tiles = 2> buffers [unit, #tenon.buffer<offset = 256, bytes = 4>] {
  %1:2 = tenon.kernel (%a = %k : tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1xi32>) schedule #tenon.schedule<"row", tiles = 2> buffers [unit, #tenon.buffer<offset = 256, bytes = 4>] {
    %2 = tenon.argmax %a : (tensor<1x64xf32>) -> tensor<1xi32>
    %3 = tenon.neg %a : (tensor<1x64xf32>) -> tensor<1x64xf32>
    tenon.yield %3, %2 : tensor<1x64xf32>, tensor<1xi32>
  }
  // CHECK: tenon.kernel () {
  // CHECK-NEXT: tenon.yield
  // CHECK-NEXT: }
  tenon.kernel () {
  }
  return %1#0 : tensor<1x64xf32>
}
