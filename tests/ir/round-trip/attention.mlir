// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

tenon.state @k : !tenon.state<2x16x2x8xf16>
tenon.state @v : !tenon.state<2x16x2x4xf16>

// CHECK-LABEL: func @hadamard
func.func @hadamard(%x: tensor<3x4x8xf32>) -> tensor<3x4x8xf16> {
  // CHECK: tenon.hadamard %{{.*}} : (tensor<3x4x8xf32>) -> tensor<3x4x8xf16>
  %0 = tenon.hadamard %x : (tensor<3x4x8xf32>) -> tensor<3x4x8xf16>
  return %0 : tensor<3x4x8xf16>
}

// CHECK-LABEL: func @rope
func.func @rope(%x: tensor<3x4x8xf32>, %p: tensor<3xi32>, %f: tensor<2xf32>) -> tensor<3x4x8xf16> {
  // CHECK: tenon.rope adjacent %{{.*}}, %{{.*}}, %{{.*}} : (tensor<3x4x8xf32>, tensor<3xi32>, tensor<2xf32>) -> tensor<3x4x8xf32>
  %0 = tenon.rope adjacent %x, %p, %f : (tensor<3x4x8xf32>, tensor<3xi32>, tensor<2xf32>) -> tensor<3x4x8xf32>
  // CHECK: tenon.rope halves %{{.*}} {magnitude = 1.250000e+00 : f64} : {{.*}} -> tensor<3x4x8xf16>
  %1 = tenon.rope halves %0, %p, %f {magnitude = 1.25 : f64} : (tensor<3x4x8xf32>, tensor<3xi32>, tensor<2xf32>) -> tensor<3x4x8xf16>
  return %1 : tensor<3x4x8xf16>
}

// CHECK-LABEL: func @states
func.func @states(%q: tensor<3x4x8xf16>, %kn: tensor<3x2x8xf16>, %s: tensor<3xi32>, %p: tensor<3xi32>) -> tensor<3x4x4xf32> {
  // CHECK: %k = tenon.get_state @k : <2x16x2x8xf16>
  %k = tenon.get_state @k : <2x16x2x8xf16>
  %v = tenon.get_state @v : <2x16x2x4xf16>
  // CHECK: tenon.kv_write %{{.*}}, %{{.*}}, %{{.*}} into %k : (tensor<3x2x8xf16>, tensor<3xi32>, tensor<3xi32>, !tenon.state<2x16x2x8xf16>) -> !tenon.state<2x16x2x8xf16>
  %k1 = tenon.kv_write %kn, %s, %p into %k : (tensor<3x2x8xf16>, tensor<3xi32>, tensor<3xi32>, !tenon.state<2x16x2x8xf16>) -> !tenon.state<2x16x2x8xf16>
  // CHECK: tenon.attention %{{.*}}, %{{.*}}, %v, %{{.*}}, %{{.*}} scale 5.000000e-01 : (tensor<3x4x8xf16>, !tenon.state<2x16x2x8xf16>, !tenon.state<2x16x2x4xf16>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x4x4xf32>
  %0 = tenon.attention %q, %k1, %v, %s, %p scale 0.5 : (tensor<3x4x8xf16>, !tenon.state<2x16x2x8xf16>, !tenon.state<2x16x2x4xf16>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x4x4xf32>
  return %0 : tensor<3x4x4xf32>
}

// CHECK-LABEL: func @chunks
func.func @chunks(%q: tensor<3x4x8xf32>, %k: tensor<2x5x1x8xf32>, %s: tensor<3xi32>, %p: tensor<3xi32>) -> tensor<3x4x8xf32> {
  // CHECK: tenon.attention %{{.*}} scale 1.000000e+00 {chunks} :
  %0 = tenon.attention %q, %k, %k, %s, %p scale 1.0 {chunks} : (tensor<3x4x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x1x8xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return %0 : tensor<3x4x8xf32>
}

// CHECK-LABEL: func @tensors
func.func @tensors(%q: tensor<3x4x8xf32>, %k: tensor<1x5x1x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) -> tensor<3x4x8xf32> {
  // CHECK: tenon.attention %{{.*}} scale 1.000000e+00 order <chunk = 64, lanes = 32, tree = halving> {causal = false, softcap = 3.000000e+01 : f64, window = 4 : i64} :
  %0 = tenon.attention %q, %k, %k, %s, %p scale 1.0 order <chunk = 64, lanes = 32, tree = halving> {causal = false, softcap = 30.0 : f64, window = 4 : i64} : (tensor<3x4x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return %0 : tensor<3x4x8xf32>
}

// CHECK-LABEL: func @scores
func.func @scores(%q: tensor<3x4x8xf32>, %k: tensor<1x5x1x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>,
                  %b: tensor<1x3x5xf16>, %h: tensor<4xf32>) -> tensor<3x4x8xf32> {
  // CHECK: tenon.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} slopes %{{.*}} sinks %{{.*}} scale 1.000000e+00 : (tensor<3x4x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<1x3x5xf16>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4x8xf32>
  %0 = tenon.attention %q, %k, %k, %s, %p bias %b slopes %h sinks %h scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<1x3x5xf16>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4x8xf32>
  // CHECK: tenon.attention {{.*}} sinks %{{.*}} scale
  %1 = tenon.attention %q, %k, %k, %s, %p sinks %h scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<4xf32>) -> tensor<3x4x8xf32>
  return %1 : tensor<3x4x8xf32>
}

tenon.state @ring : !tenon.state<1x8x2x8xf32, ring<2>>
tenon.state @small : !tenon.state<1x8x2x8x!tenon.block<e4m3_h8>>

// CHECK-LABEL: func @stream
func.func @stream(%q: tensor<3x4x8xf32>, %kn: tensor<1x2x8xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> (tensor<1x4x8xf32>, tensor<3xi32>) {
  // CHECK: tenon.ring_places %{{.*}} kept 2 ring 6 window 4 views 3 : (tensor<1xi32>) -> tensor<3xi32>
  %places = tenon.ring_places %p kept 2 ring 6 window 4 views 3 : (tensor<1xi32>) -> tensor<3xi32>
  // CHECK: tenon.get_state @ring : <1x8x2x8xf32, ring<2>>
  %k = tenon.get_state @ring : <1x8x2x8xf32, ring<2>>
  %k1 = tenon.kv_write %kn, %s, %p into %k : (tensor<1x2x8xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x8xf32, ring<2>>) -> !tenon.state<1x8x2x8xf32, ring<2>>
  %0 = tenon.attention %q, %k1, %k1, %s, %p scale 0.5 {window = 4 : i64} : (tensor<3x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32, ring<2>>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x8xf32>
  return %0, %places : tensor<1x4x8xf32>, tensor<3xi32>
}

// CHECK-LABEL: func @small_cache
func.func @small_cache(%kn: tensor<1x2x8xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) {
  // CHECK: tenon.get_state @small : <1x8x2x8x!tenon.block<e4m3_h8>>
  %k = tenon.get_state @small : <1x8x2x8x!tenon.block<e4m3_h8>>
  // CHECK: tenon.kv_write {{.*}} -> !tenon.state<1x8x2x8x!tenon.block<e4m3_h8>>
  %k1 = tenon.kv_write %kn, %s, %p into %k : (tensor<1x2x8xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x8x!tenon.block<e4m3_h8>>) -> !tenon.state<1x8x2x8x!tenon.block<e4m3_h8>>
  return
}

// CHECK: tenon.state @pool : !tenon.state<9x2x64x8xf16, paged<64>>
tenon.state @pool : !tenon.state<9x2x64x8xf16, paged<64>>

// CHECK-LABEL: @pages
// CHECK-SAME: tenon.role = #tenon.port<block_table>
func.func @pages(%x: tensor<3x2x8xf16>, %q: tensor<3x4x8xf16>, %s: tensor<3xi32>, %p: tensor<3xi32>,
                 %t: tensor<2x3xi32> {tenon.name = "block_table", tenon.role = #tenon.port<block_table>})
    -> tensor<3x4x8xf16> {
  %0 = tenon.get_state @pool : !tenon.state<9x2x64x8xf16, paged<64>>
  // CHECK: tenon.kv_write %{{.*}} into %{{.*}} block_table %{{.*}} : (tensor<3x2x8xf16>, tensor<3xi32>, tensor<3xi32>, !tenon.state<9x2x64x8xf16, paged<64>>, tensor<2x3xi32>) -> !tenon.state<9x2x64x8xf16, paged<64>>
  %1 = tenon.kv_write %x, %s, %p into %0 block_table %t
      : (tensor<3x2x8xf16>, tensor<3xi32>, tensor<3xi32>, !tenon.state<9x2x64x8xf16, paged<64>>, tensor<2x3xi32>)
      -> !tenon.state<9x2x64x8xf16, paged<64>>
  // CHECK: tenon.attention %{{.*}} block_table %{{.*}} scale 5.000000e-01
  %2 = tenon.attention %q, %1, %1, %s, %p block_table %t scale 0.5
      : (tensor<3x4x8xf16>, !tenon.state<9x2x64x8xf16, paged<64>>, !tenon.state<9x2x64x8xf16, paged<64>>,
         tensor<3xi32>, tensor<3xi32>, tensor<2x3xi32>) -> tensor<3x4x8xf16>
  return %2 : tensor<3x4x8xf16>
}

// CHECK-LABEL: func @weights
func.func @weights(%q: tensor<3x4x8xf32>, %k: tensor<1x5x1x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) -> (tensor<3x4x8xf32>, tensor<4x3x5xf16>) {
  // CHECK: %{{[0-9]+}}, %weights = tenon.attention %{{.*}} scale 1.000000e+00 : (tensor<3x4x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1xi32>, tensor<3xi32>) -> (tensor<3x4x8xf32>, tensor<4x3x5xf16>)
  %0, %1 = tenon.attention %q, %k, %k, %s, %p scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1xi32>, tensor<3xi32>) -> (tensor<3x4x8xf32>, tensor<4x3x5xf16>)
  // CHECK: return %{{[0-9]+}}, %weights
  return %0, %1 : tensor<3x4x8xf32>, tensor<4x3x5xf16>
}

// CHECK-LABEL: func @guesses
func.func @guesses(%c: tensor<2xi32>, %i: tensor<2xi32>, %p: tensor<2xi32>, %d: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<1xi32>) {
  // CHECK: tenon.accept %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>)
  %a, %n, %q = tenon.accept %c, %i, %p : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>)
  // CHECK: tenon.accept %{{.*}}, %{{.*}}, %{{.*}} drafts %{{.*}} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  %b, %m, %r = tenon.accept %c, %i, %p drafts %d : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  return %a, %m, %q : tensor<2xi32>, tensor<2xi32>, tensor<1xi32>
}
