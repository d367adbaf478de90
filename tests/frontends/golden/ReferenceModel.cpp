#include "tests/frontends/golden/ReferenceModel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "frontends/models/Frontend.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::tests {

using namespace frontends;

static constexpr int32_t prefillRows = 16;

ReferenceModel::ReferenceModel(const std::string& path, bool round, ActivationType activations,
                               void (*edit)(mlir::ModuleOp)) {
  auto source = openModel(path);
  EXPECT_THAT(source, IsOk());
  if (!source.ok())
    return;
  auto imported =
      importModel(context, **source,
                  {.activations = activations,
                   .entries = {{Role::Decode, 1}, {Role::Decode, 2}, {Role::Prefill, prefillRows}},
                   .blockOutputs = true});
  EXPECT_THAT(imported, IsOk());
  if (!imported.ok())
    return;
  module = *std::move(imported);
  if (edit)
    edit(*module);
  InterpreterOptions options;
  options.round = round;
  auto made = Interpreter::create(*module, options);
  EXPECT_THAT(made, IsOk());
  if (made.ok())
    interpreter = *std::move(made);
}

Results ReferenceModel::run(const char* function, const std::vector<std::vector<int32_t>>& inputs) {
  if (!interpreter)
    return {};
  auto type = module->lookupSymbol<mlir::func::FuncOp>(function).getFunctionType();
  std::vector<ReferenceTensor> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ReferenceTensor& argument =
        arguments.emplace_back(llvm::cast<mlir::RankedTensorType>(type.getInput(i)));
    std::copy(inputs[i].begin(), inputs[i].end(), argument.getValues().begin());
  }
  auto tensors = interpreter->run(function, arguments);
  EXPECT_THAT(tensors, IsOk());
  Results results;
  if (tensors.ok())
    for (const ReferenceTensor& tensor : *tensors)
      results.push_back(tensor.toVector());
  return results;
}

Results ReferenceModel::decode(int32_t id, int32_t position) {
  return run("decode_1", {{id}, {0}, {position}});
}

Results ReferenceModel::decodeBoth(int32_t first, int32_t second, int32_t position) {
  return run("decode_2", {{first, second}, {0, 1}, {position, position}});
}

Results ReferenceModel::prefill(const std::vector<int32_t>& ids, int32_t position) {
  std::vector<int32_t> padded(ids), positions(prefillRows, -1);
  padded.resize(prefillRows);
  for (size_t i = 0; i < ids.size(); ++i)
    positions[i] = position + static_cast<int32_t>(i);
  return run("prefill_16", {padded, {0}, positions, {static_cast<int32_t>(ids.size()) - 1}});
}

std::vector<Results> ReferenceModel::decodeAll(const std::vector<int32_t>& ids) {
  std::vector<Results> all;
  for (size_t i = 0; i < ids.size(); ++i)
    all.push_back(decode(ids[i], static_cast<int32_t>(i)));
  return all;
}

void ReferenceModel::reset() {
  if (interpreter)
    interpreter->resetStates();
}

static double largestMagnitude(const std::vector<double>& values) {
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::abs(value));
  return largest;
}

double relativeError(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  if (a.size() != b.size() || b.empty())
    return INFINITY;
  std::vector<double> difference(a);
  for (size_t i = 0; i < a.size(); ++i) {
    difference[i] -= b[i];
    if (!std::isfinite(difference[i]))
      return INFINITY;
  }
  return largestMagnitude(difference) / largestMagnitude(b);
}

std::vector<double> readF32File(const std::string& path) {
  std::string bytes = readFile(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return {values.begin(), values.end()};
}

void expectGreedy(ReferenceModel& model, const GreedyRun& run, double slack) {
  ASSERT_FALSE(run.greedyIds.empty());
  model.reset();
  std::vector<int32_t> ids(run.promptIds);
  ids.insert(ids.end(), run.greedyIds.begin(), run.greedyIds.end());
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    Results results = model.decode(ids[i], static_cast<int32_t>(i));
    ASSERT_FALSE(results.empty());
    if (i + 1 < run.promptIds.size())
      continue;
    const std::vector<double>& logits = results.front();
    double largest = *std::max_element(logits.begin(), logits.end());
    ASSERT_GE(logits.at(ids[i + 1]), largest - slack * largestMagnitude(logits))
        << "token " << i + 1 - run.promptIds.size() << " of the generated ones";
  }
}

void expectLogits(ReferenceModel& model, const std::vector<int32_t>& ids,
                  const std::string& logitsFile, double tolerance) {
  model.reset();
  std::vector<double> expected = readF32File(logitsFile);
  ASSERT_EQ(expected.size(), 13u * 512);
  ASSERT_EQ(ids.size(), 13u);
  std::vector<Results> decoded = model.decodeAll(ids);
  std::vector<double> found;
  for (const Results& results : decoded) {
    ASSERT_FALSE(results.empty());
    found.insert(found.end(), results.front().begin(), results.front().end());
  }
  EXPECT_LE(relativeError(found, expected), tolerance);
  model.reset();
  Results prefilled = model.prefill(ids);
  ASSERT_FALSE(prefilled.empty());
  EXPECT_EQ(prefilled.front(), decoded.back().front());
}

} // namespace tenon::tests
