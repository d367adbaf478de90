// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-page-caches{positions=16 pages=2})' --split-input-file --verify-diagnostics
// RUN: not tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-page-caches{positions=48})' 2>&1 | FileCheck %s
// CHECK: expects pages of 16, 32, 64 or 128 positions, but got 48

// expected-error @+1 {{expects caches [S, C, H, D] in the layout dense to page them, but got '!tenon.state<1x40x2x8xf32, ring<4>>'}}
tenon.state @k : !tenon.state<1x40x2x8xf32, ring<4>>

// -----

tenon.state @k : !tenon.state<1x32x2x8xf32>
// expected-error @+1 {{expects all caches to hold 1 sequences of 32 positions to share a block table, but got '!tenon.state<1x16x2x8xf32>'}}
tenon.state @v : !tenon.state<1x16x2x8xf32>

// -----

// expected-error @+1 {{expects at least 3 pages, which one sequence of 40 positions takes, and at most 2^31 - 1, but got 2}}
module {
  tenon.state @k : !tenon.state<1x40x2x8xf32>
}

// -----

// expected-error @+1 {{expects a module of the phase input to page its caches, but got simplified}}
module attributes {tenon.phase = #tenon.phase<simplified>} {
}
