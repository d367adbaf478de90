#include "tests/codegen/cpu/CpuTest.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "codegen/cpu/CompileForCpu.h"
#include "ir/Dialect.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipeline.h"
#include "runtime/cpu/CpuExecutor.h"
#include "runtime/cpu/HostFeatures.h"
#include "support/Diagnostics.h"
#include "support/Status.h"
#include "tests/Tolerances.h"
#include "tests/codegen/cpu/GuardedBuffer.h"
#include "tests/common/StatusMatchers.h"

using namespace mlir;

namespace tenon::tests {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<TenonDialect, func::FuncDialect>();
  auto context = std::make_unique<MLIRContext>(registry);
  context->loadAllAvailableDialects();
  return context;
}

std::vector<std::string> hostTargets() {
  auto context = makeContext();
  std::vector<std::string> usable;
  for (const char* name : {"x86-64-v3", "x86-64-v4", "x86-64-v4-vnni"}) {
    std::vector<std::string> features;
    for (auto feature : findTarget(context.get(), name).getFeatures().getAsRange<StringAttr>())
      features.push_back(feature.str());
    if (runtime::checkHostFeatures(features).ok())
      usable.push_back(name);
  }
  return usable;
}

absl::StatusOr<OwningOpRef<ModuleOp>> planModule(MLIRContext& context, const std::string& text,
                                                 const std::string& target) {
  OwningOpRef<ModuleOp> module;
  {
    DiagnosticCollector diagnostics(&context);
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return diagnostics.takeStatus();
  }
  passes::PipelineOptions options;
  options.target = findTarget(&context, target);
  TENON_RETURN_IF_ERROR(passes::runPipeline(*module, options));
  return module;
}

std::vector<ReferenceTensor> makeInputs(const CpuCase& test, FunctionType type) {
  std::mt19937 random(std::hash<std::string>()(test.name) & 0xffff);
  std::uniform_real_distribution<double> real(test.low, test.high);
  std::uniform_int_distribution<int> integer(0, 3);
  std::vector<ReferenceTensor> inputs;
  for (auto [index, argument] : llvm::enumerate(type.getInputs())) {
    auto tensor = llvm::cast<RankedTensorType>(argument);
    // Values are made as f32, then encoded as the argument's type stores them.
    ReferenceTensor values(tensor);
    for (auto [i, value] : llvm::enumerate(values.getValues())) {
      if (auto given = test.integers.find(index); given != test.integers.end())
        value = given->second[i];
      else if (auto numbers = test.floats.find(index); numbers != test.floats.end())
        value = numbers->second[i];
      else
        value = tensor.getElementType().isInteger() ? integer(random) : real(random);
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(values.encode());
    ReferenceTensor encoded(tensor, *bytes, bytes);
    if (llvm::isa<BlockType>(tensor.getElementType())) {
      inputs.push_back(encoded);
      continue;
    }
    values.roundToElementType();
    inputs.push_back(values);
  }
  return inputs;
}

absl::StatusOr<std::vector<std::vector<std::byte>>>
runFunction(const runtime::Program& program, size_t index,
            const std::vector<ReferenceTensor>& inputs, int threads) {
  runtime::CpuExecutorOptions options;
  options.threads = threads;
  TENON_ASSIGN_OR_RETURN(auto executor, runtime::CpuExecutor::create(program, options));
  const runtime::Function& function = program.functions[index];
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<std::span<const std::byte>> inputSpans;
  std::vector<std::span<std::byte>> outputSpans;
  for (const ReferenceTensor& input : inputs) {
    std::vector<std::byte> bytes = input.encode();
    buffers.push_back(std::make_unique<GuardedBuffer>(bytes.size()));
    std::ranges::copy(bytes, buffers.back()->bytes().begin());
    inputSpans.push_back(buffers.back()->bytes());
  }
  for (const runtime::Port& output : function.outputs) {
    buffers.push_back(std::make_unique<GuardedBuffer>(output.bytes));
    std::ranges::fill(buffers.back()->bytes(), std::byte{0x7b});
    outputSpans.push_back(buffers.back()->bytes());
  }
  TENON_RETURN_IF_ERROR(executor->run(index, inputSpans, outputSpans));
  for (const auto& buffer : buffers)
    EXPECT_TRUE(buffer->isIntact());
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(inputs[i].encode(), inputSpans[i]))
        << "input " << i << " changed";
  std::vector<std::vector<std::byte>> outputs;
  for (std::span<std::byte> output : outputSpans)
    outputs.emplace_back(output.begin(), output.end());
  return outputs;
}

static void compareWithReference(const runtime::Program& program, size_t index,
                                 const std::vector<ReferenceTensor>& inputs,
                                 const std::vector<ReferenceTensor>& expected) {
  auto outputs = runFunction(program, index, inputs, 1);
  ASSERT_THAT(outputs, IsOk());
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    std::vector<double> actual(expected[i].getNumElements());
    getEncoding(expected[i].getType().getElementType())->decode((*outputs)[i], actual);
    auto mismatch =
        findMismatch(actual, expected[i].toVector(), program.functions[index].outputs[i].encoding);
    EXPECT_FALSE(mismatch) << *mismatch;
  }
  for (int threads : {2, 5}) {
    auto again = runFunction(program, index, inputs, threads);
    ASSERT_THAT(again, IsOk());
    EXPECT_TRUE(*again == *outputs) << "results differ with " << threads << " threads";
  }
}

namespace {

/// Cases as one module, with what the reference makes of them.
struct Reference {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string text;
  OwningOpRef<ModuleOp> module;
  std::vector<std::vector<ReferenceTensor>> inputs, expected;
};

} // namespace

static void runReference(const std::vector<CpuCase>& cases, Reference& reference) {
  for (const CpuCase& test : cases)
    reference.text += test.function + "\n";
  reference.module = parseSourceString<ModuleOp>(reference.text, reference.context.get());
  ASSERT_TRUE(reference.module);
  auto interpreter = Interpreter::create(*reference.module);
  ASSERT_THAT(interpreter, IsOk());
  for (const CpuCase& test : cases) {
    SCOPED_TRACE(test.name);
    auto function = reference.module->lookupSymbol<func::FuncOp>(test.name);
    ASSERT_TRUE(function);
    reference.inputs.push_back(makeInputs(test, function.getFunctionType()));
    (*interpreter)->resetStates();
    auto results = (*interpreter)->run(test.name, reference.inputs.back());
    ASSERT_THAT(results, IsOk());
    reference.expected.push_back(*std::move(results));
  }
}

static absl::StatusOr<runtime::Program> compile(Reference& reference, const std::string& target) {
  TENON_ASSIGN_OR_RETURN(OwningOpRef<ModuleOp> planned,
                         planModule(*reference.context, reference.text, target));
  return codegen::compileForCpu(*planned, {});
}

void expectMatchesReference(const std::vector<CpuCase>& cases, const std::string& symbols) {
  Reference reference;
  reference.text = symbols;
  ASSERT_NO_FATAL_FAILURE(runReference(cases, reference));
  for (const std::string& target : hostTargets()) {
    SCOPED_TRACE(target);
    auto program = compile(reference, target);
    ASSERT_THAT(program, IsOk());
    for (size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(cases[i].name);
      compareWithReference(*program, i, reference.inputs[i], reference.expected[i]);
    }
  }
}

void expectEqualsReference(const CpuCase& test) {
  Reference reference;
  ASSERT_NO_FATAL_FAILURE(runReference({test}, reference));
  for (const std::string& target : hostTargets()) {
    SCOPED_TRACE(target);
    auto program = compile(reference, target);
    ASSERT_THAT(program, IsOk());
    auto outputs = runFunction(*program, 0, reference.inputs[0], 1);
    ASSERT_THAT(outputs, IsOk());
    for (auto [i, expected] : llvm::enumerate(reference.expected[0])) {
      std::vector<double> actual(expected.getNumElements());
      getEncoding(expected.getType().getElementType())->decode((*outputs)[i], actual);
      EXPECT_EQ(actual, expected.toVector()) << "output " << i;
    }
  }
}

void expectIntegers(const CpuCase& test, const std::vector<int64_t>& expected) {
  auto context = makeContext();
  for (const std::string& target : hostTargets()) {
    SCOPED_TRACE(target);
    auto planned = planModule(*context, test.function, target);
    ASSERT_THAT(planned, IsOk());
    auto program = codegen::compileForCpu(**planned, {});
    ASSERT_THAT(program, IsOk());
    auto type = (*planned)->lookupSymbol<func::FuncOp>(test.name).getFunctionType();
    auto outputs = runFunction(*program, 0, makeInputs(test, type), 1);
    ASSERT_THAT(outputs, IsOk());
    const std::vector<std::byte>& bytes = outputs->front();
    std::vector<int64_t> actual(bytes.size() / sizeof(int64_t));
    std::memcpy(actual.data(), bytes.data(), bytes.size());
    EXPECT_EQ(actual, expected);
  }
}

CpuCase& CaseList::add(const std::string& what, const std::vector<std::string>& inputs,
                       const std::string& result, const std::string& operation) {
  CpuCase test;
  test.name = absl::StrFormat("%s_%u", what, cases.size());
  std::vector<std::string> arguments;
  for (const std::string& input : inputs)
    arguments.push_back(
        absl::StrFormat("%%%c: %s", 'a' + static_cast<int>(arguments.size()), input));
  test.function =
      absl::StrFormat("func.func @%s(%s) -> %s {\n  %%r = %s : (%s) -> %s\n  return %%r : %s\n}",
                      test.name, absl::StrJoin(arguments, ", "), result, operation,
                      absl::StrJoin(inputs, ", "), result, result);
  cases.push_back(std::move(test));
  return cases.back();
}

std::string tensorType(const std::vector<int64_t>& shape, const std::string& element) {
  std::string type = "tensor<";
  for (int64_t extent : shape)
    type += std::to_string(extent) + "x";
  bool isPlain = element == "f32" || element == "f16" || element == "bf16" || element == "i1" ||
                 element == "i32" || element == "i64";
  return type + (isPlain ? element : "!tenon.block<" + element + ">") + ">";
}

} // namespace tenon::tests
