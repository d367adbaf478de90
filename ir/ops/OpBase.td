#ifndef TENON_IR_OPS_OPBASE_TD
#define TENON_IR_OPS_OPBASE_TD

include "ir/Attributes.td"
include "ir/Base.td"
include "ir/Interfaces.td"
include "ir/Types.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tenon_Op<string mnemonic, list<Trait> traits = []> : Op<Tenon_Dialect, mnemonic, traits>;

/// A computation. `inferReturnTypeComponents` gives the shapes of the results (element types are
/// the caller's choice: they are rounding points); the interface checks them in every verify.
class Tenon_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Tenon_Op<mnemonic, [InferShapedTypeOpAdaptor,
                          DeclareOpInterfaceMethods<Tenon_ComputeOpInterface>] # traits>;

/// A computation without effects whose operands are printed in order with their functional type.
class Tenon_PureOp<string mnemonic, list<Trait> traits = []>
    : Tenon_ComputeOp<mnemonic, [Pure] # traits>;

/// The trait of a computation whose work is not the interface's default.
defvar Tenon_OwnWork = DeclareOpInterfaceMethods<Tenon_ComputeOpInterface, ["getWork"]>;

/// What elementwise operations have in common.
defvar Tenon_ElementwiseDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypeComponents(
        ::mlir::MLIRContext* context, std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::ShapedTypeComponents>& shapes) {
      return ::tenon::detail::inferBroadcastShape(location, getOperationName(),
                                                  adaptor.getOperands(), shapes);
    }
    void $cppClass::evaluate(::llvm::ArrayRef<::tenon::ReferenceTensor> operands,
                             ::llvm::MutableArrayRef<::tenon::ReferenceTensor> results) {
      ::tenon::detail::evaluateElementwise(*this, operands, results);
    }
    ::tenon::Footprint $cppClass::getFootprint(unsigned operand) {
      return ::tenon::Footprint::element();
    }
  }];

class Tenon_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Tenon_PureOp<mnemonic, [DeclareOpInterfaceMethods<Tenon_ElementwiseOpInterface>] # traits> {
  let extraClassDefinition = Tenon_ElementwiseDefinition;
}

class Tenon_UnaryOp<string mnemonic, string function> : Tenon_ElementwiseOp<mnemonic> {
  let summary = function # ", element by element";
  let arguments = (ins Tenon_FloatTensor:$input);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

class Tenon_BinaryOp<string mnemonic, string function, list<Trait> traits = []>
    : Tenon_ElementwiseOp<mnemonic, traits> {
  let summary = function # ", element by element with broadcasting";
  let arguments = (ins Tenon_FloatTensor:$lhs, Tenon_FloatTensor:$rhs);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

/// The trait of an operation whose operands and results are all floats, or all of one integer type.
def Tenon_OneKind : NativeOpTrait<"OneKind"> { let cppNamespace = "::tenon"; }

/// A function of two floats or of two integers of one type, whose bool is 0 or 1. Integers wrap.
class Tenon_NumberOp<string mnemonic, string function, Type element, list<Trait> traits = []>
    : Tenon_PureOp<mnemonic,
                   [DeclareOpInterfaceMethods<Tenon_ElementwiseOpInterface, ["evaluateInteger"]>,
                    Tenon_OneKind] # traits> {
  let summary = function # ", element by element with broadcasting";
  let arguments = (ins element:$lhs, element:$rhs);
  let results = (outs element:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = Tenon_ElementwiseDefinition;
}

#endif // TENON_IR_OPS_OPBASE_TD
