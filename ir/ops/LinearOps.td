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

    A quantised input (`tenon.quantize`) stands beside a block-quantised weight, in the encoding
    that goes with the weight's: `q8_s` beside blocks of 32, `q8_k` beside blocks of 256. Blocks
    then take the place of elements in `order`. For each block b of a row, with the scales dx, dw
    and the least value m of the blocks in f32,

        I = Σ quants of x · quants of w · integer scale of w's group     exact, in 32 bits
        M = Σ quants of x · integer minimum of w's group                 exact, in 32 bits
        sum = fma(I, dx · dw, sum), then, if w has minimums, sum = fma(M, dx · −m, sum)

    with I and M rounded to f32. (A weight of blocks of 32 has no scales of groups; its zero point
    is part of its quants.)
    ```mlir
    %q = tenon.quantize %x : (tensor<1x64xf32>) -> tensor<1x64x!tenon.block<q8_s>>
    %y = tenon.matmul %q, %w
        : (tensor<1x64x!tenon.block<q8_s>>, tensor<172x64x!tenon.block<q8_0>>) -> tensor<1x172xf32>
    ```
  }];
  let arguments = (ins Tenon_WeightTensor:$input, Tenon_WeightTensor:$weight,
                       OptionalAttr<Tenon_OrderAttr>:$order);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`order` $order^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// True where the input is quantised and quants are multiplied as integers.
    bool isQuantized();
  }];
}

def Tenon_ExpertMatmulOp : Tenon_PureOp<"expert_matmul", [Tenon_OwnWork]> {
  let summary = "y = x · Wᵀ with matrices that each row chooses";
  let description = [{
    The products of a mixture of experts. `weight` [E, N, K] holds a matrix an expert, decoded if
    block-quantised; `ids` [R, k] names the experts of each row. `input` is [R, K], where a row's
    experts share it, or [R, k, K], where each has its own. Result [R, k, N]:

        y[r, j, n] = Σₖ x[r, (j,) k] · W[ids[r, j], n, k]

    added as `tenon.matmul` adds. An id outside [0, E) gives zeros. Where weights are read once, a
    step reads those of the chosen experts alone: its work counts k of them for one row and, for
    more, as many as R rows choose together on average if each expert is as likely as any other.
    ```mlir
    %y = tenon.expert_matmul %x, %w, %ids
        : (tensor<1x64xf32>, tensor<8x96x64x!tenon.block<q8_0>>, tensor<1x2xi32>)
        -> tensor<1x2x96xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, Tenon_WeightTensor:$weight, Tenon_IntTensor:$ids,
                       OptionalAttr<Tenon_OrderAttr>:$order);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight `,` $ids (`order` $order^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Tenon_WeightedSumOp : Tenon_PureOp<"weighted_sum", [Tenon_OwnWork]> {
  let summary = "Sum of a row's vectors, each times its weight";
  let description = [{
    `input` [R, k, N], `weights` [R, k], result [R, N]: y[r, n] = Σⱼ weights[r, j] · x[r, j, n],
    added in f32 with fused multiply-adds to 0 in ascending j. Joins what a row's experts give.
    ```mlir
    %y = tenon.weighted_sum %x, %weights : (tensor<1x2x64xf32>, tensor<1x2xf32>) -> tensor<1x64xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, Tenon_FloatTensor:$weights);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weights attr-dict `:` functional-type(operands, results)";
}

def Tenon_QuantizeOp : Tenon_PureOp<"quantize"> {
  let summary = "Activations in blocks of 8-bit integers";
  let description = [{
    `input` [..., K], result of the same shape, in the encoding `q8_s` (blocks of 32) or `q8_k`
    (blocks of 256): in each block scale = max |x| / 127 and quant = round(x / scale), as
    `ir/encoding/Q8_S.cpp` and `Q8_K.cpp` say. That is the result's rounding point. For products
    with block-quantised weights; `tenon-quantize-activations` inserts it.
    ```mlir
    %q = tenon.quantize %x : (tensor<1x64xf32>) -> tensor<1x64x!tenon.block<q8_s>>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input);
  let results = (outs Tenon_BlockTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_EmbeddingOp : Tenon_PureOp<"embedding", [Tenon_OwnWork]> {
  let summary = "Rows of a table, chosen by index";
  let description = [{
    `table` [V, D], `ids` [..., M] of i32 or i64, result [..., M, D]: y[m] = table[ids[m]], decoded if
    block-quantised. An id outside [0, V) gives a row of zeros. Also selects rows of an activation.
  }];
  let arguments = (ins Tenon_WeightTensor:$table, Tenon_IndexTensor:$ids);
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
