// The first fusions of a function are made, no more than asked for.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=fused})' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=fused max-fusions=1})' | FileCheck %s --check-prefix=ONE
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=fused max-fusions=0})' | FileCheck %s --check-prefix=NONE

// CHECK-COUNT-2: tenon.kernel
// CHECK-NOT: tenon.kernel
// ONE-COUNT-3: tenon.kernel
// ONE-NOT: tenon.kernel
// NONE-COUNT-4: tenon.kernel
// NONE-NOT: tenon.kernel
module attributes {tenon.target = #tenon.target<"x86-64-v3", cpu, features = ["cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"], {cache_line_bytes = 64 : i64, cache_mb_per_s = 242000 : i64, cores = 2 : i64, decode_q4_0_ps = 50 : i64, decode_q4_k_ps = 38 : i64, decode_q6_k_ps = 73 : i64, decode_q8_0_ps = 26 : i64, dram_mb_per_s = 52000 : i64, f32_gflops = 235 : i64, i8_gops = 390 : i64, i8_q8_0_gops = 180 : i64, l2_bytes = 262144 : i64, measured = 0 : i64, step_ns = 1000 : i64, unpack_q4_0_ps = 28 : i64, unpack_q4_k_ps = 23 : i64, unpack_q6_k_ps = 29 : i64, unpack_q8_0_ps = 29 : i64, vector_bits = 256 : i64, vector_registers = 16 : i64}>} {
  func.func @f(%x: tensor<1x64xf16>, %a: tensor<1x64xf16>, %b: tensor<1x64xf16>, %w: tensor<64xf16>) -> (tensor<1x64xf16>, tensor<1x64xf16>) {
    %0 = tenon.add %x, %a : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
    %1 = tenon.rms_norm %0, %w eps 1.0e-5 : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
    %2 = tenon.add %x, %b : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
    %3 = tenon.rms_norm %2, %w eps 1.0e-6 : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
    return %1, %3 : tensor<1x64xf16>, tensor<1x64xf16>
  }
}
