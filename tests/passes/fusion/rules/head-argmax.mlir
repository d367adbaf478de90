// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=CPU
// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s --check-prefix=IR
// RUN: tenon dump %s --as=scheduled --target=h200 --plan=fused | FileCheck %s --check-prefix=KERNEL

// Every tile offers its columns, the last one stores the index: the logits never reach memory.
// CHECK: yes {{.*}} head-argmax: matmul argmax → tensor<1xi32>
// CPU: no {{.*}} head-argmax: matmul argmax → tensor<1xi32>; no emitter: {{.*}} argmax
// IR-LABEL: @greedy
// IR: tenon.kernel {{.*}} -> tensor<1xi32>
// IR: yield {{.*}} : tensor<1xi32>
func.func @greedy(%x: tensor<1x64xf16>, %w: tensor<512x64xf16>) -> tensor<1xi32> {
  %0 = tenon.matmul %x, %w : (tensor<1x64xf16>, tensor<512x64xf16>) -> tensor<1x512xf32>
  %1 = tenon.argmax %0 : (tensor<1x512xf32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}

// The logits are stored where the caller wants them, too; a soft-cap is computed on the way.
// CHECK: yes {{.*}}head-argmax{{.*}}: matmul scale tanh scale argmax → tensor<4xi32>
// IR-LABEL: @capped
// IR: tenon.kernel {{.*}} -> (tensor<4x512xf32>, tensor<4xi32>)
func.func @capped(%x: tensor<4x64xf16>, %w: tensor<512x64xf16>)
    -> (tensor<4x512xf32>, tensor<4xi32>) {
  %0 = tenon.matmul %x, %w : (tensor<4x64xf16>, tensor<512x64xf16>) -> tensor<4x512xf32>
  %1 = tenon.scale %0 by 0.03125 : (tensor<4x512xf32>) -> tensor<4x512xf32>
  %2 = tenon.tanh %1 : (tensor<4x512xf32>) -> tensor<4x512xf32>
  %3 = tenon.scale %2 by 32.0 : (tensor<4x512xf32>) -> tensor<4x512xf32>
  %4 = tenon.argmax %3 : (tensor<4x512xf32>) -> tensor<4xi32>
  return %3, %4 : tensor<4x512xf32>, tensor<4xi32>
}

// Warpgroups search, too.
// CHECK: yes {{.*}} head-argmax: matmul argmax → tensor<64xi32>
// KERNEL-LABEL: @rows
// KERNEL: -> tensor<64xi32> schedule #tenon.schedule<"hopper_gemm"
func.func @rows(%x: tensor<64x2048xf16>, %w: tensor<512x2048xf16>) -> tensor<64xi32> {
  %0 = tenon.matmul %x, %w : (tensor<64x2048xf16>, tensor<512x2048xf16>) -> tensor<64x512xf32>
  %1 = tenon.argmax %0 : (tensor<64x512xf32>) -> tensor<64xi32>
  return %1 : tensor<64xi32>
}

// CHECK: no {{.*}} head-argmax: matmul argmax → tensor<65xi32>; no emitter: tiles search the largest element of at most 64 rows, not of 65
func.func @many(%x: tensor<65x64xf16>, %w: tensor<512x64xf16>) -> tensor<65xi32> {
  %0 = tenon.matmul %x, %w : (tensor<65x64xf16>, tensor<512x64xf16>) -> tensor<65x512xf32>
  %1 = tenon.argmax %0 : (tensor<65x512xf32>) -> tensor<65xi32>
  return %1 : tensor<65xi32>
}

// CHECK: no {{.*}} head-argmax: matmul argmax → tensor<2x8xi32>; no emitter: the emitter of products computes elementwise operations on floats after them, not reshape
func.func @reshaped(%x: tensor<16x64xf16>, %w: tensor<512x64xf16>) -> tensor<2x8xi32> {
  %0 = tenon.matmul %x, %w : (tensor<16x64xf16>, tensor<512x64xf16>) -> tensor<16x512xf32>
  %1 = tenon.reshape %0 to [2, 8, 512] : (tensor<16x512xf32>) -> tensor<2x8x512xf32>
  %2 = tenon.argmax %1 : (tensor<2x8x512xf32>) -> tensor<2x8xi32>
  return %2 : tensor<2x8xi32>
}

// CHECK: no {{.*}} head-argmax: matmul argmax → tensor<4xi64>; no emitter: tiles store the index of the largest element in i32, not in i64
func.func @wide(%x: tensor<4x64xf16>, %w: tensor<512x64xf16>) -> tensor<4xi64> {
  %0 = tenon.matmul %x, %w : (tensor<4x64xf16>, tensor<512x64xf16>) -> tensor<4x512xf32>
  %1 = tenon.argmax %0 : (tensor<4x512xf32>) -> tensor<4xi64>
  return %1 : tensor<4xi64>
}
