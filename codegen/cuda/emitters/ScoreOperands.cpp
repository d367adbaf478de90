#include "codegen/cuda/emitters/ScoreOperands.h"

#include "absl/strings/str_join.h"
#include "ir/AttentionRows.h"

using namespace mlir;

namespace tenon::codegen::cuda {

std::vector<Access> ScoreOperands::reads() {
  std::vector<Access> found;
  for (Value operand : {Value(op.getBias()), Value(op.getSlopes()), Value(op.getSinks())})
    if (operand)
      found.push_back(context.access(operand));
  return found;
}

std::string ScoreOperands::vectorAt(TypedValue<RankedTensorType> vector, const std::string& index) {
  return absl::StrFormat("toFloat(%s[%s])", context.pointer(vector), index);
}

std::string ScoreOperands::biasLine() {
  BiasLines lines(op);
  AttentionRows of(op);
  std::vector<std::string> terms;
  auto add = [&](int64_t pitch, const std::string& index) {
    if (pitch > 1)
      terms.push_back(absl::StrFormat("(long long)%s * %d", index, pitch));
    else if (pitch == 1)
      terms.push_back(index);
  };
  add(lines.ofHead, "ofHead");
  if (lines.ofSequence == lines.ofRow * of.rows) {
    add(lines.ofRow, "ofRow");
  } else {
    add(lines.ofSequence, absl::StrFormat("(ofRow / %d)", of.rows));
    add(lines.ofRow, absl::StrFormat("(ofRow %% %d)", of.rows));
  }
  return terms.empty() ? "0" : absl::StrJoin(terms, " + ");
}

void ScoreOperands::printAdded(CodeWriter& code, const std::string& row, const std::string& head) {
  if (!addToScores())
    return;
  llvm::ArrayRef<int64_t> query = shapeOf(op.getQuery().getType()); // [M, Hq, D]
  code.open("auto added = [&](int item, int key)");
  code.format("const int ofRow = min(%s, %d), ofHead = min(%s, %d);", row, query[0] - 1, head,
              query[1] - 1);
  code.line("float sum = 0.0f;");
  if (auto bias = op.getBias()) {
    code.format("const long long line = %s;", biasLine());
    int64_t keys = BiasLines(op).keys;
    code.format("sum = %s;",
                vectorAt(bias, absl::StrFormat("line * %d + min(key, %d)", keys, keys - 1)));
  }
  if (auto slopes = op.getSlopes())
    code.format("sum -= %s * fabsf(static_cast<float>(key) - static_cast<float>(%s[ofRow]));",
                vectorAt(slopes, "ofHead"), context.pointer(op.getPositions()));
  code.line("return sum;");
  code.close(";");
}

void ScoreOperands::printDenominator(CodeWriter& code, const std::string& head,
                                     bool inPowersOfTwo) {
  if (areEmpty())
    return;
  code.open("auto denominator = [&](float total, float largest, int item)");
  if (auto sinks = op.getSinks()) {
    int64_t last = shapeOf(op.getQuery().getType())[1] - 1;
    code.format("const float sink = %s;",
                vectorAt(sinks, absl::StrFormat("min(%s, %d)", head, last)));
    code.format("return total + %s;", inPowersOfTwo ? "powerOfTwo(sink * 1.44269504f - largest)"
                                                    : "expf(sink - largest)");
  } else {
    code.line("return total > 0.0f ? total : 1.0f; // a bias may hide all keys");
  }
  code.close(";");
}

} // namespace tenon::codegen::cuda
