// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.clamp' op expects bounds in ascending order, but got 2.000000e+00 and 1.000000e+00}}
  %0 = tenon.clamp %x from 2.0 to 1.0 : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects bounds in ascending order, but got nan and 1.000000e+00}}
  %0 = tenon.clamp %x from 0x7FF8000000000000 to 1.0 : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'tenon.select' op}}
  %0 = tenon.select %x, %x, %y : (tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi64>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'tenon.add' op expects tensors that are all of floats, or all of one integer type, but got 'tensor<4xi64>' and 'tensor<4xi32>'}}
  %0 = tenon.add %x, %y : (tensor<4xi64>, tensor<4xi32>) -> tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4xi64>) {
  // expected-error @+1 {{'tenon.mod' op expects tensors that are all of floats, or all of one integer type, but got 'tensor<4xi64>' and 'tensor<4xf32>'}}
  %0 = tenon.mod %x, %x : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{'tenon.sub' op operand #0 must be statically shaped tensor of 32-bit float or 16-bit float or bfloat16 type or 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xi1>'}}
  %0 = tenon.sub %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xi64>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.compare' op expects tensors that are all of floats, or all of one integer type, but got 'tensor<4xi64>' and 'tensor<4xf32>'}}
  %0 = tenon.compare lt %x, %y : (tensor<4xi64>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xi64>) {
  // expected-error @+1 {{'tenon.compare' op result #0 must be statically shaped tensor of 32-bit float or 16-bit float or bfloat16 type or 1-bit signless integer values, but got 'tensor<4xi64>'}}
  %0 = tenon.compare lt %x, %x : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @f(%c: tensor<4xi32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.select' op operand #0 must be statically shaped tensor of 32-bit float or 16-bit float or bfloat16 type or 1-bit signless integer values, but got 'tensor<4xi32>'}}
  %0 = tenon.select %c, %x, %x : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%c: tensor<4xi1>, %x: tensor<4xi64>, %y: tensor<4xi1>) {
  // expected-error @+1 {{'tenon.select' op expects tensors that are all of floats, or all of one integer type, but got 'tensor<4xi64>' and 'tensor<4xi1>'}}
  %0 = tenon.select %c, %x, %y : (tensor<4xi1>, tensor<4xi64>, tensor<4xi1>) -> tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4xi64>) {
  // expected-error @+1 {{'tenon.div' op operand #0 must be statically shaped tensor of 32-bit float or 16-bit float or bfloat16 type values, but got 'tensor<4xi64>'}}
  %0 = tenon.div %x, %x : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error @+1 {{'tenon.cast' op operand #0 must be statically shaped tensor of 32-bit float or 16-bit float or bfloat16 type or 1-bit signless integer or 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xi8>'}}
  %0 = tenon.cast %x : (tensor<4xi8>) -> tensor<4xf32>
  return
}
