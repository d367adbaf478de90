#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "CudaCases.h"
#include "codegen/cuda/CompileForCuda.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

/// Bytes around every output that no kernel may touch.
constexpr std::byte sentinel{0xA5};
constexpr size_t sentinelBytes = 64;

ReferenceTensor makeInput(mlir::MLIRContext& context, const CaseInput& input, unsigned seed) {
  const Encoding* encoding = findEncoding(input.type);
  auto type = mlir::RankedTensorType::get(input.shape, getElementType(&context, *encoding));
  auto plain = mlir::RankedTensorType::get(input.shape, mlir::Float32Type::get(&context));
  std::mt19937 engine(seed);
  std::normal_distribution<double> gaussian;
  std::uniform_int_distribution<int64_t> index(input.low, std::max(input.low, input.high - 1));
  double deviation = input.fill == Fill::Small ? 1 / std::sqrt(input.shape.back()) : 1;
  std::vector<double> values(plain.getNumElements());
  for (auto [i, value] : llvm::enumerate(values))
    value = input.fill == Fill::Listed  ? input.values[i]
            : input.fill == Fill::Index ? index(engine)
                                        : gaussian(engine) * deviation;
  auto bytes = std::make_shared<std::vector<std::byte>>(encoding->bytesFor(values.size()));
  encoding->encode(values, *bytes);
  ReferenceTensor encoded(type, *bytes, bytes);
  if (encoding->isBlockQuantized())
    return encoded;
  ReferenceTensor decoded(type);
  llvm::copy(encoded.toVector(), decoded.getValues().begin());
  return decoded;
}

/// Half of the distance between neighbours of `value` in that type.
double roundingError(mlir::Type element, double value) {
  int digits = element.isF16() ? 11 : element.isBF16() ? 8 : 24;
  double least = element.isF16() ? 0x1p-14 : 0x1p-126;
  int exponent;
  std::frexp(std::max(std::fabs(value), least), &exponent);
  return std::ldexp(0.5, exponent - digits);
}

void expectClose(const ReferenceTensor& expected, const std::vector<double>& actual,
                 double tolerance, const std::string& what) {
  mlir::Type element = expected.getType().getElementType();
  double largest = 0;
  for (double value : expected.getValues())
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  int failures = 0;
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(expected.getValues(), actual))) {
    auto [want, got] = pair;
    bool same = want == got || (std::isnan(want) && std::isnan(got));
    double allowed =
        element.isInteger() ? 0 : tolerance * largest + 2 * roundingError(element, want);
    if (same || std::fabs(want - got) <= allowed)
      continue;
    if (failures++ < 3)
      ADD_FAILURE() << what << "[" << index << "]: expected " << want << ", got " << got
                    << ", allowed difference " << allowed;
  }
  EXPECT_EQ(failures, 0) << what << ": elements that differ, of " << actual.size();
}

class CudaGpuTest : public ::testing::TestWithParam<CudaCase> {};

/// Runs the program twice on the device and compares with the interpreter.
void compareOnDevice(const CudaCase& testCase, mlir::ModuleOp planned,
                     runtime::CudaExecutor& executor) {
  std::vector<ReferenceTensor> inputs;
  std::vector<std::vector<std::byte>> inputBytes;
  for (auto [index, input] : llvm::enumerate(testCase.inputs)) {
    inputs.push_back(makeInput(*planned.getContext(), input, 17 * index + 1));
    inputBytes.push_back(inputs.back().encode());
  }
  auto interpreter = Interpreter::create(planned);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  for (int call = 0; call < 2; ++call) {
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    std::vector<std::vector<std::byte>> storage;
    std::vector<std::span<const std::byte>> inputSpans(inputBytes.begin(), inputBytes.end());
    std::vector<std::span<std::byte>> outputSpans;
    for (const runtime::Port& port : executor.program().functions[0].outputs)
      storage.emplace_back(port.bytes + 2 * sentinelBytes, sentinel);
    for (std::vector<std::byte>& bytes : storage)
      outputSpans.push_back(
          std::span(bytes).subspan(sentinelBytes, bytes.size() - 2 * sentinelBytes));
    absl::Status status = executor.run(0, inputSpans, outputSpans);
    ASSERT_TRUE(status.ok()) << status;
    for (auto [index, want] : llvm::enumerate(*expected)) {
      std::vector<double> got(want.getNumElements());
      getEncoding(want.getType().getElementType())->decode(outputSpans[index], got);
      expectClose(want, got, testCase.tolerance,
                  executor.program().functions[0].outputs[index].name);
    }
  }
}

void compareCase(const CudaCase& testCase, bool libraries) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = planCase(context, testCase, "h200", libraries);
  ASSERT_TRUE(module.ok()) << module.status();
  auto program = codegen::compileForCuda(**module, {});
  ASSERT_TRUE(program.ok()) << program.status();
  auto executor = runtime::CudaExecutor::create(*std::move(program), {});
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_TRUE(executor.ok()) << executor.status();
  compareOnDevice(testCase, **module, **executor);
}

TEST_P(CudaGpuTest, EqualsTheReference) { compareCase(GetParam(), /*libraries=*/false); }

/// The products that cuBLASLt computes.
class CudaLibraryTest : public ::testing::TestWithParam<CudaCase> {};

TEST_P(CudaLibraryTest, EqualsTheReference) { compareCase(GetParam(), /*libraries=*/true); }

/// The cases in which some kernel is left to a library.
std::vector<CudaCase> libraryCases() {
  std::vector<CudaCase> cases;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const CudaCase& testCase : allCudaCases()) {
    auto module = planCase(context, testCase, "h200", /*libraries=*/true);
    bool uses = false;
    if (module.ok())
      (**module).walk([&](KernelOp kernel) {
        uses |= kernel.getScheduleAttr().getEmitter() == "cublaslt";
      });
    if (uses)
      cases.push_back(testCase);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaGpuTest, ::testing::ValuesIn(allCudaCases()),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Cases, CudaLibraryTest, ::testing::ValuesIn(libraryCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::testing
