// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels,tenon-schedule-kernels)' | FileCheck %s

// Who takes the rows of a norm.
module attributes {tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64, bulk_ring_bytes = 131072 : i64, bulk_early_bytes = 65536 : i64, quants_ring_bytes = 98304 : i64, quants_early_bytes = 24576 : i64, library_rows = 16 : i64, gemv_warps = 16384 : i64, narrow_blocks_per_sm = 2 : i64, decode_blocks_per_sm = 2 : i64, decode_ring_bytes = 65536 : i64, decode_ring_elements = 128 : i64, prefill_tiles_per_sm = 2 : i64, element_vectors_per_sm = 1024 : i64, wgmma_elements_per_cycle = 28 : i64, sm_read_bytes_per_cycle = 65 : i64, l2_read_bytes_per_cycle = 39 : i64, dram_bytes_per_cycle = 2300 : i64, l2_tie_percent = 4 : i64, power_stages_percent = 200 : i64, power_l2_percent = 8 : i64, stage_cycles = 260 : i64, stage_unhidden_percent = 20 : i64, tile_store_bytes_per_cycle = 18 : i64, tile_store_cycles = 650 : i64, part_exchange_cycles = 600 : i64, clusters_of_three_percent = 89 : i64, clusters_of_four_percent = 91 : i64, decode_issue_percent = 55 : i64, decode_unhidden_percent = 50 : i64}>} {
  // Fewer rows than multiprocessors: a vector a thread, a chunk for each vector of a warp.
  // CHECK-LABEL: @one
  // CHECK: schedule #tenon.schedule<"rms_norm", tiles = 1, {group = 320 : i64, threads = 320 : i64, vector = 8 : i64}>
  // CHECK: order <chunk = 256, lanes = 256, tree = halving>
  func.func @one(%x: tensor<1x2560xf16>, %w: tensor<2560xf16>) -> tensor<1x2560xf16> {
    %y = tenon.rms_norm %x, %w eps 1.0e-5 : (tensor<1x2560xf16>, tensor<2560xf16>) -> tensor<1x2560xf16>
    return %y : tensor<1x2560xf16>
  }
  // More: five warps of two vectors, four would hold 12 for 10.
  // CHECK-LABEL: @many
  // CHECK: schedule #tenon.schedule<"rms_norm", tiles = 1024, {group = 160 : i64, threads = 160 : i64, vector = 8 : i64}>
  // CHECK: order <chunk = 512, lanes = 256, tree = halving>
  func.func @many(%x: tensor<1024x2560xf16>, %w: tensor<2560xf16>) -> tensor<1024x2560xf16> {
    %y = tenon.rms_norm %x, %w eps 1.0e-5 : (tensor<1024x2560xf16>, tensor<2560xf16>) -> tensor<1024x2560xf16>
    return %y : tensor<1024x2560xf16>
  }
  // 14 vectors of a warp: seven warps of two.
  // CHECK-LABEL: @seven
  // CHECK: schedule #tenon.schedule<"rms_norm", tiles = 1024, {group = 224 : i64, threads = 224 : i64, vector = 8 : i64}>
  // CHECK: order <chunk = 512, lanes = 256, tree = halving>
  func.func @seven(%x: tensor<1024x3584xf16>, %w: tensor<3584xf16>) -> tensor<1024x3584xf16> {
    %y = tenon.rms_norm %x, %w eps 1.0e-5 : (tensor<1024x3584xf16>, tensor<3584xf16>) -> tensor<1024x3584xf16>
    return %y : tensor<1024x3584xf16>
  }
  // Two sums: half of the warps, and two rows a block.
  // CHECK-LABEL: @two_sums
  // CHECK: schedule #tenon.schedule<"layer_norm", tiles = 512, {group = 64 : i64, threads = 128 : i64, vector = 8 : i64}>
  // CHECK: order <chunk = 1280, lanes = 256, tree = halving>
  func.func @two_sums(%x: tensor<1024x2560xf16>, %w: tensor<2560xf16>) -> tensor<1024x2560xf16> {
    %y = tenon.layer_norm %x weight %w eps 1.0e-5 : (tensor<1024x2560xf16>, tensor<2560xf16>) -> tensor<1024x2560xf16>
    return %y : tensor<1024x2560xf16>
  }
  // A sum with its norm: many rows let the next kernel start as their blocks end, few at their entry.
  // CHECK-LABEL: @many_sums
  // CHECK: schedule #tenon.schedule<"rms_norm", tiles = 1024, {group = 160 : i64, threads = 160 : i64, trigger_at_exit = 1 : i64, vector = 8 : i64}>
  func.func @many_sums(%a: tensor<1024x2560xf16>, %b: tensor<1024x2560xf16>, %w: tensor<2560xf16>) -> (tensor<1024x2560xf16>, tensor<1024x2560xf16>) {
    %k:2 = tenon.kernel (%ka = %a : tensor<1024x2560xf16>, %kb = %b : tensor<1024x2560xf16>, %kw = %w : tensor<2560xf16>) -> (tensor<1024x2560xf16>, tensor<1024x2560xf16>) {
      %x = tenon.add %ka, %kb : (tensor<1024x2560xf16>, tensor<1024x2560xf16>) -> tensor<1024x2560xf16>
      %y = tenon.rms_norm %x, %kw eps 1.0e-5 : (tensor<1024x2560xf16>, tensor<2560xf16>) -> tensor<1024x2560xf16>
      tenon.yield %x, %y : tensor<1024x2560xf16>, tensor<1024x2560xf16>
    }
    return %k#0, %k#1 : tensor<1024x2560xf16>, tensor<1024x2560xf16>
  }
  // CHECK-LABEL: @few_sums
  // CHECK: schedule #tenon.schedule<"rms_norm", tiles = 16, {group = 320 : i64, threads = 320 : i64, vector = 8 : i64}>
  func.func @few_sums(%a: tensor<16x2560xf16>, %b: tensor<16x2560xf16>, %w: tensor<2560xf16>) -> (tensor<16x2560xf16>, tensor<16x2560xf16>) {
    %k:2 = tenon.kernel (%ka = %a : tensor<16x2560xf16>, %kb = %b : tensor<16x2560xf16>, %kw = %w : tensor<2560xf16>) -> (tensor<16x2560xf16>, tensor<16x2560xf16>) {
      %x = tenon.add %ka, %kb : (tensor<16x2560xf16>, tensor<16x2560xf16>) -> tensor<16x2560xf16>
      %y = tenon.rms_norm %x, %kw eps 1.0e-5 : (tensor<16x2560xf16>, tensor<2560xf16>) -> tensor<16x2560xf16>
      tenon.yield %x, %y : tensor<16x2560xf16>, tensor<16x2560xf16>
    }
    return %k#0, %k#1 : tensor<16x2560xf16>, tensor<16x2560xf16>
  }
}
