// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op expects computations and constants in its region, but got 'tenon.kernel'}}
  tenon.kernel () {
    // expected-note @+1 {{the operation is here}}
    tenon.kernel () {
    }
  }
  return
}

// -----

tenon.file @m "m" bytes 16 fingerprint 0
tenon.weight @w : tensor<4xf32> from [#tenon.range<@m, offset = 0, bytes = 16>]

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op expects computations and constants in its region, but got 'tenon.get_weight'}}
  tenon.kernel () {
    // expected-note @+1 {{the operation is here}}
    %0 = tenon.get_weight @w : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op expects region arguments of the inputs' types, 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  "tenon.kernel"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    tenon.yield
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op expects its region to yield the result types, 'tensor<5xf32>', but got 'tensor<4xf32>'}}
  %0 = tenon.kernel (%a = %x : tensor<4xf32>) -> tensor<5xf32> {
    // expected-note @+1 {{yields here}}
    tenon.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op expects one buffer for each of 1 results, but got 0}}
  %0 = tenon.kernel (%a = %x : tensor<4xf32>) -> tensor<4xf32> buffers [] {
    tenon.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op expects a buffer of the bytes of result #0, 'tensor<4xf32>', but got #tenon.buffer<offset = 0, bytes = 12>}}
  %0 = tenon.kernel (%a = %x : tensor<4xf32>) -> tensor<4xf32> buffers [#tenon.buffer<offset = 0, bytes = 12>] {
    tenon.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op expects a buffer of the bytes of result #0, 'tensor<4xf32>', but got 7 : i64}}
  %0 = tenon.kernel (%a = %x : tensor<4xf32>) -> tensor<4xf32> buffers [7] {
    tenon.yield %a : tensor<4xf32>
  }
  return
}

// -----

// The generic form without a block.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "tenon.kernel"() ({
  }) : () -> ()
  return
}

// -----

// The generic form without a terminator.
func.func @f() {
  "tenon.kernel"() ({
    // expected-error @+1 {{block with no terminator}}
    %0 = tenon.constant dense<0.0> : tensor<4xf32> : tensor<4xf32>
  }) : () -> ()
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.yield' op expects parent op 'tenon.kernel'}}
  tenon.yield %x : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.kernel' op expects to yield what it computes, but result #1 is its argument #0}}
  %0:2 = tenon.kernel (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = tenon.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @+1 {{yields here}}
    tenon.yield %1, %a : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tenon.kernel' op expects to yield what it computes, but result #0 is a constant}}
  %0 = tenon.kernel () -> tensor<2xf32> {
    %1 = tenon.constant dense<1.0> : tensor<2xf32> : tensor<2xf32>
    // expected-note @+1 {{yields here}}
    tenon.yield %1 : tensor<2xf32>
  }
  return
}
