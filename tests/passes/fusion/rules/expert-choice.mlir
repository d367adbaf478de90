// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: func.func @choice
// CHECK-NEXT: tenon.kernel
// CHECK-NEXT:   tenon.softmax
// CHECK-NEXT:   tenon.top_k
// CHECK-NEXT:   tenon.reduce
// CHECK-NEXT:   tenon.div
// CHECK-NOT:  tenon.kernel
// CHECK:      return
// WHY-LABEL: @choice
// WHY: yes {{.*}} expert-choice: softmax top_k reduce div
// CPU-LABEL: @choice
// CPU: no {{.*}} expert-choice: softmax top_k {{.*}}a sequence of tiles cannot hold top_k
func.func @choice(%x: tensor<1x128xf32>) -> (tensor<1x8xf32>, tensor<1x8xi32>) {
  %0 = tenon.softmax %x : (tensor<1x128xf32>) -> tensor<1x128xf32>
  %v, %i = tenon.top_k %0 k 8 : (tensor<1x128xf32>) -> (tensor<1x8xf32>, tensor<1x8xi32>)
  %1 = tenon.reduce sum %v : (tensor<1x8xf32>) -> tensor<1x1xf32>
  %2 = tenon.div %v, %1 : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  return %2, %i : tensor<1x8xf32>, tensor<1x8xi32>
}

// Shares that are not divided.
// WHY-LABEL: @shares
// WHY: yes {{.*}} expert-choice: softmax top_k
func.func @shares(%x: tensor<4x60xf32>) -> (tensor<4x4xf32>, tensor<4x4xi32>) {
  %0 = tenon.softmax %x : (tensor<4x60xf32>) -> tensor<4x60xf32>
  %v, %i = tenon.top_k %0 k 4 : (tensor<4x60xf32>) -> (tensor<4x4xf32>, tensor<4x4xi32>)
  return %v, %i : tensor<4x4xf32>, tensor<4x4xi32>
}

// WHY-LABEL: @vocabulary
// WHY: no {{.*}} expert-choice: softmax top_k {{.*}}a warp chooses at most 32 of at most 512 experts, not 8 of 4096
func.func @vocabulary(%x: tensor<1x4096xf32>) -> (tensor<1x8xf32>, tensor<1x8xi32>) {
  %0 = tenon.softmax %x : (tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %v, %i = tenon.top_k %0 k 8 : (tensor<1x4096xf32>) -> (tensor<1x8xf32>, tensor<1x8xi32>)
  return %v, %i : tensor<1x8xf32>, tensor<1x8xi32>
}

// WHY-LABEL: @halves
// WHY: no {{.*}} expert-choice: softmax top_k {{.*}}a warp chooses experts by shares in f32
func.func @halves(%x: tensor<1x64xf16>) -> (tensor<1x8xf16>, tensor<1x8xi32>) {
  %0 = tenon.softmax %x : (tensor<1x64xf16>) -> tensor<1x64xf16>
  %v, %i = tenon.top_k %0 k 8 : (tensor<1x64xf16>) -> (tensor<1x8xf16>, tensor<1x8xi32>)
  return %v, %i : tensor<1x8xf16>, tensor<1x8xi32>
}

// The shares of all are a result.
// WHY-LABEL: @all_shares
// WHY: no {{.*}} expert-choice: softmax top_k {{.*}}which nothing else reads
func.func @all_shares(%x: tensor<1x64xf32>) -> (tensor<1x64xf32>, tensor<1x8xf32>, tensor<1x8xi32>) {
  %0 = tenon.softmax %x : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %v, %i = tenon.top_k %0 k 8 : (tensor<1x64xf32>) -> (tensor<1x8xf32>, tensor<1x8xi32>)
  return %0, %v, %i : tensor<1x64xf32>, tensor<1x8xf32>, tensor<1x8xi32>
}

// The sum is one.
// WHY-LABEL: @summed
// WHY: no {{.*}} expert-choice: softmax top_k reduce div {{.*}}divided by their sum or not
func.func @summed(%x: tensor<1x64xf32>) -> (tensor<1x1xf32>, tensor<1x8xf32>, tensor<1x8xi32>) {
  %0 = tenon.softmax %x : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %v, %i = tenon.top_k %0 k 8 : (tensor<1x64xf32>) -> (tensor<1x8xf32>, tensor<1x8xi32>)
  %1 = tenon.reduce sum %v : (tensor<1x8xf32>) -> tensor<1x1xf32>
  %2 = tenon.div %v, %1 : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  return %1, %2, %i : tensor<1x1xf32>, tensor<1x8xf32>, tensor<1x8xi32>
}
