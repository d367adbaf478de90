#include "tests/end-to-end/Blocks.h"

#include <cstring>

#include <gtest/gtest.h>

#include "passes/simplify/raise/Raise.h"
#include "support/Status.h"
#include "tests/Tolerances.h"
#include "tests/common/StatusMatchers.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/run/Npz.h"

namespace tenon::tests {

static constexpr const char* examplesFolder = TENON_TEST_DATA "/../../examples/blocks/";

std::vector<BlockCase> blockCases() {
  std::vector<BlockCase> cases;
  for (const char* block : blockNames) {
    for (passes::Plan plan : {passes::Plan::Unfused, passes::Plan::Fused, passes::Plan::Auto})
      cases.push_back({block, plan});
    cases.push_back({block, passes::Plan::Auto, /*raises=*/false});
  }
  return cases;
}

std::string nameOf(const BlockCase& test) {
  const char* plan = test.plan == passes::Plan::Unfused ? "_unfused"
                     : test.plan == passes::Plan::Fused ? "_fused"
                     : test.raises                      ? "_auto"
                                                        : "_in_primitives";
  return std::string(test.block) + plan;
}

void PrintTo(const BlockCase& test, std::ostream* out) { *out << nameOf(test); }

std::string blockPath(const std::string& block) {
  return std::string(examplesFolder) + block + ".mlir";
}

absl::StatusOr<runtime::Program> compileBlock(const BlockCase& test, const std::string& target) {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> module,
                         tools::readModel(*context, {.path = blockPath(test.block)}));
  TENON_ASSIGN_OR_RETURN(TargetAttr known, tools::chooseTarget(*context, target));
  passes::FusionOptions fusion = {.plan = test.plan, .libraries = false};
  if (!test.raises)
    for (const passes::Raise& raise : passes::allRaises())
      fusion.disabledRaises.push_back(raise.name.str());
  return tools::compileModel(*module, known, fusion);
}

/// The elements of an array of f32 or i32.
static std::vector<double> numbersOf(std::span<const std::byte> bytes, bool isFloat) {
  std::vector<double> numbers(bytes.size() / sizeof(float));
  for (size_t i = 0; i < numbers.size(); ++i) {
    float number = 0;
    int32_t integer = 0;
    std::memcpy(&number, bytes.data() + i * sizeof(float), sizeof(float));
    std::memcpy(&integer, bytes.data() + i * sizeof(float), sizeof(float));
    numbers[i] = isFloat ? number : integer;
  }
  return numbers;
}

void expectBlock(runtime::Executor& executor, const std::string& block) {
  auto given = tools::readNpz(std::string(examplesFolder) + block + ".npz");
  auto golden = tools::readNpz(TENON_TEST_DATA "/blocks/" + block + ".npz");
  ASSERT_THAT(given, IsOk());
  ASSERT_THAT(golden, IsOk());
  const runtime::Function& function = executor.program().functions.at(0);
  ASSERT_EQ(given->size(), function.inputs.size());
  ASSERT_EQ(golden->size(), function.outputs.size());
  std::vector<std::span<const std::byte>> inputs;
  for (const runtime::Port& port : function.inputs)
    inputs.push_back(given->at(port.name).bytes);
  std::vector<std::vector<std::byte>> outputs;
  for (const runtime::Port& port : function.outputs)
    outputs.emplace_back(port.bytes);
  std::vector<std::span<std::byte>> views(outputs.begin(), outputs.end());
  ASSERT_THAT(executor.run(0, inputs, views), IsOk());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const runtime::Port& port = function.outputs[i];
    const tools::NpyArray& expected = golden->at(port.name);
    bool isFloat = port.encoding == "f32";
    ASSERT_EQ(expected.type, isFloat ? tools::NpyType::F32 : tools::NpyType::I32) << port.name;
    ASSERT_EQ(expected.shape, port.shape) << port.name;
    auto mismatch = findMismatch(numbersOf(outputs[i], isFloat), numbersOf(expected.bytes, isFloat),
                                 port.encoding);
    EXPECT_FALSE(mismatch) << port.name << ": " << *mismatch;
  }
}

} // namespace tenon::tests
