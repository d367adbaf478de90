// RUN: tenon dump %s --as=scheduled --target=h200 | FileCheck %s

// Beside a weighted sum two blocks share a multiprocessor where a warp's x is short: twice as many
// warps, each with half as many columns.
module attributes {tenon.phase = #tenon.phase<fused>} {
  // CHECK-LABEL: func.func @summed
  // CHECK: schedule #tenon.schedule<"expert_gemv", tiles = 256, {columns_per_warp = 4 : i64, stages = 2 : i64, threads = 512 : i64, vector = 8 : i64}>
  // CHECK: schedule #tenon.schedule<"expert_gemv", tiles = 128, {columns_per_warp = 8 : i64, stages = {{[0-9]+}} : i64, threads = 512 : i64, vector = 8 : i64}>
  func.func @summed(%x: tensor<1x8x768xf16>, %y: tensor<1x8x2048xf16>, %i: tensor<1x8xi32>, %w: tensor<1x8xf32>, %d: tensor<64x2048x768x!tenon.block<q4_k>>, %e: tensor<64x2048x2048x!tenon.block<q4_k>>) -> (tensor<1x2048xf16>, tensor<1x2048xf16>) {
    %0 = tenon.kernel (%a = %x : tensor<1x8x768xf16>, %b = %d : tensor<64x2048x768x!tenon.block<q4_k>>, %c = %i : tensor<1x8xi32>, %v = %w : tensor<1x8xf32>) -> tensor<1x2048xf16> {
      %2 = tenon.expert_matmul %a, %b, %c : (tensor<1x8x768xf16>, tensor<64x2048x768x!tenon.block<q4_k>>, tensor<1x8xi32>) -> tensor<1x8x2048xf16>
      %3 = tenon.weighted_sum %2, %v : (tensor<1x8x2048xf16>, tensor<1x8xf32>) -> tensor<1x2048xf16>
      tenon.yield %3 : tensor<1x2048xf16>
    }
    %1 = tenon.kernel (%a = %y : tensor<1x8x2048xf16>, %b = %e : tensor<64x2048x2048x!tenon.block<q4_k>>, %c = %i : tensor<1x8xi32>, %v = %w : tensor<1x8xf32>) -> tensor<1x2048xf16> {
      %2 = tenon.expert_matmul %a, %b, %c : (tensor<1x8x2048xf16>, tensor<64x2048x2048x!tenon.block<q4_k>>, tensor<1x8xi32>) -> tensor<1x8x2048xf16>
      %3 = tenon.weighted_sum %2, %v : (tensor<1x8x2048xf16>, tensor<1x8xf32>) -> tensor<1x2048xf16>
      tenon.yield %3 : tensor<1x2048xf16>
    }
    return %0, %1 : tensor<1x2048xf16>, tensor<1x2048xf16>
  }
}
