// Element-wise operators, gated units, and those that only move elements.

#include <map>

#include "tests/conformance/GgmlGraph.h"

using namespace tenon::frontends;

namespace tenon::conformance {
namespace {

//===-- Unary -------------------------------------------------------------------------------===//

using Unary = Value (GraphBuilder::*)(Value, OpOptions);
template <Unary method> Value unary(GgmlGraph& graph) {
  return (graph.builder.*method)(graph.input(0), graph.rounded());
}

/// x · σ(1.702 x)
Value quickGelu(GgmlGraph& graph, Value x, const OpOptions& options) {
  return graph.builder.mul(x, graph.builder.sigmoid(graph.builder.scale(x, 1.702f)), options);
}
Value geluQuick(GgmlGraph& graph) { return quickGelu(graph, graph.input(0), graph.rounded()); }

/// min(max((x + 3) / 6, 0), 1)
Value hardSigmoid(GgmlGraph& graph, Value x, const OpOptions& options) {
  GraphBuilder& b = graph.builder;
  Value ramp = b.div(b.add(x, graph.scalar(3)), graph.scalar(6));
  return b.min(b.max(ramp, graph.scalar(0)), graph.scalar(1), options);
}
Value hardSigmoid(GgmlGraph& graph) { return hardSigmoid(graph, graph.input(0), graph.rounded()); }
Value hardSwish(GgmlGraph& graph) {
  Value x = graph.input(0);
  return graph.builder.mul(x, hardSigmoid(graph, x, {}), graph.rounded());
}

/// x above 0, eˣ − 1 below.
Value elu(GgmlGraph& graph) {
  GraphBuilder& b = graph.builder;
  Value x = graph.input(0);
  Value below = b.min(b.sub(b.exp(x), graph.scalar(1)), graph.scalar(0));
  return b.add(b.relu(x), below, graph.rounded());
}

/// ln(1 + eˣ) = max(x, 0) + ln(1 + e^−|x|)
Value softplus(GgmlGraph& graph) {
  GraphBuilder& b = graph.builder;
  Value x = graph.input(0);
  Value tail = b.log(b.add(b.exp(b.neg(b.abs(x))), graph.scalar(1)));
  return b.add(b.relu(x), tail, graph.rounded());
}

Value clamp(GgmlGraph& graph) {
  Value low = graph.scalar(graph.row.floatParam(0));
  Value high = graph.scalar(graph.row.floatParam(1));
  return graph.builder.min(graph.builder.max(graph.input(0), low), high, graph.rounded());
}

//===-- Binary ------------------------------------------------------------------------------===//

/// ggml repeats the second operand over the first, whole; an axis of n = r · m elements becomes
/// [r, m] beside [1, m].
template <Value (GraphBuilder::*method)(Value, Value, OpOptions)> Value binary(GgmlGraph& graph) {
  std::vector<int64_t> left;
  std::vector<int64_t> right;
  std::vector<int64_t> shape = graph.row.source(0).shape();
  for (auto [n, m] : llvm::zip_equal(shape, graph.row.source(1).shape())) {
    if (n != m && m != 1) {
      left.push_back(n / m);
      right.push_back(1);
    }
    left.push_back(n != m && m != 1 ? m : n);
    right.push_back(m);
  }
  Value lhs = graph.input(0, left);
  return (graph.builder.*method)(lhs, graph.input(1, right), graph.rounded());
}

Value repeat(GgmlGraph& graph) {
  Value value = graph.input(0);
  std::vector<int64_t> shape = graph.row.result.shape();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<Value> copies(shape[axis] / value.getShape()[axis], value);
    if (copies.size() > 1)
      value = graph.builder.concat(copies, static_cast<int64_t>(axis));
  }
  // A repetition by 1 computes nothing.
  return graph.builder.cast(value, graph.rounded());
}

//===-- Gated units -------------------------------------------------------------------------===//

/// The gate and what it multiplies: two sources, or the halves of one; `swapped`: the other way
/// round.
std::pair<Value, Value> halves(GgmlGraph& graph) {
  if (graph.row.sources[1]) {
    Value gate = graph.input(0);
    return {gate, graph.input(1)};
  }
  Value both = graph.input(0);
  std::vector<int64_t> sizes(both.getShape());
  sizes.back() /= 2;
  std::vector<int64_t> strides(sizes.size(), 1);
  std::vector<int64_t> first(sizes.size(), 0);
  std::vector<int64_t> second = first;
  second.back() = sizes.back();
  if (graph.row.params[1] != 0)
    std::swap(first, second);
  Value gate = graph.builder.slice(both, first, sizes, strides);
  return {gate, graph.builder.slice(both, second, sizes, strides)};
}

template <Activation activation> Value glu(GgmlGraph& graph) {
  auto [gate, up] = halves(graph);
  return graph.builder.glu(activation, gate, up, graph.rounded());
}

Value gluQuick(GgmlGraph& graph) {
  auto [gate, up] = halves(graph);
  return graph.builder.mul(quickGelu(graph, gate, {}), up, graph.rounded());
}

/// g · σ(α g) · (u + 1) with g = min(gate, limit), u = clamp(up, ±limit)
Value gluOai(GgmlGraph& graph) {
  GraphBuilder& b = graph.builder;
  float alpha = graph.row.floatParam(2);
  float limit = graph.row.floatParam(3);
  auto [gate, up] = halves(graph);
  Value g = b.min(gate, graph.scalar(limit));
  Value u = b.max(b.min(up, graph.scalar(limit)), graph.scalar(-limit));
  Value activated = b.mul(g, b.sigmoid(b.scale(g, alpha)));
  return b.mul(activated, b.add(u, graph.scalar(1)), graph.rounded());
}

} // namespace

BuildRow findElementwise(const std::string& op) {
  using B = GraphBuilder;
  static const std::map<std::string, BuildRow> table = {
      {"ABS", unary<&B::abs>},
      {"NEG", unary<&B::neg>},
      {"SQR", unary<&B::square>},
      {"SQRT", unary<&B::sqrt>},
      {"EXP", unary<&B::exp>},
      {"LOG", unary<&B::log>},
      {"SIN", unary<&B::sin>},
      {"COS", unary<&B::cos>},
      {"TANH", unary<&B::tanh>},
      {"SIGMOID", unary<&B::sigmoid>},
      {"SILU", unary<&B::silu>},
      {"RELU", unary<&B::relu>},
      {"GELU", unary<&B::geluTanh>},
      {"GELU_ERF", unary<&B::gelu>},
      {"GELU_QUICK", geluQuick},
      {"HARDSIGMOID", hardSigmoid},
      {"HARDSWISH", hardSwish},
      {"ELU", elu},
      {"SOFTPLUS", softplus},
      {"CLAMP", clamp},
      {"ADD", binary<&B::add>},
      {"SUB", binary<&B::sub>},
      {"MUL", binary<&B::mul>},
      {"DIV", binary<&B::div>},
      {"REPEAT", repeat},
      {"REGLU", glu<Activation::Relu>},
      {"GEGLU", glu<Activation::GeluTanh>},
      {"GEGLU_ERF", glu<Activation::Gelu>},
      {"SWIGLU", glu<Activation::Silu>},
      {"GEGLU_QUICK", gluQuick},
      {"SWIGLU_OAI", gluOai},
  };
  auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

} // namespace tenon::conformance
