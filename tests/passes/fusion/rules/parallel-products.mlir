// RUN: tenon dump %s --as=fused --target=x86-64-v4 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=WHY
// RUN: tenon explain %s --target=x86-64-v4 --plan=auto | FileCheck %s --check-prefix=COST
// RUN: tenon explain %s --target=h200 --plan=auto | FileCheck %s --check-prefix=H200

// Two norms of one value feed the halves of a block: one kernel, biases and activation included.
// CHECK-LABEL: func.func @halves
// CHECK-NEXT: %[[K:.*]]:2 = tenon.kernel
// CHECK-NEXT:   tenon.layer_norm
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.layer_norm
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.gelu
// CHECK-NOT: tenon.kernel
// CHECK: return %[[K]]#0, %[[K]]#1
// WHY-LABEL: @halves
// WHY: yes {{.*}} parallel-products{{.*}}: layer_norm matmul layer_norm matmul gelu
func.func @halves(%x: tensor<1x512xf32>, %n: tensor<512xf32>, %m: tensor<512xf32>, %q: tensor<768x512xf16>, %u: tensor<2048x512xf16>) -> (tensor<1x768xf32>, tensor<1x2048xf32>) {
  %0 = tenon.layer_norm %x weight %n eps 1.0e-5 : (tensor<1x512xf32>, tensor<512xf32>) -> tensor<1x512xf32>
  %1 = tenon.matmul %0, %q : (tensor<1x512xf32>, tensor<768x512xf16>) -> tensor<1x768xf32>
  %2 = tenon.layer_norm %x weight %m eps 1.0e-5 : (tensor<1x512xf32>, tensor<512xf32>) -> tensor<1x512xf32>
  %3 = tenon.matmul %2, %u : (tensor<1x512xf32>, tensor<2048x512xf16>) -> tensor<1x2048xf32>
  %4 = tenon.gelu %3 : (tensor<1x2048xf32>) -> tensor<1x2048xf32>
  return %1, %4 : tensor<1x768xf32>, tensor<1x2048xf32>
}

// Weights of two encodings do not stand together.
// WHY-LABEL: @two_encodings
// WHY: no {{.*}} parallel-products: layer_norm matmul layer_norm matmul → {{.*}}; weights of different encodings cannot stand together: f16 of matmul and !tenon.block<q8_0> of matmul
func.func @two_encodings(%x: tensor<1x512xf32>, %n: tensor<512xf32>, %q: tensor<768x512xf16>, %u: tensor<2048x512x!tenon.block<q8_0>>) -> (tensor<1x768xf32>, tensor<1x2048xf32>) {
  %0 = tenon.layer_norm %x weight %n eps 1.0e-5 : (tensor<1x512xf32>, tensor<512xf32>) -> tensor<1x512xf32>
  %1 = tenon.matmul %0, %q : (tensor<1x512xf32>, tensor<768x512xf16>) -> tensor<1x768xf32>
  %2 = tenon.layer_norm %x eps 1.0e-5 : (tensor<1x512xf32>) -> tensor<1x512xf32>
  %3 = tenon.matmul %2, %u : (tensor<1x512xf32>, tensor<2048x512x!tenon.block<q8_0>>) -> tensor<1x2048xf32>
  return %1, %3 : tensor<1x768xf32>, tensor<1x2048xf32>
}

// Two products that one thread computes without waiting for another: apart, none costs a step.
// COST-LABEL: @tiny
// COST: no {{.*}} parallel-products: matmul matmul → {{.*}}; takes {{[0-9]+}} ns longer than its operations one by one
func.func @tiny(%x: tensor<1x16xf32>, %n: tensor<16xf32>, %q: tensor<8x16xf16>, %u: tensor<8x16xf16>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %0 = tenon.layer_norm %x weight %n eps 1.0e-5 : (tensor<1x16xf32>, tensor<16xf32>) -> tensor<1x16xf32>
  %1 = tenon.matmul %0, %q : (tensor<1x16xf32>, tensor<8x16xf16>) -> tensor<1x8xf32>
  %2 = tenon.layer_norm %x eps 1.0e-5 : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %3 = tenon.matmul %2, %u : (tensor<1x16xf32>, tensor<8x16xf16>) -> tensor<1x8xf32>
  return %1, %3 : tensor<1x8xf32>, tensor<1x8xf32>
}

// The halves of pythia-2.8b's block at one row: the norms take less than the kernels that they spare.
// H200-LABEL: @pythia_block
// H200: yes {{.*}} parallel-products{{.*}}: layer_norm matmul layer_norm matmul gelu → {{.*}}; saves {{[0-9]+}} ns
func.func @pythia_block(%x: tensor<1x2560xf16>, %n: tensor<2560xf32>, %m: tensor<2560xf32>, %q: tensor<7680x2560xf16>, %u: tensor<10240x2560xf16>) -> (tensor<1x7680xf16>, tensor<1x10240xf16>) {
  %0 = tenon.layer_norm %x weight %n eps 1.0e-5 : (tensor<1x2560xf16>, tensor<2560xf32>) -> tensor<1x2560xf16>
  %1 = tenon.matmul %0, %q : (tensor<1x2560xf16>, tensor<7680x2560xf16>) -> tensor<1x7680xf16>
  %2 = tenon.layer_norm %x weight %m eps 1.0e-5 : (tensor<1x2560xf16>, tensor<2560xf32>) -> tensor<1x2560xf16>
  %3 = tenon.matmul %2, %u : (tensor<1x2560xf16>, tensor<10240x2560xf16>) -> tensor<1x10240xf16>
  %4 = tenon.gelu %3 : (tensor<1x10240xf16>) -> tensor<1x10240xf16>
  return %1, %4 : tensor<1x7680xf16>, tensor<1x10240xf16>
}

// Four long rows: every block would repeat the norms of all of them for few columns.
// H200-LABEL: @long_rows
// H200: no {{.*}} norm-matmul+parallel-products{{.*}}: layer_norm matmul matmul gelu → {{.*}}; takes {{[0-9]+}} ns longer than its operations one by one
func.func @long_rows(%x: tensor<4x8192xf16>, %n: tensor<8192xf32>, %m: tensor<8192xf32>, %q: tensor<768x8192xf16>, %u: tensor<2048x8192xf16>) -> (tensor<4x768xf16>, tensor<4x2048xf16>) {
  %0 = tenon.layer_norm %x weight %n eps 1.0e-5 : (tensor<4x8192xf16>, tensor<8192xf32>) -> tensor<4x8192xf16>
  %1 = tenon.matmul %0, %q : (tensor<4x8192xf16>, tensor<768x8192xf16>) -> tensor<4x768xf16>
  %2 = tenon.layer_norm %x weight %m eps 1.0e-5 : (tensor<4x8192xf16>, tensor<8192xf32>) -> tensor<4x8192xf16>
  %3 = tenon.matmul %2, %u : (tensor<4x8192xf16>, tensor<2048x8192xf16>) -> tensor<4x2048xf16>
  %4 = tenon.gelu %3 : (tensor<4x2048xf16>) -> tensor<4x2048xf16>
  return %1, %4 : tensor<4x768xf16>, tensor<4x2048xf16>
}
