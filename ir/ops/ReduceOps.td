#ifndef TENON_IR_OPS_REDUCEOPS_TD
#define TENON_IR_OPS_REDUCEOPS_TD

include "ir/ops/OpBase.td"

def Tenon_ReduceOp : Tenon_PureOp<"reduce", [Tenon_OwnWork]> {
  let summary = "Sum, mean, maximum or minimum over the innermost axis";
  let description = [{
    `input` [..., D], result [..., 1]. Other axes: transpose first. The maximum or minimum of a row with a
    NaN is NaN.
  }];
  let arguments = (ins Tenon_ReduceKind:$kind, Tenon_FloatTensor:$input,
                       OptionalAttr<Tenon_OrderAttr>:$order);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $kind $input (`order` $order^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Tenon_CumulativeSumOp : Tenon_PureOp<"cumulative_sum", [Tenon_OwnWork, Tenon_OneKind]> {
  let summary = "Sums of the first elements of the innermost axis";
  let description = [{
    `input` [..., D], result of the same shape: y[.., i] = Σ x[.., j] over j ≤ i, added in f32 to
    +0 in ascending j; integers in 64 bits. Other axes: transpose first.
  }];
  let arguments = (ins Tenon_NumberTensor:$input);
  let results = (outs Tenon_NumberTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def Tenon_ArgmaxOp : Tenon_PureOp<"argmax", [Tenon_OwnWork]> {
  let summary = "Index of the largest element of the innermost axis, the lowest on a tie";
  let description = [{
    `input` [..., D], result [...] of i32 or i64. A row that holds a NaN has no largest element
    and gives -1.
  }];
  let arguments = (ins Tenon_FloatTensor:$input);
  let results = (outs Tenon_IndexTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def Tenon_TopKOp : Tenon_PureOp<"top_k", [Tenon_OwnWork]> {
  let summary = "The k largest elements of the innermost axis, in descending order";
  let description = [{
    `input` [..., D], results `values` [..., k] and `indices` [..., k], i32 or i64. Ties: the lower index first.
    A NaN counts as smaller than everything.
  }];
  let arguments = (ins Tenon_FloatTensor:$input, I64Attr:$k);
  let results = (outs Tenon_FloatTensor:$values, Tenon_IndexTensor:$indices);
  let assemblyFormat = "$input `k` $k attr-dict `:` functional-type(operands, results)";
}

#endif // TENON_IR_OPS_REDUCEOPS_TD
