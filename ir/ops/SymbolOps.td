#ifndef TENON_IR_OPS_SYMBOLOPS_TD
#define TENON_IR_OPS_SYMBOLOPS_TD

include "ir/ops/AttentionOps.td"
include "ir/ops/OpBase.td"

def Tenon_FileOp : Tenon_Op<"file", [Symbol]> {
  let summary = "A file that weights lie in";
  let description = [{
    Size and fingerprint are those that the frontend saw; whoever opens the file again checks them.
    ```mlir
    tenon.file @model "stories260K.gguf" bytes 1185376 fingerprint 1234567
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$path, I64Attr:$bytes,
                       I64Attr:$fingerprint);
  let assemblyFormat = [{
    $sym_name $path `bytes` $bytes `fingerprint` $fingerprint attr-dict
  }];
  let hasVerifier = 1;
}

def Tenon_WeightOp : Tenon_Op<"weight", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A constant tensor whose bytes lie in files";
  let description = [{
    The bytes are `ranges`, one behind the other, in the layout of the type's element encoding.
    ```mlir
    tenon.weight @blk.0.ffn_up : tensor<172x64x!tenon.block<q8_0>>
        from [#tenon.range<@model, offset = 4096, bytes = 11696>]
    ```
    A weight [..., N, K] that is `transposed` lies in its files as [..., K, N]. Whoever loads it
    lays it out anew, once.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Tenon_AnyTensor>:$type,
                       TypedArrayAttrBase<Tenon_RangeAttr, "ranges of files">:$ranges,
                       UnitAttr:$transposed);
  let assemblyFormat = [{
    $sym_name `:` $type (`transposed` $transposed^)? `from` $ranges attr-dict
  }];
  let hasVerifier = 1;
}

def Tenon_StateOp : Tenon_Op<"state", [Symbol]> {
  let summary = "Lasting storage, zero at load, shared by the functions of the module";
  let description = [{
    [sequences, positions, heads, head size] for a KV cache.
    ```mlir
    tenon.state @kv.0.k : !tenon.state<1x2048x4x8xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Tenon_StateValue>:$type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Tenon_GetWeightOp : Tenon_Op<"get_weight", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "The value of a `tenon.weight`";
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Tenon_AnyTensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Tenon_GetStateOp : Tenon_Op<"get_state", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "The contents of a `tenon.state` at function entry";
  let description = "At most one in a function for each state.";
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Tenon_StateValue:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
}

def Tenon_ConstantOp : Tenon_Op<"constant", [
    Pure, ConstantLike, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A small constant tensor";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tenon_PlainTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // TENON_IR_OPS_SYMBOLOPS_TD
