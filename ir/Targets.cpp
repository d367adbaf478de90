#include "ir/Targets.h"

#include <algorithm>
#include <cassert>

#include "ir/Dialect.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;

namespace tenon {

namespace {
/// A file of `ir/targets`.
struct TargetFile {
  std::string_view name;
  std::string_view text;
};
} // namespace

static constexpr TargetFile targetFiles[] = {
#include "ir/TargetFiles.inc"
};

TargetAttr findTarget(MLIRContext* context, std::string_view name) {
  context->getOrLoadDialect<TenonDialect>();
  for (const TargetFile& file : targetFiles)
    if (file.name == name) {
      // MLIR counts what it read from behind the comments at the top; its check for trailing text,
      // made where no count is asked for, would take the rest for such.
      size_t readBytes;
      Attribute attribute = parseAttribute(file.text, context, Type(), &readBytes);
      auto target = llvm::dyn_cast_or_null<TargetAttr>(attribute);
      assert(target && target.getName().getValue() == llvm::StringRef(name) &&
             "the file holds the target that it is named after");
      return target;
    }
  return {};
}

std::vector<std::string> listTargets() {
  std::vector<std::string> names;
  for (const TargetFile& file : targetFiles)
    names.emplace_back(file.name);
  std::ranges::sort(names);
  return names;
}

} // namespace tenon
