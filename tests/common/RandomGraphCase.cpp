#include "tests/common/RandomGraphCase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/program/Program.h"
#include "support/Fingerprint.h"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tests/Tolerances.h"
#include "tests/common/RandomGraph.h"

using namespace mlir;

namespace tenon::tests {

absl::StatusOr<RandomGraphCase> RandomGraphCase::create(uint64_t seed, GraphOps ops) {
  RandomGraphCase made;
  made.context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  TENON_ASSIGN_OR_RETURN(made.graph, makeRandomGraph(*made.context, seed, ops));
  std::vector<InputValues> kinds(2, InputValues::Usual);
  if (ops == GraphOps::All) {
    kinds.push_back(InputValues::WildIndices);
    kinds.push_back(InputValues::SpecialFloats);
  }
  for (auto [call, kind] : llvm::enumerate(kinds))
    made.calls.push_back({kind, makeRandomInputs(*made.graph, seed * kinds.size() + call, kind)});
  return made;
}

static bool isWeight(BlockArgument argument) {
  return !argument.use_empty() && llvm::all_of(argument.getUses(), [](OpOperand& use) {
    if (llvm::isa<EmbeddingOp>(use.getOwner()))
      return use.getOperandNumber() == 0;
    return llvm::isa<MatmulOp, RmsNormOp, LayerNormOp>(use.getOwner()) &&
           use.getOperandNumber() > 0;
  });
}

absl::Status RandomGraphCase::moveWeightsToFile(const std::string& path) {
  auto function = *graph->getOps<func::FuncOp>().begin();
  auto file = FlatSymbolRefAttr::get(context.get(), "weights");
  OpBuilder symbols = OpBuilder::atBlockBegin(graph->getBody());
  OpBuilder body = OpBuilder::atBlockBegin(&function.front());
  std::vector<std::byte> bytes;
  llvm::BitVector moved(function.getNumArguments());
  for (BlockArgument argument : function.getArguments()) {
    if (!isWeight(argument))
      continue;
    moved.set(argument.getArgNumber());
    std::vector<std::byte> data = calls[0].inputs[argument.getArgNumber()].encode();
    bytes.resize(bytes.size() / 2 * 2 + 1);
    std::string name = absl::StrCat("w", argument.getArgNumber());
    WeightOp::create(
        symbols, function.getLoc(), name, llvm::cast<RankedTensorType>(argument.getType()),
        symbols.getArrayAttr(RangeAttr::get(context.get(), file, static_cast<int64_t>(bytes.size()),
                                            static_cast<int64_t>(data.size()))));
    bytes.insert(bytes.end(), data.begin(), data.end());
    argument.replaceAllUsesWith(
        GetWeightOp::create(body, function.getLoc(), argument.getType(), name));
  }
  symbols.setInsertionPointToStart(graph->getBody());
  FileOp::create(symbols, function.getLoc(), file.getValue(), path,
                 static_cast<int64_t>(bytes.size()), static_cast<int64_t>(fingerprintFile(bytes)));
  if (failed(function.eraseArguments(moved)))
    return absl::InternalError("cannot take arguments from the function");
  for (Call& call : calls)
    for (int i = moved.find_last(); i >= 0; i = moved.find_prev(i))
      call.inputs.erase(call.inputs.begin() + i);
  return writeFile(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
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

/// Gives every NaN one form: which of two an addition hands on is not defined.
static void unifyNan(const std::string& encoding, std::span<std::byte> bytes) {
  const Encoding& element = *findEncoding(encoding);
  std::vector<double> value(1);
  for (size_t at = 0; encoding != "i32" && at < bytes.size(); at += element.blockBytes) {
    std::span<std::byte> place = bytes.subspan(at, element.blockBytes);
    element.decode(place, value);
    if (std::isnan(value[0]))
      element.encode(std::vector<double>{std::numeric_limits<double>::quiet_NaN()}, place);
  }
}

absl::StatusOr<RandomGraphCase::Outputs> RandomGraphCase::run(runtime::Executor& executor,
                                                              size_t function) const {
  constexpr std::byte sentinel{0xA5};
  constexpr size_t margin = 64;
  Outputs outputs;
  for (const auto& [kind, inputs] : calls) {
    std::vector<std::vector<std::byte>> arguments, storage;
    for (const ReferenceTensor& input : inputs)
      arguments.push_back(input.encode());
    std::vector<std::span<std::byte>> results;
    for (const runtime::Port& port : executor.program().functions[function].outputs)
      storage.emplace_back(port.bytes + 2 * margin, sentinel);
    for (std::vector<std::byte>& bytes : storage)
      results.push_back(std::span(bytes).subspan(margin, bytes.size() - 2 * margin));
    std::vector<std::span<const std::byte>> spans(arguments.begin(), arguments.end());
    TENON_RETURN_IF_ERROR(executor.run(function, spans, results));
    for (auto [index, bytes, result] : llvm::enumerate(storage, results)) {
      for (size_t i = 0; i < margin; ++i)
        EXPECT_TRUE(bytes[i] == sentinel && bytes[bytes.size() - 1 - i] == sentinel);
      if (kind == InputValues::SpecialFloats)
        unifyNan(executor.program().functions[function].outputs[index].encoding, result);
      outputs.emplace_back(result.begin(), result.end());
    }
  }
  return outputs;
}

std::string RandomGraphCase::text() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  graph.get()->print(out);
  return text;
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

/// The interpreter's results of calls, and how far they move where every result of arithmetic is off by
/// up to a rounding step of its type, at random: what fusion does to a graph, whose kernels round fewer
/// intermediate results, and sums in another order.
class ReferenceRuns {
public:
  static absl::StatusOr<ReferenceRuns> create(ModuleOp module) {
    constexpr unsigned samples = 8;
    ReferenceRuns runs;
    TENON_ASSIGN_OR_RETURN(runs.reference, Interpreter::create(module));
    for (unsigned seed = 0; seed < samples; ++seed) {
      InterpreterOptions options;
      options.probe = Rounding{std::mt19937(seed)};
      TENON_ASSIGN_OR_RETURN(runs.moved.emplace_back(), Interpreter::create(module, options));
    }
    return runs;
  }

  /// Runs a call, whose states are those of the call before.
  absl::Status run(llvm::ArrayRef<ReferenceTensor> inputs) {
    TENON_ASSIGN_OR_RETURN(results, reference->run("f", inputs));
    deviations.assign(results.size(), 0);
    for (const std::unique_ptr<Interpreter>& interpreter : moved) {
      TENON_ASSIGN_OR_RETURN(std::vector<ReferenceTensor> sample, interpreter->run("f", inputs));
      for (auto [deviation, a, b] : llvm::zip_equal(deviations, sample, results))
        for (auto [x, y] : llvm::zip_equal(a.toVector(), b.toVector()))
          if (x != y && !std::isnan(x - y))
            deviation = std::max(deviation, std::abs(x - y));
    }
    return absl::OkStatus();
  }

  const ReferenceTensor& result(size_t index) const { return results[index]; }

  /// By how much an element of a result may be off: 1e-4 of the largest and two steps of its type, and
  /// four times what the samples moved. Of quantised activations, a number beside the middle of two
  /// quants may go either way: a few of 127. Integers are of arguments alone, and equal.
  double allowedError(size_t index, bool areQuantized) const {
    constexpr double ofQuants = 4.0 / 127;
    const ReferenceTensor& expected = results[index];
    if (expected.getType().getElementType().isInteger())
      return 0;
    double largest = 0;
    for (double value : expected.toVector())
      if (std::isfinite(value))
        largest = std::max(largest, std::abs(value));
    const Encoding* encoding = getEncoding(expected.getType().getElementType());
    double relative = areQuantized ? ofQuants : relativeToLargest;
    return (relative + 2 * roundingStep(encoding->name)) * largest + 4 * deviations[index];
  }

private:
  struct Rounding {
    std::mt19937 random;

    void operator()(Operation* op, unsigned index, ReferenceTensor value) {
      auto type = llvm::dyn_cast<RankedTensorType>(op->getResult(index).getType());
      if (!type || type.getElementType().isInteger() || value.isEncoded() ||
          llvm::cast<ComputeOpInterface>(op).getWork().flops == 0)
        return;
      constexpr double ofF32 = 1e-6; // sums in another order
      double step = std::max(roundingStep(getEncoding(type.getElementType())->name), ofF32);
      std::uniform_real_distribution<double> factor(1 - step, 1 + step);
      for (double& element : value.getValues())
        element *= factor(random);
    }
  };

  std::unique_ptr<Interpreter> reference;
  std::vector<std::unique_ptr<Interpreter>> moved;
  std::vector<ReferenceTensor> results; ///< of the last call
  std::vector<double> deviations;       ///< by result
};

static std::vector<double> decode(const ReferenceTensor& like,
                                  const std::vector<std::byte>& bytes) {
  std::vector<double> values(like.getNumElements());
  getEncoding(like.getType().getElementType())->decode(bytes, values);
  return values;
}

/// Where a number is infinite or none, another order of roundings may stay finite.
static void expectNear(const ReferenceTensor& expected, const std::vector<std::byte>& bytes,
                       double allowed) {
  for (auto [actual, wanted] : llvm::zip_equal(decode(expected, bytes), expected.toVector()))
    if (std::isfinite(wanted))
      ASSERT_LE(std::abs(actual - wanted), allowed);
}

/// The elements at the indices found are the largest of their rows.
static void expectLargest(const ReferenceTensor& searched, const ReferenceTensor& expected,
                          const std::vector<std::byte>& bytes, double allowed) {
  std::vector<double> values = searched.toVector();
  size_t length = searched.getType().getShape().back();
  for (auto [row, found] : llvm::enumerate(decode(expected, bytes))) {
    ASSERT_TRUE(found >= 0 && found < static_cast<double>(length)) << found;
    auto begin = values.begin() + static_cast<ptrdiff_t>(row * length);
    double largest = *std::max_element(begin, begin + static_cast<ptrdiff_t>(length));
    ASSERT_LE(largest - begin[static_cast<ptrdiff_t>(found)], allowed);
  }
}

/// The places that a tenon.top_k found.
static bool arePlaces(Value value) {
  auto result = llvm::dyn_cast<OpResult>(value);
  return result && llvm::isa<TopKOp>(result.getOwner()) && result.getResultNumber() == 1;
}

void RandomGraphCase::expectNearReference(llvm::ArrayRef<Outputs> runs,
                                          const std::string& target) const {
  OwningOpRef<ModuleOp> copy(llvm::cast<ModuleOp>(graph.get()->clone()));
  auto function = *copy->getOps<func::FuncOp>().begin();
  llvm::SmallVector<bool> places =
      llvm::map_to_vector(function.front().getTerminator()->getOperands(), arePlaces);
  std::vector<int64_t> searched = returnSearched(function);
  bool areQuantized = copy.get()->hasAttr(TenonDialect::quantizeAttrName);
  if (areQuantized) {
    passes::PipelineOptions options = {.upTo = Phase::Fused,
                                       .target = findTarget(context.get(), target)};
    options.fusion.plan = passes::Plan::Unfused;
    ASSERT_TRUE(passes::runPipeline(*copy, options).ok());
  }
  auto reference = ReferenceRuns::create(*copy);
  ASSERT_TRUE(reference.ok()) << reference.status();
  for (const Outputs& outputs : runs)
    ASSERT_EQ(outputs.size(), calls.size() * searched.size());
  for (auto [call, given] : llvm::enumerate(calls)) {
    if (given.values == InputValues::SpecialFloats)
      continue;
    absl::Status status = reference->run(given.inputs);
    ASSERT_TRUE(status.ok()) << status;
    for (auto [run, outputs] : llvm::enumerate(runs))
      for (size_t i = 0; i < searched.size(); ++i) {
        SCOPED_TRACE(absl::StrFormat("run %u, call %u, output %u", run, call, i));
        const std::vector<std::byte>& bytes = outputs[call * searched.size() + i];
        if (places[i]) // equal numbers may change places
          continue;
        size_t compared = searched[i] < 0 ? i : searched[i];
        double allowed = reference->allowedError(compared, areQuantized);
        if (searched[i] < 0)
          ASSERT_NO_FATAL_FAILURE(expectNear(reference->result(i), bytes, allowed));
        else
          ASSERT_NO_FATAL_FAILURE(
              expectLargest(reference->result(compared), reference->result(i), bytes, allowed));
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
