// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY

// Bias, activation, scale, residual.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[K:.*]] = tenon.kernel
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.add
// CHECK-NEXT:   tenon.gelu
// CHECK-NEXT:   tenon.scale
// CHECK-NEXT:   tenon.add
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]
// WHY: yes {{.*}} matmul-epilogue{{.*}}: matmul add gelu scale add
func.func @chain(%x: tensor<20x64xf16>, %w: tensor<96x64xf16>, %b: tensor<96xf16>, %r: tensor<20x96xf16>) -> tensor<20x96xf16> {
  %0 = tenon.matmul %x, %w : (tensor<20x64xf16>, tensor<96x64xf16>) -> tensor<20x96xf16>
  %1 = tenon.add %0, %b : (tensor<20x96xf16>, tensor<96xf16>) -> tensor<20x96xf16>
  %2 = tenon.gelu %1 : (tensor<20x96xf16>) -> tensor<20x96xf16>
  %3 = tenon.scale %2 by 0.5 : (tensor<20x96xf16>) -> tensor<20x96xf16>
  %4 = tenon.add %r, %3 : (tensor<20x96xf16>, tensor<20x96xf16>) -> tensor<20x96xf16>
  return %4 : tensor<20x96xf16>
}

// A chain behind the product that goes on with more rows is cut there.
// WHY-LABEL: @more_rows
// WHY: no {{.*}} matmul-epilogue: matmul add {{.*}} no emitter: the emitter of products works on positions [1, 96], not on those of add [4, 96]
func.func @more_rows(%x: tensor<1x64xf16>, %w: tensor<96x64xf16>, %r: tensor<4x96xf16>) -> tensor<4x96xf16> {
  %0 = tenon.matmul %x, %w : (tensor<1x64xf16>, tensor<96x64xf16>) -> tensor<1x96xf16>
  %1 = tenon.add %r, %0 : (tensor<4x96xf16>, tensor<1x96xf16>) -> tensor<4x96xf16>
  return %1 : tensor<4x96xf16>
}
