#ifndef TENON_FRONTENDS_MODELS_FRONTEND_H
#define TENON_FRONTENDS_MODELS_FRONTEND_H

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "frontends/models/ModelSource.h"

namespace tenon::frontends {

/// A file format of models. `frontends/<format>/<Format>Source.cpp` defines `<format>Frontend`, and
/// the build finds it there. Textual IR and the graphs of the C++ API are modules already and need
/// none.
struct Frontend {
  /// What the format is called in messages: `GGUF`.
  std::string_view name;
  /// Whether the file at `path` that begins with `head` is one. `head` has the first 4,096 bytes,
  /// none for a folder.
  bool (*recognizes)(const std::string& path, std::span<const std::byte> head);
  /// Opens the model there. What comes from the file is checked.
  absl::StatusOr<std::unique_ptr<ModelSource>> (*open)(const std::string& path);
};

/// Every frontend, in the order of their folders' names.
std::span<const Frontend* const> allFrontends();

/// The frontend that recognises the file, or null.
const Frontend* findFrontend(const std::string& path, std::span<const std::byte> head);

/// Opens the model at `path` by the frontend that recognises it; InvalidArgument where none does.
absl::StatusOr<std::unique_ptr<ModelSource>> openModel(const std::string& path);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_FRONTEND_H
