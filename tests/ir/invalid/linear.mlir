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
  // expected-error @+1 {{'tenon.embedding' op expects table [V, D] and ids [M], but got tensor<8xf32> and tensor<1xi32>}}
  %0 = tenon.embedding %t, %i : (tensor<8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @f(%t: tensor<8x4xf32>, %i: tensor<1x1xi32>) {
  // expected-error @+1 {{expects table [V, D] and ids [M], but got tensor<8x4xf32> and tensor<1x1xi32>}}
  %0 = tenon.embedding %t, %i : (tensor<8x4xf32>, tensor<1x1xi32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%t: tensor<8x4xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of block-quantised element values}}
  %0 = tenon.dequantize %t : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}
