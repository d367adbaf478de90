// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-schedule-kernels)'

// expected-error@+1 {{expects a target to schedule for, 'tenon.target'}}
module {}

// -----

// expected-error@+1 {{expects positive sms in target "h200"}}
module attributes {tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {}>} {}

// -----

// expected-error@+1 {{expects positive smem_bytes_per_block in target "h200"}}
module attributes {tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {}

// -----

// A GPU with warpgroups states the constants of a fit.
// expected-error@+1 {{expects positive wgmma_elements_per_cycle in target "h200"}}
module attributes {tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {}

// -----

// expected-error@+1 {{expects vector_bits of 128, 256 or 512 in target "mine"}}
module attributes {tenon.target = #tenon.target<"mine", cpu, features = [], {vector_bits = 96 : i64}>} {}

// -----

// expected-error@+1 {{expects at least 8 vector_registers and positive l2_bytes in target "mine"}}
module attributes {tenon.target = #tenon.target<"mine", cpu, features = [], {vector_bits = 256 : i64}>} {}

// -----

module attributes {tenon.target = #tenon.target<"mine", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1 : i64}>} {
  func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error@+1 {{expects a region that a schedule rule knows, but }}
    %y = tenon.kernel (%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = tenon.softmax %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %1 = tenon.transpose %0 by [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
      tenon.yield %1 : tensor<4x4xf32>
    }
    return %y : tensor<4x4xf32>
  }
}

// -----

module attributes {tenon.target = #tenon.target<"mine", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1 : i64}>} {
  func.func @f(%x: tensor<1x32x!tenon.block<q8_s>>, %w: tensor<8x32x!tenon.block<q5_1>>) -> tensor<1x8xf32> {
    // expected-error@+1 {{expects a region that a schedule rule knows, but no emitter for CPUs multiplies quants of q5_1}}
    %y = tenon.kernel (%a = %x : tensor<1x32x!tenon.block<q8_s>>, %b = %w : tensor<8x32x!tenon.block<q5_1>>) -> tensor<1x8xf32> {
      %0 = tenon.matmul %a, %b : (tensor<1x32x!tenon.block<q8_s>>, tensor<8x32x!tenon.block<q5_1>>) -> tensor<1x8xf32>
      tenon.yield %0 : tensor<1x8xf32>
    }
    return %y : tensor<1x8xf32>
  }
}
