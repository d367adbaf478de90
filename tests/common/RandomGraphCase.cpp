#include "tests/common/RandomGraphCase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/program/Program.h"
#include "support/Status.h"
#include "tests/Tolerances.h"
#include "tests/common/RandomGraph.h"

using namespace mlir;

namespace tenon::tests {

static constexpr uint64_t callCount = 2;

absl::StatusOr<RandomGraphCase> RandomGraphCase::create(uint64_t seed) {
  RandomGraphCase made;
  made.context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  TENON_ASSIGN_OR_RETURN(made.graph, makeRandomGraph(*made.context, seed));
  for (uint64_t call = 0; call < callCount; ++call)
    made.calls.push_back(makeRandomInputs(*made.graph, seed * callCount + call));
  return made;
}

absl::StatusOr<OwningOpRef<ModuleOp>>
RandomGraphCase::plan(const std::string& target, passes::Plan plan,
                      std::vector<passes::FusionDecision>* report) const {
  OwningOpRef<ModuleOp> copy(llvm::cast<ModuleOp>(graph.get()->clone()));
  passes::PipelineOptions options = {.target = findTarget(context.get(), target)};
  options.fusion.plan = plan;
  options.fusion.report = report;
  TENON_RETURN_IF_ERROR(passes::runPipeline(*copy, options));
  return copy;
}

absl::StatusOr<RandomGraphCase::Outputs> RandomGraphCase::run(runtime::Executor& executor) const {
  constexpr std::byte sentinel{0xA5};
  constexpr size_t margin = 64;
  Outputs outputs;
  for (const std::vector<ReferenceTensor>& inputs : calls) {
    std::vector<std::vector<std::byte>> arguments, storage;
    for (const ReferenceTensor& input : inputs)
      arguments.push_back(input.encode());
    std::vector<std::span<std::byte>> results;
    for (const runtime::Port& port : executor.program().functions[0].outputs)
      storage.emplace_back(port.bytes + 2 * margin, sentinel);
    for (std::vector<std::byte>& bytes : storage)
      results.push_back(std::span(bytes).subspan(margin, bytes.size() - 2 * margin));
    std::vector<std::span<const std::byte>> spans(arguments.begin(), arguments.end());
    TENON_RETURN_IF_ERROR(executor.run(0, spans, results));
    for (auto [bytes, result] : llvm::zip_equal(storage, results)) {
      for (size_t i = 0; i < margin; ++i)
        EXPECT_TRUE(bytes[i] == sentinel && bytes[bytes.size() - 1 - i] == sentinel);
      outputs.emplace_back(result.begin(), result.end());
    }
  }
  return outputs;
}

/// Makes the function return what each returned argmax searches, too, and says for every result
/// which of the new ones that is, or −1.
static std::vector<int64_t> returnSearched(func::FuncOp function) {
  Operation* terminator = function.getBody().front().getTerminator();
  std::vector<int64_t> searched(terminator->getNumOperands(), -1);
  llvm::SmallVector<Type> types(function.getResultTypes());
  for (size_t i = 0; i < searched.size(); ++i)
    if (auto argmax = terminator->getOperand(i).getDefiningOp<ArgmaxOp>()) {
      searched[i] = static_cast<int64_t>(types.size());
      types.push_back(argmax.getInput().getType());
      terminator->insertOperands(terminator->getNumOperands(), argmax.getInput());
    }
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), types));
  return searched;
}

/// 1e-4 of the largest, and, since several roundings of a 16-bit type lie behind one another, 16 of
/// its steps.
static double allowedError(const ReferenceTensor& expected) {
  double largest = 0;
  for (double value : expected.toVector())
    largest = std::max(largest, std::abs(value));
  const Encoding* encoding = getEncoding(expected.getType().getElementType());
  return (relativeToLargest + 16 * roundingStep(encoding->name)) * largest;
}

static std::vector<double> decode(const ReferenceTensor& like,
                                  const std::vector<std::byte>& bytes) {
  std::vector<double> values(like.getNumElements());
  getEncoding(like.getType().getElementType())->decode(bytes, values);
  return values;
}

static void expectNear(const ReferenceTensor& expected, const std::vector<std::byte>& bytes) {
  double allowed = allowedError(expected);
  for (auto [actual, wanted] : llvm::zip_equal(decode(expected, bytes), expected.toVector()))
    ASSERT_LE(std::abs(actual - wanted), allowed);
}

/// The elements at the indices found are the largest of their rows.
static void expectLargest(const ReferenceTensor& searched, const ReferenceTensor& expected,
                          const std::vector<std::byte>& bytes) {
  double allowed = allowedError(searched);
  std::vector<double> values = searched.toVector();
  size_t length = searched.getType().getShape().back();
  for (auto [row, found] : llvm::enumerate(decode(expected, bytes))) {
    ASSERT_TRUE(found >= 0 && found < static_cast<double>(length)) << found;
    auto begin = values.begin() + static_cast<ptrdiff_t>(row * length);
    double largest = *std::max_element(begin, begin + static_cast<ptrdiff_t>(length));
    ASSERT_LE(largest - begin[static_cast<ptrdiff_t>(found)], allowed);
  }
}

void RandomGraphCase::expectNearReference(const Outputs& outputs) const {
  OwningOpRef<ModuleOp> copy(llvm::cast<ModuleOp>(graph.get()->clone()));
  std::vector<int64_t> searched = returnSearched(*copy->getOps<func::FuncOp>().begin());
  auto interpreter = Interpreter::create(*copy);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  ASSERT_EQ(outputs.size(), calls.size() * searched.size());
  for (auto [call, inputs] : llvm::enumerate(calls)) {
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (size_t i = 0; i < searched.size(); ++i) {
      SCOPED_TRACE(absl::StrFormat("call %u, output %u", call, i));
      const std::vector<std::byte>& bytes = outputs[call * searched.size() + i];
      if (searched[i] < 0)
        ASSERT_NO_FATAL_FAILURE(expectNear((*expected)[i], bytes));
      else
        ASSERT_NO_FATAL_FAILURE(expectLargest((*expected)[searched[i]], (*expected)[i], bytes));
    }
  }
}

absl::StatusOr<SeedRange> parseSeedRange(absl::string_view text) {
  std::vector<absl::string_view> ends = absl::StrSplit(text, absl::MaxSplits('-', 1));
  SeedRange range;
  if (!absl::SimpleAtoi(ends.front(), &range.first) ||
      !absl::SimpleAtoi(ends.back(), &range.last) || range.last < range.first)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects seeds as SEED or FIRST-LAST, but got '%s'", text));
  return range;
}

absl::StatusOr<std::vector<SeedRange>> readSeeds(const std::string& path) {
  std::ifstream file(path);
  std::vector<SeedRange> ranges;
  for (std::string line; std::getline(file, line);) {
    absl::string_view text =
        absl::StripAsciiWhitespace(absl::string_view(line).substr(0, line.find('#')));
    if (text.empty())
      continue;
    auto range = parseSeedRange(text);
    if (!range.ok())
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", range.status().message()));
    ranges.push_back(*range);
  }
  if (ranges.empty())
    return absl::NotFoundError(path + ": expects seeds, but found none");
  return ranges;
}

} // namespace tenon::tests
