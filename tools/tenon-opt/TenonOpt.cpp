#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

/// Runs passes on textual IR, for tests and for trying a pass out: mlir-opt with Tenon's dialect.
int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  registry.insert<tenon::TenonDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::math::MathDialect>();
  mlir::registerTransformsPasses();
  tenon::passes::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tenon's modular optimizer driver\n", registry));
}
