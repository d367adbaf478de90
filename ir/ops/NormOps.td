#ifndef TENON_IR_OPS_NORMOPS_TD
#define TENON_IR_OPS_NORMOPS_TD

include "ir/ops/OpBase.td"

def Tenon_RmsNormOp : Tenon_PureOp<"rms_norm", [Tenon_OwnWork]> {
  let summary = "x / √(mean(x²) + ε) · weight over the innermost axis";
  let description = [{
    Zhang and Sennrich 2019, arXiv 1910.07467. `input` [..., D], `weight` [D] or absent. The sum of
    squares is added in f32 in the order of `order`; nothing is rounded before the result.
    ```mlir
    %y = tenon.rms_norm %x, %w eps 1.0e-5
        : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, Optional<Tenon_FloatTensor>:$weight,
                       F64Attr:$epsilon, OptionalAttr<Tenon_OrderAttr>:$order);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`,` $weight^)? `eps` $epsilon (`order` $order^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Tenon_LayerNormOp : Tenon_PureOp<"layer_norm", [AttrSizedOperandSegments, Tenon_OwnWork]> {
  let summary = "(x − mean) / √(var + ε) · weight + bias over the innermost axis";
  let description = [{
    Ba et al. 2016, arXiv 1607.06450. `input` [..., D], `weight` and `bias` [D] or absent. Two
    passes: the mean, then the mean of squared differences, each added in f32 in the order of
    `order`.
  }];
  let arguments = (ins Tenon_FloatTensor:$input, Optional<Tenon_FloatTensor>:$weight,
                       Optional<Tenon_FloatTensor>:$bias, F64Attr:$epsilon,
                       OptionalAttr<Tenon_OrderAttr>:$order);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`weight` $weight^)? (`bias` $bias^)? `eps` $epsilon (`order` $order^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Tenon_SoftmaxOp : Tenon_PureOp<"softmax", [Tenon_OwnWork]> {
  let summary = "exp(x − max) / Σ exp(x − max) over the innermost axis";
  let arguments = (ins Tenon_FloatTensor:$input, OptionalAttr<Tenon_OrderAttr>:$order);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`order` $order^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // TENON_IR_OPS_NORMOPS_TD
