#ifndef TENON_IR_BASE_TD
#define TENON_IR_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def Tenon_Dialect : Dialect {
  let name = "tenon";
  let cppNamespace = "::tenon";
  let summary = "Transformer inference graphs on ranked tensors of static shape";
  let description = [{
    Operations have value semantics. The element type of a result is its rounding point: an
    operation computes as its description says and rounds once, to nearest even, when it yields.
    Weights and KV caches are symbols; their bytes never lie in a module. A fusion is a region,
    `tenon.kernel`, around existing operations, never a new operation.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    void registerOperations();

    /// Module: the phase that the module has reached, a `PhaseAttr`.
    static constexpr llvm::StringLiteral phaseAttrName = "tenon.phase";
    /// Module: the device compiled for, a `TargetAttr`.
    static constexpr llvm::StringLiteral targetAttrName = "tenon.target";
    /// Module: what a text loop needs to know, a `ModelAttr`.
    static constexpr llvm::StringLiteral modelAttrName = "tenon.model";
    /// Module: products may take their inputs in 8 bits, a `UnitAttr`.
    static constexpr llvm::StringLiteral quantizeAttrName = "tenon.quantize_activations";
    /// Function: the entry shape, an `EntryAttr`.
    static constexpr llvm::StringLiteral entryAttrName = "tenon.entry";
    /// Function argument or result: its name in the Program, a `StringAttr`.
    static constexpr llvm::StringLiteral portAttrName = "tenon.name";
    /// Function argument or result: what a text loop has to know of it, a `PortRoleAttr`.
    static constexpr llvm::StringLiteral roleAttrName = "tenon.role";
    /// Function: bytes of workspace that its plan needs, an i64 `IntegerAttr`.
    static constexpr llvm::StringLiteral workspaceAttrName = "tenon.workspace";
  }];
}

#endif // TENON_IR_BASE_TD
