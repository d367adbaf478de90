// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<1x4xf32>, %w: tensor<3x5xf32>) {
  // expected-error @+1 {{'tenon.matmul' op expects weight [N, K] with K the last axis of input, but got tensor<1x4xf32> and tensor<3x5xf32>}}
  %0 = tenon.matmul %x, %w : (tensor<1x4xf32>, tensor<3x5xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{expects weight [N, K] with K the last axis of input}}
  %0 = tenon.matmul %x, %w : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %w: tensor<3x5xf32>) {
  // expected-error @+1 {{expects weight [N, K] with K the last axis of input}}
  %0 = tenon.matmul %x, %w : (tensor<f32>, tensor<3x5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x1x4xf32>, %w: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'tenon.matmul' op expects the batch axes of weight to match those of input, but got tensor<3x1x4xf32> and tensor<2x5x4xf32>}}
  %0 = tenon.matmul %x, %w : (tensor<3x1x4xf32>, tensor<2x5x4xf32>) -> tensor<3x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %w: tensor<2x5x4xf32>) {
  // expected-error @+1 {{expects the batch axes of weight to match those of input}}
  %0 = tenon.matmul %x, %w : (tensor<1x4xf32>, tensor<2x5x4xf32>) -> tensor<1x5xf32>
  return
}

// -----

func.func @f(%t: tensor<8xf32>, %i: tensor<1xi32>) {
  // expected-error @+1 {{'tenon.embedding' op expects table [V, D] and ids [..., M], but got tensor<8xf32> and tensor<1xi32>}}
  %0 = tenon.embedding %t, %i : (tensor<8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @f(%t: tensor<8x4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{expects table [V, D] and ids [..., M], but got tensor<8x4xf32> and tensor<i32>}}
  %0 = tenon.embedding %t, %i : (tensor<8x4xf32>, tensor<i32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%t: tensor<8x4xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of block-quantised element values}}
  %0 = tenon.dequantize %t : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x64x!tenon.block<q8_s>>, %w: tensor<8x64xf32>) {
  // expected-error @+1 {{'tenon.matmul' op expects a block-quantised weight beside a quantised input, but got 'tensor<8x64xf32>'}}
  %0 = tenon.matmul %x, %w : (tensor<1x64x!tenon.block<q8_s>>, tensor<8x64xf32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x256x!tenon.block<q8_s>>, %w: tensor<8x256x!tenon.block<q4_k>>) {
  // expected-error @+1 {{'tenon.matmul' op expects an input in q8_k beside a weight in q4_k, but got 'tensor<1x256x!tenon.block<q8_s>>'}}
  %0 = tenon.matmul %x, %w : (tensor<1x256x!tenon.block<q8_s>>, tensor<8x256x!tenon.block<q4_k>>) -> tensor<1x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x64xf32>) {
  // expected-error @+1 {{'tenon.quantize' op expects a result in q8_s or q8_k, but got 'tensor<1x64x!tenon.block<q4_0>>'}}
  %0 = tenon.quantize %x : (tensor<1x64xf32>) -> tensor<1x64x!tenon.block<q4_0>>
  return
}

// -----

func.func @f(%x: tensor<1x64xf32>) {
  // expected-error @+1 {{expects result #0 of shape [1, 64], but got 'tensor<2x64x!tenon.block<q8_s>>'}}
  %0 = tenon.quantize %x : (tensor<1x64xf32>) -> tensor<2x64x!tenon.block<q8_s>>
  return
}

// -----

func.func @f(%x: tensor<1x48xf32>) {
  // expected-error @+1 {{expects a result size within 63 bits}}
  %0 = tenon.quantize %x : (tensor<1x48xf32>) -> tensor<1x48x!tenon.block<q8_s>>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %w: tensor<3x5xf32>, %i: tensor<2x1xi32>) {
  // expected-error @+1 {{'tenon.expert_matmul' op expects weight [E, N, K] with K the last axis of input [R, K] or [R, k, K], but got tensor<2x4xf32> and tensor<3x5xf32>}}
  %0 = tenon.expert_matmul %x, %w, %i : (tensor<2x4xf32>, tensor<3x5xf32>, tensor<2x1xi32>) -> tensor<2x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %w: tensor<3x5x4xf32>, %i: tensor<2x1xi32>) {
  // expected-error @+1 {{expects weight [E, N, K] with K the last axis of input [R, K] or [R, k, K]}}
  %0 = tenon.expert_matmul %x, %w, %i : (tensor<4xf32>, tensor<3x5x4xf32>, tensor<2x1xi32>) -> tensor<2x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %w: tensor<3x5x4xf32>, %i: tensor<3x1xi32>) {
  // expected-error @+1 {{'tenon.expert_matmul' op expects ids [R, k] that match the rows of input, but got tensor<3x1xi32> and tensor<2x4xf32>}}
  %0 = tenon.expert_matmul %x, %w, %i : (tensor<2x4xf32>, tensor<3x5x4xf32>, tensor<3x1xi32>) -> tensor<3x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x4xf32>, %w: tensor<3x5x4xf32>, %i: tensor<2x1xi32>) {
  // expected-error @+1 {{expects ids [R, k] that match the rows of input}}
  %0 = tenon.expert_matmul %x, %w, %i : (tensor<2x2x4xf32>, tensor<3x5x4xf32>, tensor<2x1xi32>) -> tensor<2x1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %w: tensor<2x2xf32>) {
  // expected-error @+1 {{'tenon.weighted_sum' op expects input [R, k, N] and weights [R, k], but got tensor<2x3x4xf32> and tensor<2x2xf32>}}
  %0 = tenon.weighted_sum %x, %w : (tensor<2x3x4xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %w: tensor<2xf32>) {
  // expected-error @+1 {{expects input [R, k, N] and weights [R, k]}}
  %0 = tenon.weighted_sum %x, %w : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}
