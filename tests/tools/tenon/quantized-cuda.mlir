// RUN: not tenon dump %s --as=scheduled --plan=unfused --target=h200 2>&1 | FileCheck %s
// CHECK: expects a region that a schedule rule knows, but no emitter for CUDA quantises activations or multiplies quants
func.func @f(%x: tensor<1x64xf32>, %w: tensor<8x64x!tenon.block<q8_0>>) -> tensor<1x8xf32> {
  %q = tenon.quantize %x : (tensor<1x64xf32>) -> tensor<1x64x!tenon.block<q8_s>>
  %y = tenon.matmul %q, %w : (tensor<1x64x!tenon.block<q8_s>>, tensor<8x64x!tenon.block<q8_0>>) -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}
