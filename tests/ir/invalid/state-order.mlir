// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// A read behind the write.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-error @+1 {{'tenon.kv_write' op writes operand #3 in place, but another operation reads the same value afterwards: would need a copy of the state}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  // expected-note @+1 {{read here}}
  %1 = tenon.attention %v, %k, %k, %s, %p scale 1.0 : (tensor<1x2x4xf32>, !tenon.state<1x8x2x4xf32>, !tenon.state<1x8x2x4xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x4xf32>
  return
}

// -----

// Two writes: the later one is told.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-note @+1 {{written here}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  // expected-error @+1 {{'tenon.kv_write' op writes operand #3 in place, but another operation writes the same value: would need a copy of the state}}
  %1 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}

// -----

// A read before the write and reads of what it yields are in order.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  %1 = tenon.attention %v, %k, %k, %s, %p scale 1.0 : (tensor<1x2x4xf32>, !tenon.state<1x8x2x4xf32>, !tenon.state<1x8x2x4xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x4xf32>
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  %2 = tenon.attention %v, %0, %0, %s, %p scale 1.0 : (tensor<1x2x4xf32>, !tenon.state<1x8x2x4xf32>, !tenon.state<1x8x2x4xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x4xf32>
  %3 = tenon.kv_write %v, %s, %p into %0 : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}

// -----

// The state of before the write leaves the function.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32> {
  // expected-error @+1 {{another operation reads the same value afterwards: would need a copy of the state}}
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  // expected-note @+1 {{read here}}
  return %k : !tenon.state<1x8x2x4xf32>
}

// -----

// A kernel that writes.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op writes operand #3 in place, but another operation reads the same value afterwards: would need a copy of the state}}
  %0 = tenon.kernel (%a = %v : tensor<1x2x4xf32>, %b = %s : tensor<1xi32>, %c = %p : tensor<1xi32>, %d = %k : !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32> {
    %w = tenon.kv_write %a, %b, %c into %d : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
    tenon.yield %w : !tenon.state<1x8x2x4xf32>
  }
  // expected-note @+1 {{read here}}
  %1 = tenon.attention %v, %k, %k, %s, %p scale 1.0 : (tensor<1x2x4xf32>, !tenon.state<1x8x2x4xf32>, !tenon.state<1x8x2x4xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x4xf32>
  return
}

// -----

// Two kernels that write.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-note @+1 {{written here}}
  %0 = tenon.kernel (%a = %v : tensor<1x2x4xf32>, %b = %s : tensor<1xi32>, %c = %p : tensor<1xi32>, %d = %k : !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32> {
    %w = tenon.kv_write %a, %b, %c into %d : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
    tenon.yield %w : !tenon.state<1x8x2x4xf32>
  }
  // expected-error @+1 {{'tenon.kernel' op writes operand #3 in place, but another operation writes the same value}}
  %1 = tenon.kernel (%a = %v : tensor<1x2x4xf32>, %b = %s : tensor<1xi32>, %c = %p : tensor<1xi32>, %d = %k : !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32> {
    %w = tenon.kv_write %a, %b, %c into %d : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
    tenon.yield %w : !tenon.state<1x8x2x4xf32>
  }
  return
}

// -----

// A write behind a kernel that writes.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-note @+1 {{written here}}
  %0 = tenon.kernel (%a = %v : tensor<1x2x4xf32>, %b = %s : tensor<1xi32>, %c = %p : tensor<1xi32>, %d = %k : !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32> {
    %w = tenon.kv_write %a, %b, %c into %d : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
    tenon.yield %w : !tenon.state<1x8x2x4xf32>
  }
  // expected-error @+1 {{'tenon.kv_write' op writes operand #3 in place, but another operation writes the same value}}
  %1 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}

// -----

// A kernel that takes the state twice, to write one and to read the other.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  // expected-error @+2 {{'tenon.kernel' op writes operand #3 in place, but another operation reads the same value afterwards: would need a copy of the state}}
  // expected-note @+1 {{read here}}
  %0 = tenon.kernel (%a = %v : tensor<1x2x4xf32>, %b = %s : tensor<1xi32>, %c = %p : tensor<1xi32>, %d = %k : !tenon.state<1x8x2x4xf32>, %e = %k : !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32> {
    %w = tenon.kv_write %a, %b, %c into %d : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
    tenon.yield %w : !tenon.state<1x8x2x4xf32>
  }
  return
}

// -----

// Inside a kernel.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  %0 = tenon.kernel (%a = %v : tensor<1x2x4xf32>, %b = %s : tensor<1xi32>, %c = %p : tensor<1xi32>, %d = %k : !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32> {
    // expected-error @+1 {{'tenon.kv_write' op writes operand #3 in place, but another operation reads the same value afterwards}}
    %w = tenon.kv_write %a, %b, %c into %d : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
    // expected-note @+1 {{read here}}
    tenon.yield %d : !tenon.state<1x8x2x4xf32>
  }
  return
}

// -----

// A kernel that only reads the state may stand before the write.
func.func @f(%v: tensor<1x2x4xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %k: !tenon.state<1x8x2x4xf32>) {
  %1 = tenon.kernel (%a = %v : tensor<1x2x4xf32>, %b = %s : tensor<1xi32>, %d = %k : !tenon.state<1x8x2x4xf32>) -> tensor<1x2x4xf32> {
    %r = tenon.attention %a, %d, %d, %b, %b scale 1.0 : (tensor<1x2x4xf32>, !tenon.state<1x8x2x4xf32>, !tenon.state<1x8x2x4xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x4xf32>
    tenon.yield %r : tensor<1x2x4xf32>
  }
  %0 = tenon.kv_write %v, %s, %p into %k : (tensor<1x2x4xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x4xf32>) -> !tenon.state<1x8x2x4xf32>
  return
}
