#include <gtest/gtest.h>

#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

namespace {

/// A product of `rows` rows with `chosen` of 4 experts each; `own` rows of x for every expert.
CpuCase& addProduct(CaseList& list, int64_t rows, int64_t chosen, bool own, int64_t columns,
                    int64_t depth, const std::string& weight, const std::string& element = "f32") {
  std::vector<int64_t> input = {rows, depth};
  if (own)
    input.insert(input.begin() + 1, chosen);
  return list.add("expert_matmul_" + weight,
                  {tensorType(input, element), tensorType({4, columns, depth}, weight),
                   tensorType({rows, chosen}, "i32")},
                  tensorType({rows, chosen, columns}, element), "tenon.expert_matmul %a, %b, %c");
}

} // namespace

TEST(CpuExperts, Encodings) {
  struct Encoded {
    const char* name;
    int64_t depth;
  };
  CaseList list;
  for (const Encoded& weight : {Encoded{"f32", 96},
                                {"f16", 96},
                                {"bf16", 96},
                                {"q8_0", 96},
                                {"q4_0", 96},
                                {"q5_1", 96},
                                {"q4_k", 768},
                                {"q6_k", 512},
                                {"mxfp4", 384},
                                {"int4_g128_f16_zero", 384},
                                {"e4m3_g128_f32", 256},
                                {"int4_g128x8_bf16", 1024}})
    for (int64_t rows : {1, 17})
      addProduct(list, rows, 2, rows == 1, 37, weight.depth, weight.name);
  expectMatchesReference(list.cases);
}

TEST(CpuExperts, Shapes) {
  CaseList list;
  for (int64_t rows : {1, 2, 5, 64})
    for (int64_t chosen : {1, 3})
      for (bool own : {false, true})
        addProduct(list, rows, chosen, own, 19, 33, "f32");
  for (const char* element : {"f16", "bf16"})
    for (int64_t rows : {1, 6})
      addProduct(list, rows, 2, true, 40, 64, element, element);
  // More than a tile gathers at once, and than one tile's columns.
  addProduct(list, 1400, 3, false, 5, 8, "f32");
  addProduct(list, 1, 2, false, 700, 256, "f32");
  addProduct(list, 3, 2, false, 700, 256, "f32");
  expectMatchesReference(list.cases);
}

/// Ids of no expert give zeros, and several rows or places may choose the same.
TEST(CpuExperts, HostileIds) {
  CaseList list;
  addProduct(list, 1, 4, false, 19, 32, "q8_0").integers[2] = {-1, 3, 4, 2147483647};
  addProduct(list, 3, 2, true, 19, 32, "f32").integers[2] = {0, 0, -2147483648, 4, 3, 3};
  addProduct(list, 2, 2, false, 300, 512, "f32").integers[2] = {-1, 4, 7, -5};
  expectMatchesReference(list.cases);
}

TEST(CpuExperts, WeightedSum) {
  CaseList list;
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {1, 1, 1}, {1, 8, 64}, {3, 2, 37}, {1, 4, 9001}, {17, 3, 128}})
    for (const char* element : {"f32", "f16", "bf16"})
      list.add("weighted_sum",
               {tensorType(shape, element), tensorType({shape[0], shape[1]}, "f32")},
               tensorType({shape[0], shape[2]}, element), "tenon.weighted_sum %a, %b");
  expectMatchesReference(list.cases);
}

/// A mixture from router to sum.
TEST(CpuExperts, Mixture) {
  std::vector<CpuCase> cases;
  for (int rows : {1, 7}) {
    std::string r = std::to_string(rows), name = "mixture_" + r;
    auto tensor = [&](const std::string& rest) { return "tensor<" + r + "x" + rest + ">"; };
    cases.push_back(
        {name, "func.func @" + name + "(%x: " + tensor("64xf32") +
                   R"(, %router: tensor<8x64xf32>, %gate: tensor<8x96x64x!tenon.block<q8_0>>,
          %up: tensor<8x96x64x!tenon.block<q8_0>>, %down: tensor<8x64x96x!tenon.block<q4_0>>) -> )" +
                   tensor("64xf32") + " {\n  %logits = tenon.matmul %x, %router : (" +
                   tensor("64xf32") + ", tensor<8x64xf32>) -> " + tensor("8xf32") +
                   "\n  %shares = tenon.softmax %logits : (" + tensor("8xf32") + ") -> " +
                   tensor("8xf32") + "\n  %best, %ids = tenon.top_k %shares k 2 : (" +
                   tensor("8xf32") + ") -> (" + tensor("2xf32") + ", " + tensor("2xi32") +
                   ")\n  %sum = tenon.reduce sum %best : (" + tensor("2xf32") + ") -> " +
                   tensor("1xf32") + "\n  %weights = tenon.div %best, %sum : (" + tensor("2xf32") +
                   ", " + tensor("1xf32") + ") -> " + tensor("2xf32") +
                   "\n  %g = tenon.expert_matmul %x, %gate, %ids : (" + tensor("64xf32") +
                   ", tensor<8x96x64x!tenon.block<q8_0>>, " + tensor("2xi32") + ") -> " +
                   tensor("2x96xf32") + "\n  %u = tenon.expert_matmul %x, %up, %ids : (" +
                   tensor("64xf32") + ", tensor<8x96x64x!tenon.block<q8_0>>, " + tensor("2xi32") +
                   ") -> " + tensor("2x96xf32") + "\n  %glu = tenon.glu silu %g, %u : (" +
                   tensor("2x96xf32") + ", " + tensor("2x96xf32") + ") -> " + tensor("2x96xf32") +
                   "\n  %d = tenon.expert_matmul %glu, %down, %ids : (" + tensor("2x96xf32") +
                   ", tensor<8x64x96x!tenon.block<q4_0>>, " + tensor("2xi32") + ") -> " +
                   tensor("2x64xf32") + "\n  %y = tenon.weighted_sum %d, %weights : (" +
                   tensor("2x64xf32") + ", " + tensor("2xf32") + ") -> " + tensor("64xf32") +
                   "\n  return %y : " + tensor("64xf32") + "\n}\n"});
  }
  expectMatchesReference(cases);
}

} // namespace tenon::tests
