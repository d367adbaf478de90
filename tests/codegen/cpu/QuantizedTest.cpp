#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "codegen/cpu/CompileForCpu.h"
#include "ir/Dialect.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/Tolerances.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/StatusMatchers.h"

using namespace mlir;

namespace tenon::tests {

static const char* const encodings[] = {"q8_0", "q4_0", "q4_k", "q6_k"};

static std::string activationsFor(const std::string& weight) {
  return std::string(findActivationEncoding(*findEncoding(weight))->name);
}

/// The product of a quantised argument.
static void addProduct(CaseList& list, int64_t rows, int64_t columns, int64_t depth,
                       const std::string& weight, const std::string& result = "f32") {
  list.add(
      "product_" + weight,
      {tensorType({rows, depth}, activationsFor(weight)), tensorType({columns, depth}, weight)},
      tensorType({rows, columns}, result), "tenon.matmul %a, %b");
}

/// `tenon.quantize` of an argument, decoded.
static CpuCase quantizeCase(const std::string& name, const std::vector<int64_t>& shape,
                            const std::string& input, const std::string& encoding) {
  CpuCase test;
  test.name = name;
  std::string from = tensorType(shape, input), to = tensorType(shape, encoding);
  std::string result = tensorType(shape, "f32");
  test.function = absl::StrFormat(
      "func.func @%1$s(%%a: %2$s) -> %4$s {\n  %%q = tenon.quantize %%a : (%2$s) -> %3$s\n"
      "  %%r = tenon.dequantize %%q : (%3$s) -> %4$s\n  return %%r : %4$s\n}",
      name, from, to, result);
  return test;
}

TEST(CpuQuantized, QuantsAreTheReferences) {
  for (const char* input : {"f32", "f16", "bf16"}) {
    expectEqualsReference(quantizeCase("small", {3, 96}, input, "q8_s"));
    CpuCase large = quantizeCase("large", {2, 2, 512}, input, "q8_k");
    large.low = -300, large.high = 500;
    // The scale times a quant of q8_k rounds once, in the reference at the end.
    expectEqualsReference(large);
  }
}

TEST(CpuQuantized, BlocksWithoutAScale) {
  for (const char* encoding : {"q8_s", "q8_k"}) {
    CpuCase test = quantizeCase("odd", {1, 1024}, "f32", encoding);
    std::vector<double> values(1024, 0.0);
    std::fill_n(values.begin() + 256, 256, 1e-45);
    std::fill_n(values.begin() + 512, 256, -1e-30);
    for (int i = 768; i < 1024; ++i)
      values[i] = i % 2 ? 127.0 : (i - 800) + 0.5;
    test.floats = {{0, values}};
    expectEqualsReference(test);
  }
}

TEST(CpuQuantized, RowsTimesEncodings) {
  for (const char* encoding : encodings) {
    SCOPED_TRACE(encoding);
    CaseList list;
    for (int64_t rows : {1, 2, 6, 7, 13})
      addProduct(list, rows, 37, 512, encoding);
    for (int64_t columns : {1, 16, 31, 48})
      addProduct(list, 2, columns, 256, encoding);
    expectMatchesReference(list.cases);
  }
}

// Ends of parts of the depth, passes of rows and tiles.
TEST(CpuQuantized, PartsAndPasses) {
  CaseList list;
  for (const char* encoding : {"q8_0", "q4_0"})
    for (int64_t depth : {32, 96, 352})
      addProduct(list, 3, 40, depth, encoding);
  for (const char* encoding : encodings)
    addProduct(list, 259, 1123, 256, encoding);
  addProduct(list, 2, 35, 8192, "q4_k");
  for (const char* result : {"f16", "bf16"})
    addProduct(list, 2, 35, 256, "q6_k", result);
  expectMatchesReference(list.cases);
}

TEST(CpuQuantized, BatchesAndRanks) {
  CaseList list;
  list.add("batched", {tensorType({2, 3, 5, 64}, "q8_s"), tensorType({2, 3, 21, 64}, "q8_0")},
           tensorType({2, 3, 5, 21}, "f32"), "tenon.matmul %a, %b");
  list.add("vector", {tensorType({256}, "q8_k"), tensorType({21, 256}, "q4_k")},
           tensorType({21}, "f32"), "tenon.matmul %a, %b");
  expectMatchesReference(list.cases);
}

/// A tensor of random blocks whose f16 numbers, two bytes at each of `halves`, are small.
static ReferenceTensor randomBlocks(RankedTensorType type, std::vector<size_t> halves,
                                    std::mt19937& random) {
  auto bytes = std::make_shared<std::vector<std::byte>>(*getStorageBytes(type));
  for (std::byte& byte : *bytes)
    byte = static_cast<std::byte>(random());
  size_t blockBytes = getEncoding(type.getElementType())->blockBytes;
  for (size_t block = 0; block < bytes->size(); block += blockBytes)
    for (size_t half : halves)
      (*bytes)[block + half + 1] = static_cast<std::byte>(0x20 + random() % 8);
  return ReferenceTensor(type, *bytes, bytes);
}

// Every bit pattern of the quants beside the largest quants of x: no sum on the way overflows. And
// no bit depends on the width of vectors or on their instructions.
TEST(CpuQuantized, ExtremeQuantsGiveTheSameBitsOnEveryTarget) {
  const std::vector<size_t> halvesOf[] = {{0}, {0}, {0, 2}, {208}};
  std::mt19937 random(7);
  for (auto [encoding, halves] : llvm::zip_equal(encodings, halvesOf)) {
    SCOPED_TRACE(encoding);
    CaseList list;
    addProduct(list, 5, 50, 768, encoding);
    auto context = makeContext();
    std::vector<ReferenceTensor> inputs;
    std::vector<std::byte> first;
    for (const std::string& target : hostTargets()) {
      SCOPED_TRACE(target);
      auto module = planModule(*context, list.cases[0].function, target);
      ASSERT_THAT(module, IsOk());
      auto function = *(*module)->getOps<func::FuncOp>().begin();
      if (inputs.empty()) {
        ReferenceTensor x(llvm::cast<RankedTensorType>(function.getArgumentTypes()[0]));
        for (double& value : x.getValues())
          value = random() % 4 == 0 ? -1 : 1;
        auto bytes = std::make_shared<std::vector<std::byte>>(x.encode());
        inputs.emplace_back(x.getType(), *bytes, bytes);
        inputs.push_back(randomBlocks(llvm::cast<RankedTensorType>(function.getArgumentTypes()[1]),
                                      halves, random));
      }
      auto program = codegen::compileForCpu(**module, {});
      ASSERT_THAT(program, IsOk());
      auto outputs = runFunction(*program, 0, inputs, 2);
      ASSERT_THAT(outputs, IsOk());
      if (first.empty()) {
        auto interpreter = Interpreter::create(**module);
        ASSERT_THAT(interpreter, IsOk());
        auto expected = (*interpreter)->run(list.cases[0].name, inputs);
        ASSERT_THAT(expected, IsOk());
        std::vector<double> actual((*expected)[0].getNumElements());
        findEncoding("f32")->decode((*outputs)[0], actual);
        auto mismatch = findMismatch(actual, (*expected)[0].toVector(), "f32");
        EXPECT_FALSE(mismatch) << *mismatch;
        first = (*outputs)[0];
      }
      EXPECT_TRUE((*outputs)[0] == first);
    }
  }
}

/// y of a product of 300 rows, with activations in f32 or quantised where that is faster.
static std::vector<double> runProduct(const std::string& weight, const std::string& leave) {
  auto context = makeContext();
  std::string w = tensorType({512, 1024}, weight);
  CpuCase test;
  test.name = "f";
  test.function = absl::StrFormat(
      "module %1$s {\nfunc.func @f(%%x: tensor<300x1024xf32>, %%w: %2$s) -> tensor<300x512xf32> {\n"
      "  %%y = tenon.matmul %%x, %%w : (tensor<300x1024xf32>, %2$s) -> tensor<300x512xf32>\n"
      "  return %%y : tensor<300x512xf32>\n}\n}",
      leave, w);
  auto module = planModule(*context, test.function, hostTargets().back());
  EXPECT_THAT(module, IsOk());
  bool isQuantized = false;
  (*module)->walk([&](QuantizeOp) { isQuantized = true; });
  // Without VNNI floats may be predicted to be faster: leave changes nothing there.
  bool hasVnni = hostTargets().back() == "x86-64-v4-vnni";
  EXPECT_TRUE(isQuantized ? !leave.empty() : leave.empty() || !hasVnni);
  auto function = *(*module)->getOps<func::FuncOp>().begin();
  auto program = codegen::compileForCpu(**module, {});
  EXPECT_THAT(program, IsOk());
  auto outputs = runFunction(*program, 0, makeInputs(test, function.getFunctionType()), 2);
  EXPECT_THAT(outputs, IsOk());
  std::vector<double> y(300 * 512);
  findEncoding("f32")->decode((*outputs)[0], y);
  return y;
}

// A quant of n levels a side errs by up to scale / 2, evenly: with x even in [-2, 2) and scale
// 2 / 127, 0.0045 of a standard deviation of 1.15. Products of independent weights keep that ratio.
TEST(CpuQuantized, ErrorBesideFloats) {
  for (const char* weight : encodings) {
    SCOPED_TRACE(weight);
    std::vector<double> floats = runProduct(weight, "");
    std::vector<double> quants = runProduct(weight, "attributes {tenon.quantize_activations}");
    double error = 0, size = 0;
    for (size_t i = 0; i < floats.size(); ++i) {
      error += (quants[i] - floats[i]) * (quants[i] - floats[i]);
      size += floats[i] * floats[i];
    }
    double ratio = std::sqrt(error / size);
    EXPECT_LT(ratio, 0.005);
    EXPECT_TRUE(ratio > 0.001 || floats == quants); // it was quantised, or bit for bit not
  }
}

/// What `tenon.matmul` says of q8_s beside q8_0.
static float blockwiseDot(const std::byte* x, const std::byte* w, int64_t depth) {
  float sum = 0;
  for (int64_t block = 0; block < depth / 32; ++block, x += 40, w += 34) {
    float inputScale;
    std::memcpy(&inputScale, x, 4);
    double weightScale;
    findEncoding("f16")->decode({w, 2}, {&weightScale, 1});
    int32_t integers = 0;
    for (int i = 0; i < 32; ++i)
      integers += static_cast<int8_t>(x[8 + i]) * static_cast<int8_t>(w[2 + i]);
    sum =
        std::fmaf(static_cast<float>(integers), inputScale * static_cast<float>(weightScale), sum);
  }
  return sum;
}

TEST(CpuQuantized, AddsBlocksInAscendingOrder) {
  for (const std::string& target : hostTargets()) {
    SCOPED_TRACE(target);
    CaseList list;
    addProduct(list, 7, 37, 352, "q8_0");
    auto context = makeContext();
    auto module = planModule(*context, list.cases[0].function, target);
    ASSERT_THAT(module, IsOk());
    auto function = *(*module)->getOps<func::FuncOp>().begin();
    std::vector<ReferenceTensor> inputs = makeInputs(list.cases[0], function.getFunctionType());
    auto program = codegen::compileForCpu(**module, {});
    ASSERT_THAT(program, IsOk());
    auto outputs = runFunction(*program, 0, inputs, 1);
    ASSERT_THAT(outputs, IsOk());
    std::vector<std::byte> x = inputs[0].encode(), w = inputs[1].encode();
    for (int64_t row = 0; row < 7; ++row)
      for (int64_t column = 0; column < 37; ++column) {
        float actual;
        std::memcpy(&actual, (*outputs)[0].data() + (row * 37 + column) * 4, 4);
        float expected = blockwiseDot(&x[row * 11 * 40], &w[column * 11 * 34], 352);
        ASSERT_EQ(std::bit_cast<uint32_t>(actual), std::bit_cast<uint32_t>(expected))
            << row << ", " << column;
      }
  }
}

} // namespace tenon::tests
