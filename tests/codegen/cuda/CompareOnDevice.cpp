#include "CompareOnDevice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/Status.h"

namespace tenon::testing {

static ReferenceTensor makeInput(mlir::MLIRContext& context, const CaseInput& input,
                                 unsigned seed) {
  const Encoding* encoding = findEncoding(input.type);
  auto type = mlir::RankedTensorType::get(input.shape, getElementType(&context, *encoding));
  auto plain = mlir::RankedTensorType::get(input.shape, mlir::Float32Type::get(&context));
  std::mt19937 engine(seed);
  std::normal_distribution<double> gaussian;
  std::uniform_int_distribution<int64_t> index(input.low, std::max(input.low, input.high - 1));
  double deviation = input.fill == Fill::Small ? 1 / std::sqrt(input.shape.back()) : 1;
  std::uniform_real_distribution<double> uniform(-1, 1);
  auto draw = [&](int64_t i) -> double {
    switch (input.fill) {
    case Fill::Listed:
      return input.values[i];
    case Fill::Index:
      return static_cast<double>(index(engine));
    case Fill::Range:
      return i >= input.low && i < input.high ? uniform(engine)
                                              : std::numeric_limits<double>::quiet_NaN();
    case Fill::Gaussian:
    case Fill::Small:
      break;
    }
    return gaussian(engine) * deviation;
  };
  std::vector<double> values(plain.getNumElements());
  for (auto [i, value] : llvm::enumerate(values))
    value = draw(static_cast<int64_t>(i));
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
static double roundingError(mlir::Type element, double value) {
  int digits = element.isF16() ? 11 : element.isBF16() ? 8 : 24;
  double least = element.isF16() ? 0x1p-14 : 0x1p-126;
  int exponent;
  std::frexp(std::max(std::fabs(value), least), &exponent);
  return std::ldexp(0.5, exponent - digits);
}

void expectClose(const ReferenceTensor& expected, const std::vector<std::byte>& bytes,
                 double tolerance, const std::string& what) {
  mlir::Type element = expected.getType().getElementType();
  std::vector<double> actual(expected.getNumElements());
  getEncoding(element)->decode(bytes, actual);
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

std::vector<ReferenceTensor> makeInputs(mlir::MLIRContext& context,
                                        llvm::ArrayRef<CaseInput> described, unsigned seed) {
  std::vector<ReferenceTensor> inputs;
  for (auto [index, input] : llvm::enumerate(described))
    inputs.push_back(makeInput(context, input, 17 * index + seed));
  return inputs;
}

absl::StatusOr<std::vector<std::vector<std::byte>>>
runOnDevice(runtime::CudaExecutor& executor, llvm::ArrayRef<ReferenceTensor> inputs,
            size_t function) {
  // Bytes around every output that no kernel may touch.
  constexpr std::byte sentinel{0xA5};
  constexpr size_t sentinelBytes = 64;
  std::vector<std::vector<std::byte>> inputBytes, storage, outputs;
  for (const ReferenceTensor& input : inputs)
    inputBytes.push_back(input.encode());
  std::vector<std::span<const std::byte>> inputSpans(inputBytes.begin(), inputBytes.end());
  std::vector<std::span<std::byte>> outputSpans;
  for (const runtime::Port& port : executor.program().functions[function].outputs)
    storage.emplace_back(port.bytes + 2 * sentinelBytes, sentinel);
  for (std::vector<std::byte>& bytes : storage)
    outputSpans.push_back(
        std::span(bytes).subspan(sentinelBytes, bytes.size() - 2 * sentinelBytes));
  TENON_RETURN_IF_ERROR(executor.run(function, inputSpans, outputSpans));
  for (auto [bytes, output] : llvm::zip_equal(storage, outputSpans)) {
    for (size_t i = 0; i < sentinelBytes; ++i)
      EXPECT_TRUE(bytes[i] == sentinel && bytes[bytes.size() - 1 - i] == sentinel)
          << "sentinel " << i;
    outputs.emplace_back(output.begin(), output.end());
  }
  return outputs;
}

} // namespace tenon::testing
