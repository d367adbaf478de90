// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-LABEL: func @matmul
func.func @matmul(%x: tensor<2x3x64xf16>, %w: tensor<8x64x!tenon.block<q8_0>>) -> tensor<2x3x8xf32> {
  // CHECK: tenon.matmul %{{.*}}, %{{.*}} : (tensor<2x3x64xf16>, tensor<8x64x!tenon.block<q8_0>>) -> tensor<2x3x8xf32>
  %0 = tenon.matmul %x, %w : (tensor<2x3x64xf16>, tensor<8x64x!tenon.block<q8_0>>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// CHECK-LABEL: func @groups
func.func @groups(%x: tensor<1x256xf16>, %w: tensor<8x256x!tenon.block<int4_g128_bf16_zero>>, %v: tensor<8x256x!tenon.block<e4m3_g64_f32>>) -> (tensor<1x8xf16>, tensor<1x8xf16>) {
  // CHECK: tenon.matmul %{{.*}}, %{{.*}} : (tensor<1x256xf16>, tensor<8x256x!tenon.block<int4_g128_bf16_zero>>) -> tensor<1x8xf16>
  %0 = tenon.matmul %x, %w : (tensor<1x256xf16>, tensor<8x256x!tenon.block<int4_g128_bf16_zero>>) -> tensor<1x8xf16>
  // CHECK: tenon.matmul %{{.*}}, %{{.*}} : (tensor<1x256xf16>, tensor<8x256x!tenon.block<e4m3_g64_f32>>) -> tensor<1x8xf16>
  %1 = tenon.matmul %x, %v : (tensor<1x256xf16>, tensor<8x256x!tenon.block<e4m3_g64_f32>>) -> tensor<1x8xf16>
  return %0, %1 : tensor<1x8xf16>, tensor<1x8xf16>
}

// CHECK-LABEL: func @fp4
func.func @fp4(%x: tensor<1x128xf16>, %w: tensor<8x128x!tenon.block<mxfp4>>, %v: tensor<8x128x!tenon.block<nvfp4_f32>>) -> (tensor<1x8xf16>, tensor<8x128xf32>) {
  // CHECK: tenon.matmul %{{.*}}, %{{.*}} : (tensor<1x128xf16>, tensor<8x128x!tenon.block<mxfp4>>) -> tensor<1x8xf16>
  %0 = tenon.matmul %x, %w : (tensor<1x128xf16>, tensor<8x128x!tenon.block<mxfp4>>) -> tensor<1x8xf16>
  // CHECK: tenon.dequantize %{{.*}} : (tensor<8x128x!tenon.block<nvfp4_f32>>) -> tensor<8x128xf32>
  %1 = tenon.dequantize %v : (tensor<8x128x!tenon.block<nvfp4_f32>>) -> tensor<8x128xf32>
  return %0, %1 : tensor<1x8xf16>, tensor<8x128xf32>
}

// CHECK-LABEL: func @batched_with_order
func.func @batched_with_order(%x: tensor<2x3x4xf32>, %w: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  // CHECK: tenon.matmul %{{.*}}, %{{.*}} order <chunk = 0, lanes = 16, tree = halving> :
  %0 = tenon.matmul %x, %w order <chunk = 0, lanes = 16, tree = halving> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// CHECK-LABEL: func @embedding
func.func @embedding(%t: tensor<16x32x!tenon.block<q4_0>>, %ids: tensor<3xi32>) -> tensor<3x32xf16> {
  // CHECK: tenon.embedding %{{.*}}, %{{.*}} : (tensor<16x32x!tenon.block<q4_0>>, tensor<3xi32>) -> tensor<3x32xf16>
  %0 = tenon.embedding %t, %ids : (tensor<16x32x!tenon.block<q4_0>>, tensor<3xi32>) -> tensor<3x32xf16>
  return %0 : tensor<3x32xf16>
}

// CHECK-LABEL: func @dequantize
func.func @dequantize(%t: tensor<4x64x!tenon.block<q8_0>>) -> tensor<4x64xf32> {
  // CHECK: tenon.dequantize %{{.*}} : (tensor<4x64x!tenon.block<q8_0>>) -> tensor<4x64xf32>
  %0 = tenon.dequantize %t : (tensor<4x64x!tenon.block<q8_0>>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// CHECK-LABEL: func @quantized
func.func @quantized(%x: tensor<2x64xf16>, %w: tensor<8x64x!tenon.block<q8_0>>) -> tensor<2x8xf32> {
  // CHECK: %[[Q:.*]] = tenon.quantize %{{.*}} : (tensor<2x64xf16>) -> tensor<2x64x!tenon.block<q8_s>>
  %0 = tenon.quantize %x : (tensor<2x64xf16>) -> tensor<2x64x!tenon.block<q8_s>>
  // CHECK: tenon.matmul %[[Q]], %{{.*}} order <chunk = 0, lanes = 1, tree = halving> : (tensor<2x64x!tenon.block<q8_s>>, tensor<8x64x!tenon.block<q8_0>>) -> tensor<2x8xf32>
  %1 = tenon.matmul %0, %w order <chunk = 0, lanes = 1, tree = halving> : (tensor<2x64x!tenon.block<q8_s>>, tensor<8x64x!tenon.block<q8_0>>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// CHECK-LABEL: func @experts
func.func @experts(%x: tensor<2x64xf16>, %w: tensor<8x96x64x!tenon.block<q8_0>>, %ids: tensor<2x3xi32>, %weights: tensor<2x3xf32>) -> tensor<2x96xf16> {
  // CHECK: %[[Y:.*]] = tenon.expert_matmul %{{.*}}, %{{.*}}, %{{.*}} order <chunk = 0, lanes = 16, tree = halving> : (tensor<2x64xf16>, tensor<8x96x64x!tenon.block<q8_0>>, tensor<2x3xi32>) -> tensor<2x3x96xf16>
  %0 = tenon.expert_matmul %x, %w, %ids order <chunk = 0, lanes = 16, tree = halving> : (tensor<2x64xf16>, tensor<8x96x64x!tenon.block<q8_0>>, tensor<2x3xi32>) -> tensor<2x3x96xf16>
  // CHECK: tenon.weighted_sum %[[Y]], %{{.*}} : (tensor<2x3x96xf16>, tensor<2x3xf32>) -> tensor<2x96xf16>
  %1 = tenon.weighted_sum %0, %weights : (tensor<2x3x96xf16>, tensor<2x3xf32>) -> tensor<2x96xf16>
  return %1 : tensor<2x96xf16>
}
