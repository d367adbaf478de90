// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY

// CHECK-LABEL: func.func @behind_the_norm
// CHECK-NEXT: %[[K:.*]] = tenon.kernel
// CHECK-NEXT:   tenon.rms_norm
// CHECK-NEXT:   tenon.add
// CHECK-NEXT:   tenon.yield
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]
// WHY: yes {{.*}} norm-residual: rms_norm add
func.func @behind_the_norm(%x: tensor<2x64xbf16>, %a: tensor<2x64xbf16>, %w: tensor<64xbf16>) -> tensor<2x64xbf16> {
  %n = tenon.rms_norm %a, %w eps 1.0e-6 : (tensor<2x64xbf16>, tensor<64xbf16>) -> tensor<2x64xbf16>
  %y = tenon.add %x, %n : (tensor<2x64xbf16>, tensor<2x64xbf16>) -> tensor<2x64xbf16>
  return %y : tensor<2x64xbf16>
}

// A residual of more rows than the norm: each row of the norm would be stored several times.
// WHY-LABEL: @more_rows
// WHY: no {{.*}} norm-residual: rms_norm add {{.*}} no emitter: the emitter of row reductions works on positions [1, 64], to which add [4, 64] does not broadcast
func.func @more_rows(%x: tensor<4x64xf16>, %a: tensor<1x64xf16>) -> tensor<4x64xf16> {
  %n = tenon.rms_norm %a eps 1.0e-6 : (tensor<1x64xf16>) -> tensor<1x64xf16>
  %y = tenon.add %x, %n : (tensor<4x64xf16>, tensor<1x64xf16>) -> tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

// What a mask of bools chooses is chosen after the norm.
// WHY-LABEL: @masked
// WHY: no {{.*}} norm-residual: rms_norm select {{.*}} no emitter: the emitter of row reductions computes floats, and cannot hold select of integers
func.func @masked(%x: tensor<2x64xf16>, %m: tensor<2x64xi1>) -> tensor<2x64xf16> {
  %n = tenon.rms_norm %x eps 1.0e-6 : (tensor<2x64xf16>) -> tensor<2x64xf16>
  %y = tenon.select %m, %n, %x : (tensor<2x64xi1>, tensor<2x64xf16>, tensor<2x64xf16>) -> tensor<2x64xf16>
  return %y : tensor<2x64xf16>
}
