// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<3x8xf32>) {
  // expected-error @+1 {{'tenon.hadamard' op expects heads [M, H, D] of at most 1024 elements, but got tensor<3x8xf32>}}
  %0 = tenon.hadamard %x : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<3x1x1032xf32>) {
  // expected-error @+1 {{'tenon.hadamard' op expects heads [M, H, D] of at most 1024 elements, but got tensor<3x1x1032xf32>}}
  %0 = tenon.hadamard %x : (tensor<3x1x1032xf32>) -> tensor<3x1x1032xf32>
  return
}

// -----

func.func @f(%x: tensor<3x8xf32>, %p: tensor<3xi32>, %f: tensor<2xf32>) {
  // expected-error @+1 {{'tenon.rope' op expects input [M, H, D] and positions [M], but got tensor<3x8xf32> and tensor<3xi32>}}
  %0 = tenon.rope halves %x, %p, %f : (tensor<3x8xf32>, tensor<3xi32>, tensor<2xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4x8xf32>, %p: tensor<4xi32>, %f: tensor<2xf32>) {
  // expected-error @+1 {{expects input [M, H, D] and positions [M], but got tensor<3x4x8xf32> and tensor<4xi32>}}
  %0 = tenon.rope halves %x, %p, %f : (tensor<3x4x8xf32>, tensor<4xi32>, tensor<2xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4x8xf32>, %p: tensor<3x1xi32>, %f: tensor<2xf32>) {
  // expected-error @+1 {{expects input [M, H, D] and positions [M], but got tensor<3x4x8xf32> and tensor<3x1xi32>}}
  %0 = tenon.rope halves %x, %p, %f : (tensor<3x4x8xf32>, tensor<3x1xi32>, tensor<2xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4x8xf32>, %p: tensor<3xi32>, %f: tensor<5xf32>) {
  // expected-error @+1 {{'tenon.rope' op expects at most 4 inverse frequencies on one axis, but got tensor<5xf32>}}
  %0 = tenon.rope halves %x, %p, %f : (tensor<3x4x8xf32>, tensor<3xi32>, tensor<5xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4x8xf32>, %p: tensor<3xi32>, %f: tensor<1x2xf32>) {
  // expected-error @+1 {{expects at most 4 inverse frequencies on one axis, but got tensor<1x2xf32>}}
  %0 = tenon.rope halves %x, %p, %f : (tensor<3x4x8xf32>, tensor<3xi32>, tensor<1x2xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%v: tensor<1x8xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-error @+1 {{'tenon.kv_write' op expects values [M, H, D] and a state [S, C, H, D], but got tensor<1x8xf32> and !tenon.state<1x8x2x4xf32>}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x8xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}

// -----

func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<8x2x4xf32>) {
  // expected-error @+1 {{expects values [M, H, D] and a state [S, C, H, D], but got tensor<1x2x4xf32> and !tenon.state<8x2x4xf32>}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<8x2x4xf32>) -> !tenon.state<8x2x4xf32>
  return
}

// -----

func.func @f(%v: tensor<1x4x2xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-error @+1 {{expects values [M, H, D] and a state [S, C, H, D], but got tensor<1x4x2xf32> and !tenon.state<1x8x2x4xf32>}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x4x2xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}

// -----

func.func @f(%v: tensor<3x2x4xf32>, %s: tensor<2xi32>, %p: tensor<3xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-error @+1 {{'tenon.kv_write' op expects sequences [3] or [1] and positions [3], but got tensor<2xi32> and tensor<3xi32>}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<3x2x4xf32>, tensor<2xi32>, tensor<3xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}

// -----

func.func @f(%v: tensor<3x2x4xf32>, %s: tensor<3xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-error @+1 {{expects sequences [3] or [1] and positions [3], but got tensor<3xi32> and tensor<1xi32>}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<3x2x4xf32>, tensor<3xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}

// -----

func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf16>) {
  // expected-error @+1 {{'tenon.kv_write' op expects values of the state's element type 'f16', but got 'tensor<1x2x4xf32>'}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf16>) -> !tenon.state<1x8x2x4xf16>
  return
}

// -----

func.func @f(%q: tensor<3x32xf32>, %k: tensor<1x5x2x8xf32>, %v: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects query [M, Hq, D], key [S, C, Hkv, D] and value [S, C, Hkv, Dv], but got tensor<3x32xf32>, tensor<1x5x2x8xf32> and tensor<1x5x2x8xf32>}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0  : (tensor<3x32xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: !tenon.state<5x2x8xf32>, %v: !tenon.state<5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{expects query [M, Hq, D], key [S, C, Hkv, D] and value [S, C, Hkv, Dv], but got tensor<3x4x8xf32>, !tenon.state<5x2x8xf32> and}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0  : (tensor<3x4x8xf32>, !tenon.state<5x2x8xf32>, !tenon.state<5x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x4xf32>, %v: tensor<1x5x2x4xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{expects query [M, Hq, D], key [S, C, Hkv, D] and value [S, C, Hkv, Dv]}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0  : (tensor<3x4x8xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %v: tensor<1x6x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{expects query [M, Hq, D], key [S, C, Hkv, D] and value [S, C, Hkv, Dv]}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0  : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x6x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x3x8xf32>, %v: tensor<1x5x3x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects key heads that divide the 4 query heads, but got 3}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0  : (tensor<3x4x8xf32>, tensor<1x5x3x8xf32>, tensor<1x5x3x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %v: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects sequences of which each has as many of the 3 rows and positions [3], but got tensor<1xi32> and tensor<2xi32>}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0  : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x4x8xf32>, %k: tensor<3x5x2x8xf32>, %s: tensor<3xi32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects sequences of which each has as many of the 4 rows and positions [4], but got tensor<3xi32> and tensor<4xi32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p scale 1.0  : (tensor<4x4x8xf32>, tensor<3x5x2x8xf32>, tensor<3x5x2x8xf32>, tensor<3xi32>, tensor<4xi32>) -> tensor<4x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x4x8xf32>, %k: tensor<2x5x2x8xf32>, %s: tensor<2xi32>, %p: tensor<4xi32>, %x: tensor<2x4x4x5xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a bias [4 or 1, 4 or 1, 5] of heads, rows and keys, or one for each sequence, but got tensor<2x4x4x5xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p bias %x scale 1.0 : (tensor<4x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x8xf32>, tensor<2xi32>, tensor<4xi32>, tensor<2x4x4x5xf32>) -> tensor<4x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %v: !tenon.state<1x5x2x8xi32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects keys and values of floating-point type, but got '!tenon.state<1x5x2x8xi32>'}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0  : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, !tenon.state<1x5x2x8xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %v: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects a soft-cap of zero or more, but got -1.000000e+00}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0 {softcap = -1.0 : f64} : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %v: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects a soft-cap of zero or more, but got nan}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0 {softcap = 0x7FF8000000000000 : f64} : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %v: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects a window of zero or more positions, but got -1}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0 {window = -1 : i64} : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x4x8xf32>, %k: tensor<3x5x2x8xf32>, %s: tensor<2xi32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects a sequence for each row where rows are chunks, but got 2 for 4 rows}}
  %0 = tenon.attention %q, %k, %k, %s, %p scale 1.0 {chunks} : (tensor<4x4x8xf32>, tensor<3x5x2x8xf32>, tensor<3x5x2x8xf32>, tensor<2xi32>, tensor<4xi32>) -> tensor<4x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op attribute 'chunks' failed to satisfy constraint: unit attribute}}
  %0 = tenon.attention %q, %k, %k, %s, %p scale 1.0 {chunks = 3 : i64} : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<3x5xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a bias [4 or 1, 3 or 1, 5] of heads, rows and keys, or one for each sequence, but got tensor<3x5xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p bias %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<3x5xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<2x3x5xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a bias [4 or 1, 3 or 1, 5] of heads, rows and keys, or one for each sequence, but got tensor<2x3x5xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p bias %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<2x3x5xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<4x2x5xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a bias [4 or 1, 3 or 1, 5] of heads, rows and keys, or one for each sequence, but got tensor<4x2x5xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p bias %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<4x2x5xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<4x3x1xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a bias [4 or 1, 3 or 1, 5] of heads, rows and keys, or one for each sequence, but got tensor<4x3x1xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p bias %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<4x3x1xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<1x1x6xf16>) {
  // expected-error @+1 {{'tenon.attention' op expects a bias [4 or 1, 3 or 1, 5] of heads, rows and keys, or one for each sequence, but got tensor<1x1x6xf16>}}
  %0 = tenon.attention %q, %k, %k, %s, %p bias %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<1x1x6xf16>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<2xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects slopes of the 4 query heads, but got tensor<2xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p slopes %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<2xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<1x4xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects slopes of the 4 query heads, but got tensor<1x4xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p slopes %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<1x4xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<2xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects sinks of the 4 query heads, but got tensor<2xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p sinks %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<2xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>, %x: tensor<1x4xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects sinks of the 4 query heads, but got tensor<1x4xf32>}}
  %0 = tenon.attention %q, %k, %k, %s, %p sinks %x scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>, tensor<1x4xf32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x4x8xf32>, %k: !tenon.state<1x8x2x8xf32, ring<2>>, %v: !tenon.state<1x8x2x8xf32, ring<2>>, %s: tensor<1xi32>, %p: tensor<1xi32>) {
  // expected-error @+1 {{expects three rows of queries for each row over a ring, but got tensor<4x4x8xf32>}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0 {window = 4 : i64} : (tensor<4x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32, ring<2>>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: !tenon.state<1x8x2x8xf32, ring<2>>, %v: !tenon.state<1x8x2x8xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>) {
  // expected-error @+1 {{expects keys and values in one layout, but got '!tenon.state<1x8x2x8xf32, ring<2>>' and '!tenon.state<1x8x2x8xf32>'}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0 {window = 4 : i64} : (tensor<3x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<9x4x8xf32>, %k: !tenon.state<1x8x2x8xf32, ring<2>>, %v: !tenon.state<1x8x2x8xf32, ring<2>>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{expects to be causal over a ring, with a window that fits into its 6 places beside 2 other rows, but got causal and 5}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0 {window = 5 : i64} : (tensor<9x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32, ring<2>>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: !tenon.state<1x8x2x8xf32, ring<2>>, %v: !tenon.state<1x8x2x8xf32, ring<2>>, %s: tensor<1xi32>, %p: tensor<1xi32>) {
  // expected-error @+1 {{expects to be causal over a ring, with a window that fits into its 6 places beside 0 other rows, but got causal and 0}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0  : (tensor<3x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32, ring<2>>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: !tenon.state<1x8x2x8xf32, ring<2>>, %v: !tenon.state<1x8x2x8xf32, ring<2>>, %s: tensor<1xi32>, %p: tensor<1xi32>) {
  // expected-error @+1 {{but got not causal and 4}}
  %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0 {causal = false, window = 4 : i64} : (tensor<3x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32, ring<2>>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @f(%p: tensor<33xi32>) {
  // expected-error @+1 {{'tenon.accept' op expects the choices [M] of 1 to 32 rows, but got tensor<33xi32>}}
  %0, %1, %2 = tenon.accept %p, %p, %p : (tensor<33xi32>, tensor<33xi32>, tensor<33xi32>) -> (tensor<33xi32>, tensor<1xi32>, tensor<1xi32>)
  return
}

// -----

func.func @f(%p: tensor<2xi32>, %d: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.accept' op expects ids, positions and drafts of the 2 rows that have a choice, but got tensor<3xi32>}}
  %0, %1, %2 = tenon.accept %p, %p, %p drafts %d : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<3xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
  return
}

// -----

func.func @f(%p: tensor<2xi32>) {
  // expected-error @+1 {{'tenon.ring_places' op expects positions [M] and 1 or 3 views, but got tensor<2xi32> and 2}}
  %0 = tenon.ring_places %p kept 2 ring 6 window 4 views 2 : (tensor<2xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%p: tensor<2xi32>) {
  // expected-error @+1 {{'tenon.ring_places' op expects no fewer than 0 kept positions and a window from 1 to the ring, places within 31 bits, but got 2, 7 and 6}}
  %0 = tenon.ring_places %p kept 2 ring 6 window 7 views 1 : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: !tenon.state<1x8x2x8xf32, ring<2>>, %v: !tenon.state<1x8x2x8xf32, ring<2>>, %s: tensor<1xi32>, %p: tensor<1xi32>, %x: tensor<1x1x8xf32>) {
  // expected-error @+1 {{expects neither bias nor slopes over a ring, whose places are no positions, but got a bias}}
  %0 = tenon.attention %q, %k, %v, %s, %p bias %x scale 1.0 {window = 4 : i64} : (tensor<3x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32, ring<2>>, tensor<1xi32>, tensor<1xi32>, tensor<1x1x8xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<3x4x8xf32>, %k: !tenon.state<1x8x2x8xf32, ring<2>>, %v: !tenon.state<1x8x2x8xf32, ring<2>>, %s: tensor<1xi32>, %p: tensor<1xi32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{expects neither bias nor slopes over a ring, whose places are no positions, but got slopes}}
  %0 = tenon.attention %q, %k, %v, %s, %p slopes %x scale 1.0 {window = 4 : i64} : (tensor<3x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32, ring<2>>, tensor<1xi32>, tensor<1xi32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @page_without_table(%x: tensor<1x2x8xf16>, %i: tensor<1xi32>, %k: !tenon.state<9x2x64x8xf16, paged<64>>) {
  // expected-error @+1 {{expects a block table beside a paged state, but got none beside !tenon.state<9x2x64x8xf16, paged<64>>}}
  %0 = tenon.kv_write %x, %i, %i into %k : (tensor<1x2x8xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<9x2x64x8xf16, paged<64>>) -> !tenon.state<9x2x64x8xf16, paged<64>>
  return
}

// -----

func.func @table_without_pages(%q: tensor<1x2x8xf16>, %i: tensor<1xi32>, %t: tensor<1x2xi32>, %k: !tenon.state<1x64x2x8xf16>) {
  // expected-error @+1 {{expects a block table beside paged states alone, but got one beside !tenon.state<1x64x2x8xf16>}}
  %0 = tenon.attention %q, %k, %k, %i, %i block_table %t scale 1.0 : (tensor<1x2x8xf16>, !tenon.state<1x64x2x8xf16>, !tenon.state<1x64x2x8xf16>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
  return
}

// -----

func.func @table_of_one_axis(%q: tensor<1x2x8xf16>, %i: tensor<1xi32>, %k: !tenon.state<9x2x64x8xf16, paged<64>>) {
  // expected-error @+1 {{expects a block table [S, B] of at most 2^31 - 1 sequences and positions, but got tensor<1xi32>}}
  %0 = tenon.attention %q, %k, %k, %i, %i block_table %i scale 1.0 : (tensor<1x2x8xf16>, !tenon.state<9x2x64x8xf16, paged<64>>, !tenon.state<9x2x64x8xf16, paged<64>>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x8xf16>
  return
}

// -----

func.func @table_of_many_positions(%q: tensor<1x2x8xf16>, %i: tensor<1xi32>, %t: tensor<1x33554432xi32>, %k: !tenon.state<9x2x64x8xf16, paged<64>>) {
  // expected-error @+1 {{expects a block table [S, B] of at most 2^31 - 1 sequences and positions}}
  %0 = tenon.attention %q, %k, %k, %i, %i block_table %t scale 1.0 : (tensor<1x2x8xf16>, !tenon.state<9x2x64x8xf16, paged<64>>, !tenon.state<9x2x64x8xf16, paged<64>>, tensor<1xi32>, tensor<1xi32>, tensor<1x33554432xi32>) -> tensor<1x2x8xf16>
  return
}

// -----

func.func @heads_of_pages(%x: tensor<1x64x8xf16>, %i: tensor<1xi32>, %t: tensor<1x2xi32>, %k: !tenon.state<9x2x64x8xf16, paged<64>>) {
  // expected-error @+1 {{expects values [M, H, D] and a state [N, H, P, D], but got tensor<1x64x8xf16>}}
  %0 = tenon.kv_write %x, %i, %i into %k block_table %t : (tensor<1x64x8xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<9x2x64x8xf16, paged<64>>, tensor<1x2xi32>) -> !tenon.state<9x2x64x8xf16, paged<64>>
  return
}

// -----

func.func @pools_of_two_sizes(%q: tensor<1x2x8xf16>, %i: tensor<1xi32>, %t: tensor<1x2xi32>, %k: !tenon.state<9x2x64x8xf16, paged<64>>, %v: !tenon.state<8x2x64x8xf16, paged<64>>) {
  // expected-error @+1 {{expects query [M, Hq, D], key [N, Hkv, P, D] and value [N, Hkv, P, Dv], but got}}
  %0 = tenon.attention %q, %k, %v, %i, %i block_table %t scale 1.0 : (tensor<1x2x8xf16>, !tenon.state<9x2x64x8xf16, paged<64>>, !tenon.state<8x2x64x8xf16, paged<64>>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
  return
}

// -----

func.func @keys_in_pages_alone(%q: tensor<1x2x8xf16>, %i: tensor<1xi32>, %t: tensor<1x2xi32>, %k: !tenon.state<9x2x64x8xf16, paged<64>>, %v: !tenon.state<9x2x64x8xf16>) {
  // expected-error @+1 {{expects keys and values in one layout, but got}}
  %0 = tenon.attention %q, %k, %v, %i, %i block_table %t scale 1.0 : (tensor<1x2x8xf16>, !tenon.state<9x2x64x8xf16, paged<64>>, !tenon.state<9x2x64x8xf16>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<1x2x8xf16>
  return
}

// -----

func.func @weights_rows_first(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects result #1 of shape [4, 3, 5], but got 'tensor<3x4x5xf32>'}}
  %0:2 = tenon.attention %q, %k, %k, %s, %p scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> (tensor<3x4x8xf32>, tensor<3x4x5xf32>)
  return
}

// -----

func.func @weights_of_integers(%q: tensor<3x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.attention' op result #1 must be statically shaped tensor of 32-bit float or 16-bit float or bfloat16 type values, but got 'tensor<4x3x5xi32>'}}
  %0:2 = tenon.attention %q, %k, %k, %s, %p scale 1.0 : (tensor<3x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<3xi32>) -> (tensor<3x4x8xf32>, tensor<4x3x5xi32>)
  return
}

// -----

func.func @weights_over_a_ring(%q: tensor<3x4x8xf32>, %k: !tenon.state<1x8x2x8xf32, ring<2>>, %v: !tenon.state<1x8x2x8xf32, ring<2>>, %s: tensor<1xi32>, %p: tensor<1xi32>) {
  // expected-error @+1 {{expects no weights over a ring, whose places are no positions, but got 'tensor<4x1x8xf32>'}}
  %0:2 = tenon.attention %q, %k, %v, %s, %p scale 1.0 {window = 4 : i64} : (tensor<3x4x8xf32>, !tenon.state<1x8x2x8xf32, ring<2>>, !tenon.state<1x8x2x8xf32, ring<2>>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1x4x8xf32>, tensor<4x1x8xf32>)
  return
}

// -----

func.func @positions_of_64_bits(%q: tensor<1x4x8xf32>, %k: tensor<1x5x2x8xf32>, %s: tensor<1xi32>, %p: tensor<1xi64>) {
  // expected-error @+1 {{'tenon.attention' op operand #4 must be statically shaped tensor of 32-bit signless integer values, but got 'tensor<1xi64>'}}
  %0 = tenon.attention %q, %k, %k, %s, %p scale 1.0 : (tensor<1x4x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1xi32>, tensor<1xi64>) -> tensor<1x4x8xf32>
  return
}
