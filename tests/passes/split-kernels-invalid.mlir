// RUN: tenon-opt %s --tenon-split-kernels --verify-diagnostics

// Two norms, neither of which the schedule of the region decides: a CPU of 16 lanes gives each alone
// another order.
module attributes {tenon.target = #tenon.target<"v4", cpu, features = [], {vector_bits = 512 : i64, vector_registers = 32 : i64, l2_bytes = 1048576 : i64}>} {
func.func @f(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  // expected-error @+1 {{expects to be cut into kernels that keep the order of each reduction, but no schedule of tenon.rms_norm alone does}}
  %y = tenon.kernel (%a = %x : tensor<1x64xf32>) -> tensor<1x64xf32>
      schedule #tenon.schedule<"sequence", tiles = 1> {
    %0 = tenon.rms_norm %a eps 1.0e-5 order <chunk = 0, lanes = 4, tree = halving>
        : (tensor<1x64xf32>) -> tensor<1x64xf32>
    %1 = tenon.rms_norm %0 eps 1.0e-5 order <chunk = 0, lanes = 4, tree = halving>
        : (tensor<1x64xf32>) -> tensor<1x64xf32>
    tenon.yield %1 : tensor<1x64xf32>
  }
  return %y : tensor<1x64xf32>
}
}
