// RUN: tenon-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=auto})'

// A target without what the cost model needs.
module attributes {tenon.target = #tenon.target<"t", cuda, features = ["sm_90"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64}>} {
  // expected-error @+1 {{expects a positive property 'l2_bytes' in target "t" to predict times}}
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
