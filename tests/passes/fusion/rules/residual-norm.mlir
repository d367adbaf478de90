// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=fused})' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=fused disable-rules=residual-norm})' | FileCheck %s --check-prefix=DISABLED
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=fused max-fusions=0})' | FileCheck %s --check-prefix=DISABLED
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=fused})' --remarks-filter=fusion --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

module attributes {tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64, l2_bytes = 62914560 : i64, l2_mb_per_s = 7500000 : i64, threads_per_sm = 2048 : i64, blocks_per_sm = 32 : i64, registers_per_sm = 65536 : i64, smem_bytes_per_sm = 233472 : i64, dram_mb_per_s = 4665000 : i64, copy_mb_per_s = 4260000 : i64, read_ramp_ns = 3300 : i64, read_ramp_bytes = 8388608 : i64, dependent_load_ns = 470 : i64, reduction_ns = 930 : i64, tensor_16bit_gflops = 790000 : i64, mma_percent = 63 : i64, f32_gflops = 67000 : i64, launch_graph_ns = 500 : i64}>} {
  // The sum is a result, too.
  // CHECK-LABEL: func @both_outputs
  // CHECK-NEXT: %[[K:.*]]:2 = tenon.kernel
  // CHECK-NEXT:   %[[H:.*]] = tenon.add
  // CHECK-NEXT:   %[[Y:.*]] = tenon.rms_norm %[[H]]
  // CHECK-NEXT:   tenon.yield %[[H]], %[[Y]]
  // CHECK-NOT: tenon.kernel
  // CHECK: return %[[K]]#0, %[[K]]#1
  // DISABLED-LABEL: func @both_outputs
  // DISABLED: tenon.kernel
  // DISABLED: tenon.kernel
  // REMARK: [Passed] residual-norm | Category:fusion | Function=both_outputs | ops="add, rms_norm", shape=tensor<1x64xf16>, reason="part of the cover with fewest kernels"
  func.func @both_outputs(%x: tensor<1x64xf16>, %a: tensor<1x64xf16>, %w: tensor<64xf16>) -> (tensor<1x64xf16>, tensor<1x64xf16>) {
    %h = tenon.add %x, %a : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
    %y = tenon.rms_norm %h, %w eps 1.0e-5 : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
    return %h, %y : tensor<1x64xf16>, tensor<1x64xf16>
  }

  // Several residuals: (mlp + attention) + x.
  // CHECK-LABEL: func @several_residuals
  // CHECK-NEXT: tenon.kernel
  // CHECK-NEXT:   tenon.add
  // CHECK-NEXT:   tenon.add
  // CHECK-NEXT:   tenon.layer_norm
  // CHECK-NOT: tenon.kernel
  // CHECK: return
  func.func @several_residuals(%x: tensor<4x64xf16>, %a: tensor<4x64xf16>, %m: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>) {
    %0 = tenon.add %m, %a : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
    %h = tenon.add %0, %x : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
    %y = tenon.layer_norm %h eps 1.0e-5 : (tensor<4x64xf16>) -> tensor<4x64xf16>
    return %h, %y : tensor<4x64xf16>, tensor<4x64xf16>
  }

  // A sum of other rows than the norm's is refused.
  // REMARK: [Failure] residual-norm | Category:fusion | Function=stored_once | ops="add, rms_norm", shape=tensor<4x64xf16>, reason="no emitter: the emitter of row reductions stores results of shape [4, 64], not [64]"
  func.func @stored_once(%x: tensor<64xf16>, %a: tensor<64xf16>, %z: tensor<4x64xf16>) -> (tensor<64xf16>, tensor<4x64xf16>) {
    %h = tenon.add %x, %a : (tensor<64xf16>, tensor<64xf16>) -> tensor<64xf16>
    %i = tenon.add %h, %z : (tensor<64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
    %y = tenon.rms_norm %i eps 1.0e-5 : (tensor<4x64xf16>) -> tensor<4x64xf16>
    return %h, %y : tensor<64xf16>, tensor<4x64xf16>
  }
}
