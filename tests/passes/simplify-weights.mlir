// Weights of which products alone read the transpose are laid out so when they are loaded.
//
// RUN: tenon-opt %s --split-input-file --tenon-simplify | FileCheck %s
// RUN: tenon-opt %s --split-input-file --tenon-simplify=disable-raises=transposed_weight | FileCheck %s --check-prefix=KEPT
// KEPT: tenon.weight @w : tensor<6x4xf16> from
// KEPT-COUNT-16: tenon.transpose
// KEPT-NOT: tenon.transpose

tenon.file @m "m" bytes 4096 fingerprint 7
// CHECK: tenon.weight @w : tensor<4x6xf16> transposed from [#tenon.range<@m, offset = 0, bytes = 48>]
tenon.weight @w : tensor<6x4xf16> from [#tenon.range<@m, offset = 0, bytes = 48>]

// Every function reads it so.
// CHECK-LABEL: func @decode
// CHECK-NEXT: %[[W:.*]] = tenon.get_weight @w : tensor<4x6xf16>
// CHECK-NEXT: tenon.matmul %{{.*}}, %[[W]] : (tensor<1x6xf16>, tensor<4x6xf16>) -> tensor<1x4xf16>
func.func @decode(%x: tensor<1x6xf16>) -> tensor<1x4xf16> {
  %w = tenon.get_weight @w : tensor<6x4xf16>
  %t = tenon.transpose %w by [1, 0] : (tensor<6x4xf16>) -> tensor<4x6xf16>
  %y = tenon.matmul %x, %t : (tensor<1x6xf16>, tensor<4x6xf16>) -> tensor<1x4xf16>
  return %y : tensor<1x4xf16>
}

// CHECK-LABEL: func @prefill
// CHECK-NOT: tenon.transpose
// CHECK: return
func.func @prefill(%x: tensor<8x6xf16>) -> (tensor<8x4xf16>, tensor<8x4xf16>) {
  %w = tenon.get_weight @w : tensor<6x4xf16>
  %t = tenon.transpose %w by [1, 0] : (tensor<6x4xf16>) -> tensor<4x6xf16>
  %y = tenon.matmul %x, %t : (tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<8x4xf16>
  %v = tenon.get_weight @w : tensor<6x4xf16>
  %u = tenon.transpose %v by [1, 0] : (tensor<6x4xf16>) -> tensor<4x6xf16>
  %n = tenon.neg %x : (tensor<8x6xf16>) -> tensor<8x6xf16>
  %z = tenon.matmul %n, %u : (tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<8x4xf16>
  return %y, %z : tensor<8x4xf16>, tensor<8x4xf16>
}

// -----

// A matrix an expert, and one a batch.
tenon.file @m "m" bytes 4096 fingerprint 7
// CHECK: tenon.weight @experts : tensor<3x4x6xf32> transposed from
tenon.weight @experts : tensor<3x6x4xf32> from [#tenon.range<@m, offset = 0, bytes = 288>]
// CHECK: tenon.weight @batches : tensor<2x4x6xf32> transposed from
tenon.weight @batches : tensor<2x6x4xf32> from [#tenon.range<@m, offset = 288, bytes = 192>]
// CHECK-LABEL: func @batched
// CHECK-NOT: tenon.transpose
// CHECK: return
func.func @batched(%x: tensor<5x6xf32>, %i: tensor<5x2xi32>, %z: tensor<2x5x6xf32>)
    -> (tensor<5x2x4xf32>, tensor<2x5x4xf32>) {
  %e = tenon.get_weight @experts : tensor<3x6x4xf32>
  %f = tenon.transpose %e by [0, 2, 1] : (tensor<3x6x4xf32>) -> tensor<3x4x6xf32>
  %y = tenon.expert_matmul %x, %f, %i : (tensor<5x6xf32>, tensor<3x4x6xf32>, tensor<5x2xi32>) -> tensor<5x2x4xf32>
  %b = tenon.get_weight @batches : tensor<2x6x4xf32>
  %c = tenon.transpose %b by [0, 2, 1] : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32>
  %w = tenon.matmul %z, %c : (tensor<2x5x6xf32>, tensor<2x4x6xf32>) -> tensor<2x5x4xf32>
  return %y, %w : tensor<5x2x4xf32>, tensor<2x5x4xf32>
}

// -----

// [K, H, D], whose heads become rows.
tenon.file @m "m" bytes 4096 fingerprint 7
// CHECK: tenon.weight @heads : tensor<12x5xf32> transposed from
tenon.weight @heads : tensor<5x3x4xf32> from [#tenon.range<@m, offset = 0, bytes = 240>]
// CHECK-LABEL: func @of_heads
// CHECK-NEXT: %[[W:.*]] = tenon.get_weight @heads : tensor<12x5xf32>
// CHECK-NEXT: tenon.matmul %{{.*}}, %[[W]]
func.func @of_heads(%x: tensor<2x5xf32>) -> tensor<2x12xf32> {
  %w = tenon.get_weight @heads : tensor<5x3x4xf32>
  %t = tenon.transpose %w by [1, 2, 0] : (tensor<5x3x4xf32>) -> tensor<3x4x5xf32>
  %r = tenon.reshape %t to [12, 5] : (tensor<3x4x5xf32>) -> tensor<12x5xf32>
  %y = tenon.matmul %x, %r : (tensor<2x5xf32>, tensor<12x5xf32>) -> tensor<2x12xf32>
  return %y : tensor<2x12xf32>
}

// -----

// A second transpose takes back the first.
tenon.file @m "m" bytes 4096 fingerprint 7
// CHECK: tenon.weight @twice : tensor<4x6xf32> from
tenon.weight @twice : tensor<6x4xf32> transposed from [#tenon.range<@m, offset = 0, bytes = 96>]
// CHECK-LABEL: func @transposed_twice
// CHECK-NOT: tenon.transpose
// CHECK: return
func.func @transposed_twice(%x: tensor<2x6xf32>) -> tensor<2x4xf32> {
  %w = tenon.get_weight @twice : tensor<6x4xf32>
  %t = tenon.transpose %w by [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %y = tenon.matmul %x, %t : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// What else reads the weight or its transpose, here or in another function, keeps both.
tenon.file @m "m" bytes 4096 fingerprint 7
// CHECK: tenon.weight @table : tensor<6x4xf32> from
tenon.weight @table : tensor<6x4xf32> from [#tenon.range<@m, offset = 0, bytes = 96>]
// CHECK: tenon.weight @shared : tensor<6x4xf32> from
tenon.weight @shared : tensor<6x4xf32> from [#tenon.range<@m, offset = 96, bytes = 96>]
// CHECK: tenon.weight @input : tensor<6x4xf32> from
tenon.weight @input : tensor<6x4xf32> from [#tenon.range<@m, offset = 192, bytes = 96>]
// CHECK: tenon.weight @returned : tensor<6x4xf32> from
tenon.weight @returned : tensor<6x4xf32> from [#tenon.range<@m, offset = 288, bytes = 96>]
// CHECK: tenon.weight @elsewhere : tensor<6x6xf32> from
tenon.weight @elsewhere : tensor<6x6xf32> from [#tenon.range<@m, offset = 384, bytes = 144>]
// CHECK-LABEL: func @others
// CHECK-COUNT-5: tenon.transpose
// CHECK: return
func.func @others(%x: tensor<2x6xf32>, %i: tensor<2xi32>, %v: tensor<3x6xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x6xf32>, tensor<4x3xf32>, tensor<2x6xf32>, tensor<2x4xf32>, tensor<4x6xf32>) {
  %table = tenon.get_weight @table : tensor<6x4xf32>
  %e = tenon.embedding %table, %i : (tensor<6x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %t = tenon.transpose %table by [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %y = tenon.matmul %x, %t : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<2x4xf32>

  %shared = tenon.get_weight @shared : tensor<6x4xf32>
  %s = tenon.transpose %shared by [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %z = tenon.matmul %x, %s : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<2x4xf32>
  %n = tenon.neg %s : (tensor<4x6xf32>) -> tensor<4x6xf32>

  %input = tenon.get_weight @input : tensor<6x4xf32>
  %a = tenon.transpose %input by [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %b = tenon.matmul %a, %v : (tensor<4x6xf32>, tensor<3x6xf32>) -> tensor<4x3xf32>

  %elsewhere = tenon.get_weight @elsewhere : tensor<6x6xf32>
  %c = tenon.transpose %elsewhere by [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %d = tenon.matmul %x, %c : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>

  %returned = tenon.get_weight @returned : tensor<6x4xf32>
  %r = tenon.transpose %returned by [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %q = tenon.matmul %x, %r : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<2x4xf32>
  return %e, %y, %z, %n, %b, %d, %q, %r : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x6xf32>, tensor<4x3xf32>, tensor<2x6xf32>, tensor<2x4xf32>, tensor<4x6xf32>
}
func.func @another(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %w = tenon.get_weight @elsewhere : tensor<6x6xf32>
  %y = tenon.matmul %x, %w : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

// Axes that do not become rows and columns: reversed, exchanged in front, of two permutations, or
// exchanged beside those that the files hold exchanged.
tenon.file @m "m" bytes 4096 fingerprint 7
// CHECK: tenon.weight @reversed : tensor<2x3x4xf32> from
tenon.weight @reversed : tensor<2x3x4xf32> from [#tenon.range<@m, offset = 0, bytes = 96>]
// CHECK: tenon.weight @front : tensor<2x3x4xf32> from
tenon.weight @front : tensor<2x3x4xf32> from [#tenon.range<@m, offset = 96, bytes = 96>]
// CHECK: tenon.weight @two : tensor<2x2x2xf32> from
tenon.weight @two : tensor<2x2x2xf32> from [#tenon.range<@m, offset = 192, bytes = 32>]
// CHECK: tenon.weight @stored : tensor<2x3x4xf32> transposed from
tenon.weight @stored : tensor<2x3x4xf32> transposed from [#tenon.range<@m, offset = 224, bytes = 96>]
// CHECK-LABEL: func @permuted
// CHECK-COUNT-5: tenon.transpose
// CHECK: return
func.func @permuted(%x: tensor<5x2xf32>, %y: tensor<3x5x4xf32>, %z: tensor<2x5x2xf32>)
    -> (tensor<5x12xf32>, tensor<3x5x2xf32>, tensor<2x5x2xf32>, tensor<5x4xf32>, tensor<5x12xf32>) {
  %a = tenon.get_weight @reversed : tensor<2x3x4xf32>
  %b = tenon.transpose %a by [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %c = tenon.reshape %b to [12, 2] : (tensor<4x3x2xf32>) -> tensor<12x2xf32>
  %0 = tenon.matmul %x, %c : (tensor<5x2xf32>, tensor<12x2xf32>) -> tensor<5x12xf32>
  %d = tenon.get_weight @front : tensor<2x3x4xf32>
  %e = tenon.transpose %d by [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = tenon.matmul %y, %e : (tensor<3x5x4xf32>, tensor<3x2x4xf32>) -> tensor<3x5x2xf32>
  %f = tenon.get_weight @two : tensor<2x2x2xf32>
  %g = tenon.transpose %f by [0, 2, 1] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %2 = tenon.matmul %z, %g : (tensor<2x5x2xf32>, tensor<2x2x2xf32>) -> tensor<2x5x2xf32>
  %h = tenon.transpose %f by [1, 2, 0] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %i = tenon.reshape %h to [4, 2] : (tensor<2x2x2xf32>) -> tensor<4x2xf32>
  %3 = tenon.matmul %x, %i : (tensor<5x2xf32>, tensor<4x2xf32>) -> tensor<5x4xf32>
  %j = tenon.get_weight @stored : tensor<2x3x4xf32>
  %k = tenon.transpose %j by [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %l = tenon.reshape %k to [12, 2] : (tensor<3x4x2xf32>) -> tensor<12x2xf32>
  %4 = tenon.matmul %x, %l : (tensor<5x2xf32>, tensor<12x2xf32>) -> tensor<5x12xf32>
  return %0, %1, %2, %3, %4 : tensor<5x12xf32>, tensor<3x5x2xf32>, tensor<2x5x2xf32>, tensor<5x4xf32>, tensor<5x12xf32>
}
