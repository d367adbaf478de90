#ifndef TENON_TESTS_CONFORMANCE_GGMLMODULE_H
#define TENON_TESTS_CONFORMANCE_GGMLMODULE_H

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "ir/ReferenceTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tests/conformance/GgmlRow.h"

namespace tenon::conformance {

/// Rows as the functions of one module, in phase `input`.
struct GgmlModule {
  static absl::StatusOr<std::unique_ptr<GgmlModule>> build(std::vector<const GgmlRow*> rows);

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<const GgmlRow*> rows;
  /// Of each row's function.
  std::vector<std::vector<ReferenceTensor>> inputs;
};

/// The operators of which rows map to graphs.
std::vector<std::string> mappedOperators();
/// The rows of that operator that map.
std::vector<const GgmlRow*> rowsOf(const std::string& op);

} // namespace tenon::conformance

#endif // TENON_TESTS_CONFORMANCE_GGMLMODULE_H
