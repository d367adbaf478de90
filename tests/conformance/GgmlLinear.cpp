// Products, tables, and attention.

#include <cmath>
#include <map>
#include <numeric>

#include "tests/conformance/GgmlGraph.h"

using namespace tenon::frontends;

namespace tenon::conformance {
namespace {

/// Weight ne [K, N, a, b], input ne [K, n, a · r, b · s]: weight (i, j) serves the inputs
/// (i · r + …, j · s + …).
Value mulMat(GgmlGraph& graph) {
  GraphBuilder& b = graph.builder;
  const auto& w = graph.row.source(0).ne;
  const auto& x = graph.row.source(1).ne;
  if (w[2] * w[3] == 1) {
    Value weight = graph.input(0, {w[1], w[0]});
    return b.matmul(graph.input(1), weight, graph.rounded());
  }
  int64_t batches = w[2] * w[3];
  int64_t r = x[2] / w[2];
  int64_t s = x[3] / w[3];
  Value weight = graph.input(0, {batches, w[1], w[0]});
  Value input = graph.input(1, {w[3], s, w[2], r, x[1], w[0]});
  Value grouped = b.reshape(b.transpose(input, {0, 2, 1, 3, 4, 5}), {batches, s * r * x[1], w[0]});
  Value product =
      b.reshape(b.matmul(grouped, weight, graph.rounded()), {w[3], w[2], s, r, x[1], w[1]});
  return b.transpose(product, {0, 2, 1, 3, 4, 5});
}

/// A mixture of experts, weight ne [K, N, E], ids ne [U, T]: every row times all experts, of which
/// the row's own stays.
Value mulMatId(GgmlGraph& graph) {
  GraphBuilder& b = graph.builder;
  const auto& w = graph.row.source(0).ne;
  Value weight = graph.input(0, {w[2] * w[1], w[0]});
  std::vector<int32_t> chosen;
  for (double id : graph.values(2))
    chosen.push_back(static_cast<int32_t>(std::ssize(chosen) * w[2] + static_cast<int64_t>(id)));
  auto rows = std::ssize(chosen);
  Value all = b.matmul(graph.input(1, {rows, w[0]}), weight);
  return b.embedding(b.reshape(all, {rows * w[2], w[1]}), graph.indices(chosen), graph.rounded());
}

/// Table ne [D, V, a, b], ids ne [n, a, b]: each batch has a table of its own, here one after the
/// other.
Value getRows(GgmlGraph& graph) {
  const auto& table = graph.row.source(0).ne;
  int64_t idsInBatch = graph.row.source(1).ne[0];
  std::vector<int32_t> rows;
  for (double id : graph.values(1)) {
    int64_t batch = std::ssize(rows) / idsInBatch;
    rows.push_back(static_cast<int32_t>(batch * table[1] + static_cast<int64_t>(id)));
  }
  Value flat = graph.input(0, {table[1] * table[2] * table[3], table[0]});
  return graph.builder.embedding(flat, graph.indices(rows), graph.rounded());
}

/// The slopes of ALiBi (Press et al. 2022, arXiv 2108.12409) as ggml computes them; 1 where
/// `maxBias` is 0.
std::vector<float> alibiSlopes(float maxBias, int64_t heads) {
  auto power = static_cast<float>(int64_t{1} << static_cast<int>(std::log2(heads)));
  std::vector<float> slopes(heads, 1);
  for (int64_t h = 0; maxBias > 0 && h < heads; ++h)
    slopes[h] = h < power ? std::exp2(-maxBias / power * (h + 1))
                          : std::exp2(-maxBias / 2 / power * (2 * (h - power) + 1));
  return slopes;
}

/// softmax(scale · q · kᵀ + slope · mask) · v, in single operations since `tenon.attention` takes no
/// mask: q ne [D, n, Hq, B], k ne [D, C, Hkv, B], v ne [Dv, C, Hkv, B], mask ne [C, n, 1, B], result
/// ne [Dv, Hq, n, B].
Value flashAttention(GgmlGraph& graph) {
  GraphBuilder& b = graph.builder;
  const auto& q = graph.row.source(0).ne;
  const auto& k = graph.row.source(1).ne;
  const auto& v = graph.row.source(2).ne;
  int64_t groups = k[2] * k[3];
  int64_t rows = q[1] * q[2] / k[2];
  Value query = graph.input(0, {groups, rows, q[0]});
  Value key = b.dequantize(graph.input(1, {groups, k[1], k[0]}));
  Value value = b.dequantize(graph.input(2, {groups, v[1], v[0]}));
  Value mask = graph.input(3, {q[3], 1, q[1], k[1]});
  Value slopes = b.constant({q[2], 1, 1}, alibiSlopes(graph.row.floatParam(1), q[2]));

  Value scores = b.scale(b.matmul(query, key), graph.row.floatParam(0));
  scores = b.add(b.reshape(scores, {q[3], q[2], q[1], k[1]}), b.mul(mask, slopes));
  Value weights = b.reshape(b.softmax(scores), {groups, rows, k[1]});
  Value result = b.matmul(weights, b.transpose(value, {0, 2, 1}), graph.rounded());
  return b.transpose(b.reshape(result, {q[3], q[2], q[1], v[0]}), {0, 2, 1, 3});
}

} // namespace

BuildRow findLinear(const std::string& op) {
  static const std::map<std::string, BuildRow> table = {
      {"MUL_MAT", mulMat},
      {"MUL_MAT_ID", mulMatId},
      {"GET_ROWS", getRows},
      {"FLASH_ATTN_EXT", flashAttention},
  };
  auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

} // namespace tenon::conformance
