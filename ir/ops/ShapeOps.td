#ifndef TENON_IR_OPS_SHAPEOPS_TD
#define TENON_IR_OPS_SHAPEOPS_TD

include "ir/ops/OpBase.td"

def Tenon_ReshapeOp : Tenon_PureOp<"reshape", [Tenon_OwnWork]> {
  let summary = "The same elements in row-major order under another shape";
  let arguments = (ins Tenon_PlainTensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs Tenon_PlainTensor:$result);
  let assemblyFormat = "$input `to` $shape attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tenon_TransposeOp : Tenon_PureOp<"transpose", [Tenon_OwnWork]> {
  let summary = "Axes in another order";
  let description = "Result axis i is input axis permutation[i].";
  let arguments = (ins Tenon_PlainTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Tenon_PlainTensor:$result);
  let assemblyFormat = "$input `by` $permutation attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tenon_SliceOp : Tenon_PureOp<"slice", [Tenon_OwnWork]> {
  let summary = "A box of a tensor";
  let description = [{
    Result element i along an axis is input element offsets + i · strides; all three arrays have
    one entry an axis.
  }];
  let arguments = (ins Tenon_PlainTensor:$input, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Tenon_PlainTensor:$result);
  let assemblyFormat = [{
    $input $offsets $sizes $strides attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tenon_ConcatOp : Tenon_PureOp<"concat", [Tenon_OwnWork]> {
  let summary = "Tensors behind one another along an axis";
  let arguments = (ins Variadic<Tenon_PlainTensor>:$inputs, I64Attr:$axis);
  let results = (outs Tenon_PlainTensor:$result);
  let assemblyFormat = "$inputs `along` $axis attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tenon_GatherOp : Tenon_PureOp<"gather", [Tenon_OwnWork]> {
  let summary = "Elements along an axis, chosen by index";
  let description = [{
    `input` and `indices` agree on every axis but `axis`; the result has the shape of `indices`:

        y[.., i, ..] = input[.., indices[.., i, ..], ..]

    An index, of i32 or i64, outside the axis gives 0. Whole rows of a table: `tenon.embedding`.
    ```mlir
    %y = tenon.gather %x, %i along 1 : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Tenon_PlainTensor:$input, Tenon_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Tenon_PlainTensor:$result);
  let assemblyFormat = [{
    $input `,` $indices `along` $axis attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Tenon_ScatterOp : Tenon_PureOp<"scatter", [Tenon_OwnWork]> {
  let summary = "A tensor with elements along an axis replaced, or added to, at indices";
  let description = [{
    `indices` and `updates` have one shape, which agrees with that of `input`, the result's, on every
    axis but `axis`. The result is `input` after, for i in ascending order,

        y[.., indices[.., i, ..], ..] = updates[.., i, ..]

    so that of equal indices the last one stays; with `accumulate` `updates` is added there instead,
    in f32. An index, of i32 or i64, outside the axis writes nothing. Integers are of one type and are
    added in 64 bits.
    ```mlir
    %y = tenon.scatter %x, %i, %u along 1 accumulate
        : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4x2xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$input, Tenon_IndexTensor:$indices,
                       Tenon_NumberTensor:$updates, I64Attr:$axis, UnitAttr:$accumulate);
  let results = (outs Tenon_NumberTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input `,` $indices `,` $updates `along` $axis (`accumulate` $accumulate^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Tenon_PatchesOp : Tenon_PureOp<"patches", [Tenon_OwnWork]> {
  let summary = "The windows of a convolution, one a row";
  let description = [{
    `input` [B, C, D₁, …, Dₙ], each array with n entries, result [B, P, C · W] with P = Π outᵢ,
    outᵢ = (lowᵢ + Dᵢ + highᵢ − windowᵢ) / strideᵢ + 1 and W = Π windowᵢ, all in row-major order:

        y[b, (p₁, …, pₙ), (c, w₁, …, wₙ)] = input[b, c, p₁ · stride₁ + w₁ − low₁, …]

    and 0 outside the input. `tenon.matmul` with the convolution's weight [O, C, window…] as a
    matrix [O, C · W] then is the convolution, with its result as [B, P, O]. A patch embedding of
    images has window = strides.
    ```mlir
    %p = tenon.patches %x window [3] strides [1] low [1] high [1]
        : (tensor<1x80x100xf32>) -> tensor<1x100x240xf32>
    ```
  }];
  let arguments = (ins Tenon_PlainTensor:$input, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high);
  let results = (outs Tenon_PlainTensor:$result);
  let assemblyFormat = [{
    $input `window` $window `strides` $strides `low` $low `high` $high attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Windows along each axis: out₁, …, outₙ.
    llvm::SmallVector<int64_t> getWindowCounts();
  }];
}

#endif // TENON_IR_OPS_SHAPEOPS_TD
