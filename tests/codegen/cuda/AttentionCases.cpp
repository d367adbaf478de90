#include "tests/codegen/cuda/AttentionCases.h"

#include <algorithm>
#include <limits>

using tenon::frontends::AttentionOptions;
using tenon::frontends::GraphBuilder;
using tenon::frontends::Value;

namespace tenon::testing {

namespace {

using Values = std::vector<Value>;

struct AttentionCase {
  const char* name;
  int64_t rows, queryHeads, keyHeads, size, valueSize, capacity;
  std::vector<double> positions, sequences;
  AttentionOptions options = {};
};

void addAttentionOfAnyRows(std::vector<CudaCase>& cases) {
  std::vector<double> many, ascending, one(40, 0.0);
  for (int i = 0; i < 40; ++i)
    many.push_back(i * 7 - 1);
  for (int i = 0; i < 140; ++i)
    ascending.push_back(i);
  // Of many rows those whose keys are several parts, and one of each length about that.
  std::vector<double> unlike = {2099, 1024, 1025, 1500}, sequences = {0, 1, 2, 1};
  for (int i = 4; i < 40; ++i) {
    unlike.push_back(i % 5 == 4 ? -1 : i);
    sequences.push_back(i % 3);
  }
  const double huge = 2147483647;
  for (const AttentionCase& c : std::vector<AttentionCase>{
           {"decode", 1, 32, 8, 128, 128, 600, {511}, {1}, {.scale = 0.088}},
           {"short", 1, 8, 4, 8, 8, 64, {20}, {0}, {.scale = 0.35}},
           {"mha80", 2, 6, 6, 80, 80, 300, {299, 128}, {1, 0}, {.scale = 0.11}},
           {"mqa64", 3, 12, 1, 64, 64, 512, {127, 128, 400}, {0, 1, 2}, {.scale = 0.125}},
           {"size256", 1, 4, 2, 256, 256, 260, {259}, {0}, {.scale = 0.06}},
           {"size96", 1, 4, 4, 96, 64, 200, {150}, {0}, {.scale = 0.1}},
           {"odd", 2, 3, 3, 5, 7, 140, {139, 2}, {0, 1}, {.scale = 0.4}},
           {"hostile",
            5,
            4,
            2,
            32,
            32,
            256,
            {-1, huge, 10, 10, 300},
            {0, 1, -1, huge, 2},
            {.scale = 0.2}},
           {"window", 2, 4, 2, 64, 64, 1000, {900, 3}, {0, 1}, {.scale = 0.1, .window = 130}},
           {"softcap", 1, 4, 2, 64, 64, 300, {299}, {0}, {.scale = 0.3, .softcap = 20}},
           {"full", 2, 4, 2, 64, 64, 300, {0, 5}, {0, 1}, {.scale = 0.1, .causal = false}},
           {"prefill", 40, 8, 2, 64, 64, 384, many, {1}, {.scale = 0.125}},
           {"prefill_rows", 40, 4, 4, 128, 128, 300, many, one, {.scale = 0.09, .window = 50}},
           {"unlike", 40, 32, 8, 64, 64, 2100, unlike, sequences, {.scale = 0.125}},
           {"mqa12", 1, 12, 1, 128, 128, 700, {640}, {2}, {.scale = 0.09}},
           {"long", 1, 8, 2, 64, 64, 5000, {4321}, {1}, {.scale = 0.125}},
           {"prefill80", 40, 4, 4, 80, 80, 300, many, {0}, {.scale = 0.11}},
           {"prefill96", 40, 6, 2, 96, 64, 300, many, {1}, {.scale = 0.1, .window = 70}},
           {"prefill256", 40, 2, 1, 256, 256, 300, many, {2}, {.scale = 0.06, .softcap = 20}},
           {"prefill_full", 40, 4, 2, 64, 64, 100, many, {1}, {.scale = 0.1, .causal = false}},
           {"prefill_nowhere", 40, 4, 2, 64, 64, 100, many, {7}, {.scale = 0.1}},
           {"parts", 6, 8, 4, 64, 64, 300, {20, 21, 22, 0, -1, 299}, {2, 0}, {.scale = 0.1}},
           {"prefill_parts", 140, 4, 2, 80, 64, 150, ascending, {1, 7, 0, 1}, {.scale = 0.1}},
           {"prefill_wide", 140, 264, 66, 128, 128, 150, ascending, {1}, {.scale = 0.09}}})
    for (const char* cache : {"f32", "f16", "bf16"})
      for (const char* type : {"f32", "f16", "bf16"}) {
        bool wide = std::string(c.name) == "prefill_wide";
        if ((std::string(type) == "bf16" || wide) && std::string(cache) != type)
          continue;
        if (wide && std::string(type) == "f32")
          continue;
        int64_t sequences = 3;
        bool roundsWeights = c.rows / c.sequences.size() > 16 && cache == std::string(type) &&
                             type != std::string("f32");
        cases.push_back(
            {std::string("attention_") + c.name + "_" + cache + "_" + type,
             {{{c.rows, c.queryHeads, c.size}, type},
              {{sequences, c.capacity, c.keyHeads, c.size}, cache},
              {{sequences, c.capacity, c.keyHeads, c.valueSize}, cache},
              {{static_cast<int64_t>(c.sequences.size())}, "i32", Fill::Listed, 0, 0, c.sequences},
              {{c.rows}, "i32", Fill::Listed, 0, 0, c.positions}},
             type,
             [options = c.options](GraphBuilder& b, const Values& x) {
               b.output("y", b.attention(x[0], x[1], x[2], x[3], x[4], options));
             },
             // Many rows round their weights to the type of the values: half a unit of a weight of
             // 1, averaged over keys.
             roundsWeights ? (std::string(type) == "f16" ? 5e-4 : 4e-3) : 1e-5,
             /*warpgroups=*/false});
      }
}

/// Positions from `first` on; some rows see nothing, and one is far after the others.
std::vector<double> positionsFrom(int64_t first, int64_t rows) {
  std::vector<double> positions;
  for (int64_t row = 0; row < rows; ++row)
    positions.push_back(row % 37 == 36 ? -1 : first + row);
  positions[rows / 2] = 3;
  return positions;
}

/// Attention of many rows by warpgroups: every head size, heads of a tile, two warpgroups and three,
/// one round of tiles and several.
void addWarpgroupAttention(std::vector<CudaCase>& cases) {
  for (const AttentionCase& c : std::vector<AttentionCase>{
           {"17", 17, 8, 2, 64, 64, 40, positionsFrom(11, 17), {1}, {.scale = 0.125}},
           {"64", 200, 8, 2, 64, 64, 384, positionsFrom(150, 200), {1}, {.scale = 0.125}},
           {"64_rounds", 130, 272, 34, 64, 64, 200, positionsFrom(60, 130), {0}, {.scale = 0.125}},
           {"80", 150, 4, 4, 80, 80, 300, positionsFrom(130, 150), {0}, {.scale = 0.11}},
           {"96", 150, 6, 2, 96, 64, 300, positionsFrom(0, 150), {2}, {.scale = 0.1, .window = 70}},
           {"128", 270, 16, 2, 128, 128, 600, positionsFrom(300, 270), {1}, {.scale = 0.09}},
           {"128_window",
            300,
            8,
            4,
            128,
            128,
            700,
            positionsFrom(350, 300),
            {1},
            {.scale = 0.09, .window = 130}},
           {"128_rounds",
            100,
            272,
            34,
            128,
            128,
            150,
            positionsFrom(40, 100),
            {1},
            {.scale = 0.09}},
           {"192", 70, 4, 4, 192, 128, 200, positionsFrom(100, 70), {1}, {.scale = 0.07}},
           {"256",
            150,
            8,
            4,
            256,
            256,
            300,
            positionsFrom(140, 150),
            {2},
            {.scale = 0.06, .softcap = 20}},
           {"softcap",
            150,
            8,
            1,
            64,
            64,
            300,
            positionsFrom(140, 150),
            {2},
            {.scale = 0.3, .softcap = 3}},
           {"full",
            140,
            12,
            4,
            64,
            64,
            333,
            positionsFrom(0, 140),
            {1},
            {.scale = 0.1, .causal = false}},
           {"parts",
            600,
            4,
            2,
            64,
            64,
            200,
            positionsFrom(0, 600),
            {2, 0, 7, 1},
            {.scale = 0.1, .causal = false}},
           {"parts_causal",
            111,
            68,
            34,
            128,
            128,
            150,
            positionsFrom(30, 111),
            {1, 0, 1},
            {.scale = 0.09}},
           {"nowhere", 40, 4, 2, 64, 64, 100, positionsFrom(0, 40), {7}, {.scale = 0.1}},
           {"beyond", 40, 4, 2, 64, 64, 100, positionsFrom(80, 40), {1}, {.scale = 0.1}}})
    for (const char* type : {"f16", "bf16"}) {
      double last = *std::max_element(c.positions.begin(), c.positions.end());
      auto used = c.options.causal ? std::min<int64_t>(c.capacity, static_cast<int64_t>(last) + 1)
                                   : c.capacity;
      auto sequence = static_cast<int64_t>(c.sequences[0]);
      // NaN lies where no row of the only sequence sees the cache: no weight may be given to it.
      auto cache = [&](int64_t size) {
        const int64_t place = c.keyHeads * size, first = sequence * c.capacity * place;
        std::vector<int64_t> shape = {3, c.capacity, c.keyHeads, size};
        if (c.sequences.size() > 1)
          return CaseInput{shape, type};
        return CaseInput{shape, type, Fill::Range, first, first + used * place};
      };
      cases.push_back(
          {std::string("attention_warpgroups_") + c.name + "_" + type,
           {{{c.rows, c.queryHeads, c.size}, type},
            cache(c.size),
            cache(c.valueSize),
            {{static_cast<int64_t>(c.sequences.size())}, "i32", Fill::Listed, 0, 0, c.sequences},
            {{c.rows}, "i32", Fill::Listed, 0, 0, c.positions}},
           type,
           [options = c.options](GraphBuilder& b, const Values& x) {
             b.output("y", b.attention(x[0], x[1], x[2], x[3], x[4], options));
           },
           std::string(type) == "f16" ? 5e-4 : 4e-3});
    }
}

} // namespace

void addAttention(std::vector<CudaCase>& cases) {
  addAttentionOfAnyRows(cases);
  addWarpgroupAttention(cases);
}

/// Attention with operands of its scores, by kernels of one row and of many.
void addScoreOperands(std::vector<CudaCase>& cases) {
  struct Scored {
    const char* name;
    int64_t rows, queryHeads, keyHeads, size, capacity;
    std::vector<int64_t> bias; ///< its shape, or none
    bool hasSlopes, hasSinks;
    AttentionOptions options;
    std::vector<double> sequences = {1};
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Scored& c : std::vector<Scored>{
           {"bias", 2, 8, 2, 64, 300, {8, 2, 300}, false, false, {.scale = 0.125}},
           {"padding", 3, 12, 1, 64, 512, {1, 3, 512}, false, false, {.scale = 0.1}},
           {"slopes", 1, 12, 12, 64, 600, {}, true, false, {.scale = 0.125}},
           {"sinks", 1, 32, 8, 128, 900, {}, false, true, {.scale = 0.09}},
           {"all", 4, 6, 6, 80, 300, {1, 1, 300}, true, true, {.scale = 0.1, .window = 100}},
           {"cross", 2, 8, 8, 64, 150, {8, 1, 150}, false, true, {.scale = 0.1, .causal = false}},
           {"parts",
            6,
            8,
            4,
            64,
            150,
            {3, 1, 2, 150},
            false,
            false,
            {.scale = 0.1, .causal = false},
            {1, 0, 1}},
           {"prefill_parts",
            120,
            4,
            4,
            64,
            150,
            {3, 4, 40, 150},
            false,
            true,
            {.scale = 0.1, .causal = false},
            {1, 0, 1}},
           {"prefill_parts_padding",
            120,
            4,
            4,
            64,
            150,
            {3, 1, 1, 150},
            false,
            false,
            {.scale = 0.1, .causal = false},
            {1, 0, 1}},
           {"prefill_parts_rows",
            120,
            4,
            4,
            64,
            150,
            {1, 4, 40, 150},
            false,
            false,
            {.scale = 0.1, .causal = false},
            {1, 0, 1}},
           {"prefill_bias", 40, 8, 2, 64, 100, {8, 40, 100}, false, false, {.scale = 0.125}},
           {"prefill_padding", 40, 4, 4, 80, 100, {1, 1, 100}, false, false, {.scale = 0.1}},
           {"prefill_slopes", 70, 6, 6, 64, 80, {}, true, false, {.scale = 0.125, .softcap = 20}},
           {"prefill_sinks", 40, 8, 4, 128, 100, {}, false, true, {.scale = 0.09, .window = 30}},
           {"prefill_cross",
            33,
            4,
            4,
            64,
            150,
            {4, 33, 150},
            true,
            true,
            {.scale = 0.125, .causal = false}}})
    for (const char* type : {"f32", "f16", "bf16"}) {
      std::vector<double> positions, hidden;
      for (int64_t row = 0; row < c.rows; ++row)
        positions.push_back(row % 17 == 16 ? -1
                                           : (c.rows > 16 ? row : c.capacity - 20 * (row + 1)));
      int64_t elements = 1;
      for (int64_t extent : c.bias)
        elements *= extent;
      // Whole parts of a row's keys are hidden, and of the second row all.
      for (int64_t i = 0; i < elements && !c.bias.empty(); ++i) {
        int64_t row = i / c.capacity % c.bias[c.bias.size() - 2], key = i % c.capacity;
        bool isHidden = row == 1 || (key / 64 + row) % 3 == 1;
        hidden.push_back(isHidden ? -infinity : static_cast<double>(i % 7) / 4 - 1);
      }
      std::vector<CaseInput> inputs = {
          {{c.rows, c.queryHeads, c.size}, type},
          {{2, c.capacity, c.keyHeads, c.size}, type},
          {{2, c.capacity, c.keyHeads, c.size}, type},
          {{static_cast<int64_t>(c.sequences.size())}, "i32", Fill::Listed, 0, 0, c.sequences},
          {{c.rows}, "i32", Fill::Listed, 0, 0, positions}};
      if (!c.bias.empty())
        inputs.push_back({c.bias, c.rows % 2 == 0 ? "f32" : type, Fill::Listed, 0, 0, hidden});
      if (c.hasSlopes)
        inputs.push_back({{c.queryHeads}, "f32"});
      if (c.hasSinks)
        inputs.push_back({{c.queryHeads}, type});
      bool roundsWeights = c.rows / c.sequences.size() > 16 && std::string(type) != "f32";
      cases.push_back({std::string("attention_scores_") + c.name + "_" + type, inputs, type,
                       [c](GraphBuilder& b, const Values& x) {
                         AttentionOptions options = c.options;
                         const Value* next = &x[5];
                         if (!c.bias.empty())
                           options.bias = *next++;
                         if (c.hasSlopes)
                           options.slopes = *next++;
                         if (c.hasSinks)
                           options.sinks = *next;
                         b.output("y", b.attention(x[0], x[1], x[2], x[3], x[4], options));
                       },
                       roundsWeights ? (std::string(type) == "f16" ? 5e-4 : 4e-3) : 1e-5});
    }
}

} // namespace tenon::testing
