#include "tests/conformance/GgmlGraph.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"

using namespace tenon::frontends;

namespace tenon::conformance {

//===-- What maps ---------------------------------------------------------------------------===//

static BuildRow findBuilder(const std::string& op) {
  for (BuildRow (*find)(const std::string&) : {findElementwise, findRowWise, findLinear})
    if (BuildRow build = find(op))
      return build;
  return nullptr;
}

static std::string whyNoOperation(const std::string& op) {
  if (op == "CONT")
    return "copies a view of memory; values have no strides, so nothing is left to compute";
  if (op == "SET_ROWS")
    return "writes into a tensor; Tenon writes rows into states alone, which no function returns";
  return "no operation rounds to integers or compares";
}

std::optional<std::string> whyUnmapped(const GgmlRow& row) {
  if (!findBuilder(row.op))
    return whyNoOperation(row.op);
  for (const std::optional<GgmlTensor>& source : row.sources)
    if (source && !findEncoding(source->type))
      return "no type " + source->type;
  if (row.op == "GET_ROWS" && row.source(0).type == "i32")
    return "tables hold floating-point elements";
  // Modes 8, 24 and 40 of ggml's rope: several positions a token, one for each section of a head.
  if (row.op == "ROPE" && row.params[2] > 2)
    return "positions of several axes (M-RoPE)";
  return std::nullopt;
}

//===-- Functions ---------------------------------------------------------------------------===//

mlir::Type GgmlGraph::elementType(const std::string& encoding) const {
  return getElementType(builder.getActivationType().getContext(), *findEncoding(encoding));
}

OpOptions GgmlGraph::rounded() const { return {.elementType = elementType(row.result.type)}; }

std::vector<double> GgmlGraph::values(size_t index) const {
  const GgmlTensor& source = row.source(index);
  std::vector<double> decoded(source.elements());
  findEncoding(source.type)->decode(source.bytes, decoded);
  return decoded;
}

Value GgmlGraph::input(size_t index, llvm::ArrayRef<int64_t> shape) {
  const GgmlTensor& source = row.source(index);
  auto type = mlir::RankedTensorType::get(shape, elementType(source.type));
  if (findEncoding(source.type)->isBlockQuantized()) {
    inputs.emplace_back(type, source.bytes, nullptr);
  } else {
    inputs.emplace_back(type);
    llvm::copy(values(index), inputs.back().getValues().begin());
  }
  return builder.input(absl::StrFormat("x%d", index), shape, type.getElementType());
}

Value GgmlGraph::indices(const std::vector<int32_t>& values) {
  auto count = static_cast<int64_t>(values.size());
  inputs.emplace_back(mlir::RankedTensorType::get({count}, elementType("i32")));
  llvm::copy(values, inputs.back().getValues().begin());
  return builder.input("indices", {count}, elementType("i32"));
}

std::vector<ReferenceTensor> buildRow(GraphBuilder& builder, const GgmlRow& row) {
  GgmlGraph graph(builder, row);
  builder.beginFunction(absl::StrFormat("row_%d", row.number));
  builder.output("y", findBuilder(row.op)(graph));
  builder.endFunction();
  return std::move(graph.inputs);
}

//===-- Comparison --------------------------------------------------------------------------===//

double distance(const GgmlRow& row, std::vector<double> actual) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> expected(row.result.elements());
  findEncoding(row.result.type)->decode(row.result.bytes, expected);
  if (actual.size() != expected.size())
    return infinite;
  if (row.op == "TOP_K")
    for (size_t i = 0; i < expected.size(); i += row.result.ne[0]) {
      std::sort(actual.begin() + i, actual.begin() + i + row.result.ne[0]);
      std::sort(expected.begin() + i, expected.begin() + i + row.result.ne[0]);
    }
  double error = 0;
  double power = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double a = actual[i];
    double b = expected[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) {
      power += std::isfinite(b) ? b * b : 0;
      continue;
    }
    if (!std::isfinite(a) || !std::isfinite(b))
      return infinite;
    error += (a - b) * (a - b);
    power += b * b;
  }
  return error == 0 ? 0 : error / power;
}

} // namespace tenon::conformance
