// RUN: not tenon dump %s --as=simplified 2>&1 | FileCheck %s
// RUN: not tenon-opt %s --pass-pipeline='builtin.module(tenon-fuse-kernels{plan=all})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLAN

// CHECK: pipeline-invalid.mlir:9:{{[0-9]+}}: 'func.func' op expects arguments that are tensors of static shape, but got 'tensor<?xf32>'
// PLAN: expects a plan vanilla, unfused, split, fused or auto, but got all

module {
func.func @f(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}
