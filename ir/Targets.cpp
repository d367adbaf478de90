#include "ir/Targets.h"

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
      auto target = llvm::dyn_cast_or_null<TargetAttr>(parseAttribute(file.text, context));
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
  return names;
}

} // namespace tenon
