#include "tests/codegen/cuda/IndexedCases.h"

using tenon::frontends::GraphBuilder;
using tenon::frontends::Value;

namespace tenon::testing {

namespace {

using Values = std::vector<Value>;

void addGathersAndScatters(std::vector<CudaCase>& cases) {
  struct Shape {
    std::vector<int64_t> input;
    int64_t axis, indices; ///< indices along the axis
  };
  for (const Shape& shape : {Shape{{9}, 0, 5},
                             {{5, 37}, 1, 50},
                             {{5, 37}, 0, 8},
                             {{3, 4, 17}, 1, 6},
                             {{2, 3, 4, 50}, 3, 7}})
    for (const char* type : {"f32", "f16", "bf16"}) {
      std::vector<int64_t> indices = shape.input;
      int64_t extent = indices[shape.axis], axis = shape.axis;
      indices[axis] = shape.indices;
      std::string suffix =
          std::to_string(shape.input.size()) + "_" + std::to_string(axis) + "_" + type;
      CaseInput places{indices, "i32", Fill::Index, -2, extent + 2};
      cases.push_back(
          {"gather_" + suffix,
           {{shape.input, type}, places},
           type,
           [axis](GraphBuilder& b, const Values& x) { b.output("y", b.gather(x[0], x[1], axis)); },
           0});
      cases.push_back({"scatter_" + suffix,
                       {{shape.input, type}, places, {indices, "f32"}},
                       type,
                       [axis](GraphBuilder& b, const Values& x) {
                         b.output("last", b.scatter(x[0], x[1], x[2], axis, /*accumulate=*/false));
                         b.output("sum", b.scatter(x[0], x[1], x[2], axis, /*accumulate=*/true));
                       }});
    }
  cases.push_back({"gather_integers",
                   {{{3, 70}, "i32", Fill::Index, -9, 9}, {{3, 5}, "i32", Fill::Index, 0, 70}},
                   "f32",
                   [](GraphBuilder& b, const Values& x) { b.output("y", b.gather(x[0], x[1], 1)); },
                   0});
}

void addPatches(std::vector<CudaCase>& cases) {
  struct Windows {
    const char* name;
    std::vector<int64_t> input, window, strides, low, high;
  };
  for (const Windows& w :
       {Windows{"frames", {1, 80, 40}, {3}, {1}, {1}, {1}},
        {"strided", {2, 5, 41}, {3}, {2}, {1}, {1}},
        {"padding_alone", {1, 2, 2}, {2}, {2}, {4}, {3}},
        {"image", {2, 3, 32, 32}, {8, 8}, {8, 8}, {0, 0}, {0, 0}},
        {"image_within", {1, 3, 12, 24}, {3, 8}, {2, 4}, {1, 4}, {0, 4}},
        {"uneven", {1, 2, 7, 9}, {3, 2}, {2, 3}, {1, 0}, {2, 1}},
        {"three_axes", {1, 2, 4, 5, 6}, {2, 3, 1}, {1, 2, 4}, {0, 1, 0}, {1, 1, 0}}})
    for (const char* type : {"f32", "f16"})
      cases.push_back({std::string("patches_") + w.name + "_" + type,
                       {{w.input, type}},
                       type,
                       [w](GraphBuilder& b, const Values& x) {
                         b.output("y", b.patches(x[0], w.window, w.strides, w.low, w.high));
                       },
                       0});
}

} // namespace

void addIndexed(std::vector<CudaCase>& cases) {
  addGathersAndScatters(cases);
  addPatches(cases);
  for (const char* type : {"f32", "f16", "bf16"}) {
    for (std::vector<int64_t> shape : {std::vector<int64_t>{7}, {5, 33}, {2, 3, 17}, {300, 40}})
      cases.push_back(
          {"cumulative_sum_" + std::string(type) + "_" + std::to_string(shape[0]),
           {{shape, type}},
           type,
           [](GraphBuilder& b, const Values& x) { b.output("y", b.cumulativeSum(x[0])); }});
    cases.push_back({std::string("remainders_") + type,
                     {{{5, 330}, type}, {{330}, type}},
                     type,
                     [](GraphBuilder& b, const Values& x) { b.output("y", b.mod(x[0], x[1])); }});
  }
  cases.push_back(
      {"remainders_of_multiples",
       {{{10}, "f32", Fill::Listed, 0, 0, {7, -7, 7, -7, 5.5, -0.5, 6, -6, 1e-30, -1e-30}},
        {{10}, "f32", Fill::Listed, 0, 0, {3, 3, -3, -3, 2, 4, 3, 3, -2, 2}}},
       "f32",
       [](GraphBuilder& b, const Values& x) { b.output("y", b.mod(x[0], x[1])); },
       0});
}

} // namespace tenon::testing
