// RUN: tenon dump %s --as=fused --target=h200 --plan=fused | FileCheck %s
// RUN: tenon explain %s --target=h200 --plan=fused | FileCheck %s --check-prefix=WHY
// RUN: tenon dump %s --as=scheduled --target=h200 --plan=split | FileCheck %s --check-prefix=SPLIT
// RUN: tenon explain %s --target=x86-64-v4 --plan=fused | FileCheck %s --check-prefix=CPU
// RUN: tenon explain %s --target=h200 --plan=auto | FileCheck %s --check-prefix=AUTO

tenon.state @k : !tenon.state<2x512x2x64xf16>
tenon.state @v : !tenon.state<2x512x2x64xf16>

// Norm, rope and cache writes go into the kernel of the attention that reads them; cut again, its
// operations keep what fixes the order of every sum.
// CHECK-LABEL: func.func @one_row
// CHECK: tenon.kernel
// CHECK-NEXT: tenon.rms_norm
// CHECK-NEXT: tenon.rope
// CHECK-NEXT: tenon.rope
// CHECK-NEXT: tenon.kv_write
// CHECK-NEXT: tenon.kv_write
// CHECK-NEXT: tenon.attention
// CHECK-NEXT: tenon.yield
// CHECK-NOT: tenon.kernel
// CHECK: return
// WHY-LABEL: @one_row
// WHY: yes {{.*}} attention-cache{{.*}}: rms_norm rope rope kv_write kv_write attention
// SPLIT-LABEL: func.func @one_row
// SPLIT: schedule #tenon.schedule<"rms_norm"
// SPLIT: schedule #tenon.schedule<"rope"
// SPLIT: schedule #tenon.schedule<"kv_write"
// SPLIT: schedule #tenon.schedule<"tensor_decode_attention", tiles = 8, {blocks_per_sm = 2 : i64, cluster_blocks = 4 : i64, heads_per_tile = 2 : i64, run_bytes = 256 : i64, sets = 2 : i64, splits = 4 : i64, threads = 128 : i64}>
// CPU-LABEL: @one_row
// CPU: no {{.*}} attention-cache{{.*}} no emitter: a sequence of tiles cannot hold attention
func.func @one_row(%qx: tensor<1x4x64xf16>, %kx: tensor<1x2x64xf16>, %vx: tensor<1x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>, %f: tensor<32xf32>) -> tensor<1x4x64xf16> {
  %k0 = tenon.get_state @k : !tenon.state<2x512x2x64xf16>
  %v0 = tenon.get_state @v : !tenon.state<2x512x2x64xf16>
  %n = tenon.rms_norm %qx eps 1.0e-6 : (tensor<1x4x64xf16>) -> tensor<1x4x64xf16>
  %q = tenon.rope halves %n, %p, %f : (tensor<1x4x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x4x64xf16>
  %r = tenon.rope halves %kx, %p, %f : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x2x64xf16>
  %k1 = tenon.kv_write %r, %s, %p into %k0 : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.125 : (tensor<1x4x64xf16>, !tenon.state<2x512x2x64xf16>, !tenon.state<2x512x2x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x64xf16>
  return %y : tensor<1x4x64xf16>
}

// WHY-LABEL: @other_positions
// WHY: no {{.*}} no emitter: the emitter of attention writes rows of the sequences, positions and pages that it attends from
func.func @other_positions(%q: tensor<1x4x64xf16>, %kx: tensor<1x2x64xf16>, %vx: tensor<1x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>, %o: tensor<1xi32>) -> tensor<1x4x64xf16> {
  %k0 = tenon.get_state @k : !tenon.state<2x512x2x64xf16>
  %v0 = tenon.get_state @v : !tenon.state<2x512x2x64xf16>
  %k1 = tenon.kv_write %kx, %s, %o into %k0 : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.125 : (tensor<1x4x64xf16>, !tenon.state<2x512x2x64xf16>, !tenon.state<2x512x2x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x64xf16>
  return %y : tensor<1x4x64xf16>
}

// Over pages, too, where the writes and the attention have one block table.
// CHECK-LABEL: func.func @pages
// CHECK: tenon.kernel
// CHECK-NEXT: tenon.rope
// CHECK-NEXT: tenon.rope
// CHECK-NEXT: tenon.kv_write
// CHECK-NEXT: tenon.kv_write
// CHECK-NEXT: tenon.attention
// CHECK-NEXT: tenon.yield
// CHECK-NOT: tenon.kernel
// CHECK: return
tenon.state @paged_k : !tenon.state<9x2x128x64xf16, paged<128>>
tenon.state @paged_v : !tenon.state<9x2x128x64xf16, paged<128>>
func.func @pages(%qx: tensor<2x4x64xf16>, %kx: tensor<2x2x64xf16>, %vx: tensor<2x2x64xf16>, %s: tensor<2xi32>, %p: tensor<2xi32>, %f: tensor<32xf32>, %t: tensor<2x4xi32>) -> tensor<2x4x64xf16> {
  %k0 = tenon.get_state @paged_k : !tenon.state<9x2x128x64xf16, paged<128>>
  %v0 = tenon.get_state @paged_v : !tenon.state<9x2x128x64xf16, paged<128>>
  %q = tenon.rope halves %qx, %p, %f : (tensor<2x4x64xf16>, tensor<2xi32>, tensor<32xf32>) -> tensor<2x4x64xf16>
  %r = tenon.rope halves %kx, %p, %f : (tensor<2x2x64xf16>, tensor<2xi32>, tensor<32xf32>) -> tensor<2x2x64xf16>
  %k1 = tenon.kv_write %r, %s, %p into %k0 block_table %t : (tensor<2x2x64xf16>, tensor<2xi32>, tensor<2xi32>, !tenon.state<9x2x128x64xf16, paged<128>>, tensor<2x4xi32>) -> !tenon.state<9x2x128x64xf16, paged<128>>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 block_table %t : (tensor<2x2x64xf16>, tensor<2xi32>, tensor<2xi32>, !tenon.state<9x2x128x64xf16, paged<128>>, tensor<2x4xi32>) -> !tenon.state<9x2x128x64xf16, paged<128>>
  %y = tenon.attention %q, %k1, %v1, %s, %p block_table %t scale 0.125 : (tensor<2x4x64xf16>, !tenon.state<9x2x128x64xf16, paged<128>>, !tenon.state<9x2x128x64xf16, paged<128>>, tensor<2xi32>, tensor<2xi32>, tensor<2x4xi32>) -> tensor<2x4x64xf16>
  return %y : tensor<2x4x64xf16>
}

// WHY-LABEL: @other_table
// WHY: no {{.*}} no emitter: the emitter of attention writes rows of the sequences, positions and pages that it attends from
func.func @other_table(%qx: tensor<2x4x64xf16>, %kx: tensor<2x2x64xf16>, %vx: tensor<2x2x64xf16>, %s: tensor<2xi32>, %p: tensor<2xi32>, %t: tensor<2x4xi32>, %u: tensor<2x4xi32>) -> tensor<2x4x64xf16> {
  %k0 = tenon.get_state @paged_k : !tenon.state<9x2x128x64xf16, paged<128>>
  %v0 = tenon.get_state @paged_v : !tenon.state<9x2x128x64xf16, paged<128>>
  %k1 = tenon.kv_write %kx, %s, %p into %k0 block_table %t : (tensor<2x2x64xf16>, tensor<2xi32>, tensor<2xi32>, !tenon.state<9x2x128x64xf16, paged<128>>, tensor<2x4xi32>) -> !tenon.state<9x2x128x64xf16, paged<128>>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 block_table %t : (tensor<2x2x64xf16>, tensor<2xi32>, tensor<2xi32>, !tenon.state<9x2x128x64xf16, paged<128>>, tensor<2x4xi32>) -> !tenon.state<9x2x128x64xf16, paged<128>>
  %y = tenon.attention %qx, %k1, %v1, %s, %p block_table %u scale 0.125 : (tensor<2x4x64xf16>, !tenon.state<9x2x128x64xf16, paged<128>>, !tenon.state<9x2x128x64xf16, paged<128>>, tensor<2xi32>, tensor<2xi32>, tensor<2x4xi32>) -> tensor<2x4x64xf16>
  return %y : tensor<2x4x64xf16>
}

// WHY-LABEL: @keys_alone
// WHY: no {{.*}} no emitter: the emitter of attention writes both keys and values, or neither
func.func @keys_alone(%q: tensor<1x4x64xf16>, %kx: tensor<1x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x4x64xf16> {
  %k0 = tenon.get_state @k : !tenon.state<2x512x2x64xf16>
  %v0 = tenon.get_state @v : !tenon.state<2x512x2x64xf16>
  %k1 = tenon.kv_write %kx, %s, %p into %k0 : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %y = tenon.attention %q, %k1, %v0, %s, %p scale 0.125 : (tensor<1x4x64xf16>, !tenon.state<2x512x2x64xf16>, !tenon.state<2x512x2x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x64xf16>
  return %y : tensor<1x4x64xf16>
}

// WHY-LABEL: @f32
// WHY: no {{.*}} no emitter: attention takes rope and cache writes where tensor cores take its operands: heads of one 16-bit type in dense or paged caches, multiples of 8 elements and at most 256
func.func @f32(%q: tensor<1x4x64xf32>, %kx: tensor<1x2x64xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>, %f: tensor<32xf32>, %v: tensor<2x512x2x64xf32>) -> tensor<1x4x64xf32> {
  %r = tenon.rope halves %q, %p, %f : (tensor<1x4x64xf32>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x4x64xf32>
  %y = tenon.attention %r, %v, %v, %s, %p scale 0.125 : (tensor<1x4x64xf32>, tensor<2x512x2x64xf32>, tensor<2x512x2x64xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x64xf32>
  return %y : tensor<1x4x64xf32>
}

// WHY-LABEL: @many_rows
// WHY: no {{.*}} no emitter: attention takes rope and cache writes of at most 16 rows of one sequence, not of 17
func.func @many_rows(%q: tensor<17x4x64xf16>, %kx: tensor<17x2x64xf16>, %vx: tensor<17x2x64xf16>, %s: tensor<1xi32>, %p: tensor<17xi32>) -> tensor<17x4x64xf16> {
  %k0 = tenon.get_state @k : !tenon.state<2x512x2x64xf16>
  %v0 = tenon.get_state @v : !tenon.state<2x512x2x64xf16>
  %k1 = tenon.kv_write %kx, %s, %p into %k0 : (tensor<17x2x64xf16>, tensor<1xi32>, tensor<17xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<17x2x64xf16>, tensor<1xi32>, tensor<17xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.125 : (tensor<17x4x64xf16>, !tenon.state<2x512x2x64xf16>, !tenon.state<2x512x2x64xf16>, tensor<1xi32>, tensor<17xi32>) -> tensor<17x4x64xf16>
  return %y : tensor<17x4x64xf16>
}

// WHY-LABEL: @more_rows
// WHY: no {{.*}} no emitter: attention takes rope and cache writes of more than 16 rows where their keys and values of a head take at most 8192 bytes, not 8448
func.func @more_rows(%q: tensor<33x4x64xf16>, %kx: tensor<33x2x64xf16>, %vx: tensor<33x2x64xf16>, %s: tensor<33xi32>, %p: tensor<33xi32>) -> tensor<33x4x64xf16> {
  %k0 = tenon.get_state @k : !tenon.state<2x512x2x64xf16>
  %v0 = tenon.get_state @v : !tenon.state<2x512x2x64xf16>
  %k1 = tenon.kv_write %kx, %s, %p into %k0 : (tensor<33x2x64xf16>, tensor<33xi32>, tensor<33xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<33x2x64xf16>, tensor<33xi32>, tensor<33xi32>, !tenon.state<2x512x2x64xf16>) -> !tenon.state<2x512x2x64xf16>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.125 : (tensor<33x4x64xf16>, !tenon.state<2x512x2x64xf16>, !tenon.state<2x512x2x64xf16>, tensor<33xi32>, tensor<33xi32>) -> tensor<33x4x64xf16>
  return %y : tensor<33x4x64xf16>
}

tenon.state @k16 : !tenon.state<2x512x2x16xf16>
tenon.state @v16 : !tenon.state<2x512x2x16xf16>
// WHY-LABEL: @narrow_heads
// WHY: no {{.*}} no emitter: attention takes rope and cache writes of at most 64 rows, not of 65
func.func @narrow_heads(%q: tensor<65x4x16xf16>, %kx: tensor<65x2x16xf16>, %vx: tensor<65x2x16xf16>, %s: tensor<65xi32>, %p: tensor<65xi32>) -> tensor<65x4x16xf16> {
  %k0 = tenon.get_state @k16 : !tenon.state<2x512x2x16xf16>
  %v0 = tenon.get_state @v16 : !tenon.state<2x512x2x16xf16>
  %k1 = tenon.kv_write %kx, %s, %p into %k0 : (tensor<65x2x16xf16>, tensor<65xi32>, tensor<65xi32>, !tenon.state<2x512x2x16xf16>) -> !tenon.state<2x512x2x16xf16>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<65x2x16xf16>, tensor<65xi32>, tensor<65xi32>, !tenon.state<2x512x2x16xf16>) -> !tenon.state<2x512x2x16xf16>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.125 : (tensor<65x4x16xf16>, !tenon.state<2x512x2x16xf16>, !tenon.state<2x512x2x16xf16>, tensor<65xi32>, tensor<65xi32>) -> tensor<65x4x16xf16>
  return %y : tensor<65x4x16xf16>
}

// `auto` takes it at llama-3.2-1b's heads, where the blocks that share a row repeat its norm and rope,
// and at 16 rows of llama-3.1-8b's.
// AUTO-LABEL: @llama_1b
// AUTO: yes {{.*}} attention-cache{{.*}}: rms_norm rope rope kv_write kv_write attention → {{.*}}; saves {{[0-9]+}} ns
tenon.state @llama_1b_k : !tenon.state<1x8192x8x64xf16>
tenon.state @llama_1b_v : !tenon.state<1x8192x8x64xf16>
func.func @llama_1b(%qx: tensor<1x32x64xf16>, %kx: tensor<1x8x64xf16>, %vx: tensor<1x8x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>, %f: tensor<32xf32>) -> tensor<1x32x64xf16> {
  %k0 = tenon.get_state @llama_1b_k : !tenon.state<1x8192x8x64xf16>
  %v0 = tenon.get_state @llama_1b_v : !tenon.state<1x8192x8x64xf16>
  %n = tenon.rms_norm %qx eps 1.0e-6 : (tensor<1x32x64xf16>) -> tensor<1x32x64xf16>
  %q = tenon.rope halves %n, %p, %f : (tensor<1x32x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x32x64xf16>
  %r = tenon.rope halves %kx, %p, %f : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>) -> tensor<1x8x64xf16>
  %k1 = tenon.kv_write %r, %s, %p into %k0 : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8192x8x64xf16>) -> !tenon.state<1x8192x8x64xf16>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8192x8x64xf16>) -> !tenon.state<1x8192x8x64xf16>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.125 : (tensor<1x32x64xf16>, !tenon.state<1x8192x8x64xf16>, !tenon.state<1x8192x8x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x64xf16>
  return %y : tensor<1x32x64xf16>
}

// AUTO-LABEL: @sixteen_rows
// AUTO: yes {{.*}} attention-cache{{.*}}: rms_norm rope rope kv_write kv_write attention → {{.*}}; saves {{[0-9]+}} ns
tenon.state @sixteen_rows_k : !tenon.state<16x1024x8x128xf16>
tenon.state @sixteen_rows_v : !tenon.state<16x1024x8x128xf16>
func.func @sixteen_rows(%qx: tensor<16x32x128xf16>, %kx: tensor<16x8x128xf16>, %vx: tensor<16x8x128xf16>, %s: tensor<16xi32>, %p: tensor<16xi32>, %f: tensor<64xf32>) -> tensor<16x32x128xf16> {
  %k0 = tenon.get_state @sixteen_rows_k : !tenon.state<16x1024x8x128xf16>
  %v0 = tenon.get_state @sixteen_rows_v : !tenon.state<16x1024x8x128xf16>
  %n = tenon.rms_norm %qx eps 1.0e-6 : (tensor<16x32x128xf16>) -> tensor<16x32x128xf16>
  %q = tenon.rope halves %n, %p, %f : (tensor<16x32x128xf16>, tensor<16xi32>, tensor<64xf32>) -> tensor<16x32x128xf16>
  %r = tenon.rope halves %kx, %p, %f : (tensor<16x8x128xf16>, tensor<16xi32>, tensor<64xf32>) -> tensor<16x8x128xf16>
  %k1 = tenon.kv_write %r, %s, %p into %k0 : (tensor<16x8x128xf16>, tensor<16xi32>, tensor<16xi32>, !tenon.state<16x1024x8x128xf16>) -> !tenon.state<16x1024x8x128xf16>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<16x8x128xf16>, tensor<16xi32>, tensor<16xi32>, !tenon.state<16x1024x8x128xf16>) -> !tenon.state<16x1024x8x128xf16>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.125 : (tensor<16x32x128xf16>, !tenon.state<16x1024x8x128xf16>, !tenon.state<16x1024x8x128xf16>, tensor<16xi32>, tensor<16xi32>) -> tensor<16x32x128xf16>
  return %y : tensor<16x32x128xf16>
}

// A warp adds a head of 2,080 bytes in two chunks, which the emitters of heads do not.
// WHY-LABEL: @long_heads
// WHY: no {{.*}} qkv-cache: rms_norm rope → {{.*}}; no emitter: the emitter of heads normalises heads of at most 2048 bytes
tenon.state @long_heads_k : !tenon.state<1x64x2x1040xf16>
tenon.state @long_heads_v : !tenon.state<1x64x2x1040xf16>
func.func @long_heads(%qx: tensor<1x4x1040xf16>, %kx: tensor<1x2x1040xf16>, %vx: tensor<1x2x1040xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>, %f: tensor<520xf32>) -> tensor<1x4x1040xf16> {
  %k0 = tenon.get_state @long_heads_k : !tenon.state<1x64x2x1040xf16>
  %v0 = tenon.get_state @long_heads_v : !tenon.state<1x64x2x1040xf16>
  %n = tenon.rms_norm %qx eps 1.0e-6 : (tensor<1x4x1040xf16>) -> tensor<1x4x1040xf16>
  %q = tenon.rope halves %n, %p, %f : (tensor<1x4x1040xf16>, tensor<1xi32>, tensor<520xf32>) -> tensor<1x4x1040xf16>
  %r = tenon.rope halves %kx, %p, %f : (tensor<1x2x1040xf16>, tensor<1xi32>, tensor<520xf32>) -> tensor<1x2x1040xf16>
  %k1 = tenon.kv_write %r, %s, %p into %k0 : (tensor<1x2x1040xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x64x2x1040xf16>) -> !tenon.state<1x64x2x1040xf16>
  %v1 = tenon.kv_write %vx, %s, %p into %v0 : (tensor<1x2x1040xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x64x2x1040xf16>) -> !tenon.state<1x64x2x1040xf16>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.125 : (tensor<1x4x1040xf16>, !tenon.state<1x64x2x1040xf16>, !tenon.state<1x64x2x1040xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4x1040xf16>
  return %y : tensor<1x4x1040xf16>
}
