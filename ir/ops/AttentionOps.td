#ifndef TENON_IR_OPS_ATTENTIONOPS_TD
#define TENON_IR_OPS_ATTENTIONOPS_TD

include "ir/ops/OpBase.td"

def Tenon_StateValue
    : Type<CPred<"::llvm::isa<::tenon::StateType>($_self)">, "state", "::tenon::StateType">;
def Tenon_KeyValue : AnyTypeOf<[Tenon_StateValue, Tenon_FloatTensor]>;

def Tenon_RopeOp : Tenon_PureOp<"rope", [Tenon_OwnWork]> {
  let summary = "Rotary position embedding of the first elements of each head";
  let description = [{
    Su et al. 2021, arXiv 2104.09864. `input` [M, H, D], `positions` [M], `inverse_frequencies`
    [R/2] with R ≤ D: element pair i of a head is rotated by the angle
    positions[m] · inverse_frequencies[i], rounded to f32, and multiplied by `magnitude`; elements
    from R on pass unchanged. `adjacent` pairs (2i, 2i + 1), `halves` pairs (i, i + R/2). Linear,
    Llama-3 and YaRN scaling are all a choice of `inverse_frequencies` and `magnitude`. A row with
    position −1 is inactive: its result is unspecified but finite for finite input.
  }];
  let arguments = (ins Tenon_RopePairing:$pairing, Tenon_FloatTensor:$input,
                       Tenon_IntTensor:$positions,
                       StaticShapeTensorOf<[F32]>:$inverse_frequencies,
                       DefaultValuedAttr<F64Attr, "1.0">:$magnitude);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = [{
    $pairing $input `,` $positions `,` $inverse_frequencies attr-dict
    `:` functional-type(operands, results)
  }];
}

def Tenon_HadamardOp : Tenon_PureOp<"hadamard", [Tenon_OwnWork]> {
  let summary = "Walsh-Hadamard transform of each head";
  let description = [{
    `input` [M, H, D] with D ≤ 1024, result of the same shape. B is the largest power of two that
    divides D; each run of B elements of a head is multiplied with the Hadamard matrix of that size,
    y[i] = Σ (−1)^(bits that i and j share) x[j] / √B. So heads keep their products, and the
    transform of a transform is the head itself; what is large in a few elements is spread over all
    of a run, which a cache of few bits keeps better (Ashkboos et al. 2024, arXiv 2404.00456).
    ```mlir
    %r = tenon.hadamard %k : (tensor<1x8x128xf16>) -> tensor<1x8x128xf16>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// B: the elements that are transformed together.
    int64_t getRun();
  }];
}

def Tenon_RingPlacesOp : Tenon_PureOp<"ring_places", [Tenon_OwnWork]> {
  let summary = "The places at which keys and queries of a stream without end are rotated";
  let description = [{
    A cache in the layout `ring` keeps the first K = `kept` positions and the last ones in `ring`
    places behind them; a row at position p has the place o = p where p < K, otherwise
    o = K + (p − K) mod `ring`, and attends to the kept positions and to the last `window`.

    `positions` [M]; result [`views` · M], `views` 1 or 3. Row m is o, at which a key and a query are
    rotated. Row M + m is o + `ring`, at which the query is rotated for the keys of the round before,
    those at places above its own. Row 2 · M + m is min(p, K + `window` − 1), at which it is rotated
    for the kept keys: they stand as near to the query as if nothing lay between them and the window.
    So no key is rotated twice, and no angle grows with the stream (docs/decisions/0012). A row with
    a negative position keeps it.
    ```mlir
    %places = tenon.ring_places %pos kept 4 ring 159 window 128 views 3
        : (tensor<1xi32>) -> tensor<3xi32>
    ```
  }];
  let arguments = (ins Tenon_IntTensor:$positions, I64Attr:$kept, I64Attr:$ring, I64Attr:$window,
                       I64Attr:$views);
  let results = (outs Tenon_IntTensor:$result);
  let assemblyFormat = [{
    $positions `kept` $kept `ring` $ring `window` $window `views` $views attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Tenon_KvWriteOp : Tenon_ComputeOp<"kv_write", [
    Tenon_OwnWork, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Stores rows in a cache, in place";
  let description = [{
    `values` [M, H, D], `sequences` [M] or [1] (then one for all rows), `positions` [M], `state`
    [S, C, H, D] of the same element type: state[sequences[m], positions[m]] = values[m], at the
    place that the state's layout gives the position. A row whose position is −1, or whose sequence
    or position lies outside the state, is not written; of two rows for one place the later one
    stays. Where the state has a block a head, this is the rounding point: each head is encoded as
    `ir/encoding/CacheEncoding.h` says.

    Where the state is paged, [N, H, P, D], position c of sequence s lies in the page that
    `block_table` [S, B] has in row s at c / P; a row whose entry names no page of the state is not
    written. Rows of two sequences may not be written to one place of a page that both have.
    The result is the state after the write; the operand may not be read afterwards.
    ```mlir
    %k1 = tenon.kv_write %k, %seq, %pos into %k0
        : (tensor<1x4x8xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x128x4x8xf32>)
        -> !tenon.state<1x128x4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$values, Tenon_IntTensor:$sequences,
                       Tenon_IntTensor:$positions, Tenon_StateValue:$state,
                       Optional<Tenon_IntTensor>:$block_table);
  let results = (outs Tenon_StateValue:$result);
  let assemblyFormat = [{
    $values `,` $sequences `,` $positions `into` $state (`block_table` $block_table^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Tenon_AcceptOp : Tenon_PureOp<"accept", [Tenon_OwnWork]> {
  let summary = "Which guesses of one sequence's tokens are those that a model chose, greedily";
  let description = [{
    Leviathan et al. 2023, arXiv 2211.17192, without drawing. The rows of a call, M of them, 1 to 32,
    are a token and guesses of those behind it: `ids` [M] at `positions` [M]. `chosen` [M] is the token
    that the model chose after each row, −1 where there is none. Row 0 is accepted where its position is not
    negative, each row after it where the one before is, its position follows the one before's and its
    id is what was chosen there.

    `accepted` [M] is what was chosen after each accepted row, and −2 for the others: so many tokens
    longer is the text. `next_ids` and `next_positions` are the rows of the next call: what was
    chosen after the last accepted row, at the position behind it, and, where there are `drafts` [M], one
    after each row's choice, the one of that row at the position after. So they have 1 element, or 2.
    Ids are −1, and so are positions, where no row is accepted; a position that i32 does not hold is −1, too.
    ```mlir
    %a, %i, %p = tenon.accept %chosen, %ids, %pos drafts %d
        : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
        -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
    ```
  }];
  let arguments = (ins Tenon_IntTensor:$chosen, Tenon_IntTensor:$ids, Tenon_IntTensor:$positions,
                       Optional<Tenon_IntTensor>:$drafts);
  let results = (outs Tenon_IntTensor:$accepted, Tenon_IntTensor:$next_ids,
                      Tenon_IntTensor:$next_positions);
  let extraClassDeclaration = [{
    /// What `accepted` has for rows that are not.
    static constexpr int32_t notAccepted = -2;
    /// M at most.
    static constexpr int64_t mostRows = 32;
    /// M.
    int64_t getRows();
  }];
  let assemblyFormat = [{
    $chosen `,` $ids `,` $positions (`drafts` $drafts^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Tenon_AttentionOp : Tenon_PureOp<"attention", [AttrSizedOperandSegments, Tenon_OwnWork,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "softmax(scale · q · kᵀ) · v of each query row over its own sequence";
  let description = [{
    Vaswani et al. 2017, arXiv 1706.03762; grouped-query form, Ainslie et al. 2023, arXiv
    2305.13245. `query` [M, Hq, D]; `key` [S, C, Hkv, D] and `value` [S, C, Hkv, Dv], states or
    tensors, Hkv dividing Hq; `sequences` [B], B dividing M; `positions` [M]; result [M, Hq, Dv].

    Row m, one of M / B of sequence sequences[⌊m · B / M⌋], attends to its positions c ≤ positions[m]
    (all C where `causal` is false); with `window` w only to c > positions[m] − w. Scores are scaled
    by `scale`, then, with `softcap` s > 0, become s · tanh(score / s). Then of head h
    - `bias` [Hq or 1, M or 1, C], or [B or 1, Hq or 1, M / B or 1, C], is added: a mask, a relative
      position. −∞ hides the key; of sums below −1e38 it is not told which is larger;
    - `slopes` [Hq] subtract slopes[h] · |c − positions[m]| (ALiBi, Press et al. 2021, arXiv
      2108.12409);
    - `sinks` [Hq] add e^sinks[h] to the softmax's denominator, a score without a value.

    A row with a negative position, with a sequence outside the cache, or without a key to attend to
    yields zeros. Everything in f32, nothing rounded before the result.

    `weights` [Hq, M, C], where it is a second result, are what the values are multiplied with: the
    softmax of row m of head h, 0 where the row does not attend to position c.

    Over caches in the layout `ring`, which keep K first positions, row m attends to c < K, too, and
    `query` is [3 · M, Hq, D], the views of `tenon.ring_places`: rows m for keys at places up to its
    own, rows M + m for those of the round before, rows 2 · M + m for the kept ones. Such an attention
    is causal and has a window, which with the other rows of a call fits into the ring: a row's keys
    may not be overwritten by rows behind it. It has neither bias, slopes nor weights.

    Over paged caches, key [N, Hkv, P, D] and value [N, Hkv, P, Dv], position c of sequence s lies in
    the page that `block_table` [S, B] has in row s at c / P, and C is B · P. An entry that names no
    page of the caches means the last one.

    `chunks`, where each row has a sequence, says that rows beside each other are mostly of one
    sequence, at positions that follow each other, as those of a function of role `mixed` are. It
    says what is worth while, not what is true: results are the same with any sequences and
    positions.
    ```mlir
    %y = tenon.attention %q, %k, %v, %s, %p bias %mask sinks %n scale 0.125
        : (tensor<4x8x64xf16>, tensor<1x32x2x64xf16>, tensor<1x32x2x64xf16>, tensor<1xi32>,
           tensor<4xi32>, tensor<1x4x32xf32>, tensor<8xf32>) -> tensor<4x8x64xf16>
    %z, %w = tenon.attention %q, %k, %v, %s, %p scale 0.125
        : (tensor<4x8x64xf16>, tensor<1x32x2x64xf16>, tensor<1x32x2x64xf16>, tensor<1xi32>,
           tensor<4xi32>) -> (tensor<4x8x64xf16>, tensor<8x4x32xf32>)
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$query, Tenon_KeyValue:$key, Tenon_KeyValue:$value,
                       Tenon_IntTensor:$sequences, Tenon_IntTensor:$positions,
                       Optional<Tenon_FloatTensor>:$bias, Optional<Tenon_FloatTensor>:$slopes,
                       Optional<Tenon_FloatTensor>:$sinks, Optional<Tenon_IntTensor>:$block_table,
                       F64Attr:$scale,
                       DefaultValuedAttr<BoolAttr, "true">:$causal,
                       DefaultValuedAttr<F64Attr, "0.0">:$softcap,
                       DefaultValuedAttr<I64Attr, "0">:$window,
                       UnitAttr:$chunks,
                       OptionalAttr<Tenon_OrderAttr>:$order);
  let results = (outs Tenon_FloatTensor:$result, Optional<Tenon_FloatTensor>:$weights);
  let extraClassDeclaration = [{
    /// The type of what the values give.
    ::mlir::RankedTensorType getType() { return getResult().getType(); }
  }];
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $sequences `,` $positions (`bias` $bias^)? (`slopes` $slopes^)?
    (`sinks` $sinks^)? (`block_table` $block_table^)? `scale` $scale (`order` $order^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TENON_IR_OPS_ATTENTIONOPS_TD
