#ifndef TENON_IR_OPS_LINEAROPS_TD
#define TENON_IR_OPS_LINEAROPS_TD

include "ir/ops/OpBase.td"

def Tenon_MatmulOp : Tenon_PureOp<"matmul", [Tenon_OwnWork]> {
  let summary = "y = x · Wᵀ";
  let description = [{
    `input` [..., K], `weight` [N, K], result [..., N]: y[.., n] = Σₖ x[.., k] · W[n, k], added in
    f32 with fused multiply-adds in the order of `order`. With a weight of rank above two the
    leading axes are batch axes, equal in `input`, which then has the weight's rank. A
    block-quantised weight takes part with its decoded values.
    ```mlir
    %y = tenon.matmul %x, %w
        : (tensor<1x64xf32>, tensor<172x64x!tenon.block<q8_0>>) -> tensor<1x172xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, Tenon_WeightTensor:$weight,
                       OptionalAttr<Tenon_OrderAttr>:$order);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`order` $order^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Tenon_EmbeddingOp : Tenon_PureOp<"embedding", [Tenon_OwnWork]> {
  let summary = "Rows of a table, chosen by index";
  let description = [{
    `table` [V, D], `ids` [M], result [M, D]: y[m] = table[ids[m]], decoded if block-quantised. An
    id outside [0, V) gives a row of zeros. Also selects rows of an activation.
  }];
  let arguments = (ins Tenon_WeightTensor:$table, Tenon_IntTensor:$ids);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` functional-type(operands, results)";
}

def Tenon_DequantizeOp : Tenon_PureOp<"dequantize"> {
  let summary = "The decoded values of a block-quantised tensor";
  let description = [{
    Only where a file states it; elsewhere operations take block-quantised operands directly.
  }];
  let arguments = (ins Tenon_BlockTensor:$input);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

#endif // TENON_IR_OPS_LINEAROPS_TD
