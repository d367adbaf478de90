#include "support/Diagnostics.h"

#include "absl/strings/str_format.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon {

std::string formatLocation(Location location) {
  if (auto name = llvm::dyn_cast<NameLoc>(location)) {
    std::string place = formatLocation(name.getChildLoc());
    return place.empty() ? name.getName().str() : place + ": " + name.getName().str();
  }
  if (auto file = llvm::dyn_cast<FileLineColLoc>(location))
    return absl::StrFormat("%s:%d:%d", file.getFilename().str(), file.getLine(), file.getColumn());
  if (auto fused = llvm::dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string text = formatLocation(part); !text.empty())
        return text;
  return "";
}

static std::string formatDiagnostic(Diagnostic& diagnostic) {
  std::string text = formatLocation(diagnostic.getLocation());
  if (!text.empty())
    text += ": ";
  llvm::raw_string_ostream stream(text);
  diagnostic.print(stream);
  return text;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext* context)
    : context(context), printedOperations(context->shouldPrintOpOnDiagnostic()),
      handler(context, [this](Diagnostic& diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        std::string text = formatDiagnostic(diagnostic);
        for (Diagnostic& note : diagnostic.getNotes())
          text += "\n  note: " + formatDiagnostic(note);
        errors.push_back(std::move(text));
        return success();
      }) {
  context->printOpOnDiagnostic(false);
}

DiagnosticCollector::~DiagnosticCollector() { context->printOpOnDiagnostic(printedOperations); }

absl::Status DiagnosticCollector::takeStatus() {
  if (errors.empty())
    return absl::InternalError("a step failed without saying why");
  std::string message = std::move(errors.front());
  if (errors.size() > 1)
    message += absl::StrFormat("\n  (and %d more)", errors.size() - 1);
  errors.clear();
  return absl::InvalidArgumentError(message);
}

} // namespace tenon
