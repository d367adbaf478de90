#include "tests/codegen/cuda/AttentionCases.h"

#include <algorithm>
#include <limits>

#include "ir/AttentionRows.h"

using tenon::frontends::AttentionOptions;
using tenon::frontends::GraphBuilder;
using tenon::frontends::StateValue;
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

/// Rows beside each other of one sequence, at positions from `first` on; all at −1 where that is.
struct Chunk {
  double sequence, first;
  int64_t rows;
};

struct ChunkCase {
  const char* name;
  int64_t queryHeads, keyHeads, size, capacity;
  std::vector<Chunk> chunks;
  AttentionOptions options = {};
};

Value markChunks(Value attention) {
  mlir::Operation* op = attention.get().getDefiningOp();
  op->setAttr(chunksAttrName, mlir::UnitAttr::get(op->getContext()));
  return attention;
}

/// Attention of chunks by warpgroups: of one row, of some tiles, one after the other of the same
/// sequence, idle rows, sequences and positions that are not in the cache; one round of tiles and
/// several, tiles of a few positions and of many, more rows than a block has threads.
void addChunks(std::vector<CudaCase>& cases) {
  const double huge = 2147483647;
  const std::vector<Chunk> mixed = {{1, 150, 40}, {0, 5, 1},  {2, 0, 33}, {0, -1, 3}, {0, 9, 1},
                                    {0, 10, 1},   {1, 7, 65}, {1, 3, 2},  {2, 99, 1}};
  for (const ChunkCase& c : std::vector<ChunkCase>{
           {"64", 8, 2, 64, 300, mixed, {.scale = 0.125}},
           {"128", 8, 2, 128, 300, mixed, {.scale = 0.09}},
           {"80", 4, 4, 80, 300, mixed, {.scale = 0.11}},
           {"96_window", 6, 2, 96, 300, mixed, {.scale = 0.1, .window = 37}},
           {"256_softcap", 8, 4, 256, 300, mixed, {.scale = 0.06, .softcap = 20}},
           {"128_rounds",
            272,
            34,
            128,
            150,
            {{0, 100, 30}, {1, 0, 40}, {2, 64, 1}},
            {.scale = 0.09}},
           {"64_long", 4, 2, 64, 900, {{1, 0, 333}, {0, 400, 1}, {2, 17, 470}}, {.scale = 0.125}},
           {"full", 4, 2, 64, 100, mixed, {.scale = 0.1, .causal = false}},
           {"hostile",
            4,
            2,
            64,
            100,
            {{7, 0, 20}, {-1, 5, 3}, {1, 90, 20}, {1, huge, 1}, {2, huge - 1, 2}, {0, 0, 3}},
            {.scale = 0.1}}})
    for (const char* type : {"f16", "bf16"}) {
      std::vector<double> sequences, positions;
      for (const Chunk& chunk : c.chunks)
        for (int64_t row = 0; row < chunk.rows; ++row) {
          sequences.push_back(chunk.sequence);
          positions.push_back(chunk.first < 0 ? -1 : chunk.first + static_cast<double>(row));
        }
      auto rows = static_cast<int64_t>(positions.size());
      cases.push_back({std::string("attention_chunks_") + c.name + "_" + type,
                       {{{rows, c.queryHeads, c.size}, type},
                        {{3, c.capacity, c.keyHeads, c.size}, type},
                        {{3, c.capacity, c.keyHeads, c.size}, type},
                        {{rows}, "i32", Fill::Listed, 0, 0, sequences},
                        {{rows}, "i32", Fill::Listed, 0, 0, positions}},
                       type,
                       [options = c.options](GraphBuilder& b, const Values& x) {
                         b.output("y",
                                  markChunks(b.attention(x[0], x[1], x[2], x[3], x[4], options)));
                       },
                       std::string(type) == "f16" ? 5e-4 : 4e-3});
    }
}

/// kv_write, then attention over what it wrote.
void addCache(std::vector<CudaCase>& cases) {
  const double huge = 2147483647;
  for (const char* type : {"f32", "f16"})
    for (int64_t rows : {1, 6})
      cases.push_back(
          {std::string("cache_") + type + "_" + std::to_string(rows),
           {{{rows, 2, 12}, type},
            {{rows, 2, 12}, type},
            {{rows},
             "i32",
             Fill::Listed,
             0,
             0,
             rows == 6 ? std::vector<double>{0, 1, 1, 0, 5, -1} : std::vector<double>{1}},
            {{rows},
             "i32",
             Fill::Listed,
             0,
             0,
             rows == 6 ? std::vector<double>{0, 3, 3, -1, 2, huge} : std::vector<double>{0}}},
           type,
           [](GraphBuilder& b, const Values& x) {
             StateValue keys = b.kvWrite(x[0], x[2], x[3], b.state("k"));
             StateValue values = b.kvWrite(x[1], x[2], x[3], b.state("v"));
             b.output("y", b.attention(x[0], keys, values, x[2], x[3], {.scale = 0.3}));
           },
           1e-5,
           /*warpgroups=*/true,
           CaseCache{{3, 8, 2, 12}, type}});
}

/// Caches of 8 and 4 bits: rows that are encoded, then attention over them, of few rows and of many.
void addSmallCaches(std::vector<CudaCase>& cases) {
  struct Heads {
    const char* type;
    int64_t size;
  };
  for (const char* quants : {"int8_h", "e4m3_h", "int4_h"})
    for (const Heads& heads : {Heads{"f32", 8}, {"f16", 40}, {"bf16", 128}, {"f16", 256}})
      for (int64_t rows : {1, 5, 40}) {
        std::vector<double> positions, sequences;
        for (int64_t row = 0; row < rows; ++row) {
          positions.push_back(row == 3 ? -1 : static_cast<double>(row));
          sequences.push_back(rows == 5 ? static_cast<double>(row % 2) : 1);
        }
        std::string encoding = quants + std::to_string(heads.size);
        cases.push_back(
            {"attention_small_" + encoding + "_" + heads.type + "_" + std::to_string(rows),
             {{{rows, 4, heads.size}, heads.type},
              {{rows, 2, heads.size}, heads.type},
              {{rows, 2, heads.size}, heads.type},
              {{rows}, "i32", Fill::Listed, 0, 0, sequences},
              {{rows}, "i32", Fill::Listed, 0, 0, positions}},
             heads.type,
             [](GraphBuilder& b, const Values& x) {
               StateValue keys = b.kvWrite(x[1], x[3], x[4], b.state("k"));
               StateValue values = b.kvWrite(x[2], x[3], x[4], b.state("v"));
               b.output("y", b.attention(x[0], keys, values, x[3], x[4], {.scale = 0.1}));
             },
             1e-5,
             /*warpgroups=*/true,
             CaseCache{{2, 150, 2, heads.size}, encoding}});
      }
  // Many rows that fill the caches, then few far after, whose keys several blocks share.
  std::vector<double> all;
  for (int64_t position = 0; position < 700; ++position)
    all.push_back(static_cast<double>(position));
  for (const char* quants : {"int8_h128", "e4m3_h128", "int4_h128"})
    cases.push_back({std::string("attention_small_") + quants + "_far",
                     {{{2, 8, 128}, "bf16"},
                      {{700, 2, 128}, "bf16"},
                      {{700, 2, 128}, "bf16"},
                      {{1}, "i32", Fill::Listed, 0, 0, {1}},
                      {{700}, "i32", Fill::Listed, 0, 0, all},
                      {{2}, "i32", Fill::Listed, 0, 0, {699, 350}}},
                     "bf16",
                     [](GraphBuilder& b, const Values& x) {
                       StateValue keys = b.kvWrite(x[1], x[3], x[4], b.state("k"));
                       StateValue values = b.kvWrite(x[2], x[3], x[4], b.state("v"));
                       b.output("y", b.attention(x[0], keys, values, x[3], x[5], {.scale = 0.1}));
                     },
                     1e-5,
                     /*warpgroups=*/true,
                     CaseCache{{2, 720, 2, 128}, quants}});
  // Six query heads of a key head, and windows that begin within a step of keys.
  for (const char* quants : {"int8_h", "e4m3_h", "int4_h"})
    for (const Heads& heads : {Heads{"f16", 72}, {"bf16", 64}})
      cases.push_back(
          {"attention_small_" + std::string(quants) + std::to_string(heads.size) + "_window",
           {{{3, 12, heads.size}, heads.type},
            {{90, 2, heads.size}, heads.type},
            {{90, 2, heads.size}, heads.type},
            {{1}, "i32", Fill::Listed, 0, 0, {1}},
            {{90}, "i32", Fill::Listed, 0, 0, {all.begin(), all.begin() + 90}},
            {{3}, "i32", Fill::Listed, 0, 0, {89, 61, 40}}},
           heads.type,
           [](GraphBuilder& b, const Values& x) {
             StateValue keys = b.kvWrite(x[1], x[3], x[4], b.state("k"));
             StateValue values = b.kvWrite(x[2], x[3], x[4], b.state("v"));
             b.output("y",
                      b.attention(x[0], keys, values, x[3], x[5], {.scale = 0.1, .window = 53}));
           },
           1e-5,
           /*warpgroups=*/true,
           CaseCache{{2, 100, 2, heads.size}, quants + std::to_string(heads.size)}});
  cases.push_back(
      {"attention_small_int8_h64_scored",
       {{{2, 4, 64}, "f16"},
        {{2, 2, 64}, "f16"},
        {{2, 2, 64}, "f16"},
        {{1}, "i32", Fill::Listed, 0, 0, {1}},
        {{2}, "i32", Fill::Listed, 0, 0, {70, 71}},
        {{4, 1, 150}, "f32"},
        {{4}, "f32"},
        {{4}, "f32"}},
       "f16",
       [](GraphBuilder& b, const Values& x) {
         StateValue keys = b.kvWrite(x[1], x[3], x[4], b.state("k"));
         StateValue values = b.kvWrite(x[2], x[3], x[4], b.state("v"));
         b.output("y", b.attention(x[0], keys, values, x[3], x[4],
                                   {.scale = 0.1, .bias = x[5], .slopes = x[6], .sinks = x[7]}));
       },
       1e-5,
       /*warpgroups=*/true,
       CaseCache{{2, 150, 2, 64}, "int8_h64"}});
}

/// Chunks of a stream, each written to a ring and attended from; those far on in the stream find nothing
/// of the positions between them and the beginning.
void addStreams(std::vector<CudaCase>& cases) {
  constexpr int64_t chunks = 5, window = 40;
  constexpr int64_t lastPosition = std::numeric_limits<int32_t>::max();
  struct Stream {
    const char* name;
    const char* type; ///< of the caches
    int64_t kept, rows, first;
    bool hasSinks = false;
  };
  for (const Stream& s : {Stream{"f32_decode", "f32", 4, 1, 60},
                          {"f32_chunks", "f32", 0, 17, 0},
                          {"f16_chunks", "f16", 4, 17, 0},
                          {"f32_sinks", "f32", 4, 3, 30, /*hasSinks=*/true},
                          {"int8_far", "int8_h32", 4, 17, lastPosition - chunks * 17 + 1}}) {
    std::string activation = s.type == std::string("f16") ? "f16" : "f32";
    int64_t ring = window + s.rows - 1;
    std::vector<CaseInput> inputs = {{{1}, "i32", Fill::Listed, 0, 0, {0}}};
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      std::vector<double> positions;
      for (int64_t row = 0; row < s.rows; ++row)
        positions.push_back(static_cast<double>(s.first + chunk * s.rows + row));
      inputs.push_back({{3 * s.rows, 4, 32}, activation});
      inputs.push_back({{s.rows, 2, 32}, activation});
      inputs.push_back({{s.rows}, "i32", Fill::Listed, 0, 0, positions});
    }
    if (s.hasSinks)
      inputs.push_back({{4}, "f32"});
    cases.push_back(
        {std::string("attention_ring_") + s.name, inputs, activation,
         [ring, kept = s.kept, hasSinks = s.hasSinks](GraphBuilder& b, const Values& x) {
           AttentionOptions options = {.scale = 0.2, .window = window};
           if (hasSinks)
             options.sinks = x.back();
           StateValue keys = b.state("k"), values = b.state("v");
           for (int64_t chunk = 0; chunk < chunks; ++chunk) {
             const Value* in = &x[1 + 3 * chunk];
             keys = b.kvWrite(in[1], x[0], in[2], keys);
             values = b.kvWrite(in[1], x[0], in[2], values);
             b.output("y" + std::to_string(chunk),
                      b.attention(in[0], keys, values, x[0], in[2], options));
             b.output("p" + std::to_string(chunk), b.ringPlaces(in[2], {kept, ring, window}, 3));
           }
         },
         1e-5,
         /*warpgroups=*/true, CaseCache{{1, s.kept + ring, 2, 32}, s.type, s.kept}});
  }
}

/// A chunk of two sequences, written and attended from, with an inactive row, rows outside of the cache
/// and two for one place. `page` is 0 for dense caches.
struct PagedAttention {
  const char *name, *type, *cache;
  int64_t rows, size, capacity, page;
  bool isScored = false; ///< whether bias, slopes and sinks come to the scores
  int64_t window = 0;
  bool isChunk = false;   ///< whether all rows are one sequence's, at consecutive positions
  bool areChunks = false; ///< whether the rows are known to be chunks of several sequences
};

constexpr PagedAttention pagedAttentions[] = {
    {"f32", "f32", "f32", 60, 40, 384, 128},
    {"f32_16", "f32", "f32", 60, 24, 256, 16, /*isScored=*/true},
    {"f16", "f32", "f16", 40, 64, 128, 32},
    {"int8", "f16", "int8_h64", 60, 64, 256, 64},
    {"e4m3", "f32", "e4m3_h128", 30, 128, 128, 128},
    {"int4", "bf16", "int4_h128", 60, 128, 256, 32},
    {"window", "f32", "bf16", 60, 32, 320, 64, /*isScored=*/false, /*window=*/37},
    {"rows_f16", "f16", "f16", 60, 64, 256, 16},
    {"rows_bf16", "bf16", "bf16", 20, 128, 320, 64, /*isScored=*/true, /*window=*/37},
    {"chunk_f16", "f16", "f16", 60, 64, 256, 128, /*isScored=*/false, /*window=*/0,
     /*isChunk=*/true},
    {"chunk_bf16", "bf16", "bf16", 40, 80, 208, 16, /*isScored=*/false, /*window=*/50,
     /*isChunk=*/true},
    {"chunk_wide", "bf16", "bf16", 30, 256, 256, 32, /*isScored=*/false, /*window=*/0,
     /*isChunk=*/true},
    {"chunk_scored", "f16", "f16", 40, 64, 192, 32, /*isScored=*/true, /*window=*/0,
     /*isChunk=*/true},
    {"chunks_f16", "f16", "f16", 60, 64, 256, 128, /*isScored=*/false, /*window=*/0,
     /*isChunk=*/false, /*areChunks=*/true},
    {"chunks_bf16", "bf16", "bf16", 60, 80, 208, 16, /*isScored=*/false, /*window=*/50,
     /*isChunk=*/false, /*areChunks=*/true},
};

CudaCase pagedCase(const PagedAttention& c, bool isPaged) {
  int64_t blocks = (c.capacity + c.page - 1) / c.page;
  std::string values = findEncoding(c.cache)->isBlockQuantized() ? c.type : c.cache;
  std::vector<double> sequences, positions, table;
  for (int64_t row = 0; row < c.rows; ++row) {
    sequences.push_back(static_cast<double>(row % 2));
    positions.push_back(static_cast<double>(row / 2 + row % 2 * (c.capacity - c.rows)));
  }
  positions[4] = -1, sequences[5] = 2, sequences[6] = -1;
  positions[8] = static_cast<double>(c.capacity + 5), positions[11] = positions[9];
  if (c.areChunks) // half of the rows each
    for (int64_t row = 0; row < c.rows; ++row)
      sequences[row] = static_cast<double>(2 * row / c.rows),
      positions[row] = static_cast<double>(row);
  if (c.isChunk) {
    sequences = {1};
    for (int64_t row = 0; row < c.rows; ++row)
      positions[row] = static_cast<double>(row % 37 == 36 ? -1 : row);
  }
  for (int64_t s = 0; s < 2; ++s)
    for (int64_t block = 0; block < blocks; ++block)
      table.push_back(static_cast<double>(2 * (blocks - block) - s));
  std::vector<CaseInput> inputs = {
      {{c.rows, 4, c.size}, c.type},
      {{c.rows, 2, c.size}, values},
      {{c.rows, 2, c.size}, values},
      {{static_cast<int64_t>(sequences.size())}, "i32", Fill::Listed, 0, 0, sequences},
      {{c.rows}, "i32", Fill::Listed, 0, 0, positions}};
  bool roundsWeights = (c.isChunk || c.areChunks) && c.type == std::string(c.cache);
  if (c.isScored)
    inputs.insert(inputs.end(), {{{4, 1, blocks * c.page}, "f32"}, {{4}, "f32"}, {{4}, "f32"}});
  if (isPaged)
    inputs.push_back({{2, blocks}, "i32", Fill::Listed, 0, 0, table});
  return {std::string("attention_pages_") + c.name,
          inputs,
          c.type,
          [isScored = c.isScored, window = c.window, areChunks = c.areChunks](GraphBuilder& b,
                                                                              const Values& x) {
            StateValue keys = b.kvWrite(x[1], x[3], x[4], b.state("k"));
            StateValue values = b.kvWrite(x[2], x[3], x[4], b.state("v"));
            AttentionOptions options = {.scale = 0.1, .window = window};
            if (isScored)
              options.bias = x[5], options.slopes = x[6], options.sinks = x[7];
            Value y = b.attention(x[0], keys, values, x[3], x[4], options);
            b.output("y", areChunks ? markChunks(y) : y);
          },
          roundsWeights ? (c.type == std::string("f16") ? 5e-4 : 4e-3) : 1e-5,
          /*warpgroups=*/true,
          CaseCache{{2, blocks * c.page, 2, c.size},
                    c.cache,
                    {},
                    isPaged ? c.page : 0,
                    isPaged ? 2 * blocks + 1 : 0}};
}

} // namespace

void addAttention(std::vector<CudaCase>& cases) {
  addAttentionOfAnyRows(cases);
  addWarpgroupAttention(cases);
  addChunks(cases);
  addCache(cases);
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

void addPages(std::vector<CudaCase>& cases) {
  for (const PagedAttention& c : pagedAttentions)
    cases.push_back(pagedCase(c, /*isPaged=*/true));
}

std::pair<CudaCase, CudaCase> denseAndPaged(const std::string& name) {
  const PagedAttention& c = *llvm::find_if(
      pagedAttentions, [&](const PagedAttention& other) { return other.name == name; });
  return {pagedCase(c, /*isPaged=*/false), pagedCase(c, /*isPaged=*/true)};
}

void addCaches(std::vector<CudaCase>& cases) {
  addSmallCaches(cases);
  addStreams(cases);
}

} // namespace tenon::testing
