// Gather, scatter, windows of convolutions, cumulative sums and Hadamard transforms.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

namespace {

/// `count` indices, of which some lie on either side of an axis of `extent` elements and some are
/// equal.
std::vector<int32_t> makeIndices(int64_t count, int64_t extent) {
  std::vector<int32_t> indices;
  for (int64_t i = 0; i < count; ++i)
    indices.push_back(static_cast<int32_t>(i * 7 % (extent + 4) - 2));
  indices.front() = std::numeric_limits<int32_t>::max();
  indices.back() = std::numeric_limits<int32_t>::min();
  return indices;
}

int64_t elementsOf(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// An input, and indices along an axis of it.
struct Indexed {
  std::vector<int64_t> input;
  int64_t axis, indices; ///< indices along the axis

  std::vector<int64_t> indexShape() const {
    std::vector<int64_t> shape = input;
    shape[axis] = indices;
    return shape;
  }
};

const Indexed indexed[] = {{{9}, 0, 5},        {{1}, 0, 3},          {{5, 37}, 1, 3},
                           {{5, 37}, 1, 50},   {{5, 37}, 0, 8},      {{5, 37}, 0, 1},
                           {{3, 4, 17}, 1, 6}, {{2, 3, 4, 5}, 2, 3}, {{2, 3, 4, 5}, 3, 7}};

} // namespace

TEST(CpuIndexed, Gather) {
  CaseList list;
  for (const char* element : {"f32", "f16", "bf16", "i32"})
    for (const Indexed& shapes : indexed) {
      std::vector<int64_t> indices = shapes.indexShape();
      CpuCase& test =
          list.add("gather", {tensorType(shapes.input, element), tensorType(indices, "i32")},
                   tensorType(indices, element),
                   absl::StrFormat("tenon.gather %%a, %%b along %d", shapes.axis));
      test.integers[1] = makeIndices(elementsOf(indices), shapes.input[shapes.axis]);
    }
  expectMatchesReference(list.cases);
}

/// A gather moves bits: values that are no numbers stay what they are.
TEST(CpuIndexed, GatherOfSpecialValues) {
  CaseList list;
  CpuCase& test = list.add("gather", {tensorType({2, 4}, "f16"), tensorType({2, 4}, "i32")},
                           tensorType({2, 4}, "f16"), "tenon.gather %a, %b along 1");
  double infinity = std::numeric_limits<double>::infinity();
  test.floats[0] = {std::nan(""), infinity, -infinity, -0.0, 1, 2, 3, 65504};
  test.integers[1] = {3, 2, 1, 0, 3, 3, -1, 4};
  expectMatchesReference(list.cases);
}

TEST(CpuIndexed, Scatter) {
  CaseList list;
  for (const char* element : {"f32", "f16", "bf16"})
    for (const char* how : {"", " accumulate"})
      for (const Indexed& shapes : indexed) {
        std::vector<int64_t> indices = shapes.indexShape();
        CpuCase& test =
            list.add("scatter",
                     {tensorType(shapes.input, element), tensorType(indices, "i32"),
                      tensorType(indices, "f32")},
                     tensorType(shapes.input, element),
                     absl::StrFormat("tenon.scatter %%a, %%b, %%c along %d%s", shapes.axis, how));
        test.integers[1] = makeIndices(elementsOf(indices), shapes.input[shapes.axis]);
      }
  expectMatchesReference(list.cases);
}

TEST(CpuIndexed, Patches) {
  struct Windows {
    std::vector<int64_t> input, window, strides, low, high;
  };
  // One, two and three axes; strides beyond the window; windows in the padding alone.
  const Windows all[] = {
      {{1, 80, 40}, {3}, {1}, {1}, {1}},
      {{2, 5, 41}, {3}, {2}, {1}, {1}},
      {{1, 1, 5}, {2}, {3}, {1}, {0}},
      {{1, 2, 2}, {2}, {2}, {4}, {3}},
      {{3, 2, 1}, {5}, {1}, {2}, {2}},
      {{2, 3, 32, 32}, {8, 8}, {8, 8}, {0, 0}, {0, 0}},
      {{1, 2, 7, 9}, {3, 2}, {2, 3}, {1, 0}, {2, 1}},
      {{1, 2, 4, 5, 6}, {2, 3, 1}, {1, 2, 4}, {0, 1, 0}, {1, 1, 0}},
  };
  CaseList list;
  for (const char* element : {"f32", "f16", "bf16", "i32"})
    for (const Windows& w : all) {
      int64_t count = 1, columns = w.input[1];
      for (size_t i = 0; i < w.window.size(); ++i) {
        count *= (w.low[i] + w.input[i + 2] + w.high[i] - w.window[i]) / w.strides[i] + 1;
        columns *= w.window[i];
      }
      list.add("patches", {tensorType(w.input, element)},
               tensorType({w.input[0], count, columns}, element),
               absl::StrFormat("tenon.patches %%a window [%s] strides [%s] low [%s] high [%s]",
                               absl::StrJoin(w.window, ", "), absl::StrJoin(w.strides, ", "),
                               absl::StrJoin(w.low, ", "), absl::StrJoin(w.high, ", ")));
    }
  expectMatchesReference(list.cases);
}

// Runs within a vector of a CPU, over several of them, and of heads that end within one.
TEST(CpuIndexed, HadamardTransforms) {
  CaseList list;
  for (const char* from : {"f32", "f16", "bf16"})
    for (const char* to : {"f32", "bf16"})
      for (int64_t size : {1, 6, 8, 20, 80, 128})
        list.add("hadamard", {tensorType({3, 5, size}, from)}, tensorType({3, 5, size}, to),
                 "tenon.hadamard %a");
  expectMatchesReference(list.cases);
}

TEST(CpuIndexed, CumulativeSum) {
  CaseList list;
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{1}, {7}, {5, 33}, {2, 3, 17}, {1, 2000}, {300, 1}})
    for (const char* from : {"f32", "f16", "bf16"})
      for (const char* to : {"f32", "f16"})
        list.add("cumulative_sum", {tensorType(shape, from)}, tensorType(shape, to),
                 "tenon.cumulative_sum %a");
  CpuCase& special = list.add("special", {tensorType({3, 4}, "f32")}, tensorType({3, 4}, "f32"),
                              "tenon.cumulative_sum %a");
  double infinity = std::numeric_limits<double>::infinity();
  special.floats[0] = {1, std::nan(""), 2, 3, infinity, 1, -infinity, 1, -0.0, -0.0, 0, -1};
  expectMatchesReference(list.cases);
}

} // namespace tenon::tests
