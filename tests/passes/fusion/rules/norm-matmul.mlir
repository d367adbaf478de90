// RUN: tenon dump %s --as=fused --target=x86-64-v4 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=WHY
// RUN: tenon explain %s --target=h200 --plan=auto | FileCheck %s --check-prefix=COST

// CHECK-LABEL: func.func @one_row
// CHECK-NEXT: %[[K:.*]] = tenon.kernel
// CHECK-NEXT:   tenon.rms_norm
// CHECK-NEXT:   tenon.matmul
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]
// WHY-LABEL: @one_row
// WHY: yes {{.*}} norm-matmul: rms_norm matmul
func.func @one_row(%x: tensor<1x512xf32>, %n: tensor<512xf32>, %w: tensor<1024x512xf16>) -> tensor<1x1024xf32> {
  %0 = tenon.rms_norm %x, %n eps 1.0e-5 : (tensor<1x512xf32>, tensor<512xf32>) -> tensor<1x512xf32>
  %y = tenon.matmul %0, %w : (tensor<1x512xf32>, tensor<1024x512xf16>) -> tensor<1x1024xf32>
  return %y : tensor<1x1024xf32>
}

// Every thread computes the norm: it cannot be a result, too.
// WHY-LABEL: @norm_is_needed
// WHY: no {{.*}} norm-matmul: {{.*}} no emitter: rms_norm is computed by every thread before its matmul and cannot be stored
func.func @norm_is_needed(%x: tensor<1x512xf32>, %w: tensor<1024x512xf16>) -> (tensor<1x512xf32>, tensor<1x1024xf32>) {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<1x512xf32>) -> tensor<1x512xf32>
  %y = tenon.matmul %0, %w : (tensor<1x512xf32>, tensor<1024x512xf16>) -> tensor<1x1024xf32>
  return %0, %y : tensor<1x512xf32>, tensor<1x1024xf32>
}

// So many rows do not fit a core's cache beside the weights.
// WHY-LABEL: @many_rows
// WHY: no {{.*}} no emitter: what stands before a matmul takes 1048576 bytes of a thread, more than 262144
func.func @many_rows(%x: tensor<512x512xf32>, %w: tensor<1024x512xf16>) -> tensor<512x1024xf32> {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = tenon.matmul %0, %w : (tensor<512x512xf32>, tensor<1024x512xf16>) -> tensor<512x1024xf32>
  return %y : tensor<512x1024xf32>
}

// A matmul whose weight is computed: each tile would need all of it.
// WHY-LABEL: @computed_weight
// WHY: no {{.*}} matmul needs elements of {{.*}} that other blocks compute
func.func @computed_weight(%x: tensor<4x64xf32>, %z: tensor<4x64xf32>) -> tensor<4x4xf32> {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = tenon.matmul %0, %0 : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// On a GPU each block would compute the norms again: those of four rows cost more than a kernel of
// their own.
// COST-LABEL: @of_a_block
// COST: no {{.*}} norm-matmul: rms_norm matmul → tensor<4x6144xf16>; takes {{[0-9]+}} ns longer than its operations one by one
func.func @of_a_block(%x: tensor<4x4096xf16>, %w: tensor<6144x4096xf16>) -> tensor<4x6144xf16> {
  %0 = tenon.rms_norm %x eps 1.0e-5 : (tensor<4x4096xf16>) -> tensor<4x4096xf16>
  %y = tenon.matmul %0, %w : (tensor<4x4096xf16>, tensor<6144x4096xf16>) -> tensor<4x6144xf16>
  return %y : tensor<4x6144xf16>
}

// What a row's experts give is summed by each block, too, with the residual that the norm is of;
// the blocks' first stores the residual.
// COST-LABEL: @of_experts
// COST: yes {{.*}} norm-matmul{{.*}}: weighted_sum add rms_norm matmul matmul → tensor<1x512xf16>
func.func @of_experts(%x: tensor<1x4x2880xf16>, %s: tensor<1x4xf32>, %r: tensor<1x2880xf16>, %g: tensor<2880xf32>, %q: tensor<4096x2880x!tenon.block<q8_0>>, %k: tensor<512x2880x!tenon.block<q8_0>>) -> (tensor<1x2880xf16>, tensor<1x4096xf16>, tensor<1x512xf16>) {
  %0 = tenon.weighted_sum %x, %s : (tensor<1x4x2880xf16>, tensor<1x4xf32>) -> tensor<1x2880xf16>
  %1 = tenon.add %r, %0 : (tensor<1x2880xf16>, tensor<1x2880xf16>) -> tensor<1x2880xf16>
  %2 = tenon.rms_norm %1, %g eps 1.0e-5 : (tensor<1x2880xf16>, tensor<2880xf32>) -> tensor<1x2880xf16>
  %3 = tenon.matmul %2, %q : (tensor<1x2880xf16>, tensor<4096x2880x!tenon.block<q8_0>>) -> tensor<1x4096xf16>
  %4 = tenon.matmul %2, %k : (tensor<1x2880xf16>, tensor<512x2880x!tenon.block<q8_0>>) -> tensor<1x512xf16>
  return %1, %3, %4 : tensor<1x2880xf16>, tensor<1x4096xf16>, tensor<1x512xf16>
}
