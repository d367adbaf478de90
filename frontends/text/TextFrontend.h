#ifndef TENON_FRONTENDS_TEXT_TEXTFRONTEND_H
#define TENON_FRONTENDS_TEXT_TEXTFRONTEND_H

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::frontends {

/// Reads a module in textual IR from the file at `path`, which may come from anybody.
///
/// Refused, with file, line and column: text that does not parse or verify, nesting deeper than
/// `maxTextNesting`, operations, types and attributes of other dialects than builtin, func and
/// tenon, affine maps. Refused with the file: bytecode, and more than `maxTextBytes`. A module that
/// states no phase is in phase `input`. Several operations at the top level form one module.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> parseModuleFile(mlir::MLIRContext& context,
                                                                  const std::string& path);

/// The same for text in memory; `name` stands for the file in messages.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
parseModuleText(mlir::MLIRContext& context, std::string_view text, std::string_view name);

/// Brackets in brackets that a text may have, the aliases that it goes through counted in. MLIR's
/// parser recurses on them: 100,000 overflow a stack of 8 MiB. Planned modules nest 8 deep.
inline constexpr int maxTextNesting = 64;

/// A module does not grow with its weights: a model of 100 layers has about 1 MB of text.
inline constexpr size_t maxTextBytes = size_t(64) << 20;

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_TEXT_TEXTFRONTEND_H
