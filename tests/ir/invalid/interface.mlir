// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<0x4xf32>) {
  // expected-error @+1 {{'tenon.exp' op expects positive extents, but got 'tensor<0x4xf32>'}}
  %0 = tenon.exp %x : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x32xf32>, %w: tensor<4x31x!tenon.block<q8_0>>) {
  // expected-error @+1 {{expects rows that are whole blocks and sizes within 63 bits, but got 'tensor<4x31x!tenon.block<q8_0>>'}}
  %0 = tenon.matmul %x, %w : (tensor<1x32xf32>, tensor<4x31x!tenon.block<q8_0>>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error @+1 {{expects rows that are whole blocks and sizes within 63 bits, but got}}
  %0 = tenon.exp %x : (tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'tenon.exp' op expects result #0 of shape [1, 4], but got 'tensor<1x5xf32>'}}
  %0 = tenon.exp %x : (tensor<1x4xf32>) -> tensor<1x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4294967296x1xf32>, %y: tensor<1x4294967296xf32>) {
  // expected-error @+1 {{expects a result size within 63 bits, but got}}
  %0 = tenon.add %x, %y : (tensor<4294967296x1xf32>, tensor<1x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{'tenon.add' op expects operands that broadcast, but got shapes [2, 4] and [3, 4]}}
  %0 = tenon.add %x, %y : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %0 = tenon.exp %x : (tensor<?x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %0 = tenon.exp %x : (tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xi32>) {
  // expected-error @+1 {{expects a result of its input's element type, but got 'tensor<2x4xi32>' and 'tensor<4x2xf32>'}}
  %0 = tenon.transpose %x by [1, 0] : (tensor<2x4xi32>) -> tensor<4x2xf32>
  return
}
