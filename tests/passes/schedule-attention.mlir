// RUN: tenon dump %s --as=scheduled --target=h200 --plan=unfused | FileCheck %s

// Attention of several rows: as many warps as registers hold, of a block for each row's head where the
// units fill the device, two where a unit is one head, and a step of keys of wide heads on the way where a
// block fills its multiprocessor; else a row's keys are cut, into clusters of more than two blocks only where
// they leave a quarter of the places free.

// CHECK-LABEL: func.func @four_rows_of_80
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 256, {blocks_per_sm = 2 : i64, cluster_blocks = 2 : i64, heads_per_tile = 1 : i64, sets = 2 : i64, splits = 2 : i64, threads = 256 : i64}
func.func @four_rows_of_80(%q: tensor<4x32x80xf16>, %k: tensor<4x1024x32x80xf16>, %v: tensor<4x1024x32x80xf16>, %s: tensor<4xi32>, %p: tensor<4xi32>) -> tensor<4x32x80xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<4x32x80xf16>, tensor<4x1024x32x80xf16>, tensor<4x1024x32x80xf16>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x32x80xf16>
  return %0 : tensor<4x32x80xf16>
}

// CHECK-LABEL: func.func @eight_rows_of_80
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 256, {blocks_per_sm = 2 : i64, heads_per_tile = 1 : i64, sets = 2 : i64, splits = 1 : i64, threads = 256 : i64}
func.func @eight_rows_of_80(%q: tensor<8x32x80xf16>, %k: tensor<8x1024x32x80xf16>, %v: tensor<8x1024x32x80xf16>, %s: tensor<8xi32>, %p: tensor<8xi32>) -> tensor<8x32x80xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<8x32x80xf16>, tensor<8x1024x32x80xf16>, tensor<8x1024x32x80xf16>, tensor<8xi32>, tensor<8xi32>) -> tensor<8x32x80xf16>
  return %0 : tensor<8x32x80xf16>
}

// CHECK-LABEL: func.func @sixteen_rows_of_80
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 512, {blocks_per_sm = 4 : i64, heads_per_tile = 1 : i64, sets = 2 : i64, splits = 1 : i64, threads = 128 : i64}
func.func @sixteen_rows_of_80(%q: tensor<16x32x80xf16>, %k: tensor<16x1024x32x80xf16>, %v: tensor<16x1024x32x80xf16>, %s: tensor<16xi32>, %p: tensor<16xi32>) -> tensor<16x32x80xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<16x32x80xf16>, tensor<16x1024x32x80xf16>, tensor<16x1024x32x80xf16>, tensor<16xi32>, tensor<16xi32>) -> tensor<16x32x80xf16>
  return %0 : tensor<16x32x80xf16>
}

// CHECK-LABEL: func.func @many_rows_of_80
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 1024, {blocks_per_sm = 4 : i64, heads_per_tile = 1 : i64, sets = 2 : i64, splits = 1 : i64, threads = 128 : i64}
func.func @many_rows_of_80(%q: tensor<32x32x80xf16>, %k: tensor<32x1024x32x80xf16>, %v: tensor<32x1024x32x80xf16>, %s: tensor<32xi32>, %p: tensor<32xi32>) -> tensor<32x32x80xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<32x32x80xf16>, tensor<32x1024x32x80xf16>, tensor<32x1024x32x80xf16>, tensor<32xi32>, tensor<32xi32>) -> tensor<32x32x80xf16>
  return %0 : tensor<32x32x80xf16>
}

// CHECK-LABEL: func.func @four_rows_of_64
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 2 : i64, cluster_blocks = 4 : i64, heads_per_tile = 4 : i64, run_bytes = 256 : i64, sets = 2 : i64, splits = 4 : i64, threads = 256 : i64}
func.func @four_rows_of_64(%q: tensor<4x32x64xf16>, %k: tensor<4x1024x8x64xf16>, %v: tensor<4x1024x8x64xf16>, %s: tensor<4xi32>, %p: tensor<4xi32>) -> tensor<4x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<4x32x64xf16>, tensor<4x1024x8x64xf16>, tensor<4x1024x8x64xf16>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x32x64xf16>
  return %0 : tensor<4x32x64xf16>
}

// CHECK-LABEL: func.func @sixteen_rows_of_64
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 1 : i64, heads_per_tile = 4 : i64, run_bytes = 256 : i64, splits = 1 : i64, threads = 512 : i64}
func.func @sixteen_rows_of_64(%q: tensor<16x32x64xf16>, %k: tensor<16x1024x8x64xf16>, %v: tensor<16x1024x8x64xf16>, %s: tensor<16xi32>, %p: tensor<16xi32>) -> tensor<16x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<16x32x64xf16>, tensor<16x1024x8x64xf16>, tensor<16x1024x8x64xf16>, tensor<16xi32>, tensor<16xi32>) -> tensor<16x32x64xf16>
  return %0 : tensor<16x32x64xf16>
}

// CHECK-LABEL: func.func @eight_rows_of_64
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 2 : i64, cluster_blocks = 2 : i64, heads_per_tile = 4 : i64, run_bytes = 256 : i64, sets = 2 : i64, splits = 2 : i64, threads = 256 : i64}
func.func @eight_rows_of_64(%q: tensor<8x32x64xf16>, %k: tensor<8x1024x8x64xf16>, %v: tensor<8x1024x8x64xf16>, %s: tensor<8xi32>, %p: tensor<8xi32>) -> tensor<8x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<8x32x64xf16>, tensor<8x1024x8x64xf16>, tensor<8x1024x8x64xf16>, tensor<8xi32>, tensor<8xi32>) -> tensor<8x32x64xf16>
  return %0 : tensor<8x32x64xf16>
}

// CHECK-LABEL: func.func @four_rows_of_128
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 256, {blocks_per_sm = 3 : i64, cluster_blocks = 8 : i64, heads_per_tile = 4 : i64, splits = 8 : i64, threads = 128 : i64}
func.func @four_rows_of_128(%q: tensor<4x32x128xf16>, %k: tensor<4x1024x8x128xf16>, %v: tensor<4x1024x8x128xf16>, %s: tensor<4xi32>, %p: tensor<4xi32>) -> tensor<4x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<4x32x128xf16>, tensor<4x1024x8x128xf16>, tensor<4x1024x8x128xf16>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x32x128xf16>
  return %0 : tensor<4x32x128xf16>
}

// CHECK-LABEL: func.func @eight_rows_of_128
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 1 : i64, cluster_blocks = 2 : i64, heads_per_tile = 4 : i64, splits = 2 : i64, threads = 256 : i64}
func.func @eight_rows_of_128(%q: tensor<8x32x128xf16>, %k: tensor<8x1024x8x128xf16>, %v: tensor<8x1024x8x128xf16>, %s: tensor<8xi32>, %p: tensor<8xi32>) -> tensor<8x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<8x32x128xf16>, tensor<8x1024x8x128xf16>, tensor<8x1024x8x128xf16>, tensor<8xi32>, tensor<8xi32>) -> tensor<8x32x128xf16>
  return %0 : tensor<8x32x128xf16>
}

// CHECK-LABEL: func.func @sixteen_rows_of_128
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 1 : i64, heads_per_tile = 4 : i64, splits = 1 : i64, stages = 1 : i64, threads = 384 : i64}
func.func @sixteen_rows_of_128(%q: tensor<16x32x128xf16>, %k: tensor<16x1024x8x128xf16>, %v: tensor<16x1024x8x128xf16>, %s: tensor<16xi32>, %p: tensor<16xi32>) -> tensor<16x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<16x32x128xf16>, tensor<16x1024x8x128xf16>, tensor<16x1024x8x128xf16>, tensor<16xi32>, tensor<16xi32>) -> tensor<16x32x128xf16>
  return %0 : tensor<16x32x128xf16>
}

// CHECK-LABEL: func.func @two_rows_of_256
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 64, {blocks_per_sm = 1 : i64, cluster_blocks = 8 : i64, heads_per_tile = 2 : i64, splits = 8 : i64, threads = 256 : i64}
func.func @two_rows_of_256(%q: tensor<2x8x256xf16>, %k: tensor<2x1024x4x256xf16>, %v: tensor<2x1024x4x256xf16>, %s: tensor<2xi32>, %p: tensor<2xi32>) -> tensor<2x8x256xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<2x8x256xf16>, tensor<2x1024x4x256xf16>, tensor<2x1024x4x256xf16>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x8x256xf16>
  return %0 : tensor<2x8x256xf16>
}

// CHECK-LABEL: func.func @few_keys
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 16, {blocks_per_sm = 2 : i64, heads_per_tile = 4 : i64, run_bytes = 256 : i64, splits = 1 : i64, threads = 256 : i64}
func.func @few_keys(%q: tensor<2x32x64xf16>, %k: tensor<2x100x8x64xf16>, %v: tensor<2x100x8x64xf16>, %s: tensor<2xi32>, %p: tensor<2xi32>) -> tensor<2x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<2x32x64xf16>, tensor<2x100x8x64xf16>, tensor<2x100x8x64xf16>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x32x64xf16>
  return %0 : tensor<2x32x64xf16>
}

// CHECK-LABEL: func.func @one_row
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 2 : i64, cluster_blocks = 4 : i64, heads_per_tile = 1 : i64, sets = 2 : i64, splits = 4 : i64, threads = 256 : i64}
func.func @one_row(%q: tensor<1x32x80xf16>, %k: tensor<1x1024x32x80xf16>, %v: tensor<1x1024x32x80xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x32x80xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<1x32x80xf16>, tensor<1x1024x32x80xf16>, tensor<1x1024x32x80xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x80xf16>
  return %0 : tensor<1x32x80xf16>
}

// Two sets of registers where a warp takes several steps of 16 keys of a narrow head, and two fit; memory 256
// bytes at a time where several heads fill them.

// Four warps of two steps where eight would have one.

// CHECK-LABEL: func.func @two_steps_of_64
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 2 : i64, cluster_blocks = 16 : i64, heads_per_tile = 4 : i64, run_bytes = 256 : i64, sets = 2 : i64, splits = 16 : i64, threads = 128 : i64}
func.func @two_steps_of_64(%q: tensor<1x32x64xf16>, %k: tensor<1x2048x8x64xf16>, %v: tensor<1x2048x8x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<1x32x64xf16>, tensor<1x2048x8x64xf16>, tensor<1x2048x8x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x64xf16>
  return %0 : tensor<1x32x64xf16>
}

// CHECK-LABEL: func.func @several_steps_of_64
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 2 : i64, cluster_blocks = 16 : i64, heads_per_tile = 4 : i64, run_bytes = 256 : i64, sets = 2 : i64, splits = 16 : i64, threads = 256 : i64}
func.func @several_steps_of_64(%q: tensor<1x32x64xf16>, %k: tensor<1x8448x8x64xf16>, %v: tensor<1x8448x8x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<1x32x64xf16>, tensor<1x8448x8x64xf16>, tensor<1x8448x8x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x64xf16>
  return %0 : tensor<1x32x64xf16>
}

// CHECK-LABEL: func.func @several_steps_of_80
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 2 : i64, cluster_blocks = 4 : i64, heads_per_tile = 1 : i64, sets = 2 : i64, splits = 4 : i64, threads = 256 : i64}
func.func @several_steps_of_80(%q: tensor<1x32x80xf16>, %k: tensor<1x2048x32x80xf16>, %v: tensor<1x2048x32x80xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x32x80xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<1x32x80xf16>, tensor<1x2048x32x80xf16>, tensor<1x2048x32x80xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x80xf16>
  return %0 : tensor<1x32x80xf16>
}

// CHECK-LABEL: func.func @several_steps_of_128
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 2 : i64, cluster_blocks = 4 : i64, heads_per_tile = 1 : i64, splits = 4 : i64, threads = 128 : i64}
func.func @several_steps_of_128(%q: tensor<1x32x128xf16>, %k: tensor<1x2048x32x128xf16>, %v: tensor<1x2048x32x128xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<1x32x128xf16>, tensor<1x2048x32x128xf16>, tensor<1x2048x32x128xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x128xf16>
  return %0 : tensor<1x32x128xf16>
}

// CHECK-LABEL: func.func @several_steps_of_128_through_a_ring
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 128, {blocks_per_sm = 2 : i64, cluster_blocks = 16 : i64, heads_per_tile = 4 : i64, released = 1 : i64, splits = 16 : i64, stages = 2 : i64, threads = 128 : i64}
func.func @several_steps_of_128_through_a_ring(%q: tensor<1x32x128xf16>, %k: tensor<1x8448x8x128xf16>, %v: tensor<1x8448x8x128xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<1x32x128xf16>, tensor<1x8448x8x128xf16>, tensor<1x8448x8x128xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x32x128xf16>
  return %0 : tensor<1x32x128xf16>
}

// CHECK-LABEL: func.func @prefill
// CHECK: schedule #tenon.schedule<"hopper_attention"
func.func @prefill(%q: tensor<128x32x64xf16>, %k: tensor<1x128x8x64xf16>, %v: tensor<1x128x8x64xf16>, %s: tensor<1xi32>, %p: tensor<128xi32>) -> tensor<128x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<128x32x64xf16>, tensor<1x128x8x64xf16>, tensor<1x128x8x64xf16>, tensor<1xi32>, tensor<128xi32>) -> tensor<128x32x64xf16>
  return %0 : tensor<128x32x64xf16>
}

// What is added to scores, and sinks, are for the kernels without warpgroups.
// CHECK-LABEL: func.func @prefill_with_slopes
// CHECK: schedule #tenon.schedule<"tensor_prefill_attention"
func.func @prefill_with_slopes(%q: tensor<128x32x64xf16>, %k: tensor<1x128x8x64xf16>, %v: tensor<1x128x8x64xf16>, %s: tensor<1xi32>, %p: tensor<128xi32>, %m: tensor<32xf32>) -> tensor<128x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p slopes %m scale 0.125 : (tensor<128x32x64xf16>, tensor<1x128x8x64xf16>, tensor<1x128x8x64xf16>, tensor<1xi32>, tensor<128xi32>, tensor<32xf32>) -> tensor<128x32x64xf16>
  return %0 : tensor<128x32x64xf16>
}

// CHECK-LABEL: func.func @decode_with_bias_and_sinks
// CHECK: schedule #tenon.schedule<"tensor_decode_attention"
func.func @decode_with_bias_and_sinks(%q: tensor<1x32x64xf16>, %k: tensor<1x128x8x64xf16>, %v: tensor<1x128x8x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>, %b: tensor<1x1x128xf32>, %n: tensor<32xf32>) -> tensor<1x32x64xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p bias %b sinks %n scale 0.125 : (tensor<1x32x64xf16>, tensor<1x128x8x64xf16>, tensor<1x128x8x64xf16>, tensor<1xi32>, tensor<1xi32>, tensor<1x1x128xf32>, tensor<32xf32>) -> tensor<1x32x64xf16>
  return %0 : tensor<1x32x64xf16>
}

// Units that fill four blocks a multiprocessor better than three get four, with fewer registers each.

// CHECK-LABEL: func.func @forty_eight_rows_of_128
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 384, {blocks_per_sm = 3 : i64, heads_per_tile = 4 : i64, splits = 1 : i64, threads = 128 : i64}
func.func @forty_eight_rows_of_128(%q: tensor<48x32x128xf16>, %k: tensor<48x1024x8x128xf16>, %v: tensor<48x1024x8x128xf16>, %s: tensor<48xi32>, %p: tensor<48xi32>) -> tensor<48x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<48x32x128xf16>, tensor<48x1024x8x128xf16>, tensor<48x1024x8x128xf16>, tensor<48xi32>, tensor<48xi32>) -> tensor<48x32x128xf16>
  return %0 : tensor<48x32x128xf16>
}

// CHECK-LABEL: func.func @sixty_four_rows_of_128
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 512, {blocks_per_sm = 4 : i64, heads_per_tile = 4 : i64, splits = 1 : i64, threads = 128 : i64}
func.func @sixty_four_rows_of_128(%q: tensor<64x32x128xf16>, %k: tensor<64x1024x8x128xf16>, %v: tensor<64x1024x8x128xf16>, %s: tensor<64xi32>, %p: tensor<64xi32>) -> tensor<64x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<64x32x128xf16>, tensor<64x1024x8x128xf16>, tensor<64x1024x8x128xf16>, tensor<64xi32>, tensor<64xi32>) -> tensor<64x32x128xf16>
  return %0 : tensor<64x32x128xf16>
}

// Many rows of long contexts are cut, each by its own length.
// CHECK-LABEL: func.func @rows_of_unlike_lengths
// CHECK: schedule #tenon.schedule<"tensor_decode_attention", tiles = 2048, {blocks_per_sm = 3 : i64, heads_per_tile = 4 : i64, least_keys = 1024 : i64, splits = 8 : i64, threads = 128 : i64}
func.func @rows_of_unlike_lengths(%q: tensor<32x32x128xf16>, %k: tensor<32x8448x8x128xf16>, %v: tensor<32x8448x8x128xf16>, %s: tensor<32xi32>, %p: tensor<32xi32>) -> tensor<32x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (tensor<32x32x128xf16>, tensor<32x8448x8x128xf16>, tensor<32x8448x8x128xf16>, tensor<32xi32>, tensor<32xi32>) -> tensor<32x32x128xf16>
  return %0 : tensor<32x32x128xf16>
}

// Chunks of several sequences go to warpgroups: each tile has rows of one.
// CHECK-LABEL: func.func @chunks
// CHECK: schedule #tenon.schedule<"hopper_attention", tiles = 132, {consumers = 2 : i64, heads_per_tile = 4 : i64, keys_per_block = 128 : i64, query_stages = 2 : i64, stages = 2 : i64}
func.func @chunks(%q: tensor<128x32x128xf16>, %k: tensor<32x1024x8x128xf16>, %v: tensor<32x1024x8x128xf16>, %s: tensor<128xi32>, %p: tensor<128xi32>) -> tensor<128x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 {chunks} : (tensor<128x32x128xf16>, tensor<32x1024x8x128xf16>, tensor<32x1024x8x128xf16>, tensor<128xi32>, tensor<128xi32>) -> tensor<128x32x128xf16>
  return %0 : tensor<128x32x128xf16>
}

// CHECK-LABEL: func.func @few_chunks
// CHECK: schedule #tenon.schedule<"tensor_decode_attention"
func.func @few_chunks(%q: tensor<16x32x128xf16>, %k: tensor<32x1024x8x128xf16>, %v: tensor<32x1024x8x128xf16>, %s: tensor<16xi32>, %p: tensor<16xi32>) -> tensor<16x32x128xf16> {
  %0 = tenon.attention %q, %k, %v, %s, %p scale 0.125 {chunks} : (tensor<16x32x128xf16>, tensor<32x1024x8x128xf16>, tensor<32x1024x8x128xf16>, tensor<16xi32>, tensor<16xi32>) -> tensor<16x32x128xf16>
  return %0 : tensor<16x32x128xf16>
}
