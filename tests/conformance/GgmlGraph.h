#ifndef TENON_TESTS_CONFORMANCE_GGMLGRAPH_H
#define TENON_TESTS_CONFORMANCE_GGMLGRAPH_H

#include <optional>
#include <string>
#include <vector>

#include "frontends/builder/GraphBuilder.h"
#include "ir/ReferenceTensor.h"
#include "tests/conformance/GgmlRow.h"

namespace tenon::conformance {

/// Why no graph of Tenon's operations computes what the row does; nullopt where one does.
std::optional<std::string> whyUnmapped(const GgmlRow& row);

/// What makes one function of a row: operands as inputs of the function, with their values.
class GgmlGraph {
public:
  GgmlGraph(frontends::GraphBuilder& builder, const GgmlRow& row) : builder(builder), row(row) {}

  /// Source `index` as an input of the function, with the elements in `shape`.
  frontends::Value input(size_t index, llvm::ArrayRef<int64_t> shape);
  frontends::Value input(size_t index) { return input(index, row.source(index).shape()); }
  /// An i32 input of values that the row implies, such as rows of a table that was one of several.
  frontends::Value indices(const std::vector<int32_t>& values);
  /// The elements of source `index`.
  std::vector<double> values(size_t index) const;
  /// A constant that broadcasts.
  frontends::Value scalar(float value) { return builder.constant({1}, {value}); }
  /// Options for the operation that computes the result: its element type.
  frontends::OpOptions rounded() const;

  frontends::GraphBuilder& builder;
  const GgmlRow& row;
  std::vector<ReferenceTensor> inputs;

private:
  mlir::Type elementType(const std::string& encoding) const;
};

/// How the operators map; each gives the value to compare with the row's result.
using BuildRow = frontends::Value (*)(GgmlGraph&);
/// The function for an operator, or null.
BuildRow findElementwise(const std::string& op);
BuildRow findRowWise(const std::string& op);
BuildRow findLinear(const std::string& op);

/// Builds function `row_<number>` with the result `y`, and gives its inputs.
std::vector<ReferenceTensor> buildRow(frontends::GraphBuilder& builder, const GgmlRow& row);

/// The distance of `actual` from the row's result, Σ(a − b)² / Σ b²; infinite where an infinity or a
/// NaN stands on one side only. Indices of the largest elements count as a set, as in ggml's test.
double distance(const GgmlRow& row, std::vector<double> actual);

} // namespace tenon::conformance

#endif // TENON_TESTS_CONFORMANCE_GGMLGRAPH_H
