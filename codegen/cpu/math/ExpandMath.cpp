#include "codegen/cpu/math/ExpandMath.h"

#include "codegen/cpu/math/FloatMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tenon::codegen::cpu {

namespace {

using BuildFunction = Value (*)(FloatMath&, Value);

BuildFunction expansionOf(Operation* op) {
  if (llvm::isa<math::ExpOp>(op))
    return buildExp;
  if (llvm::isa<math::Exp2Op>(op))
    return buildExp2;
  if (llvm::isa<math::LogOp>(op))
    return buildLog;
  if (llvm::isa<math::TanhOp>(op))
    return buildTanh;
  if (llvm::isa<math::ErfOp>(op))
    return buildErf;
  if (llvm::isa<math::SinOp>(op))
    return buildSin;
  if (llvm::isa<math::CosOp>(op))
    return buildCos;
  return nullptr;
}

class ExpandMathPass : public PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)

  llvm::StringRef getArgument() const override { return "tenon-expand-math"; }
  llvm::StringRef getDescription() const override {
    return "Replace mathematical functions of f32 by arithmetic";
  }
  void getDependentDialects(DialectRegistry& registry) const override {
    registry
        .insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    llvm::SmallVector<std::pair<Operation*, BuildFunction>> found;
    getOperation()->walk([&](Operation* op) {
      if (BuildFunction build = expansionOf(op))
        found.emplace_back(op, build);
    });
    llvm::SmallVector<math::PowFOp> powers;
    getOperation()->walk([&](math::PowFOp op) { powers.push_back(op); });
    OpBuilder builder(&getContext());
    for (math::PowFOp op : powers) {
      builder.setInsertionPoint(op);
      FloatMath m(builder, op.getLoc(), op.getType());
      op.replaceAllUsesWith(buildPow(m, op.getLhs(), op.getRhs()));
      op.erase();
    }
    for (auto [op, build] : found) {
      builder.setInsertionPoint(op);
      FloatMath m(builder, op->getLoc(), op->getResult(0).getType());
      op->getResult(0).replaceAllUsesWith(build(m, op->getOperand(0)));
      op->erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createExpandMathPass() { return std::make_unique<ExpandMathPass>(); }

} // namespace tenon::codegen::cpu
