#ifndef TENON_SUPPORT_DIAGNOSTICS_H
#define TENON_SUPPORT_DIAGNOSTICS_H

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mlir/IR/Diagnostics.h"

namespace tenon {

/// The one bridge from MLIR's diagnostics to `absl::Status`: while it lives, errors of the context
/// with their notes are kept instead of printed. Warnings and remarks go on to other handlers.
/// Errors do not print the operation that they are about, which may be a whole module.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext* context);
  ~DiagnosticCollector();

  /// True once an error was reported.
  bool hasErrors() const { return !errors.empty(); }
  /// InvalidArgument with the first error as `location: message`, its notes on lines of their own,
  /// and how many more there are. Call it where something failed; Internal where nothing was said.
  absl::Status takeStatus();

private:
  mlir::MLIRContext* context;
  bool printedOperations;
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler;
};

/// A location for people: `file:line:column`, or the name that a frontend gave.
std::string formatLocation(mlir::Location location);

} // namespace tenon

#endif // TENON_SUPPORT_DIAGNOSTICS_H
