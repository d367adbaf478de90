#include "tests/codegen/cuda/AttentionCases.h"

using tenon::frontends::AttentionOptions;
using tenon::frontends::GraphBuilder;
using tenon::frontends::Value;

namespace tenon::testing {

namespace {

using Values = std::vector<Value>;

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

} // namespace

/// Attention of chunks by warpgroups: of one row, of some tiles, one after the other of the same
/// sequence, idle rows, sequences and positions that are not in the cache; one round of tiles and
/// several, tiles of a few positions and of many, more rows than a block has threads.
void addAttentionChunks(std::vector<CudaCase>& cases) {
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
                         AttentionOptions how = options;
                         how.areChunks = true;
                         b.output("y", b.attention(x[0], x[1], x[2], x[3], x[4], how));
                       },
                       std::string(type) == "f16" ? 5e-4 : 4e-3});
    }
}

} // namespace tenon::testing
