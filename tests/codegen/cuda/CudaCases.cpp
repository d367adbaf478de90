#include "CudaCases.h"

#include <algorithm>
#include <array>
#include <limits>

#include "ir/Targets.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tests/codegen/cuda/AttentionCases.h"
#include "tests/codegen/cuda/IndexedCases.h"

using tenon::frontends::GraphBuilder;
using tenon::frontends::Value;

namespace tenon::testing {

namespace {

using Values = std::vector<Value>;

mlir::Type typeNamed(GraphBuilder& builder, const std::string& name) {
  return getElementType(builder.getActivationType().getContext(), *findEncoding(name));
}

std::string shapeName(llvm::ArrayRef<int64_t> shape) {
  std::string name;
  for (int64_t extent : shape)
    name += (name.empty() ? "" : "x") + std::to_string(extent);
  return name;
}

void addElementwise(std::vector<CudaCase>& cases) {
  for (const char* type : {"f32", "f16", "bf16"})
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{1}, {7}, {1, 2560}, {3, 5, 40}, {5, 33}, {64, 1000}}) {
      cases.push_back({"unary_" + std::string(type) + "_" + shapeName(shape),
                       {{shape, type}},
                       type,
                       [](GraphBuilder& b, const Values& x) {
                         b.output("a", b.silu(x[0]));
                         b.output("b", b.gelu(x[0]));
                         b.output("c", b.geluTanh(x[0]));
                         b.output("d", b.tanh(x[0]));
                         b.output("e", b.rsqrt(b.square(x[0])));
                         b.output("f", b.sigmoid(x[0]));
                         b.output("g", b.erf(x[0]));
                         b.output("h", b.log(b.exp(x[0])));
                         b.output("i", b.sin(b.cos(x[0])));
                         b.output("j", b.sqrt(b.abs(x[0])));
                         b.output("m", b.floor(x[0]));
                         b.output("n", b.ceil(b.scale(x[0], 1.5)));
                         b.output("o", b.round(b.scale(x[0], 2.5)));
                         b.output("p", b.trunc(x[0]));
                         b.output("q", b.sign(x[0]));
                         b.output("r", b.clamp(x[0], -0.5, 0.7));
                         b.output("k", b.neg(b.relu(x[0])));
                         b.output("l", b.scale(x[0], 0.3));
                       },
                       1e-5});
      cases.push_back({"binary_" + std::string(type) + "_" + shapeName(shape),
                       {{shape, type}, {shape, type}},
                       type,
                       [](GraphBuilder& b, const Values& x) {
                         b.output("a", b.add(x[0], x[1]));
                         b.output("b", b.sub(x[0], x[1]));
                         b.output("c", b.mul(x[0], x[1]));
                         b.output("d", b.max(x[0], x[1]));
                         b.output("e", b.min(x[0], x[1]));
                         b.output("f", b.glu(Activation::Silu, x[0], x[1]));
                         b.output("g", b.glu(Activation::Gelu, x[0], x[1]));
                         b.output("h", b.pow(b.abs(x[0]), x[1]));
                         b.output("i", b.compare(Predicate::Lt, x[0], x[1]));
                         b.output("j", b.select(b.relu(x[0]), x[0], x[1]));
                       }});
    }
  struct Broadcast {
    std::vector<int64_t> a, b;
  };
  for (const Broadcast& shapes : {Broadcast{{4, 64}, {64}},
                                  {{4, 6, 10}, {6, 1}},
                                  {{3, 1, 8}, {5, 1}},
                                  {{5, 7}, {1}},
                                  {{2, 3, 4, 16}, {3, 1, 16}},
                                  {{9}, {4, 1}},
                                  {{6, 33}, {33}}})
    for (const char* type : {"f32", "f16"})
      cases.push_back(
          {"broadcast_" + std::string(type) + "_" + shapeName(shapes.a) + "_" + shapeName(shapes.b),
           {{shapes.a, type}, {shapes.b, "f32"}},
           type,
           [](GraphBuilder& b, const Values& x) {
             b.output("a", b.add(x[0], x[1]));
             b.output("b", b.sub(x[1], x[0]));
           }});
  for (const char* from : {"f32", "f16", "bf16"})
    for (const char* to : {"f32", "f16", "bf16"})
      if (std::string(from) != to)
        cases.push_back({std::string("cast_") + from + "_" + to,
                         {{{3, 37}, from}},
                         to,
                         [](GraphBuilder& b, const Values& x) { b.output("y", b.cast(x[0])); }});
}

void addRows(std::vector<CudaCase>& cases) {
  for (const char* type : {"f32", "f16", "bf16"})
    for (std::vector<int64_t> shape : {std::vector<int64_t>{1, 64},
                                       {1, 2560},
                                       {3, 4096},
                                       {5, 33},
                                       {130, 172},
                                       {133, 2570},
                                       {2, 8200},
                                       {1, 40001},
                                       {1, 1}}) {
      std::string suffix = std::string(type) + "_" + shapeName(shape);
      int64_t width = shape.back();
      cases.push_back({"norms_" + suffix,
                       {{shape, type}, {{width}, "f32"}, {{width}, type}},
                       type,
                       [](GraphBuilder& b, const Values& x) {
                         b.output("a", b.rmsNorm(x[0], x[1], 1e-5));
                         b.output("b", b.rmsNorm(x[0], 1e-6));
                         b.output("c", b.layerNorm(x[0], x[1], x[2], 1e-5));
                         b.output("d", b.layerNorm(x[0], 1e-5));
                       },
                       4e-6});
      cases.push_back({"reductions_" + suffix,
                       {{shape, type}},
                       type,
                       [](GraphBuilder& b, const Values& x) {
                         b.output("a", b.softmax(x[0]));
                         b.output("b", b.reduce(ReduceKind::Mean, b.square(x[0])));
                         b.output("c", b.reduce(ReduceKind::Max, x[0]));
                         b.output("d", b.reduce(ReduceKind::Min, x[0]));
                         b.output("e", b.reduce(ReduceKind::Sum, b.abs(x[0])));
                       },
                       4e-6});
    }
  for (int64_t width : {1, 5, 512, 50257})
    cases.push_back({"selection_" + std::to_string(width),
                     {{{3, width}, "f32"}},
                     "f32",
                     [width](GraphBuilder& b, const Values& x) {
                       b.output("best", b.argmax(x[0]));
                       GraphBuilder::TopK top = b.topK(x[0], std::min<int64_t>(width, 7));
                       b.output("values", top.values);
                       b.output("indices", top.indices);
                     }});
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  cases.push_back(
      {"selection_nan",
       {{{4, 5}, "f16", Fill::Listed, 0, 0, {1,         2,         nan,       4,         5,
                                             -infinity, -infinity, -infinity, -infinity, -infinity,
                                             nan,       nan,       nan,       nan,       nan,
                                             1,         infinity,  infinity,  2,         3}}},
       "f16",
       [](GraphBuilder& b, const Values& x) {
         b.output("best", b.argmax(x[0]));
         b.output("indices", b.topK(x[0], 5).indices);
       }});
  cases.push_back({"selection_ties",
                   {{{2, 70}, "f16", Fill::Index, 0, 4}},
                   "f16",
                   [](GraphBuilder& b, const Values& x) {
                     b.output("best", b.argmax(x[0]));
                     GraphBuilder::TopK top = b.topK(x[0], 40);
                     b.output("values", top.values);
                     b.output("indices", top.indices);
                   }});
}

void addTables(std::vector<CudaCase>& cases) {
  for (const char* table : {"f32", "f16", "bf16", "q8_0", "q4_0"})
    for (const char* type : {"f32", "bf16"})
      cases.push_back(
          {std::string("embedding_") + table + "_" + type,
           {{{11, 96}, table}, {{6}, "i32", Fill::Listed, 0, 0, {3, 0, 10, 11, -1, 2147483647}}},
           type,
           [](GraphBuilder& b, const Values& x) { b.output("y", b.embedding(x[0], x[1])); }});
  cases.push_back(
      {"embedding_odd",
       {{{11, 33}, "f16"}, {{3}, "i32", Fill::Listed, 0, 0, {3, 0, 10}}},
       "f16",
       [](GraphBuilder& b, const Values& x) { b.output("y", b.embedding(x[0], x[1])); }});
  for (const char* block : {"q8_0", "q4_0"})
    cases.push_back({std::string("dequantize_") + block,
                     {{{3, 5, 64}, block}},
                     "f32",
                     [](GraphBuilder& b, const Values& x) { b.output("y", b.dequantize(x[0])); }});
}

void addMoves(std::vector<CudaCase>& cases) {
  for (const char* type : {"f32", "f16"}) {
    cases.push_back({std::string("copies_") + type,
                     {{{4, 6, 16}, type}, {{4, 3, 16}, type}, {{5, 7}, type}},
                     type,
                     [](GraphBuilder& b, const Values& x) {
                       b.output("a", b.transpose(x[0], {1, 0, 2}));
                       b.output("b", b.transpose(x[0], {2, 0, 1}));
                       b.output("c", b.slice(x[0], {1, 0, 8}, {2, 3, 8}, {1, 2, 1}));
                       b.output("d", b.slice(x[0], {0, 0, 1}, {4, 6, 5}, {1, 1, 3}));
                       b.output("e", b.concat({x[0], x[1]}, 1));
                       b.output("f", b.concat({x[2], x[2]}, 1));
                       b.output("g", b.concat({x[2], x[2], x[2]}, 0));
                       b.output("h", b.reshape(x[0], {6, 64}));
                       b.output("i", b.slice(x[2], {1, 1}, {3, 3}, {1, 2}));
                     }});
    // A thread turns its pair of several heads.
    cases.push_back({std::string("rope_many_rows_") + type,
                     {{{700, 8, 96}, type},
                      {{700}, "i32", Fill::Index, 0, 5000},
                      {{40}, "f32", Fill::Index, 0, 2}},
                     type,
                     [](GraphBuilder& b, const Values& x) {
                       b.output("y", b.rope(RopePairing::Halves, x[0], x[1], x[2], 1.25));
                     },
                     4e-6});
    for (RopePairing pairing : {RopePairing::Adjacent, RopePairing::Halves})
      for (int64_t pairs : {2, 5, 40}) {
        std::string name = pairing == RopePairing::Adjacent ? "adjacent" : "halves";
        cases.push_back({"rope_" + name + "_" + type + "_" + std::to_string(pairs),
                         {{{4, 3, 80}, type},
                          {{4}, "i32", Fill::Listed, 0, 0, {0, 7, 4095, -1}},
                          {{pairs}, "f32", Fill::Index, 0, 2}},
                         type,
                         [pairing](GraphBuilder& b, const Values& x) {
                           b.output("y", b.rope(pairing, x[0], x[1], x[2], 1.25));
                         },
                         4e-6});
      }
  }
}

/// Rows of which warpgroups make factors of blocks, which they round to the type of x: |Σ x · δ|
/// for the roundings δ of weights, beside max |y| of some thousand sums. The first eight encodings
/// have decoders of their own there, the others share one.
void addRoundedMatmuls(std::vector<CudaCase>& cases) {
  constexpr size_t own = 8;
  constexpr const char* weights[] = {"q8_0",          "q4_0",
                                     "q4_1",          "q5_0",
                                     "q5_1",          "q4_k",
                                     "q5_k",          "q6_k",
                                     "q2_k",          "q3_k",
                                     "iq4_nl",        "mxfp4",
                                     "nvfp4",         "int3_g32_f16_min",
                                     "int8_g32_bf16", "int4_g128x2_f16_zero"};
  for (auto [index, weight] : llvm::enumerate(weights))
    for (bool isHalf : {true, false}) {
      if (index >= own && isHalf != (index % 2 == 0))
        continue;
      const char* type = isHalf ? "f16" : "bf16";
      constexpr int64_t depth = 2048;
      int64_t rows = isHalf ? 40 : 300, columns = isHalf ? 140 : 330;
      cases.push_back(
          {std::string("matmul_rounded_") + weight + "_" + type + "_" +
               shapeName({rows, columns, depth}),
           {{{rows, depth}, type}, {{columns, depth}, weight, Fill::Small}},
           type,
           [](GraphBuilder& b, const Values& x) { b.output("y", b.matmul(x[0], x[1])); },
           isHalf ? 5e-4 : 4e-3});
    }
}

/// Many rows on a GPU without warpgroups: tiles of 64 rows and of 128, ends of rows within a stage of
/// the ring, rows shorter than a stage.
void addSynchronousMatmuls(std::vector<CudaCase>& cases) {
  for (const char* type : {"f16", "bf16"})
    for (auto [rows, columns, depth] : {std::array<int64_t, 3>{17, 70, 96},
                                        {33, 129, 8},
                                        {130, 257, 72},
                                        {100, 200, 320},
                                        {1500, 1500, 40}})
      cases.push_back(
          {std::string("matmul_synchronous_") + type + "_" + shapeName({rows, columns, depth}),
           {{{rows, depth}, type}, {{columns, depth}, type, Fill::Small}},
           type,
           [](GraphBuilder& b, const Values& x) { b.output("y", b.matmul(x[0], x[1])); },
           4e-6,
           /*warpgroups=*/false});
}

void addMatmuls(std::vector<CudaCase>& cases) {
  struct Shape {
    int64_t rows, columns, depth;
  };
  for (const char* weight : {"f32", "f16", "bf16", "q8_0", "q4_0"})
    for (const char* type : {"f32", "f16", "bf16"})
      for (const Shape& s : {Shape{1, 64, 64},
                             {1, 300, 2048},
                             {1, 20000, 64},
                             {2, 96, 512},
                             {3, 40, 160},
                             {5, 17, 96},
                             {8, 130, 4096},
                             {16, 64, 1024},
                             {17, 70, 96},
                             {64, 128, 256},
                             {100, 200, 320},
                             {1, 2500, 2048},
                             {2, 1100, 3072},
                             {1, 1300, 16384},
                             {130, 257, 72},
                             {24, 257, 1032},
                             {300, 264, 520}}) {
        if (s.depth % findEncoding(weight)->blockSize != 0)
          continue;
        bool isRounded = findEncoding(weight)->isBlockQuantized() && s.rows > 16 && s.columns > 100;
        if (isRounded && s.depth == 256 && type != std::string_view("f32"))
          continue; // addRoundedMatmuls
        std::string name = std::string("matmul_") + weight + "_" + type + "_" +
                           shapeName({s.rows, s.columns, s.depth});
        cases.push_back(
            {name,
             {{{s.rows, s.depth}, type}, {{s.columns, s.depth}, weight, Fill::Small}},
             type,
             [](GraphBuilder& b, const Values& x) { b.output("y", b.matmul(x[0], x[1])); },
             4e-6});
      }
  for (const char* weight :
       {"q4_1", "q5_0", "q5_1", "iq4_nl", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"})
    for (const char* type : {"f16", "bf16", "f32"})
      for (const Shape& s : {Shape{1, 70, 256},
                             {1, 1100, 2048},
                             {1, 300, 5120},
                             {2, 40, 512},
                             {2, 600, 4096},
                             {5, 300, 4096},
                             {40, 70, 768}}) {
        // Two rows of f32 take no tensor cores, and so add nothing to one.
        if (s.rows == 2 && s.columns == 600 && std::string(type) == "f32")
          continue;
        // In rows with a tail five bits take more registers in the emitter gemv than it states.
        std::string_view format = weight;
        if (s.depth == 5120 && (format == "q5_0" || format == "q5_1"))
          continue;
        cases.push_back(
            {std::string("matmul_") + weight + "_" + type + "_" +
                 shapeName({s.rows, s.columns, s.depth}),
             {{{s.rows, s.depth}, type}, {{s.columns, s.depth}, weight, Fill::Small}},
             type,
             [](GraphBuilder& b, const Values& x) { b.output("y", b.matmul(x[0], x[1])); },
             4e-6});
      }
  for (const Shape& s : {Shape{1, 33, 77}, {4, 5, 3}, {20, 65, 33}})
    cases.push_back({"matmul_odd_" + shapeName({s.rows, s.columns, s.depth}),
                     {{{s.rows, s.depth}, "f16"}, {{s.columns, s.depth}, "f16", Fill::Small}},
                     "f16",
                     [](GraphBuilder& b, const Values& x) { b.output("y", b.matmul(x[0], x[1])); },
                     4e-6});
  for (int64_t rows : {2, 24})
    cases.push_back({"matmul_batched_" + std::to_string(rows),
                     {{{3, rows, 64}, "f32"}, {{3, 40, 64}, "f32", Fill::Small}},
                     "f32",
                     [](GraphBuilder& b, const Values& x) { b.output("y", b.matmul(x[0], x[1])); },
                     4e-6});
}

/// Products with experts, of which ids name some that do not exist, and their weighted sum.
void addExperts(std::vector<CudaCase>& cases) {
  constexpr int64_t experts = 6;
  struct Types {
    const char* weight;
    const char* activation;
    int64_t depth;
  };
  for (const Types& types : {Types{"f32", "f32", 96},
                             {"f16", "f16", 264},
                             {"bf16", "bf16", 2048},
                             {"q8_0", "f16", 512},
                             {"q4_0", "f32", 96},
                             {"q4_k", "f16", 768},
                             {"q6_k", "bf16", 512},
                             {"mxfp4", "bf16", 256},
                             {"int4_g128_f16_zero", "f16", 384}})
    for (int64_t rows : {1, 5, 700})
      for (bool own : {false, true}) {
        std::string activation = types.activation;
        constexpr int64_t columns = 45;
        // Of rows that share experts weights in blocks are rounded to the type of x.
        double rounded = activation == "f16" ? 5e-4 : 4e-3;
        bool isRounded =
            rows == 700 && activation != "f32" && findEncoding(types.weight)->isBlockQuantized();
        int64_t chosen = own ? 2 : 3, depth = types.depth;
        std::vector<int64_t> input = {rows, depth};
        if (own)
          input.insert(input.begin() + 1, chosen);
        cases.push_back({std::string("experts_") + types.weight + "_" + activation +
                             (own ? "_own_" : "_") + std::to_string(rows),
                         {{input, activation},
                          {{experts, columns, depth}, types.weight, Fill::Small},
                          {{rows, chosen}, "i32", Fill::Index, -1, experts + 1}},
                         activation,
                         [](GraphBuilder& b, const Values& x) {
                           b.output("y", b.expertMatmul(x[0], x[1], x[2]));
                         },
                         isRounded ? rounded : 4e-6});
      }
  // More rows of a warp than its ring has stages.
  for (auto [weight, depth] : {std::pair{"q8_0", 4096}, {"f16", 2048}})
    cases.push_back(
        {std::string("experts_in_turns_") + weight + "_f16",
         {{{1, depth}, "f16"},
          {{experts, 512, depth}, weight, Fill::Small},
          {{1, 16}, "i32", Fill::Index, 0, experts}},
         "f16",
         [](GraphBuilder& b, const Values& x) { b.output("y", b.expertMatmul(x[0], x[1], x[2])); },
         4e-6});
  for (const char* type : {"f32", "f16", "bf16"})
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{1, 8, 2048}, {5, 3, 33}, {130, 2, 64}})
      cases.push_back(
          {std::string("weighted_sum_") + type + "_" + shapeName(shape),
           {{shape, type}, {{shape[0], shape[1]}, "f32"}},
           type,
           [](GraphBuilder& b, const Values& x) { b.output("y", b.weightedSum(x[0], x[1])); }});
}

/// Families of block formats. They come last, so that which cases of a list are chosen by their number
/// stays as it was.
void addGroups(std::vector<CudaCase>& cases) {
  struct Extents {
    int64_t rows, columns, depth;
  };
  for (const Encoding* group : allEncodings())
    if (group->name.starts_with("int") || group->name.starts_with("e4m3") ||
        group->name.find("fp4") != std::string_view::npos)
      cases.push_back({"dequantize_" + std::string(group->name),
                       {{{5, 384 % group->blockSize == 0 ? 384 : 2 * group->blockSize},
                         std::string(group->name)}},
                       "f32",
                       [](GraphBuilder& b, const Values& x) { b.output("y", b.dequantize(x[0])); },
                       1e-6});
  for (const char* weight : {"int2_g32_f16_zero",
                             "int2_g128_bf16",
                             "int3_g64_f16",
                             "int3_g128_f16_min",
                             "int4_g32_f16",
                             "int4_g64_f16_zero",
                             "int4_g128_f16",
                             "int4_g128_f16_zero",
                             "int4_g128_bf16_min",
                             "int8_g32_bf16_zero",
                             "int8_g128_f16",
                             "e4m3_g64_f32",
                             "e4m3_g128_f32",
                             "mxfp4",
                             "nvfp4",
                             "nvfp4_f32",
                             "int4_g128x8_f16",
                             "int4_g128x8_f16_zero",
                             "int4_g128x8_bf16_zero",
                             "int4_g128x4_f16_zero",
                             "int4_g128x2_f16_zero",
                             "int4_g128x2_bf16_zero"})
    for (const char* type : {"f16", "bf16", "f32"})
      for (const Extents& s : {Extents{1, 70, 256},
                               {1, 600, 4096},
                               {1, 300, 5120},
                               {2, 40, 512},
                               {5, 300, 4096},
                               {40, 70, 768},
                               {2, 600, 1024},
                               {40, 70, 1024},
                               {1, 600, 1280},
                               {1, 600, 11008}}) {
        // Some rows are for groups that lie together.
        int64_t block = findEncoding(weight)->blockSize;
        bool isWide = std::string_view(weight).find("g128x") != std::string_view::npos;
        bool isOfAll = s.depth != 1024 && s.depth != 1280 && s.depth != 11008;
        if (s.depth % block != 0 || !(isWide || isOfAll))
          continue;
        cases.push_back(
            {std::string("matmul_") + weight + "_" + type + "_" +
                 shapeName({s.rows, s.columns, s.depth}),
             {{{s.rows, s.depth}, type}, {{s.columns, s.depth}, weight, Fill::Small}},
             type,
             [](GraphBuilder& b, const Values& x) { b.output("y", b.matmul(x[0], x[1])); },
             4e-6});
      }
}

/// Products of one row and two, of rows of weights between multiples of 16 bytes.
void addGemmsOfSkippedBytes(std::vector<CudaCase>& cases) {
  auto add = [&](const char* weight, const char* type, int64_t rows) {
    cases.push_back(
        {std::string("matmul_skipped_") + weight + "_" + type + "_" + std::to_string(rows),
         {{{rows, 2880}, type}, {{304, 2880}, weight, Fill::Small}},
         type,
         [](GraphBuilder& b, const Values& x) { b.output("y", b.matmul(x[0], x[1])); },
         4e-6});
  };
  for (const char* type : {"f16", "bf16"}) {
    for (const char* weight : {"q8_0", "q4_0", "iq4_nl", "mxfp4", "nvfp4"})
      add(weight, type, 1);
    for (const char* weight : {"q8_0", "mxfp4"})
      add(weight, type, 2);
  }
}

/// Rows of a table that ids of two axes choose, as biases of experts are.
void addTablesOfPairs(std::vector<CudaCase>& cases) {
  for (const char* table : {"f32", "q8_0"})
    cases.push_back(
        {std::string("embedding_of_pairs_") + table,
         {{{5, 96}, table}, {{2, 3}, "i32", Fill::Listed, 0, 0, {3, 0, 5, 4, -1, 1}}},
         "bf16",
         [](GraphBuilder& b, const Values& x) { b.output("y", b.embedding(x[0], x[1])); }});
}

} // namespace

static std::vector<CudaCase> makeCudaCases() {
  std::vector<CudaCase> cases;
  addElementwise(cases);
  addRows(cases);
  addTables(cases);
  addMoves(cases);
  addMatmuls(cases);
  addRoundedMatmuls(cases);
  addSynchronousMatmuls(cases);
  addAttention(cases);
  addAttentionChunks(cases);
  addGroups(cases);
  addScoreOperands(cases);
  addExperts(cases);
  addCaches(cases);
  addPages(cases);
  addGemmsOfSkippedBytes(cases);
  addTablesOfPairs(cases);
  addIndexed(cases);
  addIntegers(cases);
  addAttentionWeights(cases);
  return cases;
}

const std::vector<CudaCase>& allCudaCases() {
  static const std::vector<CudaCase> cases = makeCudaCases();
  return cases;
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> buildCase(mlir::MLIRContext& context,
                                                            const CudaCase& testCase) {
  context.loadDialect<TenonDialect>();
  GraphBuilder builder(context, getElementType(&context, *findEncoding(testCase.activation)));
  if (testCase.cache)
    for (const char* name : {"k", "v"}) {
      auto layout = testCase.cache->kept ? StateLayout::Ring : StateLayout::Dense;
      builder.declareState(
          name, testCase.cache->shape, typeNamed(builder, testCase.cache->type),
          StateLayoutAttr::get(&context, layout, testCase.cache->kept.value_or(0)));
    }
  builder.beginFunction("f");
  Values inputs;
  bool isPaged = testCase.cache && testCase.cache->page > 0;
  for (const auto& [index, input] :
       llvm::enumerate(llvm::ArrayRef(testCase.inputs).drop_back(isPaged ? 1 : 0)))
    inputs.push_back(
        builder.input("x" + std::to_string(index), input.shape, typeNamed(builder, input.type)));
  testCase.build(builder, inputs);
  builder.endFunction();
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> module = builder.finish();
  if (!module.ok() || !isPaged)
    return module;
  mlir::PassManager manager(&context);
  manager.addPass(passes::createPageCachesPass({testCase.cache->page, testCase.cache->pages}));
  if (mlir::failed(manager.run(**module)))
    return absl::InvalidArgumentError("the caches of the case cannot be paged");
  return module;
}

/// The target without what sm_90a has beyond sm_90.
static TargetAttr withoutWarpgroups(TargetAttr target) {
  mlir::Builder builder(target.getContext());
  mlir::ArrayAttr features = target.getFeatures();
  if (llvm::is_contained(features, builder.getStringAttr("sm_90a")))
    features = builder.getStrArrayAttr({"sm_90"});
  return TargetAttr::get(target.getContext(), target.getName(), target.getDevice(), features,
                         target.getProperties());
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> planCase(mlir::MLIRContext& context,
                                                           const CudaCase& testCase,
                                                           const std::string& target,
                                                           bool libraries) {
  TENON_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> module, buildCase(context, testCase));
  TargetAttr found = findTarget(&context, target);
  TENON_RETURN_IF_ERROR(passes::runPipeline(
      *module, {.target = testCase.warpgroups ? found : withoutWarpgroups(found),
                .fusion = {.libraries = libraries}}));
  return module;
}

} // namespace tenon::testing
