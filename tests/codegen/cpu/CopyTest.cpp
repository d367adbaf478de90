#include <gtest/gtest.h>

#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

TEST(CpuCopy, Transpose) {
  CaseList list;
  for (const char* element : {"f32", "f16", "bf16", "i32"}) {
    list.add("matrix", {tensorType({5, 37}, element)}, tensorType({37, 5}, element),
             "tenon.transpose %a by [1, 0]");
    list.add("outer", {tensorType({5, 3, 33}, element)}, tensorType({3, 5, 33}, element),
             "tenon.transpose %a by [1, 0, 2]");
    list.add("all", {tensorType({2, 3, 4, 5}, element)}, tensorType({5, 3, 2, 4}, element),
             "tenon.transpose %a by [3, 1, 0, 2]");
  }
  expectMatchesReference(list.cases);
}

TEST(CpuCopy, Slice) {
  CaseList list;
  for (const char* element : {"f32", "f16", "bf16", "i32"}) {
    list.add("columns", {tensorType({5, 37}, element)}, tensorType({5, 9}, element),
             "tenon.slice %a [0, 28] [5, 9] [1, 1]");
    list.add("steps", {tensorType({7, 37}, element)}, tensorType({3, 12}, element),
             "tenon.slice %a [1, 2] [3, 12] [2, 3]");
    list.add("vector", {tensorType({9}, element)}, tensorType({1}, element),
             "tenon.slice %a [8] [1] [1]");
  }
  expectMatchesReference(list.cases);
}

TEST(CpuCopy, Concat) {
  CaseList list;
  for (const char* element : {"f32", "f16", "bf16", "i32"}) {
    list.add("rows", {tensorType({2, 37}, element), tensorType({3, 37}, element)},
             tensorType({5, 37}, element), "tenon.concat %a, %b along 0");
    list.add(
        "columns",
        {tensorType({3, 5}, element), tensorType({3, 9}, element), tensorType({3, 1}, element)},
        tensorType({3, 15}, element), "tenon.concat %a, %b, %c along 1");
  }
  expectMatchesReference(list.cases);
}

// A function that returns what it was given, twice: the pipeline adds copies.
TEST(CpuCopy, SharedOutputs) {
  CpuCase test;
  test.name = "twice";
  test.function = R"(func.func @twice(%x: tensor<3x5xi32>) -> (tensor<3x5xi32>, tensor<15xi32>) {
    %y = tenon.reshape %x to [15] : (tensor<3x5xi32>) -> tensor<15xi32>
    return %x, %y : tensor<3x5xi32>, tensor<15xi32>
  })";
  expectMatchesReference({test});
}

} // namespace tenon::tests
