#ifndef TENON_IR_TYPES_TD
#define TENON_IR_TYPES_TD

include "ir/Base.td"

class Tenon_Type<string name, string typeMnemonic> : TypeDef<Tenon_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tenon_BlockType : Tenon_Type<"Block", "block"> {
  let summary = "Element type of a block-quantised tensor";
  let description = [{
    `tensor<NxKx!tenon.block<q8_0>>` has N·K logical elements; each row of K is stored in blocks
    as the encoding of that name (`ir/encoding`) lays them out.
  }];
  let parameters = (ins StringRefParameter<"name of the encoding">:$encodingName);
  let assemblyFormat = "`<` custom<EncodingName>($encodingName) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The storage format; never null.
    const Encoding& getEncoding() const;
    /// Whether it is one of heads of a small cache (ir/encoding/CacheEncoding.h).
    bool isOfCache() const;
  }];
}

def Tenon_StateType : Tenon_Type<"State", "state"> {
  let summary = "The contents of lasting storage at one point of a function";
  let description = [{
    `!tenon.state<SxCxHxDxf16>` is a KV cache of S sequences, C positions, H heads of D, in the layout
    `dense`; another layout is written behind the element type: `!tenon.state<SxCxHxDxf16, ring<4>>`
    keeps the first 4 positions, and `!tenon.state<NxHx128xDxf16, paged<128>>` is a pool of N pages of
    16, 32, 64 or 128 positions. The elements of a small cache are a block a head, of one of the
    encodings of `ir/encoding/CacheEncoding.h`: `!tenon.state<SxCxHx64x!tenon.block<int8_h64>>`. A value
    of this type orders accesses: `tenon.kv_write` consumes one and yields the next in place. At
    most one write consumes a value, and nothing may read it afterwards, so a plan never copies.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::tenon::StateLayoutAttr":$layout);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                   "::mlir::Type":$elementType), [{
    return $_get($_ctxt, shape, elementType, StateLayoutAttr::get($_ctxt, StateLayout::Dense, /*kept=*/0));
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tensor of the same shape and element type.
    ::mlir::RankedTensorType getTensorType() const;
  }];
}

// Constraints

def Tenon_FloatElement : AnyTypeOf<[F32, F16, BF16]>;
def Tenon_FloatTensor : StaticShapeTensorOf<[F32, F16, BF16]>;
def Tenon_IntTensor : StaticShapeTensorOf<[I32]>;
/// Indices along an axis.
def Tenon_IndexTensor : StaticShapeTensorOf<[I32, I64]>;
/// What arithmetic has.
def Tenon_NumberTensor : StaticShapeTensorOf<[F32, F16, BF16, I32, I64]>;
/// What says yes or no.
def Tenon_TruthTensor : StaticShapeTensorOf<[F32, F16, BF16, I1]>;
def Tenon_BlockElement
    : Type<CPred<"::llvm::isa<::tenon::BlockType>($_self) && "
                 "!::llvm::cast<::tenon::BlockType>($_self).isOfCache()">,
           "block-quantised element">;
def Tenon_BlockTensor : StaticShapeTensorOf<[Tenon_BlockElement]>;
def Tenon_WeightTensor : StaticShapeTensorOf<[F32, F16, BF16, Tenon_BlockElement]>;
def Tenon_AnyTensor : StaticShapeTensorOf<[F32, F16, BF16, I1, I32, I64, Tenon_BlockElement]>;
def Tenon_PlainTensor : StaticShapeTensorOf<[F32, F16, BF16, I1, I32, I64]>;

#endif // TENON_IR_TYPES_TD
