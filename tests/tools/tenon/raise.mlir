// What a graph has in primitives is raised, explain says so, and it can be left out.
//
// RUN: tenon explain %s --target=h200 --points=none | FileCheck %s
// CHECK: block: raised from primitives: 1 times gelu
// CHECK-NEXT: block: raised from primitives: 1 times layer_norm
// CHECK: block as predicted
// CHECK: layer_norm
//
// RUN: tenon explain %s --target=h200 --points=none --disable=gelu,layer_norm,rms_norm | FileCheck %s --check-prefix=KEPT
// KEPT-NOT: raised
// KEPT: block as predicted
//
// RUN: tenon dump %s --as=simplified | FileCheck %s --check-prefix=DUMP
// DUMP: tenon.layer_norm %{{.*}} weight %{{.*}} bias %{{.*}} eps
// DUMP-NOT: tenon.rsqrt
// DUMP: tenon.gelu
//
// RUN: not tenon explain %s --target=h200 --disable=norm 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: --disable: expects a fusion rule (attention-cache, {{.*}}) or an operation (activation, attention, gelu, glu, layer_norm, rms_norm, rope, transposed_weight), but got 'norm'
//
// All plans give what the primitives give.
// RUN: tenon verify %s --device=cpu --points=none

// A layer norm and a linear layer with GELU, as a framework's exporter writes them.
func.func @block(%x: tensor<16x64xf32>, %g: tensor<64xf32>, %b: tensor<64xf32>,
                 %w: tensor<128x64xf32>, %c: tensor<128xf32>) -> tensor<16x128xf32> {
  %eps = tenon.constant dense<1.0e-5> : tensor<1xf32> : tensor<1xf32>
  %one = tenon.constant dense<1.0> : tensor<1xf32> : tensor<1xf32>
  %half = tenon.constant dense<0.5> : tensor<1xf32> : tensor<1xf32>
  %root = tenon.constant dense<1.41421356> : tensor<1xf32> : tensor<1xf32>
  %m = tenon.reduce mean %x : (tensor<16x64xf32>) -> tensor<16x1xf32>
  %d = tenon.sub %x, %m : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
  %q = tenon.square %d : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %v = tenon.reduce mean %q : (tensor<16x64xf32>) -> tensor<16x1xf32>
  %e = tenon.add %v, %eps : (tensor<16x1xf32>, tensor<1xf32>) -> tensor<16x1xf32>
  %r = tenon.rsqrt %e : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %n = tenon.mul %d, %r : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
  %s = tenon.mul %n, %g : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %t = tenon.add %s, %b : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %p = tenon.matmul %t, %w : (tensor<16x64xf32>, tensor<128x64xf32>) -> tensor<16x128xf32>
  %l = tenon.add %p, %c : (tensor<16x128xf32>, tensor<128xf32>) -> tensor<16x128xf32>
  %i = tenon.div %l, %root : (tensor<16x128xf32>, tensor<1xf32>) -> tensor<16x128xf32>
  %f = tenon.erf %i : (tensor<16x128xf32>) -> tensor<16x128xf32>
  %o = tenon.add %f, %one : (tensor<16x128xf32>, tensor<1xf32>) -> tensor<16x128xf32>
  %h = tenon.mul %l, %o : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
  %y = tenon.mul %h, %half : (tensor<16x128xf32>, tensor<1xf32>) -> tensor<16x128xf32>
  return %y : tensor<16x128xf32>
}
