// The weights of attention as a second result: raised from primitives that return their softmax, or
// written so. Both devices have a kernel for it, every plan computes what the reference does.
//
// RUN: tenon dump %s --as=simplified | FileCheck %s --check-prefix=RAISED
// RAISED-LABEL: func.func @raised
// RAISED: %{{[0-9]+}}, %weights = tenon.attention {{.*}} -> (tensor<5x2x16xf32>, tensor<2x5x40xf32>)
// RAISED-NOT: tenon.softmax
// RAISED: return %{{.*}}, %weights
//
// RUN: tenon verify %s --device=cpu --plans=unfused,split,fused,auto --points=none
//
// RUN: tenon dump %s --target=x86-64-v3 --plan=fused --as=scheduled | FileCheck %s --check-prefix=CPU
// CPU-LABEL: func.func @raised
// CPU: #tenon.schedule<"attention"
// RUN: tenon dump %s --target=h200 --plan=fused --as=scheduled | FileCheck %s --check-prefix=CUDA
// CUDA-LABEL: func.func @raised
// CUDA: #tenon.schedule<"decode_attention", {{.*}}splits = 1
// CUDA-LABEL: func.func @cached
// CUDA: #tenon.schedule<"decode_attention", {{.*}}splits = 1
// CUDA-LABEL: func.func @paged
// CUDA: #tenon.schedule<"decode_attention", {{.*}}splits = 1
//
// RUN: tenon dump %s --target=h200 --plan=fused --as=ptx:decode_attention > %t.ptx
//
// RUN: tenon explain %s --target=h200 --points=none | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: raised from primitives: 1 times attention{{$}}
// EXPLAIN: attention whose weights are a result takes neither rope nor cache writes

func.func @raised(%q: tensor<5x32xf32>, %k: tensor<40x32xf32>, %v: tensor<40x32xf32>)
    -> (tensor<5x32xf32>, tensor<2x5x40xf32>) {
  %q0 = tenon.reshape %q to [5, 2, 16] : (tensor<5x32xf32>) -> tensor<5x2x16xf32>
  %q1 = tenon.transpose %q0 by [1, 0, 2] : (tensor<5x2x16xf32>) -> tensor<2x5x16xf32>
  %k0 = tenon.reshape %k to [40, 2, 16] : (tensor<40x32xf32>) -> tensor<40x2x16xf32>
  %k1 = tenon.transpose %k0 by [1, 0, 2] : (tensor<40x2x16xf32>) -> tensor<2x40x16xf32>
  %v0 = tenon.reshape %v to [40, 2, 16] : (tensor<40x32xf32>) -> tensor<40x2x16xf32>
  %v1 = tenon.transpose %v0 by [1, 2, 0] : (tensor<40x2x16xf32>) -> tensor<2x16x40xf32>
  %p = tenon.matmul %q1, %k1 : (tensor<2x5x16xf32>, tensor<2x40x16xf32>) -> tensor<2x5x40xf32>
  %s = tenon.scale %p by 0.25 : (tensor<2x5x40xf32>) -> tensor<2x5x40xf32>
  %w = tenon.softmax %s : (tensor<2x5x40xf32>) -> tensor<2x5x40xf32>
  %o = tenon.matmul %w, %v1 : (tensor<2x5x40xf32>, tensor<2x16x40xf32>) -> tensor<2x5x16xf32>
  %o1 = tenon.transpose %o by [1, 0, 2] : (tensor<2x5x16xf32>) -> tensor<5x2x16xf32>
  %y = tenon.reshape %o1 to [5, 32] : (tensor<5x2x16xf32>) -> tensor<5x32xf32>
  return %y, %w : tensor<5x32xf32>, tensor<2x5x40xf32>
}

// Queries are rotated in a kernel of their own: on GPUs attention takes no rope where it gives weights.
func.func @cached(%q: tensor<3x4x64xf16>, %k: tensor<1x150x2x64xf16>, %s: tensor<1xi32>,
                  %p: tensor<3xi32>, %f: tensor<32xf32>) -> (tensor<3x4x64xf16>, tensor<4x3x150xf16>) {
  %r = tenon.rope halves %q, %p, %f : (tensor<3x4x64xf16>, tensor<3xi32>, tensor<32xf32>) -> tensor<3x4x64xf16>
  %y:2 = tenon.attention %r, %k, %k, %s, %p scale 0.125 : (tensor<3x4x64xf16>, tensor<1x150x2x64xf16>, tensor<1x150x2x64xf16>, tensor<1xi32>, tensor<3xi32>) -> (tensor<3x4x64xf16>, tensor<4x3x150xf16>)
  return %y#0, %y#1 : tensor<3x4x64xf16>, tensor<4x3x150xf16>
}

// Over pages, of which a sequence's hold 2 · 64 positions.
tenon.state @k : !tenon.state<9x2x64x32xf16, paged<64>>
tenon.state @v : !tenon.state<9x2x64x32xf16, paged<64>>
func.func @paged(%q: tensor<3x4x32xf16>, %x: tensor<3x2x32xf16>, %s: tensor<3xi32>, %p: tensor<3xi32>,
                 %t: tensor<2x2xi32>) -> (tensor<3x4x32xf16>, tensor<4x3x128xf32>) {
  %k0 = tenon.get_state @k : !tenon.state<9x2x64x32xf16, paged<64>>
  %v0 = tenon.get_state @v : !tenon.state<9x2x64x32xf16, paged<64>>
  %k1 = tenon.kv_write %x, %s, %p into %k0 block_table %t : (tensor<3x2x32xf16>, tensor<3xi32>, tensor<3xi32>, !tenon.state<9x2x64x32xf16, paged<64>>, tensor<2x2xi32>) -> !tenon.state<9x2x64x32xf16, paged<64>>
  %v1 = tenon.kv_write %x, %s, %p into %v0 block_table %t : (tensor<3x2x32xf16>, tensor<3xi32>, tensor<3xi32>, !tenon.state<9x2x64x32xf16, paged<64>>, tensor<2x2xi32>) -> !tenon.state<9x2x64x32xf16, paged<64>>
  %y:2 = tenon.attention %q, %k1, %v1, %s, %p block_table %t scale 0.25 : (tensor<3x4x32xf16>, !tenon.state<9x2x64x32xf16, paged<64>>, !tenon.state<9x2x64x32xf16, paged<64>>, tensor<3xi32>, tensor<3xi32>, tensor<2x2xi32>) -> (tensor<3x4x32xf16>, tensor<4x3x128xf32>)
  return %y#0, %y#1 : tensor<3x4x32xf16>, tensor<4x3x128xf32>
}
