// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-verify-plan))' -split-input-file -verify-diagnostics

func.func @no_schedule(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.workspace = 512 : i64} {
  // expected-error@+1 {{expects a schedule in a planned function}}
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

func.func @no_buffers(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.workspace = 512 : i64} {
  // expected-error@+1 {{expects buffers in a planned function}}
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects its bytes of workspace as 'tenon.workspace' in a planned module}}
func.func @no_workspace(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

func.func @no_buffer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.workspace = 512 : i64} {
  // expected-error@+1 {{expects a buffer for result #0}}
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %b = tenon.kernel (%0 = %a : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %b : tensor<4xf32>
}

// -----

func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.workspace = 512 : i64} {
  // expected-error@+1 {{expects buffers inside the workspace of 512 bytes}}
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [#tenon.buffer<offset = 512, bytes = 16>] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %b = tenon.kernel (%0 = %a : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %b : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects no buffer for states and outputs, but got 1 buffers for 0 results}}
func.func @output_in_workspace(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.workspace = 512 : i64} {
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [#tenon.buffer<offset = 0, bytes = 16>] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

func.func @overlap(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.workspace = 512 : i64} {
  // expected-note@+1 {{result #0 of this kernel is still in use}}
  %a = tenon.kernel (%0 = %x : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [#tenon.buffer<offset = 0, bytes = 16>] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  // expected-error@+1 {{expects a buffer of its own for result #0}}
  %b = tenon.kernel (%0 = %a : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [#tenon.buffer<offset = 8, bytes = 16>] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %c = tenon.kernel (%0 = %b : tensor<4xf32>) -> tensor<4xf32> schedule #tenon.schedule<"elementwise", tiles = 1> buffers [unit] {
    %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %c : tensor<4xf32>
}
