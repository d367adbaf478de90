// RUN: tenon dump %s --as=fused --target=x86-64-v4 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=WHY
// RUN: tenon explain %s --target=h200 --plan=auto | FileCheck %s --check-prefix=COST

tenon.state @k : !tenon.state<2x32x2x8xf32>
tenon.state @v : !tenon.state<2x32x2x8xf32>

// Norm of heads, rope and cache write of one row; attention needs other rows of the cache.
// CHECK-LABEL: func.func @one_row
// CHECK: tenon.kernel
// CHECK-NEXT: tenon.rms_norm
// CHECK-NEXT: tenon.rope
// CHECK-NEXT: tenon.kv_write
// CHECK-NEXT: tenon.kv_write
// CHECK-NEXT: tenon.yield
// CHECK: tenon.kernel
// CHECK-NEXT: tenon.attention
// CHECK-NOT: tenon.kernel
// CHECK: return
// WHY-LABEL: @one_row
// WHY: yes {{.*}} qkv-cache: rms_norm rope kv_write kv_write
func.func @one_row(%q: tensor<1x4x8xf32>, %kx: tensor<1x2x8xf32>, %vx: tensor<1x2x8xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %f: tensor<4xf32>) -> tensor<1x4x8xf32> {
  %k0 = tenon.get_state @k : !tenon.state<2x32x2x8xf32>
  %v0 = tenon.get_state @v : !tenon.state<2x32x2x8xf32>
  %n = tenon.rms_norm %kx eps 1.0e-6 : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
  %r = tenon.rope halves %n, %p, %f : (tensor<1x2x8xf32>, tensor<1xi32>, tensor<4xf32>) -> tensor<1x2x8xf32>
  %k1 = tenon.kv_write %r, %s, %p into %k0 : (tensor<1x2x8xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x32x2x8xf32>) -> !tenon.state<2x32x2x8xf32>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<1x2x8xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x32x2x8xf32>) -> !tenon.state<2x32x2x8xf32>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.35 : (tensor<1x4x8xf32>, !tenon.state<2x32x2x8xf32>, !tenon.state<2x32x2x8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x8xf32>
  return %y : tensor<1x4x8xf32>
}

// Two rows may be for one place of the cache.
// WHY-LABEL: @two_rows
// WHY: no {{.*}} no emitter: of several rows two may be for one place of the cache, and the later one has to stay
func.func @two_rows(%q: tensor<2x4x8xf32>, %kx: tensor<2x2x8xf32>, %s: tensor<2xi32>, %p: tensor<2xi32>, %f: tensor<4xf32>) -> tensor<2x4x8xf32> {
  %k0 = tenon.get_state @k : !tenon.state<2x32x2x8xf32>
  %v0 = tenon.get_state @v : !tenon.state<2x32x2x8xf32>
  %r = tenon.rope halves %kx, %p, %f : (tensor<2x2x8xf32>, tensor<2xi32>, tensor<4xf32>) -> tensor<2x2x8xf32>
  %k1 = tenon.kv_write %r, %s, %p into %k0 : (tensor<2x2x8xf32>, tensor<2xi32>, tensor<2xi32>, !tenon.state<2x32x2x8xf32>) -> !tenon.state<2x32x2x8xf32>
  %y = tenon.attention %q, %k1, %v0, %s, %p scale 0.35 : (tensor<2x4x8xf32>, !tenon.state<2x32x2x8xf32>, !tenon.state<2x32x2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// A warp takes one head of two elements, which leaves most of it idle and spreads 1,024 of them over the
// device; apart, rope and write are two blocks each.
// COST-LABEL: @many_tiny_heads
// COST: no {{.*}} qkv-cache: rope kv_write → !tenon.state<1x8x512x2xf16>; takes {{[0-9]+}} ns longer than its operations one by one
tenon.state @many_tiny_heads_k : !tenon.state<1x8x512x2xf16>
tenon.state @many_tiny_heads_v : !tenon.state<1x8x512x2xf16>
func.func @many_tiny_heads(%q: tensor<1x512x2xf16>, %kx: tensor<1x512x2xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>, %f: tensor<1xf32>) -> tensor<1x512x2xf16> {
  %k0 = tenon.get_state @many_tiny_heads_k : !tenon.state<1x8x512x2xf16>
  %v0 = tenon.get_state @many_tiny_heads_v : !tenon.state<1x8x512x2xf16>
  %r = tenon.rope halves %kx, %p, %f : (tensor<1x512x2xf16>, tensor<1xi32>, tensor<1xf32>) -> tensor<1x512x2xf16>
  %k1 = tenon.kv_write %r, %s, %p into %k0 : (tensor<1x512x2xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x512x2xf16>) -> !tenon.state<1x8x512x2xf16>
  %y = tenon.attention %q, %k1, %v0, %s, %p scale 0.7 : (tensor<1x512x2xf16>, !tenon.state<1x8x512x2xf16>, !tenon.state<1x8x512x2xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x512x2xf16>
  return %y : tensor<1x512x2xf16>
}
