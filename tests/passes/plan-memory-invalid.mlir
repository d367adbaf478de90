// RUN: tenon-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-plan-memory))'

// Each result has less than 2^63 bytes; two do not.
// expected-error@+1 {{expects results of less than 2^63 bytes in all, but got more}}
func.func @too_large(%x: tensor<2147483647x2147483647xf16>) -> tensor<2147483647x2147483647xf16> {
  %a = tenon.kernel (%0 = %x : tensor<2147483647x2147483647xf16>) -> tensor<2147483647x2147483647xf16> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<2147483647x2147483647xf16>) -> tensor<2147483647x2147483647xf16>
    tenon.yield %1 : tensor<2147483647x2147483647xf16>
  }
  %b = tenon.kernel (%0 = %a : tensor<2147483647x2147483647xf16>) -> tensor<2147483647x2147483647xf16> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<2147483647x2147483647xf16>) -> tensor<2147483647x2147483647xf16>
    tenon.yield %1 : tensor<2147483647x2147483647xf16>
  }
  %c = tenon.kernel (%0 = %b : tensor<2147483647x2147483647xf16>) -> tensor<2147483647x2147483647xf16> schedule #tenon.schedule<"elementwise", tiles = 1> {
    %1 = tenon.exp %0 : (tensor<2147483647x2147483647xf16>) -> tensor<2147483647x2147483647xf16>
    tenon.yield %1 : tensor<2147483647x2147483647xf16>
  }
  return %c : tensor<2147483647x2147483647xf16>
}
