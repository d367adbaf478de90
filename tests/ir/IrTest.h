#ifndef TENON_TESTS_IR_IRTEST_H
#define TENON_TESTS_IR_IRTEST_H

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/Dialect.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::tests {

/// A context with the dialects, and short ways to make modules and tensors in it.
class IrTest : public ::testing::Test {
protected:
  IrTest() {
    context.loadDialect<TenonDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::math::MathDialect>();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(std::string_view text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text), &context);
    EXPECT_TRUE(module) << text;
    return module;
  }

  mlir::RankedTensorType type(std::string_view text) {
    return llvm::cast<mlir::RankedTensorType>(mlir::parseType(llvm::StringRef(text), &context));
  }

  /// A tensor of those values; the type as IR writes it.
  ReferenceTensor tensor(std::string_view typeText, const std::vector<double>& values) {
    ReferenceTensor result(type(typeText));
    EXPECT_EQ(static_cast<int64_t>(values.size()), result.getNumElements()) << typeText;
    llvm::copy(values, result.getValues().begin());
    return result;
  }

  /// Runs the function `f` of a module; empty with a failure where it does not run.
  std::vector<std::vector<double>> run(std::string_view text,
                                       const std::vector<ReferenceTensor>& inputs,
                                       InterpreterOptions options = {}) {
    auto module = parse(text);
    if (!module)
      return {};
    auto interpreter = Interpreter::create(*module, std::move(options));
    EXPECT_THAT(interpreter, IsOk());
    if (!interpreter.ok())
      return {};
    auto results = (*interpreter)->run("f", inputs);
    EXPECT_THAT(results, IsOk());
    std::vector<std::vector<double>> values;
    if (results.ok())
      for (const ReferenceTensor& result : *results)
        values.push_back(result.toVector());
    return values;
  }

  /// The first operation of that class in a module.
  template <typename OpT> OpT find(mlir::ModuleOp module) {
    OpT found;
    module.walk([&](OpT op) {
      found = op;
      return mlir::WalkResult::interrupt();
    });
    return found;
  }

  mlir::MLIRContext context;
};

/// Each within `tolerance` of the expected; NaN where NaN is expected.
MATCHER_P2(AreNear, expected, tolerance, "") {
  return ::testing::ExplainMatchResult(
      ::testing::Pointwise(::testing::NanSensitiveDoubleNear(tolerance), expected), arg,
      result_listener);
}

} // namespace tenon::tests

#endif // TENON_TESTS_IR_IRTEST_H
