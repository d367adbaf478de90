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

#endif // TENON_IR_OPS_SHAPEOPS_TD
