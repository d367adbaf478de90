#include "ir/Targets.h"

#include <algorithm>
#include <cassert>

#include "ir/Dialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tenon {

namespace {

/// A file of `ir/targets`.
struct TargetFile {
  std::string_view name;
  std::string_view text;
};

/// What stands before the attribute of a target file.
struct Heading {
  std::string base, fit;
  llvm::StringRef rest; ///< from the attribute on
};

} // namespace

static constexpr TargetFile targetFiles[] = {
#include "ir/TargetFiles.inc"
};
static constexpr TargetFile fitFiles[] = {
#include "ir/FitFiles.inc"
};

static llvm::StringRef findText(llvm::ArrayRef<TargetFile> files, std::string_view name) {
  const TargetFile* found = llvm::find_if(files, [&](auto& file) { return file.name == name; });
  return found == files.end() ? llvm::StringRef() : llvm::StringRef(found->text);
}

/// The NAME of a line `key = "NAME"`, which it must be; comments may follow.
static std::optional<llvm::StringRef> readName(llvm::StringRef line, llvm::StringRef key) {
  if (!line.consume_front(key))
    return std::nullopt;
  line = line.ltrim();
  if (!line.consume_front("="))
    return std::nullopt;
  line = line.ltrim();
  size_t end = line.starts_with("\"") ? line.find('"', 1) : llvm::StringRef::npos;
  if (end == llvm::StringRef::npos)
    return std::nullopt;
  llvm::StringRef after = line.substr(end + 1).trim();
  return after.empty() || after.starts_with("//") ? std::optional(line.slice(1, end))
                                                  : std::nullopt;
}

static Heading readHeading(llvm::StringRef text) {
  Heading heading;
  for (heading.rest = text; !heading.rest.empty();) {
    auto [line, rest] = heading.rest.split('\n');
    line = line.trim();
    if (auto base = readName(line, "base"))
      heading.base = base->str();
    else if (auto fit = readName(line, "fit"))
      heading.fit = fit->str();
    else if (!line.empty() && !line.starts_with("//"))
      break;
    heading.rest = rest;
  }
  return heading;
}

/// MLIR counts what it read from after the comments at the top; its check for trailing text, made
/// where no count is asked for, would take the rest for such.
static Attribute parse(MLIRContext* context, llvm::StringRef text) {
  size_t readBytes;
  return parseAttribute(text, context, Type(), &readBytes);
}

/// Puts the properties of the fit in place of those in `properties`.
static LogicalResult addFit(MLIRContext* context, llvm::StringRef name, NamedAttrList& properties) {
  llvm::StringRef text = findText(fitFiles, name);
  if (text.empty())
    return emitError(UnknownLoc::get(context)) << "expects a known fit, but got '" << name << "'";
  auto constants = llvm::dyn_cast_or_null<DictionaryAttr>(parse(context, text));
  assert(constants && "the file of a fit holds its constants");
  for (NamedAttribute constant : constants)
    properties.set(constant.getName(), constant.getValue());
  return success();
}

TargetAttr parseTarget(MLIRContext* context, std::string_view text) {
  context->getOrLoadDialect<TenonDialect>();
  Heading heading = readHeading(text);
  NamedAttrList properties;
  if (!heading.base.empty()) {
    TargetAttr base = findTarget(context, heading.base);
    if (!base) {
      emitError(UnknownLoc::get(context))
          << "expects a known target as base, but got '" << heading.base << "'";
      return {};
    }
    properties = NamedAttrList(base.getProperties());
    properties.erase("measured");
  }
  if (!heading.fit.empty() && failed(addFit(context, heading.fit, properties)))
    return {};
  Attribute attribute = parse(context, heading.rest);
  if (!attribute)
    return {};
  auto target = llvm::dyn_cast<TargetAttr>(attribute);
  if (!target) {
    emitError(UnknownLoc::get(context), "expects a #tenon.target, but got another attribute");
    return {};
  }
  for (NamedAttribute own : target.getProperties())
    properties.set(own.getName(), own.getValue());
  return TargetAttr::get(context, target.getName(), target.getDevice(), target.getFeatures(),
                         properties.getDictionary(context));
}

TargetAttr findTarget(MLIRContext* context, std::string_view name) {
  llvm::StringRef text = findText(targetFiles, name);
  if (text.empty())
    return {};
  TargetAttr target = parseTarget(context, text);
  assert(target && target.getName().getValue() == llvm::StringRef(name) &&
         "the file holds the target that it is named after");
  return target;
}

std::vector<std::string> listTargets() {
  std::vector<std::string> names;
  for (const TargetFile& file : targetFiles)
    names.emplace_back(file.name);
  std::ranges::sort(names);
  return names;
}

} // namespace tenon
