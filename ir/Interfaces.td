#ifndef TENON_IR_INTERFACES_TD
#define TENON_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Tenon_ComputeOpInterface : OpInterface<"ComputeOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    A computation on tensors. Everything that other parts ask of an operation, so that a new
    operation is one `.td` entry and one `.cpp` file.
  }];
  let methods = [
    InterfaceMethod<[{
        The work of one execution: floating-point operations (a fused multiply-add counts two) and
        the bytes read of each operand and written of each result. The default: one operation an
        element of the first result, and every operand and result whole, once.
      }], "::tenon::Work", "getWork", (ins), [{}], [{
        return ::tenon::detail::defaultWork($_op);
      }]>,
    InterfaceMethod<[{
        The reference semantics: computes in double from decoded operands and leaves unrounded
        doubles in `results`, which are allocated with the result types; the interpreter rounds.
        Written independently of code generation. The operands' types are those of the verified
        operation. A result that is a state comes unallocated: the operation lets it share the
        elements of the operand that it writes.
      }], "void", "evaluate",
      (ins "::llvm::ArrayRef<::tenon::ReferenceTensor>":$operands,
           "::llvm::MutableArrayRef<::tenon::ReferenceTensor>":$results)>,
    InterfaceMethod<[{
        What one element of a result needs of operand `operand`.
      }], "::tenon::Footprint", "getFootprint", (ins "unsigned":$operand)>
  ];
  let verify = [{
    return ::tenon::detail::verifyInferredShapes($_op);
  }];
  let verifyWithRegions = 0;
}

def Tenon_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    Each result element is a function of the operands' elements at the same, broadcast, position.
    Operands broadcast as in NumPy: shapes align at the innermost axis, extent 1 repeats.
  }];
  let methods = [
    InterfaceMethod<[{
        The reference on one element, in double.
      }], "double", "evaluateElement", (ins "::llvm::ArrayRef<double>":$operands)>,
    InterfaceMethod<[{
        The reference on one element of integers, whose result may have more bits than its type; for
        operations that compute numbers of integers.
      }], "int64_t", "evaluateInteger", (ins "::llvm::ArrayRef<int64_t>":$operands), [{}], [{
        llvm_unreachable("the operation computes no integers of integers");
      }]>,
    InterfaceMethod<[{
        Builds the same function from arith and math operations. `operands` and the value returned
        are scalars or vectors of one shape, of the types that values of their tensors' element types
        are computed in (`detail::computedType`): floats in f32, integers and bools in i64. The caller
        widens and rounds, of integers to their lower bits.
      }], "::mlir::Value", "buildScalarBody",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>
  ];
}

#endif // TENON_IR_INTERFACES_TD
