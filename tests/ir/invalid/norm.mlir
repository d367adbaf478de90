// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.rms_norm' op expects an input of at least one axis, but got tensor<f32>}}
  %0 = tenon.rms_norm %x eps 0.0 : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %w: tensor<5xf32>) {
  // expected-error @+1 {{'tenon.rms_norm' op expects weight and bias of shape [4] to match the last axis of input, but got tensor<5xf32>}}
  %0 = tenon.rms_norm %x, %w eps 0.0 : (tensor<1x4xf32>, tensor<5xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %w: tensor<1x4xf32>) {
  // expected-error @+1 {{'tenon.layer_norm' op expects weight and bias of shape [4] to match the last axis of input, but got tensor<1x4xf32>}}
  %0 = tenon.layer_norm %x bias %w eps 0.0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.layer_norm' op expects an input of at least one axis}}
  %0 = tenon.layer_norm %x eps 0.0 : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.softmax' op expects an input of at least one axis}}
  %0 = tenon.softmax %x : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{operand count (2) does not match with the total size (3)}}
  %0 = "tenon.layer_norm"(%x, %w) <{epsilon = 0.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'tenon.rms_norm' op expects a finite eps of zero or more, but got -1}}
  %0 = tenon.rms_norm %x eps -1.0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'tenon.rms_norm' op expects a finite eps of zero or more, but got NaN}}
  %0 = tenon.rms_norm %x eps 0x7FF8000000000000 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{'tenon.layer_norm' op expects a finite eps of zero or more, but got +Inf}}
  %0 = tenon.layer_norm %x eps 0x7FF0000000000000 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}
