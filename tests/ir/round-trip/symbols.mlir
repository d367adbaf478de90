// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK: tenon.file @model "a folder/model.gguf" bytes 8192 fingerprint -7
tenon.file @model "a folder/model.gguf" bytes 8192 fingerprint -7
// CHECK: tenon.weight @blk.0.w : tensor<4x64x!tenon.block<q8_0>> from [#tenon.range<@model, offset = 4096, bytes = 100>, #tenon.range<@model, offset = 0, bytes = 172>]
tenon.weight @blk.0.w : tensor<4x64x!tenon.block<q8_0>> from [#tenon.range<@model, offset = 4096, bytes = 100>, #tenon.range<@model, offset = 0, bytes = 172>]
// CHECK: tenon.weight @t : tensor<4x8xf16> transposed from [#tenon.range<@model, offset = 0, bytes = 64>]
tenon.weight @t : tensor<4x8xf16> transposed from [#tenon.range<@model, offset = 0, bytes = 64>]
// CHECK: tenon.state @kv : !tenon.state<1x16x2x8xbf16>
tenon.state @kv : !tenon.state<1x16x2x8xbf16>
// CHECK: tenon.state @counter : !tenon.state<i32>
tenon.state @counter : !tenon.state<i32>

// CHECK-LABEL: func @get
func.func @get() -> tensor<2xi32> {
  // CHECK: %blk.0.w = tenon.get_weight @blk.0.w : tensor<4x64x!tenon.block<q8_0>>
  %w = tenon.get_weight @blk.0.w : tensor<4x64x!tenon.block<q8_0>>
  // CHECK: %kv = tenon.get_state @kv : <1x16x2x8xbf16>
  %s = tenon.get_state @kv : <1x16x2x8xbf16>
  // CHECK: %cst = tenon.constant dense<[1, -2]> : tensor<2xi32> : tensor<2xi32>
  %c = tenon.constant dense<[1, -2]> : tensor<2xi32> : tensor<2xi32>
  return %c : tensor<2xi32>
}

// The layout of a state that is not written is `dense`.
// CHECK: tenon.state @written : !tenon.state<1x8x2x4xf32>
tenon.state @written : !tenon.state<1x8x2x4xf32, dense>
