// RUN: tenon dump %s --as=scheduled --target=h200 --plan=split | FileCheck %s

// The product of blocks keeps the kernel that it has with the search behind it, where warpgroups' would
// add in another order.
// CHECK: schedule #tenon.schedule<"block_gemm"
// CHECK-NEXT: tenon.matmul
// CHECK: schedule #tenon.schedule<"argmax"
func.func @f(%x: tensor<40x256xbf16>, %w: tensor<301x256x!tenon.block<int4_g64_f16_min>>) -> tensor<40xi32> {
  %0 = tenon.matmul %x, %w : (tensor<40x256xbf16>, tensor<301x256x!tenon.block<int4_g64_f16_min>>) -> tensor<40x301xbf16>
  %1 = tenon.argmax %0 : (tensor<40x301xbf16>) -> tensor<40xi32>
  return %1 : tensor<40xi32>
}
