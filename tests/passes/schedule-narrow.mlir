// RUN: tenon dump %s --as=scheduled --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY

// Several rows of x: tensor cores; every product keeps the schedule that it has alone.
// CHECK-LABEL: func.func @qkv
// CHECK: schedule #tenon.schedule<"narrow_gemm", tiles = 192, {blocks_per_sm = 2 : i64, held_pieces = 2 : i64, stages = 5 : i64, threads = 256 : i64, tile_lines = 16 : i64}>
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"narrow_gemm", tiles = 128
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"narrow_gemm", tiles = 64
// WHY-LABEL: @qkv
// WHY: yes {{.*}}shared-input{{.*}}: rms_norm matmul matmul
func.func @qkv(%x: tensor<4x1024xf16>, %n: tensor<1024xf16>, %q: tensor<2048x1024xf16>, %k: tensor<1024x1024xf16>) -> (tensor<4x2048xf16>, tensor<4x1024xf16>) {
  %0 = tenon.rms_norm %x, %n eps 1.0e-5 : (tensor<4x1024xf16>, tensor<1024xf16>) -> tensor<4x1024xf16>
  %1 = tenon.matmul %0, %q : (tensor<4x1024xf16>, tensor<2048x1024xf16>) -> tensor<4x2048xf16>
  %2 = tenon.matmul %0, %k : (tensor<4x1024xf16>, tensor<1024x1024xf16>) -> tensor<4x1024xf16>
  return %1, %2 : tensor<4x2048xf16>, tensor<4x1024xf16>
}

// Both projections of a parallel block, each of a depth of its own: warps load x for each tile.
// CHECK-LABEL: func.func @projections
// CHECK: schedule #tenon.schedule<"narrow_gemm", tiles = 128, {blocks_per_sm = 2 : i64, stages
// WHY-LABEL: @projections
// WHY: yes {{.*}}parallel-residual{{.*}}: matmul matmul add add
func.func @projections(%h: tensor<8x4096xf16>, %a: tensor<8x2048xf16>, %x: tensor<8x2048xf16>, %d: tensor<2048x4096xf16>, %o: tensor<2048x2048xf16>) -> tensor<8x2048xf16> {
  %0 = tenon.matmul %h, %d : (tensor<8x4096xf16>, tensor<2048x4096xf16>) -> tensor<8x2048xf16>
  %1 = tenon.matmul %a, %o : (tensor<8x2048xf16>, tensor<2048x2048xf16>) -> tensor<8x2048xf16>
  %2 = tenon.add %0, %1 : (tensor<8x2048xf16>, tensor<8x2048xf16>) -> tensor<8x2048xf16>
  %3 = tenon.add %2, %x : (tensor<8x2048xf16>, tensor<8x2048xf16>) -> tensor<8x2048xf16>
  return %3 : tensor<8x2048xf16>
}

// 16 rows of 8,192 elements, normalised, do not fit beside the weights.
// CHECK-LABEL: func.func @long
// CHECK: schedule #tenon.schedule<"rms_norm"
// CHECK: schedule #tenon.schedule<"narrow_gemm", tiles = 64, {blocks_per_sm = 2 : i64, stages = 4 : i64, threads = 256 : i64, tile_lines = 16 : i64}>
// WHY-LABEL: @long
// WHY: no {{.*}}norm-matmul: rms_norm matmul → {{.*}}no emitter: the inputs do not fit into shared memory beside the weights
func.func @long(%x: tensor<16x8192xf16>, %w: tensor<1024x8192xf16>) -> tensor<16x1024xf16> {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<16x8192xf16>) -> tensor<16x8192xf16>
  %1 = tenon.matmul %0, %w : (tensor<16x8192xf16>, tensor<1024x8192xf16>) -> tensor<16x1024xf16>
  return %1 : tensor<16x1024xf16>
}

// 160 tiles of 16 rows of W leave multiprocessors waiting for long ones: every block takes 10 rows.
// CHECK-LABEL: func.func @balanced
// CHECK: schedule #tenon.schedule<"narrow_gemm", tiles = 256, {blocks_per_sm = 2 : i64, stages = 5 : i64, threads = 256 : i64, tile_lines = 10 : i64}>
func.func @balanced(%x: tensor<4x10240xf16>, %w: tensor<2560x10240xf16>) -> tensor<4x2560xf16> {
  %0 = tenon.matmul %x, %w : (tensor<4x10240xf16>, tensor<2560x10240xf16>) -> tensor<4x2560xf16>
  return %0 : tensor<4x2560xf16>
}
