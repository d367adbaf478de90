// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects the name of a block-quantised encoding, but got 'q9_9'; known are iq4_nl mxfp4 nvfp4 q2_k}}
func.func private @f(tensor<4x32x!tenon.block<q9_9>>)

// -----

// expected-error @+1 {{expects the name of a block-quantised encoding, but got 'f32'}}
func.func private @f(tensor<4x32x!tenon.block<f32>>)

// -----

// expected-error @+1 {{expects states of f32, f16, bf16 or i32, but got 'f64'}}
func.func private @f(!tenon.state<4xf64>)

// -----

// expected-error @+1 {{expects positive extents, but got 0}}
func.func private @f(!tenon.state<4x0xf32>)

// -----

// expected-error @+1 {{expects a state size within 63 bits, but the extents multiply to more}}
func.func private @f(!tenon.state<4294967296x4294967296xf32>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @f(!tenon.state<?xf32>)

// -----

// expected-error @+1 {{expected one of [dense] for where a state has its rows, got: paged}}
func.func private @f(!tenon.state<4xf32, paged>)
