// RUN: tenon dump %s --as=scheduled --target=h200 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=a100 --plan=fused | FileCheck %s --check-prefix=A100

// A slice of 256 elements a warp and a warp that brings; products that share a norm go to
// the kind that takes all of them. Without bulk copies lanes decode.
// CHECK-LABEL: func.func @qkv
// CHECK: schedule #tenon.schedule<"held_block_gemv", tiles = 132, {batches = 2 : i64, on_way = 3 : i64, stages = 3 : i64, threads = 544 : i64}>
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"held_block_gemv", tiles = 132, {on_way = 2 : i64, stages = 3 : i64, threads = 544 : i64}>
// A100-LABEL: func.func @qkv
// A100-NOT: held_block_gemv
func.func @qkv(%x: tensor<1x4096xf16>, %n: tensor<4096xf16>, %q: tensor<4096x4096x!tenon.block<q4_k>>, %k: tensor<1024x4096x!tenon.block<q4_k>>) -> (tensor<1x4096xf16>, tensor<1x1024xf16>) {
  %0 = tenon.rms_norm %x, %n eps 1.0e-5 : (tensor<1x4096xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  %1 = tenon.matmul %0, %q : (tensor<1x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<1x4096xf16>
  %2 = tenon.matmul %0, %k : (tensor<1x4096xf16>, tensor<1024x4096x!tenon.block<q4_k>>) -> tensor<1x1024xf16>
  return %1, %2 : tensor<1x4096xf16>, tensor<1x1024xf16>
}

// Long lines in parts; rows of 2,880 elements are no whole slices, and two rows are none of one.
// CHECK-LABEL: func.func @down
// CHECK: schedule #tenon.schedule<"held_block_gemv", tiles = 132, {{.*}}threads = 480 : i64}>
// CHECK: schedule #tenon.schedule<"held_block_gemv", tiles = 132, {{.*}}threads = 288 : i64}>
// CHECK-LABEL: func.func @others
// CHECK: schedule #tenon.schedule<"gemv_bulk"
// CHECK: schedule #tenon.schedule<"block_gemm"
func.func @down(%x: tensor<1x14336xf16>, %w: tensor<4096x14336x!tenon.block<q4_k>>, %v: tensor<4096x14336x!tenon.block<q8_0>>) -> (tensor<1x4096xf16>, tensor<1x4096xf16>) {
  %0 = tenon.matmul %x, %w : (tensor<1x14336xf16>, tensor<4096x14336x!tenon.block<q4_k>>) -> tensor<1x4096xf16>
  %1 = tenon.matmul %x, %v : (tensor<1x14336xf16>, tensor<4096x14336x!tenon.block<q8_0>>) -> tensor<1x4096xf16>
  return %0, %1 : tensor<1x4096xf16>, tensor<1x4096xf16>
}
func.func @others(%x: tensor<1x2880xf16>, %y: tensor<2x4096xf16>, %w: tensor<4096x2880x!tenon.block<q8_0>>, %v: tensor<4096x4096x!tenon.block<q8_0>>) -> (tensor<1x4096xf16>, tensor<2x4096xf16>) {
  %0 = tenon.matmul %x, %w : (tensor<1x2880xf16>, tensor<4096x2880x!tenon.block<q8_0>>) -> tensor<1x4096xf16>
  %1 = tenon.matmul %y, %v : (tensor<2x4096xf16>, tensor<4096x4096x!tenon.block<q8_0>>) -> tensor<2x4096xf16>
  return %0, %1 : tensor<1x4096xf16>, tensor<2x4096xf16>
}

// Lines are cut where blocks of 1,024 elements and copies of 16 bytes begin: 16 slices of four parts, 8 of seven,
// 14 of four.
// CHECK-LABEL: func.func @groups
// CHECK: schedule #tenon.schedule<"held_block_gemv", tiles = 132, {{.*}}threads = 544 : i64}>
// CHECK: schedule #tenon.schedule<"held_block_gemv", tiles = 132, {{.*}}threads = 288 : i64}>
// CHECK: schedule #tenon.schedule<"held_block_gemv", tiles = 132, {{.*}}threads = 480 : i64}>
func.func @groups(%x: tensor<1x14336xf16>, %w: tensor<4096x14336x!tenon.block<int4_g128x8_f16>>, %v: tensor<4096x14336x!tenon.block<e4m3_g128_f32>>, %u: tensor<4096x14336x!tenon.block<q4_0>>) -> (tensor<1x4096xf16>, tensor<1x4096xf16>, tensor<1x4096xf16>) {
  %0 = tenon.matmul %x, %w : (tensor<1x14336xf16>, tensor<4096x14336x!tenon.block<int4_g128x8_f16>>) -> tensor<1x4096xf16>
  %1 = tenon.matmul %x, %v : (tensor<1x14336xf16>, tensor<4096x14336x!tenon.block<e4m3_g128_f32>>) -> tensor<1x4096xf16>
  %2 = tenon.matmul %x, %u : (tensor<1x14336xf16>, tensor<4096x14336x!tenon.block<q4_0>>) -> tensor<1x4096xf16>
  return %0, %1, %2 : tensor<1x4096xf16>, tensor<1x4096xf16>, tensor<1x4096xf16>
}

// Seven slices of FP8 are no multiple of 16 bytes, groups of 64 behind a scale alone are not aligned, and of ggml's
// blocks of 4 bits those with a minimum have no slices.
// CHECK-LABEL: func.func @unaligned
// CHECK-NOT: held_block_gemv
func.func @unaligned(%x: tensor<1x1792xf16>, %y: tensor<1x4096xf16>, %w: tensor<4096x1792x!tenon.block<e4m3_g128_f32>>, %v: tensor<4096x4096x!tenon.block<int4_g64_f16>>, %u: tensor<4096x4096x!tenon.block<q4_1>>) -> (tensor<1x4096xf16>, tensor<1x4096xf16>, tensor<1x4096xf16>) {
  %0 = tenon.matmul %x, %w : (tensor<1x1792xf16>, tensor<4096x1792x!tenon.block<e4m3_g128_f32>>) -> tensor<1x4096xf16>
  %1 = tenon.matmul %y, %v : (tensor<1x4096xf16>, tensor<4096x4096x!tenon.block<int4_g64_f16>>) -> tensor<1x4096xf16>
  %2 = tenon.matmul %y, %u : (tensor<1x4096xf16>, tensor<4096x4096x!tenon.block<q4_1>>) -> tensor<1x4096xf16>
  return %0, %1, %2 : tensor<1x4096xf16>, tensor<1x4096xf16>, tensor<1x4096xf16>
}
