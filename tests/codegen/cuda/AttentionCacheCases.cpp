#include "tests/codegen/cuda/AttentionCases.h"

#include <limits>

using tenon::frontends::AttentionOptions;
using tenon::frontends::GraphBuilder;
using tenon::frontends::StateValue;
using tenon::frontends::Value;

namespace tenon::testing {

namespace {

using Values = std::vector<Value>;

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

/// A token and guesses behind it: all right, none, some; idle rows, positions that do not follow each
/// other or leave i32.
void addGuesses(std::vector<CudaCase>& cases) {
  struct Guesses {
    const char* name;
    std::vector<double> chosen, ids, positions;
  };
  const double last = std::numeric_limits<int32_t>::max();
  std::vector<double> many, counted;
  for (int i = 0; i < 32; ++i)
    many.push_back(i + 1), counted.push_back(i);
  for (const Guesses& c : std::vector<Guesses>{{"one", {7}, {3}, {40}},
                                               {"right", {5, 9}, {2, 5}, {11, 12}},
                                               {"wrong", {5, 9}, {2, 6}, {11, 12}},
                                               {"some", {5, 9, 4, 8}, {2, 5, 9, 3}, {0, 1, 2, 3}},
                                               {"later", {5, 9, 4, 8}, {2, 6, 9, 4}, {0, 1, 2, 3}},
                                               {"idle", {5, 9}, {2, 5}, {-1, 0}},
                                               {"short", {5, 0, 0}, {2, 5, 0}, {3, -1, -1}},
                                               {"gap", {5, 9, 1}, {2, 5, 9}, {3, 5, 6}},
                                               {"nan", {5, -1}, {2, 5}, {8, 9}},
                                               {"end", {5, 9}, {2, 5}, {last - 1, last}},
                                               {"past", {5, 9}, {2, 5}, {last, -last - 1}},
                                               {"all", many, counted, counted}})
    for (bool hasDrafts : {false, true}) {
      auto rows = static_cast<int64_t>(c.ids.size());
      std::vector<CaseInput> inputs;
      for (const std::vector<double>& values : {c.chosen, c.ids, c.positions})
        inputs.push_back({{rows}, "i32", Fill::Listed, 0, 0, values});
      if (hasDrafts)
        inputs.push_back({{rows}, "i32", Fill::Index, 100, 200});
      cases.push_back({std::string("accept_") + c.name + (hasDrafts ? "_drafts" : ""), inputs,
                       "f32", [hasDrafts](GraphBuilder& b, const Values& x) {
                         auto [ids, nextIds, nextPositions] =
                             b.accept(x[0], x[1], x[2], hasDrafts ? x[3] : Value());
                         b.output("ids", ids);
                         b.output("next_ids", nextIds);
                         b.output("next_positions", nextPositions);
                       }});
    }
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
            AttentionOptions options = {.scale = 0.1, .window = window, .areChunks = areChunks};
            if (isScored)
              options.bias = x[5], options.slopes = x[6], options.sinks = x[7];
            b.output("y", b.attention(x[0], keys, values, x[3], x[4], options));
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
  addCache(cases);
  addGuesses(cases);
  addSmallCaches(cases);
  addStreams(cases);
}

} // namespace tenon::testing
