// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels,tenon-schedule-kernels)' | FileCheck %s

// Rings of products with one row, as a target states them: half of them before the wait. Away
// from attention, seen through a view too, warps hold x.
module attributes {tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64, bulk_ring_bytes = 131072 : i64, bulk_early_bytes = 65536 : i64, quants_ring_bytes = 98304 : i64, quants_early_bytes = 24576 : i64, library_rows = 16 : i64, gemv_warps = 16384 : i64, narrow_blocks_per_sm = 2 : i64, decode_blocks_per_sm = 2 : i64, decode_ring_bytes = 65536 : i64, decode_ring_elements = 128 : i64, prefill_tiles_per_sm = 2 : i64, element_vectors_per_sm = 1024 : i64, wgmma_elements_per_cycle = 28 : i64, sm_read_bytes_per_cycle = 65 : i64, l2_read_bytes_per_cycle = 39 : i64, dram_bytes_per_cycle = 2300 : i64, l2_tie_percent = 4 : i64, power_stages_percent = 200 : i64, power_l2_percent = 8 : i64, stage_cycles = 260 : i64, stage_unhidden_percent = 20 : i64, tile_store_bytes_per_cycle = 18 : i64, tile_store_cycles = 650 : i64, part_exchange_cycles = 600 : i64, clusters_of_three_percent = 89 : i64, clusters_of_four_percent = 91 : i64, decode_issue_percent = 55 : i64, decode_unhidden_percent = 50 : i64}>} {
  tenon.state @k : !tenon.state<1x64x8x128xbf16>
  // CHECK-LABEL: func @layer
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {early = 1 : i64, stages = 2 : i64, threads = 512 : i64, vector = 8 : i64}>
  // CHECK: tenon.attention
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {early = 1 : i64, stages = 2 : i64, threads = 512 : i64, vector = 8 : i64}>
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {early = 1 : i64, held = 1 : i64, stages = 2 : i64, threads = 512 : i64, vector = 8 : i64}>
  func.func @layer(%x: tensor<1x4096xbf16>, %q: tensor<4096x4096xbf16>, %o: tensor<4096x4096xbf16>, %d: tensor<4096x4096xbf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x4096xbf16> {
    %k = tenon.get_state @k : !tenon.state<1x64x8x128xbf16>
    %0 = tenon.matmul %x, %q : (tensor<1x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<1x4096xbf16>
    %1 = tenon.reshape %0 to [1, 32, 128] : (tensor<1x4096xbf16>) -> tensor<1x32x128xbf16>
    %2 = tenon.attention %1, %k, %k, %s, %p scale 0.1 : (tensor<1x32x128xbf16>, !tenon.state<1x64x8x128xbf16>, !tenon.state<1x64x8x128xbf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x128xbf16>
    %3 = tenon.reshape %2 to [1, 4096] : (tensor<1x32x128xbf16>) -> tensor<1x4096xbf16>
    %4 = tenon.matmul %3, %o : (tensor<1x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<1x4096xbf16>
    %5 = tenon.matmul %4, %d : (tensor<1x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<1x4096xbf16>
    return %5 : tensor<1x4096xbf16>
  }

  // Experts of quantised weights on tensor cores, alone and beside their weighted sum alike: rings
  // of a row of gate, and of eight rows whose bytes no copy brings one by one.
  // CHECK-LABEL: func @experts
  // CHECK: schedule #tenon.schedule<"expert_gemv", {{.*}}stages = {{[0-9]+}} : i64
  // CHECK: order <chunk = 0, lanes = 256, tree = tensor_cores>
  // CHECK: schedule #tenon.schedule<"expert_gemv", {{.*}}columns_per_warp = 8 : i64, stages = 1 : i64
  // CHECK: order <chunk = 0, lanes = 256, tree = tensor_cores>
  // CHECK: schedule #tenon.schedule<"expert_gemv", tiles = {{[0-9]+}}, {columns_per_warp = {{[0-9]+}} : i64, threads
  // CHECK: order <chunk = 0, lanes = 256, tree = halving>
  func.func @experts(%x: tensor<1x2048xf16>, %i: tensor<1x8xi32>, %w: tensor<1x8xf32>, %g: tensor<64x768x2048x!tenon.block<q5_k>>, %d: tensor<64x2048x768x!tenon.block<q6_k>>, %h: tensor<1x2048xf32>) -> (tensor<1x2048xf16>, tensor<1x8x768xf32>) {
    %0 = tenon.expert_matmul %x, %g, %i : (tensor<1x2048xf16>, tensor<64x768x2048x!tenon.block<q5_k>>, tensor<1x8xi32>) -> tensor<1x8x768xf16>
    %1 = tenon.expert_matmul %0, %d, %i : (tensor<1x8x768xf16>, tensor<64x2048x768x!tenon.block<q6_k>>, tensor<1x8xi32>) -> tensor<1x8x2048xf16>
    %2 = tenon.weighted_sum %1, %w : (tensor<1x8x2048xf16>, tensor<1x8xf32>) -> tensor<1x2048xf16>
    %3 = tenon.expert_matmul %h, %g, %i : (tensor<1x2048xf32>, tensor<64x768x2048x!tenon.block<q5_k>>, tensor<1x8xi32>) -> tensor<1x8x768xf32>
    return %2, %3 : tensor<1x2048xf16>, tensor<1x8x768xf32>
  }

  // Quantised weights on tensor cores, in segments that leave each warp one part of x: two lines at once, and x
  // held where a warp takes more than those; attention's neighbours too.
  // CHECK-LABEL: func @quantised
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {batch = 2 : i64, early = 1 : i64, held = 1 : i64, stages = 3 : i64, threads = 512 : i64, vector = 8 : i64}>
  // CHECK: order <chunk = 2048, lanes = 256, tree = tensor_cores>
  // CHECK: tenon.attention
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {batch = 2 : i64, early = 1 : i64, held = 1 : i64, stages = 3 : i64, threads = 448 : i64, vector = 8 : i64}>
  // CHECK: order <chunk = 2048, lanes = 256, tree = tensor_cores>
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {early = 2 : i64, stages = 5 : i64, threads = 512 : i64, vector = 8 : i64}>
  // CHECK: order <chunk = 2048, lanes = 256, tree = tensor_cores>
  func.func @quantised(%x: tensor<1x4096xf16>, %q: tensor<4096x4096x!tenon.block<q4_1>>, %d: tensor<4096x14336x!tenon.block<q4_1>>, %h: tensor<1x14336xf16>, %o: tensor<512x4096x!tenon.block<q4_1>>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> (tensor<1x32x128xbf16>, tensor<1x4096xf16>, tensor<1x512xf16>) {
    %k = tenon.get_state @k : !tenon.state<1x64x8x128xbf16>
    %0 = tenon.matmul %x, %q : (tensor<1x4096xf16>, tensor<4096x4096x!tenon.block<q4_1>>) -> tensor<1x4096xbf16>
    %1 = tenon.reshape %0 to [1, 32, 128] : (tensor<1x4096xbf16>) -> tensor<1x32x128xbf16>
    %2 = tenon.attention %1, %k, %k, %s, %p scale 0.1 : (tensor<1x32x128xbf16>, !tenon.state<1x64x8x128xbf16>, !tenon.state<1x64x8x128xbf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x128xbf16>
    %3 = tenon.matmul %h, %d : (tensor<1x14336xf16>, tensor<4096x14336x!tenon.block<q4_1>>) -> tensor<1x4096xf16>
    %4 = tenon.matmul %x, %o : (tensor<1x4096xf16>, tensor<512x4096x!tenon.block<q4_1>>) -> tensor<1x512xf16>
    return %2, %3, %4 : tensor<1x32x128xbf16>, tensor<1x4096xf16>, tensor<1x512xf16>
  }

  // Warps of few segments take them one by one where two are many bytes; of many, or of fewer
  // bytes, two at once.
  // CHECK-LABEL: func @few_segments
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {early = 1 : i64, held = 1 : i64, stages = 2 : i64, threads = 512 : i64, vector = 8 : i64}>
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {batch = 2 : i64, early = 1 : i64, held = 1 : i64, stages = 2 : i64, threads = 512 : i64, vector = 8 : i64}>
  // CHECK: schedule #tenon.schedule<"gemv_bulk", tiles = 132, {batch = 2 : i64, {{.*}}threads = 512 : i64, vector = 8 : i64}>
  func.func @few_segments(%x: tensor<1x2880xf16>, %q: tensor<5120x2880x!tenon.block<q8_0>>, %h: tensor<201088x2880x!tenon.block<q8_0>>, %n: tensor<5120x2880x!tenon.block<q4_1>>) -> (tensor<1x5120xf16>, tensor<1x201088xf16>, tensor<1x5120xf16>) {
    %0 = tenon.matmul %x, %q : (tensor<1x2880xf16>, tensor<5120x2880x!tenon.block<q8_0>>) -> tensor<1x5120xf16>
    %1 = tenon.matmul %x, %h : (tensor<1x2880xf16>, tensor<201088x2880x!tenon.block<q8_0>>) -> tensor<1x201088xf16>
    %2 = tenon.matmul %x, %n : (tensor<1x2880xf16>, tensor<5120x2880x!tenon.block<q4_1>>) -> tensor<1x5120xf16>
    return %0, %1, %2 : tensor<1x5120xf16>, tensor<1x201088xf16>, tensor<1x5120xf16>
  }
}
