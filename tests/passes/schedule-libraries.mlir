// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-fuse-kernels,tenon-schedule-kernels)' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-fuse-kernels,tenon-schedule-kernels{libraries=false})' | FileCheck %s --check-prefix=OWN

// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-fuse-kernels,tenon-schedule-kernels{tf32=true})' | FileCheck %s --check-prefix=TF32

// Products of 16 rows and more with factors of one plain type are left to cuBLASLt, unless that is
// forbidden. It has an order of its own.
// OWN-NOT: cublaslt
module attributes {tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, smem_bytes_per_block = 232448 : i64, bulk_ring_bytes = 131072 : i64, bulk_early_bytes = 65536 : i64, quants_ring_bytes = 98304 : i64, quants_early_bytes = 24576 : i64, library_rows = 16 : i64, gemv_warps = 16384 : i64, narrow_blocks_per_sm = 2 : i64, decode_blocks_per_sm = 2 : i64, decode_ring_bytes = 65536 : i64, decode_ring_elements = 128 : i64, prefill_tiles_per_sm = 2 : i64, element_vectors_per_sm = 1024 : i64, wgmma_elements_per_cycle = 28 : i64, sm_read_bytes_per_cycle = 65 : i64, l2_read_bytes_per_cycle = 39 : i64, dram_bytes_per_cycle = 2300 : i64, l2_tie_percent = 4 : i64, power_stages_percent = 200 : i64, power_l2_percent = 8 : i64, stage_cycles = 260 : i64, stage_unhidden_percent = 20 : i64, tile_store_bytes_per_cycle = 18 : i64, tile_store_cycles = 650 : i64, part_exchange_cycles = 600 : i64, clusters_of_three_percent = 89 : i64, clusters_of_four_percent = 91 : i64, decode_issue_percent = 55 : i64, decode_unhidden_percent = 50 : i64}>} {
  // CHECK-LABEL: func @prefill
  // CHECK: schedule #tenon.schedule<"cublaslt", tiles = 1, {workspace_bytes = 33554432 : i64}>
  // CHECK-NEXT: tenon.matmul %{{[^ ]*}}, %{{[^ ]*}} : (tensor<16x256xbf16>
  func.func @prefill(%x: tensor<16x256xbf16>, %w: tensor<128x256xbf16>) -> tensor<16x128xbf16> {
    %y = tenon.matmul %x, %w : (tensor<16x256xbf16>, tensor<128x256xbf16>) -> tensor<16x128xbf16>
    return %y : tensor<16x128xbf16>
  }
  // CHECK-LABEL: func @head
  // CHECK: schedule #tenon.schedule<"cublaslt"
  func.func @head(%x: tensor<16x256xf16>, %w: tensor<128x256xf16>) -> tensor<16x128xf32> {
    %y = tenon.matmul %x, %w : (tensor<16x256xf16>, tensor<128x256xf16>) -> tensor<16x128xf32>
    return %y : tensor<16x128xf32>
  }
  // CHECK-LABEL: func @single_precision
  // CHECK: schedule #tenon.schedule<"cublaslt", tiles = 1, {workspace_bytes = 33554432 : i64}>
  // TF32-LABEL: func @prefill
  // TF32-NOT: tf32
  // TF32-LABEL: func @single_precision
  // TF32: schedule #tenon.schedule<"cublaslt", tiles = 1, {tf32 = 1 : i64, workspace_bytes = 33554432 : i64}>
  func.func @single_precision(%x: tensor<16x256xf32>, %w: tensor<128x256xf32>) -> tensor<16x128xf32> {
    %y = tenon.matmul %x, %w : (tensor<16x256xf32>, tensor<128x256xf32>) -> tensor<16x128xf32>
    return %y : tensor<16x128xf32>
  }
  // CHECK-LABEL: func @few_rows
  // CHECK-NOT: cublaslt
  func.func @few_rows(%x: tensor<15x256xbf16>, %w: tensor<128x256xbf16>) -> tensor<15x128xbf16> {
    %y = tenon.matmul %x, %w : (tensor<15x256xbf16>, tensor<128x256xbf16>) -> tensor<15x128xbf16>
    return %y : tensor<15x128xbf16>
  }
  // CHECK-LABEL: func @quantised
  // CHECK-NOT: cublaslt
  func.func @quantised(%x: tensor<16x256xf16>, %w: tensor<128x256x!tenon.block<q8_0>>) -> tensor<16x128xf16> {
    %y = tenon.matmul %x, %w : (tensor<16x256xf16>, tensor<128x256x!tenon.block<q8_0>>) -> tensor<16x128xf16>
    return %y : tensor<16x128xf16>
  }
  // CHECK-LABEL: func @mixed
  // CHECK-NOT: cublaslt
  func.func @mixed(%x: tensor<16x256xf16>, %w: tensor<128x256xbf16>) -> tensor<16x128xf16> {
    %y = tenon.matmul %x, %w : (tensor<16x256xf16>, tensor<128x256xbf16>) -> tensor<16x128xf16>
    return %y : tensor<16x128xf16>
  }
  // CHECK-LABEL: func @batched
  // CHECK-NOT: cublaslt
  func.func @batched(%x: tensor<2x16x256xf16>, %w: tensor<2x128x256xf16>) -> tensor<2x16x128xf16> {
    %y = tenon.matmul %x, %w : (tensor<2x16x256xf16>, tensor<2x128x256xf16>) -> tensor<2x16x128xf16>
    return %y : tensor<2x16x128xf16>
  }
}
