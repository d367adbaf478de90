// RUN: tenon dump %s --as=scheduled --target=h200 --plan=split | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=h200 --plan=unfused | FileCheck %s --check-prefix=ALONE

// The product keeps the kernel that it has with the search behind it, where a library would add in
// another order.
// CHECK: schedule #tenon.schedule<"hopper_gemm"
// CHECK-NEXT: tenon.matmul
// CHECK: schedule #tenon.schedule<"argmax"
// ALONE: schedule #tenon.schedule<"cublaslt"
func.func @f(%x: tensor<40x256xbf16>, %w: tensor<301x256xbf16>) -> tensor<40xi32> {
  %0 = tenon.matmul %x, %w : (tensor<40x256xbf16>, tensor<301x256xbf16>) -> tensor<40x301xbf16>
  %1 = tenon.argmax %0 : (tensor<40x301xbf16>) -> tensor<40xi32>
  return %1 : tensor<40xi32>
}
