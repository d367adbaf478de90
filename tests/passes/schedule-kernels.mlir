// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-fuse-kernels,tenon-schedule-kernels)' | FileCheck %s

// One row of x on AVX-512: four weight rows at a time, the next four prefetched; one lane of the
// order for each f32 of a vector. A tile is 64 KiB of weights.
// CHECK-LABEL: func @decode
// CHECK: schedule #tenon.schedule<"matmul", tiles = 32, {column_block = 4 : i64, columns_per_tile = 8 : i64, prefetch_bytes = 32768 : i64, row_block = 1 : i64, step = 32 : i64}>
// CHECK: tenon.matmul {{.*}} order <chunk = 0, lanes = 16, tree = halving>
// Many rows: packed, in blocks that fill the registers and the same order.
// CHECK-LABEL: func @prefill
// CHECK: schedule #tenon.schedule<"packed_matmul", tiles = 16, {column_block = 4 : i64, columns_per_tile = 16 : i64, depth_block = 512 : i64, row_block = 6 : i64, rows_per_pass = 32 : i64}>
// CHECK: tenon.matmul {{.*}} order <chunk = 0, lanes = 16, tree = halving>
// More rows than their sums fit a quarter of the second-level cache for: equal passes.
// CHECK-LABEL: func @quantised
// CHECK: schedule #tenon.schedule<"packed_matmul", tiles = 32, {column_block = 4 : i64, columns_per_tile = 64 : i64, depth_block = 512 : i64, row_block = 6 : i64, rows_per_pass = 50 : i64}>
// Few rows: streamed.
// CHECK-LABEL: func @few
// CHECK: schedule #tenon.schedule<"matmul", tiles = 22, {column_block = 4 : i64, columns_per_tile = 12 : i64, prefetch_bytes = 17408 : i64, row_block = 6 : i64, step = 64 : i64}>
module attributes {tenon.target = #tenon.target<"v4", cpu, features = [], {vector_bits = 512 : i64, vector_registers = 32 : i64, l2_bytes = 1048576 : i64}>} {
  func.func @decode(%x: tensor<1x4096xf32>, %w: tensor<256x4096xf16>) -> tensor<1x256xf32> {
    %y = tenon.matmul %x, %w : (tensor<1x4096xf32>, tensor<256x4096xf16>) -> tensor<1x256xf32>
    return %y : tensor<1x256xf32>
  }
  func.func @prefill(%x: tensor<32x4096xf32>, %w: tensor<256x4096xf16>) -> tensor<32x256xf32> {
    %y = tenon.matmul %x, %w : (tensor<32x4096xf32>, tensor<256x4096xf16>) -> tensor<32x256xf32>
    return %y : tensor<32x256xf32>
  }
  func.func @quantised(%x: tensor<100x4096xf32>, %w: tensor<2048x4096x!tenon.block<q8_0>>) -> tensor<100x2048xf32> {
    %y = tenon.matmul %x, %w : (tensor<100x4096xf32>, tensor<2048x4096x!tenon.block<q8_0>>) -> tensor<100x2048xf32>
    return %y : tensor<100x2048xf32>
  }
  func.func @few(%x: tensor<6x4096xf32>, %w: tensor<256x4096x!tenon.block<q8_0>>) -> tensor<6x256xf32> {
    %y = tenon.matmul %x, %w : (tensor<6x4096xf32>, tensor<256x4096x!tenon.block<q8_0>>) -> tensor<6x256xf32>
    return %y : tensor<6x256xf32>
  }
}

// -----

// 16 registers of 8 floats: smaller blocks.
// CHECK-LABEL: func @prefill
// CHECK: schedule #tenon.schedule<"packed_matmul", tiles = 11, {column_block = 3 : i64, columns_per_tile = 24 : i64, depth_block = 64 : i64, row_block = 3 : i64, rows_per_pass = 32 : i64}>
// CHECK: tenon.matmul {{.*}} order <chunk = 0, lanes = 8, tree = halving>
// CHECK-LABEL: func @rows
// Nothing broadcasts: one long row, cut into tiles.
// CHECK: schedule #tenon.schedule<"elementwise", tiles = 16, {columns_per_tile = 4096 : i64, row_elements = 65536 : i64, rows_per_tile = 1 : i64}>
// CHECK: schedule #tenon.schedule<"elementwise", tiles = 16, {columns_per_tile = 256 : i64, row_elements = 256 : i64, rows_per_tile = 16 : i64}>
// CHECK: schedule #tenon.schedule<"rms_norm", tiles = 16, {rows_per_tile = 16 : i64}>
// CHECK: tenon.rms_norm {{.*}} order <chunk = 0, lanes = 32, tree = halving>
// CHECK: schedule #tenon.schedule<"copy", tiles = 16, {rows_per_tile = 16 : i64}>
// CHECK-LABEL: func @attention
// CHECK: schedule #tenon.schedule<"kv_write", tiles = 1, {bytes_per_tile = 1024 : i64}>
// Six query heads share a key head; three of them, the most below a quarter of the registers that
// divide six, make a tile.
// CHECK: schedule #tenon.schedule<"attention", tiles = 8, {heads_per_tile = 3 : i64}>
// CHECK: tenon.attention {{.*}} order <chunk = 64, lanes = 8, tree = halving>
// CHECK-LABEL: func @one
// CHECK: schedule #tenon.schedule<"elementwise", tiles = 1,
module attributes {tenon.target = #tenon.target<"v3", cpu, features = [], {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 262144 : i64}>} {
  tenon.state @k : !tenon.state<1x64x2x128xf32>
  func.func @prefill(%x: tensor<32x64xf32>, %w: tensor<251x64xf32>) -> tensor<32x251xf32> {
    %y = tenon.matmul %x, %w : (tensor<32x64xf32>, tensor<251x64xf32>) -> tensor<32x251xf32>
    return %y : tensor<32x251xf32>
  }
  func.func @rows(%x: tensor<256x256xf32>, %w: tensor<256xf32>) -> tensor<256x256xf32> {
    %0 = tenon.silu %x : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = tenon.mul %0, %w : (tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
    %2 = tenon.rms_norm %1, %w eps 1.0e-5 : (tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
    %3 = tenon.transpose %2 by [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    return %3 : tensor<256x256xf32>
  }
  func.func @attention(%q: tensor<2x12x128xf32>, %k: tensor<2x2x128xf32>, %s: tensor<1xi32>, %p: tensor<2xi32>) -> tensor<2x12x128xf32> {
    %k0 = tenon.get_state @k : !tenon.state<1x64x2x128xf32>
    %k1 = tenon.kv_write %k, %s, %p into %k0 : (tensor<2x2x128xf32>, tensor<1xi32>, tensor<2xi32>, !tenon.state<1x64x2x128xf32>) -> !tenon.state<1x64x2x128xf32>
    %y = tenon.attention %q, %k1, %k1, %s, %p scale 0.1 : (tensor<2x12x128xf32>, !tenon.state<1x64x2x128xf32>, !tenon.state<1x64x2x128xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<2x12x128xf32>
    return %y : tensor<2x12x128xf32>
  }
  func.func @one(%x: tensor<f32>) -> tensor<f32> {
    %0 = tenon.silu %x : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
