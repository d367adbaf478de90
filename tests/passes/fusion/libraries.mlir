// RUN: tenon dump %s --as=scheduled --target=h200 --plan=auto | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=h200 --plan=split | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=h100 --plan=auto | FileCheck %s

// GEMMs of many rows go to the library under every plan; what stands around them still fuses.
// CHECK-LABEL: func.func @many_rows
// CHECK: schedule<"cublaslt"
// CHECK-NOT: schedule<"tensor_gemm"
func.func @many_rows(%x: tensor<512x4096xbf16>, %w: tensor<4096x4096xbf16>, %r: tensor<512x4096xbf16>) -> tensor<512x4096xbf16> {
  %0 = tenon.matmul %x, %w : (tensor<512x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<512x4096xbf16>
  return %0 : tensor<512x4096xbf16>
}

// Up to 16 rows kernels of Tenon's own read the weight at the memory's rate.
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: cublaslt
func.func @few_rows(%x: tensor<16x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<16x4096xbf16> {
  %0 = tenon.matmul %x, %w : (tensor<16x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<16x4096xbf16>
  return %0 : tensor<16x4096xbf16>
}
