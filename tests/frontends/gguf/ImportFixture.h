#ifndef TENON_TESTS_FRONTENDS_GGUF_IMPORTFIXTURE_H
#define TENON_TESTS_FRONTENDS_GGUF_IMPORTFIXTURE_H

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/gguf/GgufSource.h"
#include "frontends/models/ImportModel.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tests/frontends/gguf/ModelFile.h"

namespace tenon::frontends {

/// Matches text that holds the parts, one after the other.
MATCHER_P(ContainsInOrder, parts, "holds the parts in order") {
  size_t at = 0;
  for (const std::string& part : parts) {
    size_t found = std::string_view(arg).find(part, at);
    if (found == std::string_view::npos) {
      *result_listener << "has no \"" << part << "\" from byte " << at << " on";
      return false;
    }
    at = found + part.size();
  }
  return true;
}

class ImportFixture : public ::testing::Test {
protected:
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> importFile(const std::string& path,
                                                               const ImportOptions& options = {}) {
    auto source = GgufSource::open(path);
    if (!source.ok())
      return source.status();
    return importModel(context, **source, options);
  }
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> import(const ModelFile& model,
                                                           const ImportOptions& options = {}) {
    return importFile(model.write(folder), options);
  }
  /// The module as text; the error's text where there is none.
  std::string text(const absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>& module) {
    if (!module.ok())
      return std::string(module.status().message());
    std::string text;
    llvm::raw_string_ostream stream(text);
    mlir::ModuleOp(**module).print(stream);
    return text;
  }
  std::string importText(const ModelFile& model, const ImportOptions& options = {}) {
    return text(import(model, options));
  }

  mlir::MLIRContext context;
  tests::TempFolder folder;
};

} // namespace tenon::frontends

#endif // TENON_TESTS_FRONTENDS_GGUF_IMPORTFIXTURE_H
