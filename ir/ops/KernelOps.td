#ifndef TENON_IR_OPS_KERNELOPS_TD
#define TENON_IR_OPS_KERNELOPS_TD

include "ir/ops/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Tenon_KernelOp : Tenon_Op<"kernel", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Operations that one launch computes";
  let description = [{
    The region holds existing operations; to the interpreter the kernel is transparent. The region
    is isolated, and holds computations and constants alone, so that equal regions are compiled once. `schedule` says how
    it is computed; `buffers`, once planned, where in the workspace each result lies (a result that
    is a state, or that the plan puts into an output of the function, has no buffer: `unit`).
    ```mlir
    %y = tenon.kernel (%a = %x : tensor<1x64xf32>, %b = %w : tensor<64xf32>)
        -> tensor<1x64xf32> schedule #tenon.schedule<"rms_norm", tiles = 1> {
      %0 = tenon.rms_norm %a, %b eps 1.0e-5
          : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
      tenon.yield %0 : tensor<1x64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, OptionalAttr<Tenon_ScheduleAttr>:$schedule,
                       OptionalAttr<ArrayAttr>:$buffers);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes, "::mlir::ValueRange":$inputs)>
  ];
  let extraClassDeclaration = [{
    /// The single block of the region.
    ::mlir::Block& getBlock() { return getBody().front(); }
    /// The operation that yields the results.
    YieldOp getYield();
  }];
}

def Tenon_YieldOp : Tenon_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "The results of a kernel region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif // TENON_IR_OPS_KERNELOPS_TD
