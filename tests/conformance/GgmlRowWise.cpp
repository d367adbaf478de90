// Operators over the innermost axis: norms, softmax, reductions, rope.

#include <cmath>
#include <map>

#include "tests/conformance/GgmlGraph.h"

using namespace tenon::frontends;

namespace tenon::conformance {
namespace {

Value norm(GgmlGraph& graph) {
  return graph.builder.layerNorm(graph.input(0), graph.row.floatParam(0), graph.rounded());
}
Value rmsNorm(GgmlGraph& graph) {
  return graph.builder.rmsNorm(graph.input(0), graph.row.floatParam(0), graph.rounded());
}
Value sumRows(GgmlGraph& graph) {
  return graph.builder.reduce(ReduceKind::Sum, graph.input(0), graph.rounded());
}
Value argmax(GgmlGraph& graph) { return graph.builder.argmax(graph.input(0)); }
Value topK(GgmlGraph& graph) {
  return graph.builder.topK(graph.input(0), graph.row.result.ne[0]).indices;
}

/// x with −∞ where column > past + row.
Value diagMaskInf(GgmlGraph& graph) {
  int64_t columns = graph.row.result.ne[0];
  int64_t rows = graph.row.result.ne[1];
  std::vector<float> mask(rows * columns);
  for (int64_t i = 0; i < rows * columns; ++i)
    if (i % columns > graph.row.params[0] + i / columns)
      mask[i] = -std::numeric_limits<float>::infinity();
  return graph.builder.add(graph.input(0), graph.builder.constant({rows, columns}, mask),
                           graph.rounded());
}

/// softmax(scale · x), where a sink (source 2, one a head) takes part as one more column.
Value softmax(GgmlGraph& graph) {
  GraphBuilder& b = graph.builder;
  Value x = b.scale(graph.input(0), graph.row.floatParam(0));
  if (!graph.row.sources[2])
    return b.softmax(x, graph.rounded());
  std::vector<int64_t> column(x.getShape());
  column.back() = 1;
  std::vector<float> zeros(column[0] * column[1] * column[2]);
  Value sinks = b.add(graph.input(2, {column[1], 1, 1}), b.constant(column, zeros));
  Value all = b.softmax(b.concat({x, sinks}, 3), graph.rounded());
  return b.slice(all, {0, 0, 0, 0}, x.getShape(), {1, 1, 1, 1});
}

/// ggml's modes 0 (adjacent pairs) and 2 (halves): position · frequencyScale · base^(−2i/n) /
/// factor[i], factors in source 2. The interpolation of YaRN changes nothing at the scale of 1 that
/// all rows have.
Value rope(GgmlGraph& graph) {
  const GgmlRow& row = graph.row;
  int pairs = row.params[1] / 2;
  std::vector<float> frequencies(pairs);
  std::vector<double> factors = row.sources[2] ? graph.values(2) : std::vector<double>(pairs, 1);
  for (int i = 0; i < pairs; ++i)
    frequencies[i] = static_cast<float>(
        row.floatParam(6) * std::pow(row.floatParam(5), -double(i) / pairs) / factors[i]);
  const auto& ne = row.source(0).ne;
  RopePairing pairing = row.params[2] == 0 ? RopePairing::Adjacent : RopePairing::Halves;
  Value x = graph.input(0, {ne[2], ne[1], ne[0]});
  return graph.builder.rope(pairing, x, graph.input(1, {ne[2]}),
                            graph.builder.constant({pairs}, frequencies), row.floatParam(8),
                            graph.rounded());
}

} // namespace

BuildRow findRowWise(const std::string& op) {
  static const std::map<std::string, BuildRow> table = {
      {"NORM", norm},  {"RMS_NORM", rmsNorm},          {"SUM_ROWS", sumRows}, {"ARGMAX", argmax},
      {"TOP_K", topK}, {"DIAG_MASK_INF", diagMaskInf}, {"SOFT_MAX", softmax}, {"ROPE", rope},
  };
  auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

} // namespace tenon::conformance
