// RUN: tenon dump %s --as=scheduled --target=h200 --plan=fused | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=a100 --plan=fused | FileCheck %s --check-prefix=A100

// Rows of 4,096 elements are 16 slices, one a warp; products that share a norm keep the schedules that
// each has alone. Without bulk copies tensor cores read x for each tile.
// CHECK-LABEL: func.func @qkv
// CHECK: schedule #tenon.schedule<"held_gemm", tiles = 132, {stages = 4 : i64, threads = 512 : i64, tile_lines = 13 : i64}>
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"held_gemm", tiles = 132, {stages = 4 : i64, threads = 512 : i64, tile_lines = 16 : i64}>
// CHECK: tenon.matmul {{.*}}part = #tenon.schedule<"held_gemm", tiles = 128, {stages = 4 : i64, threads = 512 : i64, tile_lines = 8 : i64}>
// A100-LABEL: func.func @qkv
// A100-NOT: held_gemm
func.func @qkv(%x: tensor<4x4096xf16>, %n: tensor<4096xf16>, %q: tensor<4096x4096xf16>, %k: tensor<1024x4096xf16>) -> (tensor<4x4096xf16>, tensor<4x1024xf16>) {
  %0 = tenon.rms_norm %x, %n eps 1.0e-5 : (tensor<4x4096xf16>, tensor<4096xf16>) -> tensor<4x4096xf16>
  %1 = tenon.matmul %0, %q : (tensor<4x4096xf16>, tensor<4096x4096xf16>) -> tensor<4x4096xf16>
  %2 = tenon.matmul %0, %k : (tensor<4x4096xf16>, tensor<1024x4096xf16>) -> tensor<4x1024xf16>
  return %1, %2 : tensor<4x4096xf16>, tensor<4x1024xf16>
}

// Ten warps are too few, and two rows go through rings of one-row products.
// CHECK-LABEL: func.func @short
// CHECK: schedule #tenon.schedule<"narrow_gemm"
// CHECK-LABEL: func.func @two
// CHECK: schedule #tenon.schedule<"gemv_bulk"
func.func @short(%x: tensor<4x2560xf16>, %w: tensor<4096x2560xf16>) -> tensor<4x4096xf16> {
  %0 = tenon.matmul %x, %w : (tensor<4x2560xf16>, tensor<4096x2560xf16>) -> tensor<4x4096xf16>
  return %0 : tensor<4x4096xf16>
}
func.func @two(%x: tensor<2x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<2x4096xf16> {
  %0 = tenon.matmul %x, %w : (tensor<2x4096xf16>, tensor<4096x4096xf16>) -> tensor<2x4096xf16>
  return %0 : tensor<2x4096xf16>
}
