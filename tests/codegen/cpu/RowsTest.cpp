#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "codegen/cpu/CompileForCpu.h"
#include "ir/encoding/Encoding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::tests {

static const std::vector<std::vector<int64_t>> shapes = {{1, 64}, {5, 37},   {2, 3, 17},
                                                         {1, 1},  {3, 2048}, {300, 40}};
static const char* const elements[] = {"f32", "f16", "bf16"};

TEST(CpuRows, RmsNorm) {
  CaseList list;
  for (const std::vector<int64_t>& shape : shapes) {
    for (const char* element : elements) {
      std::string type = tensorType(shape, element);
      list.add("rms_norm", {type, tensorType({shape.back()}, "f32")}, type,
               "tenon.rms_norm %a, %b eps 1.0e-5");
    }
    list.add("no_weight", {tensorType(shape, "f32")}, tensorType(shape, "f16"),
             "tenon.rms_norm %a eps 1.0e-6");
  }
  expectMatchesReference(list.cases);
}

TEST(CpuRows, LayerNorm) {
  CaseList list;
  for (const std::vector<int64_t>& shape : shapes) {
    std::string vector = tensorType({shape.back()}, "f32");
    for (const char* element : elements) {
      std::string type = tensorType(shape, element);
      list.add("both", {type, vector, vector}, type,
               "tenon.layer_norm %a weight %b bias %c eps 1.0e-5");
    }
    std::string type = tensorType(shape, "f32");
    list.add("weight", {type, vector}, type, "tenon.layer_norm %a weight %b eps 1.0e-5");
    list.add("plain", {type}, type, "tenon.layer_norm %a eps 1.0e-5");
  }
  expectMatchesReference(list.cases);
}

TEST(CpuRows, Softmax) {
  CaseList list;
  for (const std::vector<int64_t>& shape : shapes)
    for (const char* element : elements) {
      CpuCase& test = list.add("softmax", {tensorType(shape, element)}, tensorType(shape, element),
                               "tenon.softmax %a");
      test.low = -90, test.high = 90;
    }
  expectMatchesReference(list.cases);
}

TEST(CpuRows, Reduce) {
  CaseList list;
  for (const std::vector<int64_t>& shape : shapes)
    for (const char* kind : {"sum", "mean", "max", "min"})
      for (const char* element : {"f32", "f16"}) {
        std::vector<int64_t> result = shape;
        result.back() = 1;
        list.add("reduce", {tensorType(shape, element)}, tensorType(result, element),
                 absl::StrFormat("tenon.reduce %s %%a", kind));
      }
  for (const char* kind : {"max", "min"}) {
    std::string what = absl::StrFormat("tenon.reduce %s %%a", kind);
    CpuCase& test = list.add("nan", {tensorType({2, 3}, "f32")}, tensorType({2, 1}, "f32"), what);
    test.floats[0] = {1, std::nan(""), 2, -1, -2, -3};
  }
  expectMatchesReference(list.cases);
}

TEST(CpuRows, Argmax) {
  CaseList list;
  for (const std::vector<int64_t>& shape : shapes) {
    std::vector<int64_t> result(shape.begin(), shape.end() - 1);
    for (const char* element : elements)
      list.add("argmax", {tensorType(shape, element)}, tensorType(result, "i32"),
               "tenon.argmax %a");
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double nan = std::nan("");
  CpuCase& special =
      list.add("special", {tensorType({6, 5}, "f32")}, tensorType({6}, "i32"), "tenon.argmax %a");
  special.floats[0] = {1,         3, 3,   2,  3,   nan, nan,       nan,       nan, nan,
                       -infinity, 0, nan, 0,  -0., -0., 0,         -1,        -2,  0,
                       nan,       1, 2,   -9, nan, nan, -infinity, -infinity, nan, -infinity};
  expectMatchesReference(list.cases);
}

TEST(CpuRows, TopK) {
  std::vector<CpuCase> cases;
  auto add = [&](const std::vector<int64_t>& shape, int64_t k, const char* element) {
    std::vector<int64_t> result = shape;
    result.back() = k;
    std::string in = tensorType(shape, element), values = tensorType(result, element),
                indices = tensorType(result, "i32");
    CpuCase test;
    test.name = absl::StrFormat("top_k_%u", cases.size());
    test.function =
        absl::StrFormat("func.func @%s(%%a: %s) -> (%s, %s) {\n  %%v, %%i = tenon.top_k %%a k %d : "
                        "(%s) -> (%s, %s)\n"
                        "  return %%v, %%i : %s, %s\n}",
                        test.name, in, values, indices, k, in, values, indices, values, indices);
    cases.push_back(test);
  };
  add({1, 64}, 5, "f32");
  add({3, 37}, 37, "f32");
  add({2, 3, 17}, 1, "bf16");
  add({2, 500}, 20, "f16");
  add({2, 6}, 6, "f32");
  double nan = std::nan("");
  cases.back().floats[0] = {
      nan, 1, 1, -0.0, 0, nan, -1, -2, -1, -std::numeric_limits<double>::infinity(), nan, 3};
  expectMatchesReference(cases);
}

TEST(CpuRows, Embedding) {
  CaseList list;
  for (const char* table : {"f32", "f16", "bf16", "q8_0", "q4_0", "int3_g32_bf16_zero"})
    for (int64_t width : {32, 96, 2048})
      for (const char* result : {"f32", "f16"}) {
        CpuCase& test =
            list.add("embedding", {tensorType({11, width}, table), tensorType({7}, "i32")},
                     tensorType({7, width}, result), "tenon.embedding %a, %b");
        test.integers[1] = {0, 10, 3, -1, 11, std::numeric_limits<int32_t>::min(), 10};
      }
  list.add("odd", {tensorType({4, 37}, "f16"), tensorType({1}, "i32")}, tensorType({1, 37}, "f32"),
           "tenon.embedding %a, %b");
  CpuCase& pairs = list.add("pairs", {tensorType({4, 37}, "f16"), tensorType({2, 3}, "i32")},
                            tensorType({2, 3, 37}, "f32"), "tenon.embedding %a, %b");
  pairs.integers[1] = {3, 0, 4, 1, -1, 2};
  expectMatchesReference(list.cases);
}

TEST(CpuRows, Dequantize) {
  CaseList list;
  for (const char* encoding : {"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"})
    for (const char* result : elements) {
      list.add("dequantize", {tensorType({5, 96}, encoding)}, tensorType({5, 96}, result),
               "tenon.dequantize %a");
      list.add("dequantize", {tensorType({2, 3, 32}, encoding)}, tensorType({2, 3, 32}, result),
               "tenon.dequantize %a");
    }
  for (const char* encoding : {"q2_k", "q3_k", "q4_k", "q5_k", "q6_k"})
    list.add("dequantize", {tensorType({5, 512}, encoding)}, tensorType({5, 512}, "f32"),
             "tenon.dequantize %a");
  for (const Encoding* encoding : allEncodings())
    if (encoding->name.find("_g32_bf16") != std::string_view::npos ||
        encoding->name.find("_g128_f16") != std::string_view::npos ||
        encoding->name.starts_with("e4m3") || encoding->name.find("fp4") != std::string_view::npos)
      list.add("dequantize", {tensorType({3, 256}, std::string(encoding->name))},
               tensorType({3, 256}, "f32"), "tenon.dequantize %a");
  for (const char* encoding : {"int4_g128x8_f16", "int4_g128x8_bf16_zero"})
    list.add("dequantize", {tensorType({3, 2048}, encoding)}, tensorType({3, 2048}, "f32"),
             "tenon.dequantize %a");
  expectMatchesReference(list.cases);
  // Decoded values are those of the encoding, rounded to f32 once.
  for (const CpuCase& test : list.cases)
    if (test.function.find("xf16>") == std::string::npos &&
        test.function.find("xbf16>") == std::string::npos)
      expectEqualsReference(test);
}

/// Blocks of random quants, each byte of a scale once in each place of one.
static ReferenceTensor blocksOfEveryScale(mlir::RankedTensorType type) {
  const Encoding& encoding = *getEncoding(type.getElementType());
  bool isMxfp4 = encoding.name == "mxfp4", hasBlockScale = encoding.name == "nvfp4_f32";
  size_t scales = isMxfp4 ? 1 : encoding.blockSize / 16, scalesAt = hasBlockScale ? 4 : 0;
  auto bytes = std::make_shared<std::vector<std::byte>>(*getStorageBytes(type));
  std::mt19937 random(3);
  std::generate(bytes->begin(), bytes->end(), [&] { return static_cast<std::byte>(random()); });
  for (size_t block = 0; block < bytes->size() / encoding.blockBytes; ++block) {
    std::byte* first = bytes->data() + block * encoding.blockBytes;
    if (hasBlockScale) {
      const float scale = 1.37e-3f;
      std::memcpy(first, &scale, sizeof scale);
    }
    for (size_t i = 0; i < scales; ++i)
      first[scalesAt + i] = static_cast<std::byte>(block + 85 * i);
  }
  return ReferenceTensor(type, *bytes, bytes);
}

// E8M0 has numbers below the smallest normal f32, E4M3 subnormal ones and a NaN, which is 0 here.
TEST(CpuRows, DequantizeEveryScale) {
  for (const std::string encoding : {"mxfp4", "nvfp4", "nvfp4_f32"}) {
    const std::vector<int64_t> shape = {256, findEncoding(encoding)->blockSize};
    CaseList list;
    list.add("dequantize", {tensorType(shape, encoding)}, tensorType(shape, "f32"),
             "tenon.dequantize %a");
    for (const std::string& target : hostTargets()) {
      SCOPED_TRACE(encoding + " on " + target);
      auto context = makeContext();
      auto module = planModule(*context, list.cases[0].function, target);
      ASSERT_THAT(module, IsOk());
      auto function = *(*module)->getOps<mlir::func::FuncOp>().begin();
      ReferenceTensor blocks =
          blocksOfEveryScale(llvm::cast<mlir::RankedTensorType>(function.getArgumentTypes()[0]));
      auto program = codegen::compileForCpu(**module, {});
      ASSERT_THAT(program, IsOk());
      auto outputs = runFunction(*program, 0, {blocks}, 2);
      ASSERT_THAT(outputs, IsOk());
      std::vector<double> actual(blocks.getNumElements());
      findEncoding("f32")->decode((*outputs)[0], actual);
      std::vector<double> exact = blocks.toVector();
      for (size_t i = 0; i < actual.size(); ++i)
        ASSERT_EQ(actual[i], static_cast<double>(static_cast<float>(exact[i]))) << i;
    }
  }
}

} // namespace tenon::tests
