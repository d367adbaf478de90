// RUN: tenon dump %s --as=fused --target=x86-64-v3 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY

// A tree of operations, one of whose results is needed outside, too.
// CHECK-LABEL: func.func @tree
// CHECK-NEXT: %[[K:.*]]:2 = tenon.kernel
// CHECK-COUNT-4: tenon.{{(exp|neg|add|mul)}}
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]#0, %[[K]]#1
// WHY: yes {{.*}} elementwise-chain: exp neg add mul
func.func @tree(%x: tensor<4x64xf16>, %z: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<4x64xf16>) {
  %0 = tenon.exp %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %1 = tenon.neg %z : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %2 = tenon.add %0, %1 : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  %3 = tenon.mul %2, %0 : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  return %2, %3 : tensor<4x64xf16>, tensor<4x64xf16>
}
