#ifndef TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_TD
#define TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_TD

include "mlir/Pass/PassBase.td"

def ScheduleKernelsPass : Pass<"tenon-schedule-kernels", "mlir::ModuleOp"> {
  let summary = "Choose how each kernel region is computed on the module's target";
  let description = [{
    Sets `schedule` on each `tenon.kernel` (the emitter, the number of tiles, tile sizes) and
    `order` on each reduction inside, from the shapes and `tenon.target` alone: the machine that
    compiles plays no part. Tiles are independent and the order of a reduction does not depend on
    them, so results are the same bits for any number of threads. A schedule that is there already
    is replaced. Where `libraries` allows it, a product of `library_rows` rows and more on a GPU is left
    to cuBLASLt, whose order is its own.

    ```mlir
    %y = tenon.kernel (%a = %x : tensor<1x64xf32>, %b = %w : tensor<172x64xf16>)
        -> tensor<1x172xf32> {
      %0 = tenon.matmul %a, %b : (tensor<1x64xf32>, tensor<172x64xf16>) -> tensor<1x172xf32>
      tenon.yield %0 : tensor<1x172xf32>
    }
    ```
    becomes, for x86-64-v4,
    ```mlir
    %y = tenon.kernel (%a = %x : tensor<1x64xf32>, %b = %w : tensor<172x64xf16>)
        -> tensor<1x172xf32>
        schedule #tenon.schedule<"matmul", tiles = 1, {column_block = 8 : i64,
                                 columns_per_tile = 256 : i64, row_block = 1 : i64}> {
      %0 = tenon.matmul %a, %b order <chunk = 0, lanes = 16, tree = halving>
          : (tensor<1x64xf32>, tensor<172x64xf16>) -> tensor<1x172xf32>
      tenon.yield %0 : tensor<1x172xf32>
    }
    ```
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
  let options = [Option<"libraries", "libraries", "bool", /*default=*/"true",
                        "Leave large products to the device's libraries">,
                 Option<"tf32", "tf32", "bool", /*default=*/"false",
                        "Let libraries round the factors of f32 products to TF32">];
}

#endif // TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_TD
