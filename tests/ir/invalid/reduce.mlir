// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.reduce' op expects an input of at least one axis, but got tensor<f32>}}
  %0 = tenon.reduce sum %x : (tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.reduce' op expects result #0 of shape [2, 1], but got 'tensor<2xf32>'}}
  %0 = tenon.reduce sum %x : (tensor<2x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.argmax' op expects an input of at least one axis, but got tensor<f32>}}
  %0 = tenon.argmax %x : (tensor<f32>) -> tensor<i32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.top_k' op expects k from 1 to the last axis of input, but got 5 and tensor<2x4xf32>}}
  %0:2 = tenon.top_k %x k 5 : (tensor<2x4xf32>) -> (tensor<2x5xf32>, tensor<2x5xi32>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.top_k' op expects k from 1 to the last axis of input, but got -1 and tensor<2x4xf32>}}
  %0:2 = tenon.top_k %x k -1 : (tensor<2x4xf32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{expects k from 1 to the last axis of input, but got 1 and tensor<f32>}}
  %0:2 = tenon.top_k %x k 1 : (tensor<f32>) -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.top_k' op expects result #1 of shape [2, 2], but got 'tensor<2x3xi32>'}}
  %0:2 = tenon.top_k %x k 2 : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x3xi32>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.cumulative_sum' op expects result #0 of shape [2, 4], but got 'tensor<2x1xf32>'}}
  %0 = tenon.cumulative_sum %x : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.cumulative_sum' op expects an input of at least one axis, but got tensor<f32>}}
  %0 = tenon.cumulative_sum %x : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2x4xi32>) {
  // expected-error @+1 {{'tenon.cumulative_sum' op expects tensors that are all of floats, or all of one integer type, but got 'tensor<2x4xi32>' and 'tensor<2x4xi64>'}}
  %0 = tenon.cumulative_sum %x : (tensor<2x4xi32>) -> tensor<2x4xi64>
  return
}

// -----

func.func @f(%x: tensor<2x4xi1>) {
  // expected-error @+1 {{'tenon.cumulative_sum' op operand #0 must be statically shaped tensor of 32-bit float or 16-bit float or bfloat16 type or 32-bit signless integer or 64-bit signless integer values, but got 'tensor<2x4xi1>'}}
  %0 = tenon.cumulative_sum %x : (tensor<2x4xi1>) -> tensor<2x4xi1>
  return
}
