// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=CPU
// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s --check-prefix=IR

// Weights whose columns were sorted by their groups: what reads them reorders its input itself.
// CHECK: yes {{.*}}reordered-input{{.*}}: rms_norm gather matmul matmul glu → tensor<1x512xf16>
// CPU: no {{.*}} reordered-input: gather matmul → tensor<1x512xf16>; no emitter: {{.*}}
// IR-LABEL: @gated
// IR: tenon.kernel
// IR-NOT: tenon.kernel
// IR: return
func.func @gated(%x: tensor<1x1024xf16>, %g: tensor<1024xf32>, %o: tensor<1x1024xi32>,
                 %w: tensor<512x1024x!tenon.block<int4_g128x8_f16>>,
                 %v: tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> tensor<1x512xf16> {
  %0 = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<1x1024xf16>, tensor<1024xf32>) -> tensor<1x1024xf16>
  %1 = tenon.gather %0, %o along 1 : (tensor<1x1024xf16>, tensor<1x1024xi32>) -> tensor<1x1024xf16>
  %2 = tenon.matmul %1, %w : (tensor<1x1024xf16>, tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> tensor<1x512xf16>
  %3 = tenon.matmul %1, %v : (tensor<1x1024xf16>, tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> tensor<1x512xf16>
  %4 = tenon.glu silu %2, %3 : (tensor<1x512xf16>, tensor<1x512xf16>) -> tensor<1x512xf16>
  return %4 : tensor<1x512xf16>
}

// Products of either order stand apart.
// CHECK: yes {{.*}}reordered-input{{.*}}: {{.*}}gather matmul
// IR-LABEL: @two_orders
// IR: tenon.kernel
// IR: tenon.kernel
// IR: return
func.func @two_orders(%x: tensor<1x1024xf16>, %o: tensor<1x1024xi32>, %p: tensor<1x1024xi32>,
                      %w: tensor<512x1024x!tenon.block<int4_g128x8_f16>>,
                      %v: tensor<512x1024x!tenon.block<int4_g128x8_f16>>)
    -> (tensor<1x512xf16>, tensor<1x512xf16>) {
  %1 = tenon.gather %x, %o along 1 : (tensor<1x1024xf16>, tensor<1x1024xi32>) -> tensor<1x1024xf16>
  %2 = tenon.matmul %1, %w : (tensor<1x1024xf16>, tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> tensor<1x512xf16>
  %3 = tenon.gather %x, %p along 1 : (tensor<1x1024xf16>, tensor<1x1024xi32>) -> tensor<1x1024xf16>
  %4 = tenon.matmul %3, %v : (tensor<1x1024xf16>, tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> tensor<1x512xf16>
  return %2, %4 : tensor<1x512xf16>, tensor<1x512xf16>
}

// CHECK: no {{.*}} reordered-input: gather matmul → tensor<1x512xf16>; no emitter: inputs in another order are taken by held_block_gemv alone, of one row
func.func @plain(%x: tensor<1x1024xf16>, %o: tensor<1x1024xi32>, %w: tensor<512x1024xf16>) -> tensor<1x512xf16> {
  %0 = tenon.gather %x, %o along 1 : (tensor<1x1024xf16>, tensor<1x1024xi32>) -> tensor<1x1024xf16>
  %1 = tenon.matmul %0, %w : (tensor<1x1024xf16>, tensor<512x1024xf16>) -> tensor<1x512xf16>
  return %1 : tensor<1x512xf16>
}

// CHECK: no {{.*}} reordered-input: gather matmul → tensor<1x512xf16>; no emitter: the emitter of products takes rows of their inputs in another order by indices of i32 in memory
func.func @of_another_length(%x: tensor<1x2048xf16>, %o: tensor<1x1024xi32>,
                             %w: tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> tensor<1x512xf16> {
  %0 = tenon.gather %x, %o along 1 : (tensor<1x2048xf16>, tensor<1x1024xi32>) -> tensor<1x1024xf16>
  %1 = tenon.matmul %0, %w : (tensor<1x1024xf16>, tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> tensor<1x512xf16>
  return %1 : tensor<1x512xf16>
}

// CHECK: no {{.*}} reordered-input: gather matmul → tensor<1x512xf16>; no emitter: the emitter of products reorders inputs for products alone, not for yield
func.func @read_elsewhere(%x: tensor<1x1024xf16>, %o: tensor<1x1024xi32>,
                          %w: tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> (tensor<1x512xf16>, tensor<1x1024xf16>) {
  %0 = tenon.gather %x, %o along 1 : (tensor<1x1024xf16>, tensor<1x1024xi32>) -> tensor<1x1024xf16>
  %1 = tenon.matmul %0, %w : (tensor<1x1024xf16>, tensor<512x1024x!tenon.block<int4_g128x8_f16>>) -> tensor<1x512xf16>
  return %1, %0 : tensor<1x512xf16>, tensor<1x1024xf16>
}
