// RUN: tenon dump %s --as=scheduled --target=h200 | FileCheck %s

// Beside a weighted sum two blocks share a multiprocessor where a warp's x is short: twice as many
// warps, each with half as many columns.
module attributes {tenon.phase = #tenon.phase<fused>} {
  // CHECK-LABEL: func.func @summed
  // CHECK: schedule #tenon.schedule<"expert_gemv", tiles = 256, {columns_per_warp = 4 : i64, stages = 2 : i64, threads = 512 : i64, vector = 8 : i64}>
  // CHECK: schedule #tenon.schedule<"expert_gemv", tiles = 128, {columns_per_warp = 8 : i64, stages = {{[0-9]+}} : i64, threads = 512 : i64, vector = 8 : i64}>
  func.func @summed(%x: tensor<1x8x768xf16>, %y: tensor<1x8x2048xf16>, %i: tensor<1x8xi32>, %w: tensor<1x8xf32>, %d: tensor<64x2048x768x!tenon.block<q5_k>>, %e: tensor<64x2048x2048x!tenon.block<q5_k>>) -> (tensor<1x2048xf16>, tensor<1x2048xf16>) {
    %0 = tenon.kernel (%a = %x : tensor<1x8x768xf16>, %b = %d : tensor<64x2048x768x!tenon.block<q5_k>>, %c = %i : tensor<1x8xi32>, %v = %w : tensor<1x8xf32>) -> tensor<1x2048xf16> {
      %2 = tenon.expert_matmul %a, %b, %c : (tensor<1x8x768xf16>, tensor<64x2048x768x!tenon.block<q5_k>>, tensor<1x8xi32>) -> tensor<1x8x2048xf16>
      %3 = tenon.weighted_sum %2, %v : (tensor<1x8x2048xf16>, tensor<1x8xf32>) -> tensor<1x2048xf16>
      tenon.yield %3 : tensor<1x2048xf16>
    }
    %1 = tenon.kernel (%a = %y : tensor<1x8x2048xf16>, %b = %e : tensor<64x2048x2048x!tenon.block<q5_k>>, %c = %i : tensor<1x8xi32>, %v = %w : tensor<1x8xf32>) -> tensor<1x2048xf16> {
      %2 = tenon.expert_matmul %a, %b, %c : (tensor<1x8x2048xf16>, tensor<64x2048x2048x!tenon.block<q5_k>>, tensor<1x8xi32>) -> tensor<1x8x2048xf16>
      %3 = tenon.weighted_sum %2, %v : (tensor<1x8x2048xf16>, tensor<1x8xf32>) -> tensor<1x2048xf16>
      tenon.yield %3 : tensor<1x2048xf16>
    }
    return %0, %1 : tensor<1x2048xf16>, tensor<1x2048xf16>
  }

  // In q4_k warps share out the depth: a tile a multiprocessor, all units of a group of
  // warps on their way where they fit.
  // CHECK-LABEL: func.func @sliced
  // CHECK: schedule #tenon.schedule<"expert_slices", tiles = 128, {columns = 48 : i64, stages = 3 : i64, threads = 512 : i64}>
  // CHECK: schedule #tenon.schedule<"expert_slices", tiles = 128, {columns = 16 : i64, stages = 1 : i64, threads = 768 : i64}>
  // CHECK: schedule #tenon.schedule<"expert_slices", tiles = 128, {columns = 48 : i64, stages = 2 : i64, threads = 512 : i64}>
  func.func @sliced(%x: tensor<1x2048xf16>, %y: tensor<1x2048xbf16>, %i: tensor<1x8xi32>, %w: tensor<1x8xf32>, %g: tensor<64x768x2048x!tenon.block<q4_k>>, %u: tensor<64x768x2048x!tenon.block<q4_k>>, %d: tensor<64x2048x768x!tenon.block<q4_k>>, %e: tensor<64x768x2048x!tenon.block<q4_k>>) -> (tensor<1x2048xf16>, tensor<1x8x768xbf16>) {
    %0 = tenon.kernel (%a = %x : tensor<1x2048xf16>, %b = %g : tensor<64x768x2048x!tenon.block<q4_k>>, %c = %u : tensor<64x768x2048x!tenon.block<q4_k>>, %j = %i : tensor<1x8xi32>) -> tensor<1x8x768xf16> {
      %3 = tenon.expert_matmul %a, %b, %j : (tensor<1x2048xf16>, tensor<64x768x2048x!tenon.block<q4_k>>, tensor<1x8xi32>) -> tensor<1x8x768xf16>
      %4 = tenon.expert_matmul %a, %c, %j : (tensor<1x2048xf16>, tensor<64x768x2048x!tenon.block<q4_k>>, tensor<1x8xi32>) -> tensor<1x8x768xf16>
      %5 = tenon.glu silu %3, %4 : (tensor<1x8x768xf16>, tensor<1x8x768xf16>) -> tensor<1x8x768xf16>
      tenon.yield %5 : tensor<1x8x768xf16>
    }
    %1 = tenon.kernel (%a = %0 : tensor<1x8x768xf16>, %b = %d : tensor<64x2048x768x!tenon.block<q4_k>>, %j = %i : tensor<1x8xi32>, %v = %w : tensor<1x8xf32>) -> tensor<1x2048xf16> {
      %3 = tenon.expert_matmul %a, %b, %j : (tensor<1x8x768xf16>, tensor<64x2048x768x!tenon.block<q4_k>>, tensor<1x8xi32>) -> tensor<1x8x2048xf16>
      %4 = tenon.weighted_sum %3, %v : (tensor<1x8x2048xf16>, tensor<1x8xf32>) -> tensor<1x2048xf16>
      tenon.yield %4 : tensor<1x2048xf16>
    }
    %2 = tenon.kernel (%a = %y : tensor<1x2048xbf16>, %b = %e : tensor<64x768x2048x!tenon.block<q4_k>>, %j = %i : tensor<1x8xi32>) -> tensor<1x8x768xbf16> {
      %3 = tenon.expert_matmul %a, %b, %j : (tensor<1x2048xbf16>, tensor<64x768x2048x!tenon.block<q4_k>>, tensor<1x8xi32>) -> tensor<1x8x768xbf16>
      tenon.yield %3 : tensor<1x8x768xbf16>
    }
    return %1, %2 : tensor<1x2048xf16>, tensor<1x8x768xbf16>
  }

  // Rows that share experts: tiles of an expert on tensor cores, of 128 rows where an expert has more
  // than 64. Few pairs of an expert are not worth it.
  // CHECK-LABEL: func.func @many_rows
  // CHECK: schedule #tenon.schedule<"expert_gemm", tiles = 384, {tile_rows = 64 : i64}>
  // CHECK: schedule #tenon.schedule<"expert_gemm", tiles = 384, {tile_rows = 128 : i64}>
  // CHECK: schedule #tenon.schedule<"expert_gemv",
  func.func @many_rows(%x: tensor<512x2048xf16>, %y: tensor<640x2048xf16>, %z: tensor<24x2048xf16>, %i: tensor<512x8xi32>, %j: tensor<640x8xi32>, %k: tensor<24x8xi32>, %g: tensor<64x768x2048x!tenon.block<q4_k>>) -> (tensor<512x8x768xf16>, tensor<640x8x768xf16>, tensor<24x8x768xf16>) {
    %0 = tenon.kernel (%a = %x : tensor<512x2048xf16>, %b = %g : tensor<64x768x2048x!tenon.block<q4_k>>, %c = %i : tensor<512x8xi32>) -> tensor<512x8x768xf16> {
      %3 = tenon.expert_matmul %a, %b, %c : (tensor<512x2048xf16>, tensor<64x768x2048x!tenon.block<q4_k>>, tensor<512x8xi32>) -> tensor<512x8x768xf16>
      tenon.yield %3 : tensor<512x8x768xf16>
    }
    %1 = tenon.kernel (%a = %y : tensor<640x2048xf16>, %b = %g : tensor<64x768x2048x!tenon.block<q4_k>>, %c = %j : tensor<640x8xi32>) -> tensor<640x8x768xf16> {
      %3 = tenon.expert_matmul %a, %b, %c : (tensor<640x2048xf16>, tensor<64x768x2048x!tenon.block<q4_k>>, tensor<640x8xi32>) -> tensor<640x8x768xf16>
      tenon.yield %3 : tensor<640x8x768xf16>
    }
    %2 = tenon.kernel (%a = %z : tensor<24x2048xf16>, %b = %g : tensor<64x768x2048x!tenon.block<q4_k>>, %c = %k : tensor<24x8xi32>) -> tensor<24x8x768xf16> {
      %3 = tenon.expert_matmul %a, %b, %c : (tensor<24x2048xf16>, tensor<64x768x2048x!tenon.block<q4_k>>, tensor<24x8xi32>) -> tensor<24x8x768xf16>
      tenon.yield %3 : tensor<24x8x768xf16>
    }
    return %0, %1, %2 : tensor<512x8x768xf16>, tensor<640x8x768xf16>, tensor<24x8x768xf16>
  }

  // Of a row without vectors registers hold more sums than a block lists pairs at once.
  // CHECK-LABEL: func.func @many
  // CHECK: schedule #tenon.schedule<"expert_gemv", tiles = 24, {columns_per_warp = 1 : i64, pairs_at_once = 16 : i64, threads = 256 : i64, vector = 1 : i64}>
  func.func @many(%x: tensor<64x33xf16>, %w: tensor<8x24x33xf16>, %ids: tensor<64x4xi32>) -> tensor<64x4x24xf16> {
    %0 = tenon.kernel (%a = %x : tensor<64x33xf16>, %b = %w : tensor<8x24x33xf16>, %c = %ids : tensor<64x4xi32>) -> tensor<64x4x24xf16> {
      %1 = tenon.expert_matmul %a, %b, %c : (tensor<64x33xf16>, tensor<8x24x33xf16>, tensor<64x4xi32>) -> tensor<64x4x24xf16>
      tenon.yield %1 : tensor<64x4x24xf16>
    }
    return %0 : tensor<64x4x24xf16>
  }
}
