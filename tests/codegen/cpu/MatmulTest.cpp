#include <bit>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "codegen/cpu/CompileForCpu.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/StatusMatchers.h"

using namespace mlir;

namespace tenon::tests {

static const char* const encodings[] = {"f32", "f16", "bf16", "q8_0", "q4_0"};
/// The other formats of blocks of 32, and those of 256.
static const char* const smallBlocks[] = {"q4_1", "q5_0", "q5_1", "iq4_nl"};
static const char* const superBlocks[] = {"q2_k", "q3_k", "q4_k", "q5_k", "q6_k"};
/// Of each family every number of bits, group, type of scale and kind of zero.
static const char* const groups[] = {"int2_g32_bf16_zero",
                                     "int2_g128_f16",
                                     "int3_g32_f16_min",
                                     "int3_g128_f16_zero",
                                     "int4_g32_f16",
                                     "int4_g64_bf16",
                                     "int4_g128_f16",
                                     "int4_g128_f16_zero",
                                     "int4_g128_bf16_min",
                                     "int8_g32_f16",
                                     "int8_g64_bf16_zero",
                                     "int8_g128_f16_min",
                                     "e4m3_g32_f32",
                                     "e4m3_g128_f32",
                                     "mxfp4",
                                     "nvfp4",
                                     "nvfp4_f32"};

static void addMatmul(CaseList& list, const std::string& input, int64_t rows, int64_t columns,
                      int64_t depth, const std::string& weight, const std::string& result) {
  list.add("matmul_" + weight,
           {tensorType({rows, depth}, input), tensorType({columns, depth}, weight)},
           tensorType({rows, columns}, result), "tenon.matmul %a, %b");
}

TEST(CpuMatmul, RowsTimesEncodings) {
  for (const char* encoding : encodings) {
    SCOPED_TRACE(encoding);
    CaseList list;
    for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 13})
      addMatmul(list, "f32", rows, 37, 96, encoding, "f32");
    expectMatchesReference(list.cases);
  }
}

TEST(CpuMatmul, OtherBlockFormats) {
  CaseList list;
  for (int64_t rows : {1, 3, 6, 17}) {
    for (const char* encoding : smallBlocks)
      addMatmul(list, "f32", rows, 37, 96, encoding, "f32");
    for (const char* encoding : superBlocks)
      addMatmul(list, "f32", rows, 37, 768, encoding, "f32");
  }
  expectMatchesReference(list.cases);
}

TEST(CpuMatmul, Groups) {
  CaseList list;
  for (int64_t rows : {1, 3, 17})
    for (const char* encoding : groups)
      addMatmul(list, "f32", rows, 37, 384, encoding, "f32");
  addMatmul(list, "f32", 2, 37, 320, "nvfp4", "f32"); // the last block of a row is no whole step
  addMatmul(list, "f16", 1, 37, 896, "int4_g128_f16_zero", "f16");
  addMatmul(list, "bf16", 70, 66, 1152, "int4_g128_bf16", "bf16");
  expectMatchesReference(list.cases);
}

TEST(CpuMatmul, WideGroups) {
  CaseList list;
  for (const char* encoding :
       {"int4_g128x8_f16", "int4_g128x8_f16_zero", "int4_g128x8_bf16", "int4_g128x8_bf16_zero"})
    for (int64_t rows : {1, 3, 17})
      addMatmul(list, "f32", rows, 37, 2048, encoding, "f32");
  addMatmul(list, "f16", 2, 37, 1024, "int4_g128x8_f16", "f16");
  for (int64_t rows : {1, 17}) {
    addMatmul(list, "f32", rows, 37, 1536, "int4_g128x4_f16_zero", "f32");
    addMatmul(list, "f32", rows, 37, 768, "int4_g128x2_bf16_zero", "f32");
  }
  expectMatchesReference(list.cases);
}

TEST(CpuMatmul, Deep) {
  CaseList list;
  for (const char* encoding : encodings)
    for (int64_t rows : {1, 5})
      addMatmul(list, "f32", rows, 133, 2048, encoding, "f32");
  expectMatchesReference(list.cases);
}

TEST(CpuMatmul, ManyRows) {
  CaseList list;
  for (const char* encoding : encodings)
    addMatmul(list, "f32", 2048, 19, 64, encoding, "f32");
  expectMatchesReference(list.cases);
}

// Depths that are no multiple of the vector: plain types only.
TEST(CpuMatmul, OddDepths) {
  CaseList list;
  for (const char* encoding : {"f32", "f16", "bf16"})
    for (int64_t depth : {1, 3, 15, 17, 172})
      for (int64_t rows : {1, 4})
        addMatmul(list, "f32", rows, 11, depth, encoding, "f32");
  expectMatchesReference(list.cases);
}

TEST(CpuMatmul, ElementTypes) {
  CaseList list;
  for (const char* input : {"f16", "bf16"})
    for (const char* result : {"f32", "f16", "bf16"})
      for (int64_t rows : {1, 3})
        addMatmul(list, input, rows, 9, 64, input, result);
  addMatmul(list, "f16", 1, 1, 64, "q8_0", "f16");
  expectMatchesReference(list.cases);
}

TEST(CpuMatmul, BatchesAndRanks) {
  CaseList list;
  for (const char* encoding : {"f32", "q8_0"})
    for (int64_t rows : {1, 5})
      list.add("batched",
               {tensorType({2, 3, rows, 64}, "f32"), tensorType({2, 3, 21, 64}, encoding)},
               tensorType({2, 3, rows, 21}, "f32"), "tenon.matmul %a, %b");
  list.add("vector", {tensorType({64}, "f32"), tensorType({21, 64}, "f16")},
           tensorType({21}, "f32"), "tenon.matmul %a, %b");
  list.add("rank3", {tensorType({2, 3, 64}, "f32"), tensorType({21, 64}, "f16")},
           tensorType({2, 3, 21}, "f32"), "tenon.matmul %a, %b");
  expectMatchesReference(list.cases);
}

// Several passes of rows, parts of the depth and tiles, and ends of each.
TEST(CpuMatmul, PackedInPartsAndPasses) {
  CaseList list;
  for (const char* encoding : {"f32", "f16", "q8_0"})
    addMatmul(list, "f32", 131, 147, 1120, encoding, "f32");
  addMatmul(list, "f16", 70, 66, 1051, "bf16", "bf16");
  addMatmul(list, "f32", 9, 70, 1280, "q5_k", "f16");
  list.add("batched", {tensorType({2, 3, 7, 544}, "f32"), tensorType({2, 3, 21, 544}, "q4_0")},
           tensorType({2, 3, 7, 21}, "f32"), "tenon.matmul %a, %b");
  expectMatchesReference(list.cases);
}

/// The order of additions as `#tenon.order` describes it, one element after the other.
static float orderedDot(const float* x, const float* w, int64_t depth, OrderAttr order) {
  int64_t chunk = order.getChunk() == 0 ? depth : order.getChunk();
  std::vector<float> parts;
  for (int64_t start = 0; start < depth; start += chunk) {
    std::vector<float> lanes(order.getLanes(), 0.0f);
    for (int64_t k = start; k < std::min(depth, start + chunk); ++k) {
      float& lane = lanes[(k - start) % order.getLanes()];
      lane = std::fmaf(x[k], w[k], lane);
    }
    if (order.getTree() == CombineTree::Halving)
      for (size_t half = lanes.size() / 2; half >= 1; half /= 2)
        for (size_t i = 0; i < half; ++i)
          lanes[i] += lanes[i + half];
    else
      for (size_t i = 1; i < lanes.size(); ++i)
        lanes[0] += lanes[i];
    parts.push_back(lanes[0]);
  }
  float sum = parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    sum += parts[i];
  return sum;
}

static std::vector<float> decodeFloats(const ReferenceTensor& tensor) {
  std::vector<double> values = tensor.toVector();
  return {values.begin(), values.end()};
}

/// Compiles `test`, one matmul, with `order` (null: what scheduling chooses) and compares bits.
static void expectOrder(const CpuCase& test, const std::string& target,
                        llvm::function_ref<OrderAttr(MLIRContext*)> makeOrder) {
  auto context = makeContext();
  auto module = planModule(*context, test.function, target);
  ASSERT_THAT(module, IsOk());
  OrderAttr order;
  (*module)->walk([&](MatmulOp op) {
    if (makeOrder)
      op.setOrderAttr(makeOrder(context.get()));
    order = op.getOrderAttr();
  });
  auto program = codegen::compileForCpu(**module, {});
  ASSERT_THAT(program, IsOk());
  auto function = *(*module)->getOps<func::FuncOp>().begin();
  std::vector<ReferenceTensor> inputs = makeInputs(test, function.getFunctionType());
  auto outputs = runFunction(*program, 0, inputs, 2);
  ASSERT_THAT(outputs, IsOk());
  std::vector<float> x = decodeFloats(inputs[0]), w = decodeFloats(inputs[1]);
  int64_t depth = inputs[0].getRowLength(), columns = inputs[1].getNumRows();
  for (int64_t row = 0; row < inputs[0].getNumRows(); ++row)
    for (int64_t column = 0; column < columns; ++column) {
      float expected = orderedDot(&x[row * depth], &w[column * depth], depth, order), actual;
      std::memcpy(&actual, (*outputs)[0].data() + (row * columns + column) * 4, 4);
      ASSERT_EQ(std::bit_cast<uint32_t>(actual), std::bit_cast<uint32_t>(expected))
          << row << ", " << column;
    }
}

TEST(CpuMatmul, AddsInTheScheduledOrder) {
  CaseList list;
  for (const char* encoding : encodings)
    for (int64_t rows : {1, 5})
      addMatmul(list, "f32", rows, 37, 352, encoding, "f32");
  addMatmul(list, "f32", 1, 3, 37, "f32", "f32");
  for (const char* encoding : {"q5_0", "iq4_nl"})
    addMatmul(list, "f32", 1, 5, 352, encoding, "f32");
  // Several parts of the depth and tiles of a packed product.
  for (const char* encoding : {"f16", "q8_0"})
    addMatmul(list, "f32", 9, 70, 1120, encoding, "f32");
  // One row and packed products decode some of these unit by unit, few rows whole blocks.
  for (const char* encoding : {"q3_k", "q4_k", "q5_k", "q6_k"})
    for (int64_t rows : {1, 3, 17})
      addMatmul(list, "f32", rows, 5, 768, encoding, "f32");
  for (const std::string& target : hostTargets())
    for (const CpuCase& test : list.cases) {
      SCOPED_TRACE(target + " " + test.name);
      expectOrder(test, target, nullptr);
    }
}

TEST(CpuMatmul, AddsInAnyOrderAskedFor) {
  struct Order {
    int64_t chunk, lanes;
    CombineTree tree;
  };
  CaseList list;
  for (const char* encoding : encodings)
    addMatmul(list, "f32", 2, 5, 352, encoding, "f32");
  for (Order order : {Order{0, 32, CombineTree::Halving},
                      {64, 8, CombineTree::Halving},
                      {128, 64, CombineTree::Ascending},
                      {32, 1, CombineTree::Halving},
                      {96, 4, CombineTree::Ascending}})
    for (const CpuCase& test : list.cases) {
      SCOPED_TRACE(absl::StrFormat("%s chunk %d lanes %d", test.name, order.chunk, order.lanes));
      expectOrder(test, hostTargets().back(), [&](MLIRContext* context) {
        return OrderAttr::get(context, order.chunk, order.lanes, order.tree);
      });
    }
}

// A row of x gives the same bits alone as among others: decode and prefill agree.
TEST(CpuMatmul, BitsDoNotDependOnTheNumberOfRows) {
  for (const std::string& target : hostTargets()) {
    SCOPED_TRACE(target);
    auto context = makeContext();
    CaseList list;
    addMatmul(list, "f32", 7, 21, 96, "q8_0", "f32");
    addMatmul(list, "f32", 1, 21, 96, "q8_0", "f32");
    auto module = planModule(*context, list.cases[0].function + list.cases[1].function, target);
    ASSERT_THAT(module, IsOk());
    auto program = codegen::compileForCpu(**module, {});
    ASSERT_THAT(program, IsOk());
    auto function = *(*module)->getOps<func::FuncOp>().begin();
    std::vector<ReferenceTensor> inputs = makeInputs(list.cases[0], function.getFunctionType());
    auto all = runFunction(*program, 0, inputs, 1);
    ASSERT_THAT(all, IsOk());
    for (int64_t row = 0; row < 7; ++row) {
      ReferenceTensor one(RankedTensorType::get({1, 96}, Float32Type::get(context.get())));
      for (int64_t k = 0; k < 96; ++k)
        one.getValues()[k] = inputs[0].getValues()[row * 96 + k];
      auto alone = runFunction(*program, 1, {one, inputs[1]}, 1);
      ASSERT_THAT(alone, IsOk());
      EXPECT_EQ(std::memcmp((*alone)[0].data(), (*all)[0].data() + row * 84, 84), 0) << row;
    }
  }
}

} // namespace tenon::tests
