#ifndef TENON_IR_ATTRIBUTES_TD
#define TENON_IR_ATTRIBUTES_TD

include "ir/Base.td"
include "mlir/IR/EnumAttr.td"

class Tenon_Attr<string name, string attrMnemonic> : AttrDef<Tenon_Dialect, name> {
  let mnemonic = attrMnemonic;
}

/// The C++ enum of an attribute or of a parameter.
class Tenon_EnumInfo<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tenon";
  let genSpecializedAttr = 0;
}

class Tenon_Enum<EnumInfo info, string attrMnemonic>
    : EnumAttr<Tenon_Dialect, info, attrMnemonic>;

def Tenon_RopePairingInfo : Tenon_EnumInfo<"RopePairing", "which elements of a head rotate together", [
    I32EnumAttrCase<"Adjacent", 0, "adjacent">, // (2i, 2i + 1): Llama in GGUF, GPT-J
    I32EnumAttrCase<"Halves", 1, "halves">      // (i, i + n/2): GPT-NeoX
  ]>;
def Tenon_RopePairing : Tenon_Enum<Tenon_RopePairingInfo, "rope_pairing">;

def Tenon_ActivationInfo : Tenon_EnumInfo<"Activation", "the activation of a gated linear unit", [
    I32EnumAttrCase<"Silu", 0, "silu">, I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">, I32EnumAttrCase<"Relu", 3, "relu">,
    I32EnumAttrCase<"Sigmoid", 4, "sigmoid">
  ]>;
def Tenon_Activation : Tenon_Enum<Tenon_ActivationInfo, "activation">;

def Tenon_PredicateInfo : Tenon_EnumInfo<"Predicate", "how two numbers compare", [
    I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">, I32EnumAttrCase<"Lt", 2, "lt">,
    I32EnumAttrCase<"Le", 3, "le">, I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">
  ]>;
def Tenon_Predicate : Tenon_Enum<Tenon_PredicateInfo, "predicate">;

def Tenon_ReduceKindInfo : Tenon_EnumInfo<"ReduceKind", "how a reduction combines", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">
  ]>;
def Tenon_ReduceKind : Tenon_Enum<Tenon_ReduceKindInfo, "reduce_kind">;

def Tenon_PhaseInfo : Tenon_EnumInfo<"Phase", "the phase that a module has reached", [
    I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Simplified", 1, "simplified">,
    I32EnumAttrCase<"Fused", 2, "fused">, I32EnumAttrCase<"Scheduled", 3, "scheduled">,
    I32EnumAttrCase<"Planned", 4, "planned">
  ]>;
def Tenon_Phase : Tenon_Enum<Tenon_PhaseInfo, "phase"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tenon_StateLayoutKind : Tenon_EnumInfo<"StateLayout", "where a state has its rows", [
    I32EnumAttrCase<"Dense", 0, "dense">, I32EnumAttrCase<"Ring", 1, "ring">,
    I32EnumAttrCase<"Paged", 2, "paged">
  ]>;

def Tenon_Role : Tenon_EnumInfo<"Role", "what a function is for", [
    I32EnumAttrCase<"Other", 0, "other">, I32EnumAttrCase<"Decode", 1, "decode">,
    I32EnumAttrCase<"Prefill", 2, "prefill">, I32EnumAttrCase<"Mixed", 3, "mixed">
  ]>;

def Tenon_PortRoleInfo : Tenon_EnumInfo<"PortRole", "what a port of a language model holds", [
    I32EnumAttrCase<"Ids", 1, "ids">,              // of tokens
    I32EnumAttrCase<"Sequences", 2, "sequences">,  // of the tokens
    I32EnumAttrCase<"Positions", 3, "positions">,  // of the tokens in their sequences
    I32EnumAttrCase<"OutputRows", 4, "output_rows">, // rows of chunks that have logits
    I32EnumAttrCase<"Logits", 5, "logits">,        // a result
    I32EnumAttrCase<"NextIds", 6, "next_ids">,     // a result: the likeliest token after each row
    I32EnumAttrCase<"BlockTable", 7, "block_table">, // the pages of the sequences
    I32EnumAttrCase<"AcceptedIds", 8, "accepted_ids">, // a result: as `tenon.accept` gives them
    I32EnumAttrCase<"DraftIds", 9, "draft_ids">,   // a result: what may follow each row's next id
    I32EnumAttrCase<"StepIds", 10, "step_ids">,    // a result: the ids of the next call
    I32EnumAttrCase<"StepPositions", 11, "step_positions"> // a result: the positions of the next call
  ]>;
def Tenon_PortRole : Tenon_Enum<Tenon_PortRoleInfo, "port"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tenon_DeviceKind : Tenon_EnumInfo<"DeviceKind", "the kind of device", [
    I32EnumAttrCase<"Cpu", 0, "cpu">, I32EnumAttrCase<"Cuda", 1, "cuda">
  ]>;

def Tenon_CombineTree : Tenon_EnumInfo<"CombineTree", "how partial results of lanes combine", [
    I32EnumAttrCase<"Halving", 0, "halving">,      // lane i + lane i + n/2, then n/4, …
    I32EnumAttrCase<"Ascending", 1, "ascending">,  // ((lane 0 + lane 1) + lane 2) + …
    I32EnumAttrCase<"TensorCores", 2, "tensor_cores"> // as a GPU's tensor cores add
  ]>;

def Tenon_OrderAttr : Tenon_Attr<"Order", "order"> {
  let summary = "The order in which a reduction adds, independent of block and grid";
  let description = [{
    The reduced axis is cut into chunks of `chunk` elements (0: one chunk). Inside a chunk element
    k belongs to lane k mod `lanes`; a lane adds its elements in ascending order, starting from
    +0; the lanes combine by `tree`; the chunks combine in ascending order. Everything in f32.
    With the tree `tensor_cores` the order inside a chunk is the device's own.
    Example: `#tenon.order<chunk = 0, lanes = 16, tree = halving>`.
  }];
  let parameters = (ins "int64_t":$chunk, "int64_t":$lanes,
                        EnumParameter<Tenon_CombineTree>:$tree);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tenon_ScheduleAttr : Tenon_Attr<"Schedule", "schedule"> {
  let summary = "How a kernel region is computed: the emitter and its parameters";
  let description = [{
    `emitter` names an entry of the code generator's list of emitters; `parameters` are its
    positive integers (tile sizes, unrolling). `tiles` is the number of independent pieces of
    work. Example: `#tenon.schedule<"matmul", tiles = 64, {rows_per_tile = 32 : i64}>`.
  }];
  let parameters = (ins StringRefParameter<>:$emitter, "int64_t":$tiles,
                        OptionalParameter<"::mlir::DictionaryAttr">:$parameters);
  let assemblyFormat = "`<` $emitter `,` `tiles` `=` $tiles (`,` $parameters^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The integer parameter of that name; nullopt where there is none.
    std::optional<int64_t> getParameter(llvm::StringRef name) const;
  }];
}

def Tenon_StateLayoutAttr : Tenon_Attr<"StateLayout", "layout"> {
  let summary = "Where a state has its rows";
  let description = [{
    `dense`: a state [S, C, ...] has position c of sequence s as row s · C + c, one after the other.
    In the type of a state it is the layout that is not written.
    `ring`: of a sequence without end the first `kept` positions have the rows of the same number, and
    the others take turns in the C − kept rows behind them, position c the row
    kept + (c − kept) mod (C − kept).
    `paged`: a state [N, H, P, D] is a pool of N pages of P positions each; position c of sequence s
    has place c mod P of the page that a block table [S, B], an operand of what reads or writes the
    state, has in row s at c / P. The pool belongs to all sequences, which hold up to B · P positions.
    Another layout is another kind, with what it needs as parameters of the attribute, a case in each
    of the three accessors that `ir/KvCache.h` names, and the checks of its shape in the type's
    verifier. Example: `#tenon.layout<ring, kept = 4>`.
  }];
  let parameters = (ins EnumParameter<Tenon_StateLayoutKind>:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$kept);
  let assemblyFormat = "`<` $kind (`,` `kept` `=` $kept^)? `>`";
}

def Tenon_BufferAttr : Tenon_Attr<"Buffer", "buffer"> {
  let summary = "A byte range of the workspace, the place of a kernel's result";
  let parameters = (ins "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` `offset` `=` $offset `,` `bytes` `=` $bytes `>`";
  let genVerifyDecl = 1;
}

def Tenon_RangeAttr : Tenon_Attr<"Range", "range"> {
  let summary = "Bytes [offset, offset + bytes) of a `tenon.file`";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$file, "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` $file `,` `offset` `=` $offset `,` `bytes` `=` $bytes `>`";
  let genVerifyDecl = 1;
}

def Tenon_EntryAttr : Tenon_Attr<"Entry", "entry"> {
  let summary = "The entry shape of a function";
  let description = [{
    `decode` with `rows` rows: each row is a token of any sequence, at a place of its own. `prefill`
    with `rows` rows: a chunk of consecutive tokens of one sequence. `mixed` with `rows` rows: chunks
    of several sequences, of one token and more, those of a sequence beside each other in ascending
    positions; the last of each has logits. `other`: any graph.
  }];
  let parameters = (ins EnumParameter<Tenon_Role>:$role, "int64_t":$rows);
  let assemblyFormat = "`<` $role `,` `rows` `=` $rows `>`";
  let genVerifyDecl = 1;
}

def Tenon_ModelAttr : Tenon_Attr<"Model", "model"> {
  let summary = "What a text loop needs to know of the model";
  let description = [{
    `file` names the `tenon.file` that holds the tokeniser. `contextLength` and `sequences` are the
    static capacities of the states; 2^31 − 1 is the length where they are rings.
  }];
  let parameters = (ins "::mlir::StringAttr":$architecture, "::mlir::StringAttr":$name,
                        "::mlir::FlatSymbolRefAttr":$file, "int64_t":$vocabulary,
                        "int64_t":$contextLength, "int64_t":$sequences);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tenon_TargetAttr : Tenon_Attr<"Target", "target"> {
  let summary = "A device as codegen and the cost model see it";
  let description = [{
    `properties` are integers with their unit in the name (`dram_mb_per_s`, `smem_bytes`);
    `features` are instruction-set features as LLVM names them (CPU) or the compute capability
    (`sm_90a`). One file a target in `ir/targets`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, EnumParameter<Tenon_DeviceKind>:$device,
                        "::mlir::ArrayAttr":$features,
                        "::mlir::DictionaryAttr":$properties);
  let assemblyFormat = [{
    `<` $name `,` $device `,` `features` `=` $features `,` $properties `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The integer property of that name; nullopt where the target does not state it.
    std::optional<int64_t> getProperty(llvm::StringRef name) const;
  }];
}

#endif // TENON_IR_ATTRIBUTES_TD
