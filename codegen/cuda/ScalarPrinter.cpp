#include "codegen/cuda/ScalarPrinter.h"

#include <bit>
#include <cmath>
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tenon::codegen::cuda {

std::string floatLiteral(float value) {
  if (!std::isfinite(value))
    return absl::StrFormat("__uint_as_float(0x%08xu)", std::bit_cast<uint32_t>(value));
  std::string text = absl::StrFormat("%.9g", value);
  bool hasPoint = text.find_first_of(".e") != std::string::npos;
  text += hasPoint ? "f" : ".0f";
  return value < 0 || std::signbit(value) ? "(" + text + ")" : text;
}

std::string integerLiteral(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) // its magnitude is no literal
    return "(-9223372036854775807ll - 1)";
  std::string text = absl::StrFormat("%dll", value);
  return value < 0 ? "(" + text + ")" : text;
}

/// How the scalar operations are written: `$0`, `$1` and `$2` stand for the operands. The functions
/// are CUDA's accurate ones, within 2 ulp, powf within 4 (CUDA C++ Programming Guide, mathematical
/// functions), and zero where a power of two is less than 2^-126. A comparison is a float, 1 or 0,
/// as it is a number where an operation yields it.
static const llvm::StringMap<llvm::StringRef>& patterns() {
  static const llvm::StringMap<llvm::StringRef> table = {
      {arith::AddFOp::getOperationName(), "$0 + $1"},
      {arith::SubFOp::getOperationName(), "$0 - $1"},
      {arith::MulFOp::getOperationName(), "$0 * $1"},
      {arith::DivFOp::getOperationName(), "$0 / $1"},
      {arith::NegFOp::getOperationName(), "-$0"},
      {arith::MaximumFOp::getOperationName(), "maximum($0, $1)"},
      {arith::MinimumFOp::getOperationName(), "minimum($0, $1)"},
      {math::AbsFOp::getOperationName(), "fabsf($0)"},
      {math::SqrtOp::getOperationName(), "sqrtf($0)"},
      {math::ExpOp::getOperationName(), "expf($0)"},
      {math::Exp2Op::getOperationName(), "powerOfTwo($0)"},
      {math::LogOp::getOperationName(), "logf($0)"},
      {math::SinOp::getOperationName(), "sinf($0)"},
      {math::CosOp::getOperationName(), "cosf($0)"},
      {math::TanhOp::getOperationName(), "tanhf($0)"},
      {math::ErfOp::getOperationName(), "erff($0)"},
      {math::PowFOp::getOperationName(), "powf($0, $1)"},
      {math::FmaOp::getOperationName(), "fmaf($0, $1, $2)"},
      {math::FloorOp::getOperationName(), "floorf($0)"},
      {math::CeilOp::getOperationName(), "ceilf($0)"},
      {math::RoundEvenOp::getOperationName(), "rintf($0)"},
      {math::TruncOp::getOperationName(), "truncf($0)"},
      {arith::UIToFPOp::getOperationName(), "$0"},
      {arith::SelectOp::getOperationName(), "$0 != 0.0f ? $1 : $2"},
      {arith::AddIOp::getOperationName(), "wrappedSum($0, $1)"},
      {arith::SubIOp::getOperationName(), "wrappedDifference($0, $1)"},
      {arith::MulIOp::getOperationName(), "wrappedProduct($0, $1)"},
      {arith::MaxSIOp::getOperationName(), "$0 > $1 ? $0 : $1"},
      {arith::MinSIOp::getOperationName(), "$0 < $1 ? $0 : $1"},
      {arith::RemSIOp::getOperationName(), "$0 % $1"},
      {arith::XOrIOp::getOperationName(), "$0 ^ $1"},
      {arith::ExtUIOp::getOperationName(), "$0 != 0.0f ? 1ll : 0ll"},
      {arith::SIToFPOp::getOperationName(), "static_cast<float>($0)"},
      {arith::FPToSIOp::getOperationName(), "static_cast<Int64>($0)"},
  };
  return table;
}

/// The predicates of C++, whose `!=` alone holds for NaN.
static llvm::StringRef patternOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return "$0 == $1 ? 1.0f : 0.0f";
  case arith::CmpFPredicate::UNE:
    return "$0 != $1 ? 1.0f : 0.0f";
  case arith::CmpFPredicate::OLT:
    return "$0 < $1 ? 1.0f : 0.0f";
  case arith::CmpFPredicate::OLE:
    return "$0 <= $1 ? 1.0f : 0.0f";
  case arith::CmpFPredicate::OGT:
    return "$0 > $1 ? 1.0f : 0.0f";
  case arith::CmpFPredicate::OGE:
    return "$0 >= $1 ? 1.0f : 0.0f";
  default:
    return "";
  }
}

static llvm::StringRef patternOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return "$0 == $1 ? 1.0f : 0.0f";
  case arith::CmpIPredicate::ne:
    return "$0 != $1 ? 1.0f : 0.0f";
  case arith::CmpIPredicate::slt:
    return "$0 < $1 ? 1.0f : 0.0f";
  case arith::CmpIPredicate::sle:
    return "$0 <= $1 ? 1.0f : 0.0f";
  case arith::CmpIPredicate::sgt:
    return "$0 > $1 ? 1.0f : 0.0f";
  case arith::CmpIPredicate::sge:
    return "$0 >= $1 ? 1.0f : 0.0f";
  case arith::CmpIPredicate::ult:
    return "static_cast<unsigned long long>($0) < static_cast<unsigned long long>($1) ? 1.0f : "
           "0.0f";
  default:
    return "";
  }
}

/// Of a quotient that may be approximate CUDA's is within 2 ulp, too, where the denominator is at
/// most 2^126, and zero beyond; it takes 8 instructions instead of 40 and a branch.
static llvm::StringRef patternOf(Operation& scalar) {
  if (auto comparison = llvm::dyn_cast<arith::CmpFOp>(scalar))
    return patternOf(comparison.getPredicate());
  if (auto comparison = llvm::dyn_cast<arith::CmpIOp>(scalar))
    return patternOf(comparison.getPredicate());
  if (auto quotient = llvm::dyn_cast<arith::DivFOp>(scalar))
    if (arith::bitEnumContainsAll(quotient.getFastmath(), arith::FastMathFlags::afn))
      return "__fdividef($0, $1)";
  return patterns().lookup(scalar.getName().getStringRef());
}

static std::string substitute(llvm::StringRef pattern, llvm::ArrayRef<std::string> operands) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '$')
      text += operands[pattern[++i] - '0'];
    else
      text += pattern[i];
  }
  return text;
}

/// Builds the body in a block of its own, for the time of the printing.
static Value buildBody(ElementwiseOpInterface op, Block& block) {
  MLIRContext* context = op->getContext();
  context->loadDialect<arith::ArithDialect, math::MathDialect>();
  for (Value operand : op->getOperands())
    block.addArgument(detail::computedType(getElementTypeOrSelf(operand)), operand.getLoc());
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  return op.buildScalarBody(builder, op->getLoc(), block.getArguments());
}

FailureOr<std::string> printScalarBody(ElementwiseOpInterface op,
                                       llvm::ArrayRef<std::string> operands,
                                       const std::string& prefix, CodeWriter& code) {
  Block block;
  Value result = buildBody(op, block);
  llvm::DenseMap<Value, std::string> names;
  for (auto [argument, operand] : llvm::zip_equal(block.getArguments(), operands))
    names[argument] = operand;
  int count = 0;
  for (Operation& scalar : block) {
    Value value = scalar.getResult(0);
    if (auto constant = llvm::dyn_cast<arith::ConstantOp>(scalar)) {
      if (auto number = llvm::dyn_cast<FloatAttr>(constant.getValue()))
        names[value] = floatLiteral(number.getValue().convertToFloat());
      else
        names[value] = integerLiteral(llvm::cast<IntegerAttr>(constant.getValue()).getInt());
      continue;
    }
    llvm::StringRef pattern = patternOf(scalar);
    if (pattern.empty())
      return op->emitOpError("expects a scalar body of operations that CUDA C++ has, but got '")
             << scalar.getName() << "'";
    llvm::SmallVector<std::string> inputs;
    for (Value input : scalar.getOperands())
      inputs.push_back(names.at(input));
    std::string name = prefix + "_" + std::to_string(count++);
    code.format("const %s %s = %s;", value.getType().isInteger(64) ? "Int64" : "float", name,
                substitute(pattern, inputs));
    names[value] = name;
  }
  return names.at(result);
}

} // namespace tenon::codegen::cuda
