// RUN: tenon dump %s --as=scheduled --target=h200 --plan=fused --activations=tf32 | FileCheck %s
// RUN: tenon dump %s --as=scheduled --target=h200 --plan=auto --activations=tf32 | FileCheck %s --check-prefix=AUTO
// RUN: tenon dump %s --as=scheduled --target=h200 --plan=split --activations=tf32 | FileCheck %s --check-prefix=SPLIT
// RUN: tenon dump %s --as=scheduled --target=a100 --plan=fused | FileCheck %s --check-prefix=A100
// RUN: tenon explain %s --target=h200 --plan=auto --activations=tf32 | FileCheck %s --check-prefix=WHY

// What follows a GEMM of many rows is one call of the library with it, cut under no plan.
// CHECK-LABEL: func.func @bias_gelu
// CHECK-NEXT: tenon.kernel {{.*}} schedule #tenon.schedule<"cublaslt", {{.*}}tf32 = 1
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.add
// CHECK-NEXT:   tenon.gelu_tanh
// CHECK-NEXT:   tenon.yield
// CHECK-NOT: tenon.kernel
// SPLIT-LABEL: func.func @bias_gelu
// SPLIT-NEXT: tenon.kernel {{.*}} schedule #tenon.schedule<"cublaslt"
// SPLIT-NEXT:   tenon.matmul
// SPLIT-NEXT:   tenon.add
// SPLIT-NEXT:   tenon.gelu_tanh
func.func @bias_gelu(%x: tensor<512x1024xf32>, %w: tensor<4096x1024xf32>, %b: tensor<4096xf32>) -> tensor<512x4096xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xf32>, tensor<4096x1024xf32>) -> tensor<512x4096xf32>
  %1 = tenon.add %0, %b : (tensor<512x4096xf32>, tensor<4096xf32>) -> tensor<512x4096xf32>
  %2 = tenon.gelu_tanh %1 : (tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %2 : tensor<512x4096xf32>
}

// A residual is what the library adds the product to. It costs what it takes to read it, and GELU as
// much as a kernel of its own.
// AUTO-LABEL: func.func @residual(
// AUTO-NEXT: tenon.kernel {{.*}} schedule #tenon.schedule<"cublaslt"
// AUTO-NEXT:   tenon.matmul
// AUTO-NEXT:   tenon.add
// AUTO-NEXT:   tenon.yield
// CHECK-LABEL: func.func @residual(
// CHECK-NEXT: tenon.kernel {{.*}} schedule #tenon.schedule<"cublaslt"
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.add
// CHECK-NEXT:   tenon.yield
func.func @residual(%x: tensor<512x4096xf32>, %w: tensor<1024x4096xf32>, %r: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x4096xf32>, tensor<1024x4096xf32>) -> tensor<512x1024xf32>
  %1 = tenon.add %r, %0 : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}

// It adds a residual before a bias; a graph that adds it after the bias has another sum.
// CHECK-LABEL: func.func @residual_bias_gelu
// CHECK-NEXT: tenon.kernel {{.*}} schedule #tenon.schedule<"cublaslt"
// CHECK-NEXT:   tenon.matmul
// CHECK-NEXT:   tenon.add
// CHECK-NEXT:   tenon.add
// CHECK-NEXT:   tenon.gelu_tanh
// CHECK-NEXT:   tenon.yield
func.func @residual_bias_gelu(%x: tensor<512x4096xf32>, %w: tensor<1024x4096xf32>, %r: tensor<512x1024xf32>, %b: tensor<1024xf32>) -> tensor<512x1024xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x4096xf32>, tensor<1024x4096xf32>) -> tensor<512x1024xf32>
  %1 = tenon.add %0, %r : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %2 = tenon.add %1, %b : (tensor<512x1024xf32>, tensor<1024xf32>) -> tensor<512x1024xf32>
  %3 = tenon.gelu_tanh %2 : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %3 : tensor<512x1024xf32>
}
// AUTO-LABEL: func.func @bias_residual
// AUTO-NEXT: tenon.kernel {{.*}} schedule #tenon.schedule<"cublaslt"
// AUTO-NEXT:   tenon.matmul
// AUTO-NEXT:   tenon.add
// AUTO-NEXT:   tenon.yield
// AUTO: tenon.kernel {{.*}} schedule #tenon.schedule<"elementwise"
// WHY-LABEL: @bias_residual
// WHY: no {{.*}} matmul-epilogue{{.*}}: matmul add add → tensor<512x1024xf32>; takes {{.*}}; no library: a library adds one residual, before a bias and GELU
func.func @bias_residual(%x: tensor<512x4096xf32>, %w: tensor<1024x4096xf32>, %r: tensor<512x1024xf32>, %b: tensor<1024xf32>) -> tensor<512x1024xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x4096xf32>, tensor<1024x4096xf32>) -> tensor<512x1024xf32>
  %1 = tenon.add %0, %b : (tensor<512x1024xf32>, tensor<1024xf32>) -> tensor<512x1024xf32>
  %2 = tenon.add %1, %r : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %2 : tensor<512x1024xf32>
}

// What it does not compute: GELU by erf, two biases, a bias of each row, two results.
// WHY-LABEL: @erf
// WHY: matmul-epilogue{{.*}}: matmul add gelu → {{.*}}; no library: no library has an epilogue that computes gelu here
func.func @erf(%x: tensor<512x1024xf32>, %w: tensor<4096x1024xf32>, %b: tensor<4096xf32>) -> tensor<512x4096xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xf32>, tensor<4096x1024xf32>) -> tensor<512x4096xf32>
  %1 = tenon.add %0, %b : (tensor<512x4096xf32>, tensor<4096xf32>) -> tensor<512x4096xf32>
  %2 = tenon.gelu %1 : (tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %2 : tensor<512x4096xf32>
}
// WHY-LABEL: @bias_of_rows
// WHY: matmul-epilogue: matmul add → {{.*}}; no library: a library adds one bias, of all columns, before GELU
func.func @bias_of_rows(%x: tensor<512x1024xf32>, %w: tensor<4096x1024xf32>, %b: tensor<512x1xf32>) -> tensor<512x4096xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xf32>, tensor<4096x1024xf32>) -> tensor<512x4096xf32>
  %1 = tenon.add %0, %b : (tensor<512x4096xf32>, tensor<512x1xf32>) -> tensor<512x4096xf32>
  return %1 : tensor<512x4096xf32>
}
// WHY-LABEL: @input_as_residual
// WHY: matmul-epilogue: matmul add → {{.*}}; no library: a library reads x, W, a residual and a bias from memory, in this order
func.func @input_as_residual(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<512x1024xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %1 = tenon.add %0, %x : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}

// Implementations of a library differ in where they round 16 bits: such a graph has another kernel.
// CHECK-LABEL: func.func @rounded
// CHECK-NOT: cublaslt
// WHY-LABEL: @rounded
// WHY: matmul-epilogue: matmul add → {{.*}}; no library: the epilogue of a library is all f32, but the graph rounds matmul to f16
func.func @rounded(%x: tensor<512x1024xf16>, %w: tensor<4096x1024xf16>, %b: tensor<4096xf32>) -> tensor<512x4096xf16> {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xf16>, tensor<4096x1024xf16>) -> tensor<512x4096xf16>
  %1 = tenon.add %0, %b : (tensor<512x4096xf16>, tensor<4096xf32>) -> tensor<512x4096xf16>
  return %1 : tensor<512x4096xf16>
}
// WHY-LABEL: @rounded_result
// WHY: matmul-epilogue: matmul add → {{.*}}; no library: the epilogue of a library is all f32, but the graph rounds add to bf16
func.func @rounded_result(%x: tensor<512x1024xbf16>, %w: tensor<4096x1024xbf16>, %b: tensor<4096xf32>) -> tensor<512x4096xbf16> {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<512x4096xf32>
  %1 = tenon.add %0, %b : (tensor<512x4096xf32>, tensor<4096xf32>) -> tensor<512x4096xbf16>
  return %1 : tensor<512x4096xbf16>
}
// WHY-LABEL: @bias_of_16_bits
// WHY: matmul-epilogue: matmul add → {{.*}}; no library: the epilogue of a library is all f32, but the graph adds tensor<4096xf16>
func.func @bias_of_16_bits(%x: tensor<512x1024xf16>, %w: tensor<4096x1024xf16>, %b: tensor<4096xf16>) -> tensor<512x4096xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xf16>, tensor<4096x1024xf16>) -> tensor<512x4096xf32>
  %1 = tenon.add %0, %b : (tensor<512x4096xf32>, tensor<4096xf16>) -> tensor<512x4096xf32>
  return %1 : tensor<512x4096xf32>
}

// Factors of 16 bits, f32 from the product on: the library's, where there are no warpgroups for them.
// CHECK-LABEL: func.func @not_rounded
// CHECK: schedule #tenon.schedule<"hopper_gemm"
// A100-LABEL: func.func @not_rounded
// A100-NEXT: tenon.kernel {{.*}} schedule #tenon.schedule<"cublaslt"
// A100-NEXT:   tenon.matmul
// A100-NEXT:   tenon.add
// A100-NEXT:   tenon.gelu_tanh
// A100-NEXT:   tenon.yield
func.func @not_rounded(%x: tensor<512x1024xbf16>, %w: tensor<4096x1024xbf16>, %b: tensor<4096xf32>) -> tensor<512x4096xf32> {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<512x4096xf32>
  %1 = tenon.add %0, %b : (tensor<512x4096xf32>, tensor<4096xf32>) -> tensor<512x4096xf32>
  %2 = tenon.gelu_tanh %1 : (tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %2 : tensor<512x4096xf32>
}
// WHY-LABEL: @two_results
// WHY: {{.*}}: matmul add → {{.*}}; no library: a library stores one result, the end of a chain
func.func @two_results(%x: tensor<512x1024xf32>, %w: tensor<4096x1024xf32>, %b: tensor<4096xf32>) -> (tensor<512x4096xf32>, tensor<512x4096xf32>) {
  %0 = tenon.matmul %x, %w : (tensor<512x1024xf32>, tensor<4096x1024xf32>) -> tensor<512x4096xf32>
  %1 = tenon.add %0, %b : (tensor<512x4096xf32>, tensor<4096xf32>) -> tensor<512x4096xf32>
  return %0, %1 : tensor<512x4096xf32>, tensor<512x4096xf32>
}
