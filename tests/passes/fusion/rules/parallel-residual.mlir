// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY

// (mlp + attention) + x in the order of the model, behind the product of one half.
// CHECK-LABEL: func.func @three
// CHECK-NEXT: %[[K:.*]] = tenon.kernel
// CHECK:   %[[P:.*]] = tenon.matmul
// CHECK-NEXT:   %[[S:.*]] = tenon.add %[[P]]
// CHECK-NEXT:   tenon.add %[[S]]
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]
// WHY: yes {{.*}}parallel-residual{{.*}}: matmul add add
func.func @three(%h: tensor<1x256xf16>, %w: tensor<64x256xf16>, %a: tensor<1x64xf16>, %x: tensor<1x64xf16>) -> tensor<1x64xf16> {
  %m = tenon.matmul %h, %w : (tensor<1x256xf16>, tensor<64x256xf16>) -> tensor<1x64xf16>
  %0 = tenon.add %m, %a : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
  %1 = tenon.add %0, %x : (tensor<1x64xf16>, tensor<1x64xf16>) -> tensor<1x64xf16>
  return %1 : tensor<1x64xf16>
}
