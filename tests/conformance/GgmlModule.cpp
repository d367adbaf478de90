#include "tests/conformance/GgmlModule.h"

#include <set>

#include "tests/conformance/GgmlGraph.h"

#include "support/Status.h"

namespace tenon::conformance {

absl::StatusOr<std::unique_ptr<GgmlModule>> GgmlModule::build(std::vector<const GgmlRow*> rows) {
  auto built = std::make_unique<GgmlModule>();
  built->rows = std::move(rows);
  frontends::GraphBuilder builder(built->context, mlir::Float32Type::get(&built->context));
  for (const GgmlRow* row : built->rows)
    built->inputs.push_back(buildRow(builder, *row));
  TENON_ASSIGN_OR_RETURN(built->module, builder.finish());
  return built;
}

std::vector<std::string> mappedOperators() {
  std::set<std::string> operators;
  for (const GgmlRow& row : ggmlRows())
    if (!whyUnmapped(row))
      operators.insert(row.op);
  return {operators.begin(), operators.end()};
}

std::vector<const GgmlRow*> rowsOf(const std::string& op) {
  std::vector<const GgmlRow*> rows;
  for (const GgmlRow& row : ggmlRows())
    if (row.op == op && !whyUnmapped(row))
      rows.push_back(&row);
  return rows;
}

} // namespace tenon::conformance
