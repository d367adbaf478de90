// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects the name of a block-quantised encoding, but got 'q9_9'; known are iq4_nl mxfp4 nvfp4 q2_k}}
func.func private @f(tensor<4x32x!tenon.block<q9_9>>)

// -----

// expected-error @+1 {{expects the name of a block-quantised encoding, but got 'f32'}}
func.func private @f(tensor<4x32x!tenon.block<f32>>)

// -----

// expected-error @+1 {{expects states of f32, f16, bf16, i32 or blocks such as int8_h64, e4m3_h64 and int4_h64, but got 'f64'}}
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

// expected-error @+1 {{expected one of [dense, ring, paged] for where a state has its rows, got: pages}}
func.func private @f(!tenon.state<4xf32, pages>)

// -----

// expected-error @+1 {{expects states of f32, f16, bf16, i32 or blocks such as int8_h64, e4m3_h64 and int4_h64, but got '!tenon.block<q8_0>'}}
func.func private @f(!tenon.state<1x4x2x32x!tenon.block<q8_0>>)

// -----

// expected-error @+1 {{expects a last axis of one block, 64 elements, but got 128}}
func.func private @f(!tenon.state<1x4x2x128x!tenon.block<int8_h64>>)

// -----

// expected-error @+1 {{expects a ring that keeps fewer first positions than it holds, but got 8 of 8}}
func.func private @f(!tenon.state<1x8x2x4xf32, ring<8>>)

// -----

// expected-error @+1 {{expects a ring that keeps fewer first positions than it holds, but got -1 of 8}}
func.func private @f(!tenon.state<1x8x2x4xf32, ring<-1>>)

// -----

// expected-error @+1 {{expected '<'}}
func.func private @f(!tenon.state<1x8x2x4xf32, ring>)

// -----

// Blocks of caches are no weights.
func.func @f(%x: tensor<1x8xf32>, %w: tensor<4x8x!tenon.block<int8_h8>>) {
  // expected-error @+1 {{'tenon.matmul' op operand #1 must be}}
  %0 = tenon.matmul %x, %w : (tensor<1x8xf32>, tensor<4x8x!tenon.block<int8_h8>>) -> tensor<1x4xf32>
  return
}

// -----

// expected-error @+1 {{expects pages of the 64 positions that the shape has, but got 128}}
tenon.state @k : !tenon.state<9x2x64x8xf16, paged<128>>

// -----

// expected-error @+1 {{expects a paged state [N, H, P, D] of at most 2^31 - 1 pages of 16, 32, 64 or 128 positions, but got 24 positions}}
tenon.state @k : !tenon.state<9x2x24x8xf16, paged<24>>

// -----

// expected-error @+1 {{expects a paged state [N, H, P, D]}}
tenon.state @k : !tenon.state<9x64x8xf16, paged<64>>
