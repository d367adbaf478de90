// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'tenon.file' op expects a path, but got an empty string}}
tenon.file @m "" bytes 16 fingerprint 0

// -----

// expected-error @+1 {{'tenon.file' op expects a size of zero or more bytes, but got -1}}
tenon.file @m "m" bytes -1 fingerprint 0

// -----

// expected-error @+1 {{'tenon.weight' op expects rows that are whole blocks and a size within 63 bits, but got 'tensor<4x31x!tenon.block<q4_0>>'}}
tenon.weight @w : tensor<4x31x!tenon.block<q4_0>> from []

// -----

// expected-error @+1 {{'tenon.weight' op expects a transposed weight of at least two axes and plain elements, but got 'tensor<4xf32>'}}
tenon.weight @w : tensor<4xf32> transposed from []

// -----

// expected-error @+1 {{'tenon.weight' op expects a transposed weight of at least two axes and plain elements, but got 'tensor<4x32x!tenon.block<q8_0>>'}}
tenon.weight @w : tensor<4x32x!tenon.block<q8_0>> transposed from []

// -----

// expected-error @+1 {{'tenon.weight' op expects ranges of 16 bytes together for 'tensor<4xf32>', but got 12}}
tenon.weight @w : tensor<4xf32> from [#tenon.range<@m, offset = 0, bytes = 8>, #tenon.range<@m, offset = 0, bytes = 4>]

// -----

// expected-error @+1 {{'tenon.weight' op expects ranges within 63 bits together, but got more}}
tenon.weight @w : tensor<4xf32> from [#tenon.range<@m, offset = 0, bytes = 4611686018427387904>, #tenon.range<@m, offset = 0, bytes = 4611686018427387904>]

// -----

// expected-error @+1 {{'tenon.weight' op expects a tenon.file named @m}}
tenon.weight @w : tensor<4xf32> from [#tenon.range<@m, offset = 0, bytes = 16>]

// -----

// expected-note @+1 {{the file is named here}}
tenon.file @m "m" bytes 31 fingerprint 0
// expected-error @+1 {{'tenon.weight' op expects ranges inside the 31 bytes of @m, but got #tenon.range<@m, offset = 16, bytes = 16>}}
tenon.weight @w : tensor<4xf32> from [#tenon.range<@m, offset = 16, bytes = 16>]

// -----

func.func @f() {
  // expected-error @+1 {{'tenon.get_weight' op expects a tenon.weight named @w}}
  %0 = tenon.get_weight @w : tensor<4xf32>
  return
}

// -----

tenon.file @m "m" bytes 16 fingerprint 0
// expected-note @+1 {{the weight is here}}
tenon.weight @w : tensor<4xf32> from [#tenon.range<@m, offset = 0, bytes = 16>]
func.func @f() {
  // expected-error @+1 {{'tenon.get_weight' op expects the type of the weight, 'tensor<4xf32>', but got 'tensor<2x2xf32>'}}
  %0 = tenon.get_weight @w : tensor<2x2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tenon.get_state' op expects a tenon.state named @k}}
  %0 = tenon.get_state @k : <4xf32>
  return
}

// -----

// expected-note @+1 {{the state is here}}
tenon.state @k : !tenon.state<4xf32>
func.func @f() {
  // expected-error @+1 {{'tenon.get_state' op expects the type of the state, '!tenon.state<4xf32>', but got '!tenon.state<5xf32>'}}
  %0 = tenon.get_state @k : <5xf32>
  return
}

// -----

tenon.state @k : !tenon.state<4xf32>
func.func @f() {
  // expected-error @+1 {{'tenon.get_state' op expects to be the one tenon.get_state of @k in its function}}
  %0 = tenon.get_state @k : <4xf32>
  // expected-note @+1 {{another one is here}}
  %1 = tenon.get_state @k : <4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tenon.constant' op expects dense elements, but got sparse}}
  %0 = tenon.constant sparse<0, 1.0> : tensor<4xf32> : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tenon.constant' op expects the type of its value, 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %0 = tenon.constant dense<1.0> : tensor<4xf32> : tensor<5xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tenon.constant' op expects a constant of at most 67108864 bytes, but got 'tensor<100000000000xf32>'}}
  %0 = tenon.constant dense<1.0> : tensor<100000000000xf32> : tensor<100000000000xf32>
  return
}
