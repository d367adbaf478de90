// RUN: tenon dump %s --as=scheduled --target=h200 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=a100 --plan=fused | FileCheck %s --check-prefix=A100

// Several rows of x with weights in blocks: tensor cores take both. Warps that hold x add alike
// whatever shares their kernel; other products of a kernel keep the warps that share out its lines,
// so that they add alike when each has a kernel of its own.
// CHECK-LABEL: func.func @qkv
// CHECK: schedule #tenon.schedule<"held_block_gemm", tiles = 107, {cluster_blocks = 1 : i64, early = 2 : i64, stages = 4 : i64, threads = 512 : i64}>
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"held_block_gemm", tiles = 128, {cluster_blocks = 1 : i64
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"held_block_gemm", tiles = 64, {cluster_blocks = 1 : i64
// A100-LABEL: func.func @qkv
// A100: schedule #tenon.schedule<"block_gemm"
func.func @qkv(%x: tensor<8x4096xf16>, %q: tensor<4096x4096x!tenon.block<q4_k>>, %k: tensor<1024x4096x!tenon.block<q4_k>>) -> (tensor<8x4096xf16>, tensor<8x1024xf16>) {
  %1 = tenon.matmul %x, %q : (tensor<8x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<8x4096xf16>
  %2 = tenon.matmul %x, %k : (tensor<8x4096xf16>, tensor<1024x4096x!tenon.block<q4_k>>) -> tensor<8x1024xf16>
  return %1, %2 : tensor<8x4096xf16>, tensor<8x1024xf16>
}

// Two tiles a block are enough for x of more than 8 rows, of which less of W is on its way before it.
// CHECK-LABEL: func.func @two_tiles
// CHECK: schedule #tenon.schedule<"held_block_gemm", tiles = 128, {cluster_blocks = 1 : i64, early = 1 : i64, stages = 4 : i64, threads = 512 : i64}>
// CHECK-LABEL: func.func @two_tiles_of_eight_rows
// CHECK: schedule #tenon.schedule<"block_gemm"
func.func @two_tiles(%x: tensor<16x4096xf16>, %w: tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<16x4096xf16> {
  %0 = tenon.matmul %x, %w : (tensor<16x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<16x4096xf16>
  return %0 : tensor<16x4096xf16>
}
func.func @two_tiles_of_eight_rows(%x: tensor<8x4096xf16>, %w: tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<8x4096xf16> {
  %0 = tenon.matmul %x, %w : (tensor<8x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<8x4096xf16>
  return %0 : tensor<8x4096xf16>
}

// Two tiles of a cluster are not.
// CHECK-LABEL: func.func @two_tiles_of_a_cluster
// CHECK: schedule #tenon.schedule<"block_gemm"
func.func @two_tiles_of_a_cluster(%x: tensor<16x8192xf16>, %w: tensor<2048x8192x!tenon.block<q4_k>>) -> tensor<16x2048xf16> {
  %0 = tenon.matmul %x, %w : (tensor<16x8192xf16>, tensor<2048x8192x!tenon.block<q4_k>>) -> tensor<16x2048xf16>
  return %0 : tensor<16x2048xf16>
}

// Weights of two encodings have a kernel each.
// CHECK-LABEL: func.func @mixed
// CHECK-COUNT-2: schedule #tenon.schedule<"block_gemm"
func.func @mixed(%x: tensor<8x4096xf16>, %q: tensor<4096x4096x!tenon.block<q4_k>>, %v: tensor<1024x4096x!tenon.block<q6_k>>) -> (tensor<8x4096xf16>, tensor<8x1024xf16>) {
  %1 = tenon.matmul %x, %q : (tensor<8x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<8x4096xf16>
  %2 = tenon.matmul %x, %v : (tensor<8x4096xf16>, tensor<1024x4096x!tenon.block<q6_k>>) -> tensor<8x1024xf16>
  return %1, %2 : tensor<8x4096xf16>, tensor<8x1024xf16>
}

// Warps that hold x have to have it for several tiles, and numbers of eight bits of exponent keep
// too few of a quant times an integer: products of a kernel keep the warps that share out its lines.
// CHECK-LABEL: func.func @bf16
// CHECK: schedule #tenon.schedule<"block_gemm", tiles = 257, {blocks_per_sm = 2 : i64, line_warps = 1 : i64, stages = 2 : i64, threads = 256 : i64, tile_lines = 20 : i64, tile_rows = 8 : i64}>
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"block_gemm", tiles = 256, {blocks_per_sm = 2 : i64, line_warps = 1 : i64
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"block_gemm", tiles = 128, {blocks_per_sm = 2 : i64, line_warps = 1 : i64
func.func @bf16(%x: tensor<8x4096xbf16>, %q: tensor<4096x4096x!tenon.block<q4_k>>, %k: tensor<1024x4096x!tenon.block<q4_k>>) -> (tensor<8x4096xbf16>, tensor<8x1024xbf16>) {
  %1 = tenon.matmul %x, %q : (tensor<8x4096xbf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<8x4096xbf16>
  %2 = tenon.matmul %x, %k : (tensor<8x4096xbf16>, tensor<1024x4096x!tenon.block<q4_k>>) -> tensor<8x1024xbf16>
  return %1, %2 : tensor<8x4096xbf16>, tensor<8x1024xbf16>
}

// More than 16 rows are several tiles, or warpgroups'. A norm in front is a kernel of its own.
// CHECK-LABEL: func.func @rows
// CHECK: schedule #tenon.schedule<"rms_norm"
// CHECK: schedule #tenon.schedule<"hopper_gemm", {{.*}}pieces = {{.*}}weight_rows = 1 : i64}>
func.func @rows(%x: tensor<20x1024xf16>, %n: tensor<1024xf16>, %w: tensor<512x1024x!tenon.block<q8_0>>) -> tensor<20x512xf16> {
  %0 = tenon.rms_norm %x, %n eps 1.0e-5 : (tensor<20x1024xf16>, tensor<1024xf16>) -> tensor<20x1024xf16>
  %1 = tenon.matmul %0, %w : (tensor<20x1024xf16>, tensor<512x1024x!tenon.block<q8_0>>) -> tensor<20x512xf16>
  return %1 : tensor<20x512xf16>
}

// One row is memory's business alone, and inputs of 32 bits keep what blocks hold.
// CHECK-LABEL: func.func @one
// CHECK: schedule #tenon.schedule<"held_block_gemv"
// CHECK-LABEL: func.func @wide
// CHECK: schedule #tenon.schedule<"gemv"
func.func @one(%x: tensor<1x4096xf16>, %w: tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<1x4096xf16> {
  %0 = tenon.matmul %x, %w : (tensor<1x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<1x4096xf16>
  return %0 : tensor<1x4096xf16>
}
func.func @wide(%x: tensor<4x4096xf32>, %w: tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<4x4096xf32> {
  %0 = tenon.matmul %x, %w : (tensor<4x4096xf32>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<4x4096xf32>
  return %0 : tensor<4x4096xf32>
}
