// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.reshape' op expects as many elements as its input, 'tensor<2x4xf32>', but got 'tensor<3x3xf32>'}}
  %0 = tenon.reshape %x to [3, 3] : (tensor<2x4xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.reshape' op expects result #0 of shape [-2, -4], but got 'tensor<8xf32>'}}
  %0 = tenon.reshape %x to [-2, -4] : (tensor<2x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.reshape' op expects a result of its input's element type, but got 'tensor<2x4xf32>' and 'tensor<8xf16>'}}
  %0 = tenon.reshape %x to [8] : (tensor<2x4xf32>) -> tensor<8xf16>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.transpose' op expects a permutation of the 2 axes of input, but got [0, 0]}}
  %0 = tenon.transpose %x by [0, 0] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.transpose' op expects a permutation of the 2 axes of input, but got [1]}}
  %0 = tenon.transpose %x by [1] : (tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.transpose' op expects a permutation of the 2 axes of input, but got [0, 2]}}
  %0 = tenon.transpose %x by [0, 2] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects offsets, sizes and strides for each of 2 axes, but got 2, 1 and 2}}
  %0 = tenon.slice %x [0, 0] [2] [1, 1] : (tensor<2x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects a range inside the 4 elements of axis 1, but got offset -1, size 1 and stride 1}}
  %0 = tenon.slice %x [0, -1] [2, 1] [1, 1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects a range inside the 4 elements of axis 1, but got offset 4, size 1 and stride 1}}
  %0 = tenon.slice %x [0, 4] [2, 1] [1, 1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects a range inside the 4 elements of axis 1, but got offset 0, size 0 and stride 1}}
  %0 = tenon.slice %x [0, 0] [2, 0] [1, 1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects a range inside the 4 elements of axis 1, but got offset 0, size 1 and stride 0}}
  %0 = tenon.slice %x [0, 0] [2, 1] [1, 0] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects a range inside the 4 elements of axis 1, but got offset 1, size 4 and stride 1}}
  %0 = tenon.slice %x [0, 1] [2, 4] [1, 1] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects a range inside the 4 elements of axis 1, but got offset 1, size 3 and stride 2}}
  %0 = tenon.slice %x [0, 1] [2, 3] [1, 2] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects a range inside the 4 elements of axis 1, but got offset 0, size 9223372036854775807 and stride 9223372036854775807}}
  %0 = tenon.slice %x [0, 0] [2, 9223372036854775807] [1, 9223372036854775807] : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects a result of its input's element type, but got 'tensor<2x4xf32>' and 'tensor<2x1xf16>'}}
  %0 = tenon.slice %x [0, 0] [2, 1] [1, 1] : (tensor<2x4xf32>) -> tensor<2x1xf16>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tenon.concat' op expects at least one input, but got none}}
  %0 = "tenon.concat"() <{axis = 0 : i64}> : () -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.concat' op expects an axis of tensor<2x4xf32>, but got 2}}
  %0 = tenon.concat %x along 2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{'tenon.concat' op expects an axis of tensor<2x4xf32>, but got -1}}
  %0 = tenon.concat %x along -1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{'tenon.concat' op expects inputs that differ along axis 1 alone, but got tensor<2x4xf32> and tensor<3x4xf32>}}
  %0 = tenon.concat %x, %y along 1 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'tenon.concat' op expects inputs that differ along axis 1 alone, but got tensor<2x4xf32> and tensor<2xf32>}}
  %0 = tenon.concat %x, %y along 1 : (tensor<2x4xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2305843009213693952xf16>) {
  // expected-error @+1 {{'tenon.concat' op expects a result size within 63 bits, but the extents of axis 0 add up to more}}
  %0 = tenon.concat %x, %x, %x, %x along 0 : (tensor<2305843009213693952xf16>, tensor<2305843009213693952xf16>, tensor<2305843009213693952xf16>, tensor<2305843009213693952xf16>) -> tensor<1xf16>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %y: tensor<2x4xf16>) {
  // expected-error @+1 {{'tenon.concat' op expects a result of its input's element type, but got 'tensor<2x4xf16>' and 'tensor<4x4xf32>'}}
  %0 = tenon.concat %x, %y along 0 : (tensor<2x4xf32>, tensor<2x4xf16>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+1 {{'tenon.gather' op expects an axis of tensor<4x8xf32>, but got 2}}
  %0 = tenon.gather %x, %i along 2 : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3x2xi32>) {
  // expected-error @+1 {{'tenon.gather' op expects indices that differ from input along axis 1 alone, but got tensor<4x8xf32> and tensor<3x2xi32>}}
  %0 = tenon.gather %x, %i along 1 : (tensor<4x8xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+1 {{'tenon.gather' op expects a result with the element type of input, but got 'tensor<4x8xf32>' and 'tensor<4x2xf16>'}}
  %0 = tenon.gather %x, %i along 1 : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x2xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>, %u: tensor<4x3xf32>) {
  // expected-error @+1 {{'tenon.scatter' op expects an update for each index, but got tensor<4x3xf32> and tensor<4x2xi32>}}
  %0 = tenon.scatter %x, %i, %u along 1 : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<2x8xi32>, %u: tensor<2x8xf32>) {
  // expected-error @+1 {{'tenon.scatter' op expects indices that differ from input along axis 1 alone, but got tensor<4x8xf32> and tensor<2x8xi32>}}
  %0 = tenon.scatter %x, %i, %u along 1 : (tensor<4x8xf32>, tensor<2x8xi32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x80x100xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects input [B, C, D...] with a window, a stride, low and high for each D, but got tensor<1x80x100xf32> with 2, 1, 1 and 1}}
  %0 = tenon.patches %x window [3, 3] strides [1] low [1] high [1] : (tensor<1x80x100xf32>) -> tensor<1x100x240xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects a window inside the padded axis 2 of 8 elements, but got window 11, stride 1, low 1 and high 1}}
  %0 = tenon.patches %x window [11] strides [1] low [1] high [1] : (tensor<1x4x8xf32>) -> tensor<1x1x44xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+1 {{'tenon.gather' op expects an axis of tensor<4x8xf32>, but got -1}}
  %0 = tenon.gather %x, %i along -1 : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{'tenon.gather' op expects indices that differ from input along axis 0 alone, but got tensor<4x8xf32> and tensor<8xi32>}}
  %0 = tenon.gather %x, %i along 0 : (tensor<4x8xf32>, tensor<8xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %i: tensor<i32>) {
  // expected-error @+1 {{'tenon.gather' op expects an axis of tensor<f32>, but got 0}}
  %0 = tenon.gather %x, %i along 0 : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x2xf32>) {
  // expected-error @+1 {{'tenon.gather' op operand #1 must be statically shaped tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4x2xf32>'}}
  %0 = tenon.gather %x, %i along 1 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+1 {{'tenon.gather' op expects result #0 of shape [4, 2], but got 'tensor<4x8xf32>'}}
  %0 = tenon.gather %x, %i along 1 : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>, %u: tensor<4x2xf32>) {
  // expected-error @+1 {{'tenon.scatter' op expects an axis of tensor<4x8xf32>, but got -2}}
  %0 = tenon.scatter %x, %i, %u along -2 : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>, %u: tensor<4x2xf32>) {
  // expected-error @+1 {{'tenon.scatter' op expects result #0 of shape [4, 8], but got 'tensor<4x2xf32>'}}
  %0 = tenon.scatter %x, %i, %u along 1 : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi32>, %i: tensor<4x2xi32>, %u: tensor<4x2xf32>) {
  // expected-error @+1 {{'tenon.scatter' op expects tensors that are all of floats, or all of one integer type, but got 'tensor<4x8xi32>' and 'tensor<4x2xf32>'}}
  %0 = tenon.scatter %x, %i, %u along 1 : (tensor<4x8xi32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x8xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects input [B, C, D...] with a window, a stride, low and high for each D, but got tensor<4x8xf32> with 0, 0, 0 and 0}}
  %0 = tenon.patches %x window [] strides [] low [] high [] : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects input [B, C, D...] with a window, a stride, low and high for each D, but got tensor<4x8xf32> with 1, 1, 1 and 1}}
  %0 = tenon.patches %x window [3] strides [1] low [0] high [0] : (tensor<4x8xf32>) -> tensor<4x6x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects a window inside the padded axis 2 of 8 elements, but got window 0, stride 1, low 0 and high 0}}
  %0 = tenon.patches %x window [0] strides [1] low [0] high [0] : (tensor<1x4x8xf32>) -> tensor<1x9x0xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects a window inside the padded axis 3 of 8 elements, but got window 2, stride 0, low 0 and high 0}}
  %0 = tenon.patches %x window [2, 2] strides [1, 0] low [0, 0] high [0, 0] : (tensor<1x4x8x8xf32>) -> tensor<1x7x16xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects a window inside the padded axis 2 of 8 elements, but got window 3, stride 1, low -1 and high 1}}
  %0 = tenon.patches %x window [3] strides [1] low [-1] high [1] : (tensor<1x4x8xf32>) -> tensor<1x6x12xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects a window inside the padded axis 2 of 8 elements, but got window 3, stride 1, low 9223372036854775807 and high 9223372036854775807}}
  %0 = tenon.patches %x window [3] strides [1] low [9223372036854775807] high [9223372036854775807] : (tensor<1x4x8xf32>) -> tensor<1x6x12xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects result #0 of shape [1, 6, 12], but got 'tensor<1x6x3xf32>'}}
  %0 = tenon.patches %x window [3] strides [1] low [0] high [0] : (tensor<1x4x8xf32>) -> tensor<1x6x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'tenon.patches' op expects a result of its input's element type, but got 'tensor<1x4x8xf32>' and 'tensor<1x6x12xf16>'}}
  %0 = tenon.patches %x window [3] strides [1] low [0] high [0] : (tensor<1x4x8xf32>) -> tensor<1x6x12xf16>
  return
}
