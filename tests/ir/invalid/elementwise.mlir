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
