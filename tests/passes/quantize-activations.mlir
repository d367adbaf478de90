// RUN: tenon-opt %s --split-input-file --tenon-quantize-activations | FileCheck %s

// Products of one input share its quants, for each encoding that their weights go with; the product
// with plain weights keeps its floats.
module attributes {tenon.quantize_activations, tenon.target = #tenon.target<"t", cpu, features = ["avx512f"], {vector_bits = 512 : i64, vector_registers = 32 : i64, l2_bytes = 1048576 : i64, cores = 2 : i64, dram_mb_per_s = 52000 : i64, cache_mb_per_s = 242000 : i64, f32_gflops = 470 : i64, i8_gops = 1200 : i64, step_ns = 1000 : i64}>} {
  // CHECK-LABEL: func @shared
  func.func @shared(%x: tensor<64x2048xf32>, %q: tensor<2048x2048x!tenon.block<q4_k>>, %k: tensor<512x2048x!tenon.block<q4_k>>, %v: tensor<512x2048x!tenon.block<q6_k>>, %g: tensor<2048x2048x!tenon.block<q8_0>>, %w: tensor<64x2048xf16>)
      -> (tensor<64x2048xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x2048xf32>, tensor<64x64xf32>) {
    // CHECK-DAG: %[[LARGE:.*]] = tenon.quantize %{{.*}} : (tensor<64x2048xf32>) -> tensor<64x2048x!tenon.block<q8_k>>
    // CHECK-DAG: %[[SMALL:.*]] = tenon.quantize %{{.*}} : (tensor<64x2048xf32>) -> tensor<64x2048x!tenon.block<q8_s>>
    // CHECK-NOT: tenon.quantize
    // CHECK: tenon.matmul %[[LARGE]], %arg1
    // CHECK: tenon.matmul %[[LARGE]], %arg2
    // CHECK: tenon.matmul %[[LARGE]], %arg3
    // CHECK: tenon.matmul %[[SMALL]], %arg4
    // CHECK: tenon.matmul %arg0, %arg5
    %0 = tenon.matmul %x, %q : (tensor<64x2048xf32>, tensor<2048x2048x!tenon.block<q4_k>>) -> tensor<64x2048xf32>
    %1 = tenon.matmul %x, %k : (tensor<64x2048xf32>, tensor<512x2048x!tenon.block<q4_k>>) -> tensor<64x512xf32>
    %2 = tenon.matmul %x, %v : (tensor<64x2048xf32>, tensor<512x2048x!tenon.block<q6_k>>) -> tensor<64x512xf32>
    %3 = tenon.matmul %x, %g : (tensor<64x2048xf32>, tensor<2048x2048x!tenon.block<q8_0>>) -> tensor<64x2048xf32>
    %4 = tenon.matmul %x, %w : (tensor<64x2048xf32>, tensor<64x2048xf16>) -> tensor<64x64xf32>
    return %0, %1, %2, %3, %4 : tensor<64x2048xf32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<64x2048xf32>, tensor<64x64xf32>
  }

  // Reading the weights takes longer than multiplying them: nothing to win.
  // CHECK-LABEL: func @memory_bound
  func.func @memory_bound(%x: tensor<1x2048xf32>, %w: tensor<2048x2048x!tenon.block<q8_0>>) -> tensor<1x2048xf32> {
    // CHECK-NOT: tenon.quantize
    %0 = tenon.matmul %x, %w : (tensor<1x2048xf32>, tensor<2048x2048x!tenon.block<q8_0>>) -> tensor<1x2048xf32>
    return %0 : tensor<1x2048xf32>
  }

  // No emitter multiplies quants of q5_1.
  // CHECK-LABEL: func @unknown
  func.func @unknown(%x: tensor<64x2048xf32>, %w: tensor<2048x2048x!tenon.block<q5_1>>) -> tensor<64x2048xf32> {
    // CHECK-NOT: tenon.quantize
    %0 = tenon.matmul %x, %w : (tensor<64x2048xf32>, tensor<2048x2048x!tenon.block<q5_1>>) -> tensor<64x2048xf32>
    return %0 : tensor<64x2048xf32>
  }
}

// -----

// Without the module's leave nothing is rounded to 8 bits.
module attributes {tenon.target = #tenon.target<"t", cpu, features = ["avx512f"], {vector_bits = 512 : i64, vector_registers = 32 : i64, l2_bytes = 1048576 : i64, cores = 2 : i64, dram_mb_per_s = 52000 : i64, cache_mb_per_s = 242000 : i64, f32_gflops = 470 : i64, i8_gops = 1200 : i64, step_ns = 1000 : i64}>} {
  // CHECK-LABEL: func @exact
  func.func @exact(%x: tensor<64x2048xf32>, %w: tensor<2048x2048x!tenon.block<q8_0>>) -> tensor<64x2048xf32> {
    // CHECK-NOT: tenon.quantize
    %0 = tenon.matmul %x, %w : (tensor<64x2048xf32>, tensor<2048x2048x!tenon.block<q8_0>>) -> tensor<64x2048xf32>
    return %0 : tensor<64x2048xf32>
  }
}
