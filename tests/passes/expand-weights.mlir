// RUN: tenon dump %s --as=fused --target=h200 --plan=auto | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=h200 --plan=auto | FileCheck %s --check-prefix=SCHEDULED
// RUN: tenon dump %s --as=fused --target=x86-64-v4 --plan=auto | FileCheck %s --check-prefix=CPU

// CPU-NOT: tenon.dequantize

// Many rows are worth an expansion to 16 bits, once for both GEMMs, which a library then computes.
// CHECK-LABEL: func.func @prompt
// CHECK-COUNT-1: tenon.dequantize %{{.*}} : (tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<4096x4096xf16>
// CHECK-NOT: tenon.dequantize
// CHECK: tenon.matmul %{{.*}} : (tensor<8192x4096xf16>, tensor<4096x4096xf16>) -> tensor<8192x4096xf16>
// CHECK: tenon.matmul %{{.*}} : (tensor<8192x4096xf16>, tensor<4096x4096xf16>) -> tensor<8192x4096xf16>
// SCHEDULED-LABEL: func.func @prompt
// SCHEDULED: schedule<"elementwise"
// SCHEDULED: schedule<"cublaslt"
// SCHEDULED: schedule<"cublaslt"
func.func @prompt(%x: tensor<8192x4096xf16>, %z: tensor<8192x4096xf16>, %w: tensor<4096x4096x!tenon.block<q4_k>>) -> (tensor<8192x4096xf16>, tensor<8192x4096xf16>) {
  %0 = tenon.matmul %x, %w : (tensor<8192x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<8192x4096xf16>
  %1 = tenon.matmul %z, %w : (tensor<8192x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<8192x4096xf16>
  return %0, %1 : tensor<8192x4096xf16>, tensor<8192x4096xf16>
}

// One row reads the weight once: blocks are less to read.
// CHECK-LABEL: func.func @token
// CHECK-NOT: tenon.dequantize
// CHECK: return
func.func @token(%x: tensor<1x4096xf16>, %w: tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<1x4096xf16> {
  %0 = tenon.matmul %x, %w : (tensor<1x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<1x4096xf16>
  return %0 : tensor<1x4096xf16>
}

// Inputs of 32 bits keep what the blocks hold.
// CHECK-LABEL: func.func @single_precision
// CHECK-NOT: tenon.dequantize
// CHECK: return
func.func @single_precision(%x: tensor<512x4096xf32>, %w: tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<512x4096xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x4096xf32>, tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<512x4096xf32>
  return %0 : tensor<512x4096xf32>
}

// Up to 16 rows share what is decoded of a block.
// CHECK-LABEL: func.func @batch
// CHECK-NOT: tenon.dequantize
// CHECK: return
func.func @batch(%x: tensor<16x4096xf16>, %w: tensor<14336x4096x!tenon.block<q4_k>>) -> tensor<16x14336xf16> {
  %0 = tenon.matmul %x, %w : (tensor<16x4096xf16>, tensor<14336x4096x!tenon.block<q4_k>>) -> tensor<16x14336xf16>
  return %0 : tensor<16x14336xf16>
}
