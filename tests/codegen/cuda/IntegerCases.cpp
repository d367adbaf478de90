#include <cmath>
#include <limits>

#include "ir/Types.h"
#include "tests/codegen/cuda/IndexedCases.h"

using tenon::frontends::GraphBuilder;
using tenon::frontends::Value;

namespace tenon::testing {

namespace {

using Values = std::vector<Value>;

mlir::Type typeOf(GraphBuilder& builder, const char* encoding) {
  return getElementType(builder.getActivationType().getContext(), *findEncoding(encoding));
}

void addArithmetic(std::vector<CudaCase>& cases) {
  for (const std::string type : {"i32", "i64"})
    for (std::vector<int64_t> shape : {std::vector<int64_t>{7}, {5, 33}, {40, 96}})
      cases.push_back(
          {"integers_arithmetic_" + type + "_" + std::to_string(shape[0]),
           {{shape, type, Fill::Index, -99, 99}, {{shape.back()}, type, Fill::Index, -9, 9}},
           "f32",
           [type](GraphBuilder& b, const Values& x) {
             frontends::OpOptions as = {.elementType = typeOf(b, type.c_str())};
             b.output("add", b.add(x[0], x[1], as));
             b.output("sub", b.sub(x[0], x[1], as));
             b.output("mul", b.mul(x[0], x[1], as));
             b.output("max", b.max(x[0], x[1], as));
             b.output("min", b.min(x[0], x[1], as));
             b.output("mod", b.mod(x[0], x[1], as));
           }});
  const double least = std::numeric_limits<int32_t>::min();
  const double most = std::numeric_limits<int32_t>::max();
  cases.push_back({"integers_wrap",
                   {{{8}, "i32", Fill::Listed, 0, 0, {least, least, most, most, 0, -7, 7, least}},
                    {{8}, "i32", Fill::Listed, 0, 0, {-1, least, most, least, 0, 3, -3, 0}}},
                   "f32",
                   [](GraphBuilder& b, const Values& x) {
                     frontends::OpOptions as = {.elementType = typeOf(b, "i32")};
                     b.output("add", b.add(x[0], x[1], as));
                     b.output("mul", b.mul(x[0], x[1], as));
                     b.output("mod", b.mod(x[0], x[1], as));
                   }});
}

void addTruths(std::vector<CudaCase>& cases) {
  for (const std::string type : {"f16", "bool", "i32", "i64"})
    for (int64_t width : {5, 33, 96})
      cases.push_back({"integers_truths_" + type + "_" + std::to_string(width),
                       {{{6, width}, type, Fill::Index, 0, 3}, {{width}, type, Fill::Index, 0, 3}},
                       "f16",
                       [type](GraphBuilder& b, const Values& x) {
                         frontends::OpOptions truth = {.elementType = typeOf(b, "bool")};
                         Value less = b.compare(Predicate::Le, x[0], x[1], truth);
                         Value other = b.compare(Predicate::Ne, x[0], x[1], truth);
                         Value both = b.min(less, other, truth);
                         b.output("both", both);
                         b.output("either", b.max(less, other, truth));
                         b.output("number", b.compare(Predicate::Gt, x[0], x[1]));
                         b.output("chosen", b.select(both, x[0], x[1],
                                                     {.elementType = typeOf(b, type.c_str())}));
                       }});
}

void addCasts(std::vector<CudaCase>& cases) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> floats = {0,    -0.5,  1.999,        -1.999,   3e9, -3e9, 65504,
                                      1e-3, 257.5, 2147483648.0, infinity, 7,   -7,   std::nan("")};
  const std::vector<double> integers = {0, 1, -1, 16777217, 33554434, 2147483647, -2147483648.0,
                                        5, 6, -7, 255,      1000000,  3,          2};
  for (const std::string from : {"f32", "f16", "bool", "i32", "i64"}) {
    bool ofFloats = from[0] == 'f';
    cases.push_back({"integers_casts_" + from,
                     {{{14}, from, Fill::Listed, 0, 0, ofFloats ? floats : integers}},
                     "f32",
                     [ofFloats](GraphBuilder& b, const Values& x) {
                       for (const char* to : {"f32", "f16", "bf16", "bool", "i32"})
                         b.output(to, b.cast(x[0], {.elementType = typeOf(b, to)}));
                       if (!ofFloats) // infinity is more than the reference holds
                         b.output("i64", b.cast(x[0], {.elementType = typeOf(b, "i64")}));
                     }});
  }
  cases.push_back({"integers_casts_to_i64",
                   {{{6}, "f32", Fill::Listed, 0, 0, {1e15, -1e15, 0.5, std::nan(""), 3e9, -7.9}}},
                   "f32",
                   [](GraphBuilder& b, const Values& x) {
                     b.output("y", b.cast(x[0], {.elementType = typeOf(b, "i64")}));
                   }});
}

void addMoves(std::vector<CudaCase>& cases) {
  for (const std::string type : {"bool", "i64"})
    for (int64_t width : {5, 48})
      cases.push_back(
          {"integers_moves_" + type + "_" + std::to_string(width),
           {{{6, width}, type, Fill::Index, -9, 9}, {{6, 4}, "i32", Fill::Index, -2, width + 2}},
           "f32",
           [width](GraphBuilder& b, const Values& x) {
             b.output("reshaped", b.reshape(b.transpose(x[0], {1, 0}), {3, 2 * width}));
             b.output("sliced", b.slice(x[0], {1, 2}, {2, width - 3}, {2, 1}));
             b.output("joined", b.concat({x[0], b.gather(x[0], x[1], 1)}, 1));
             b.output("windows", b.patches(b.reshape(x[0], {1, 6, width}), {3}, {1}, {1}, {1}));
           }});
}

void addWideIndices(std::vector<CudaCase>& cases) {
  const std::vector<double> places = {0, 4,       -1, 0x1p32, 0x1p40 + 2, 3,
                                      3, -0x1p52, 36, 2,      5,          0x1p31};
  for (const std::string type : {"f32", "bf16", "i32", "i64"})
    cases.push_back({"integers_indices_" + type,
                     {{{4, 37}, type, Fill::Index, -9, 9},
                      {{4, 3}, "i64", Fill::Listed, 0, 0, places},
                      {{4, 3}, type, Fill::Index, -9, 9}},
                     "f32",
                     [](GraphBuilder& b, const Values& x) {
                       frontends::OpOptions as = {.elementType = x[0].getElementType()};
                       b.output("gathered", b.gather(x[0], x[1], 1));
                       b.output("last", b.scatter(x[0], x[1], x[2], 1, /*accumulate=*/false));
                       b.output("sum", b.scatter(x[0], x[1], x[2], 1, /*accumulate=*/true));
                       b.output("sums", b.cumulativeSum(x[0], as));
                     }});
  cases.push_back(
      {"integers_searches",
       {{{5, 330}, "f16"}, {{6, 48}, "f32"}, {{4, 3}, "i64", Fill::Listed, 0, 0, places}},
       "f32",
       [](GraphBuilder& b, const Values& x) {
         b.output("largest", b.argmax(x[0], {.elementType = typeOf(b, "i64")}));
         b.output("rows", b.embedding(x[1], x[2]));
       }});
}

} // namespace

void addIntegers(std::vector<CudaCase>& cases) {
  addArithmetic(cases);
  addTruths(cases);
  addCasts(cases);
  addMoves(cases);
  addWideIndices(cases);
}

} // namespace tenon::testing
