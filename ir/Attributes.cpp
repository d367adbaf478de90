#include "ir/Attributes.h"

#include <limits>

#include "ir/Dialect.h"
#include "ir/KernelLimits.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using ErrorEmitter = llvm::function_ref<InFlightDiagnostic()>;

#include "ir/TenonEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TenonAttributes.cpp.inc"

namespace tenon {

/// The value of the integer entry of that name.
static std::optional<int64_t> lookUpInteger(DictionaryAttr entries, llvm::StringRef name) {
  if (!entries)
    return std::nullopt;
  if (auto value = entries.getAs<IntegerAttr>(name))
    return value.getInt();
  return std::nullopt;
}

static LogicalResult verifyIntegers(ErrorEmitter emitError, DictionaryAttr entries,
                                    llvm::StringRef what, int64_t least,
                                    int64_t most = std::numeric_limits<int64_t>::max()) {
  if (!entries)
    return success();
  for (NamedAttribute entry : entries) {
    auto value = llvm::dyn_cast<IntegerAttr>(entry.getValue());
    if (!value || !value.getType().isInteger(64) || value.getInt() < least)
      return emitError() << "expects an i64 of at least " << least << " as " << what << " '"
                         << entry.getName().strref() << "', but got " << entry.getValue();
    if (value.getInt() > most)
      return emitError() << "expects an i64 of at most " << most << " as " << what << " '"
                         << entry.getName().strref() << "', but got " << entry.getValue();
  }
  return success();
}

LogicalResult OrderAttr::verify(ErrorEmitter emitError, int64_t chunk, int64_t lanes,
                                CombineTree tree) {
  if (chunk < 0)
    return emitError() << "expects a chunk of zero or more elements, but got " << chunk;
  if (chunk > mostCounted)
    return emitError() << "expects a chunk of at most " << mostCounted << " elements, but got "
                       << chunk;
  if (lanes < 1 || lanes > 1024)
    return emitError() << "expects 1 to 1024 lanes, but got " << lanes;
  if (tree == CombineTree::Halving && !llvm::isPowerOf2_64(lanes))
    return emitError() << "expects a power of two of lanes for a halving tree, but got " << lanes;
  return success();
}

LogicalResult ScheduleAttr::verify(ErrorEmitter emitError, llvm::StringRef emitter, int64_t tiles,
                                   DictionaryAttr parameters) {
  if (emitter.empty())
    return emitError() << "expects the name of an emitter, but got an empty string";
  if (tiles < 1)
    return emitError() << "expects at least one tile, but got " << tiles;
  if (tiles > mostCounted)
    return emitError() << "expects at most " << mostCounted << " tiles, but got " << tiles;
  return verifyIntegers(emitError, parameters, "schedule parameter", 1, mostCounted);
}

std::optional<int64_t> ScheduleAttr::getParameter(llvm::StringRef name) const {
  return lookUpInteger(getParameters(), name);
}

static LogicalResult verifyRange(ErrorEmitter emitError, int64_t offset, int64_t bytes) {
  int64_t end;
  if (offset < 0 || bytes < 0 || llvm::AddOverflow(offset, bytes, end))
    return emitError() << "expects a byte range inside 63 bits, but got offset " << offset
                       << " and " << bytes << " bytes";
  return success();
}

LogicalResult BufferAttr::verify(ErrorEmitter emitError, int64_t offset, int64_t bytes) {
  return verifyRange(emitError, offset, bytes);
}

LogicalResult RangeAttr::verify(ErrorEmitter emitError, FlatSymbolRefAttr file, int64_t offset,
                                int64_t bytes) {
  return verifyRange(emitError, offset, bytes);
}

LogicalResult EntryAttr::verify(ErrorEmitter emitError, Role role, int64_t rows) {
  if (rows < 0 || (role != Role::Other && rows == 0))
    return emitError() << "expects a positive number of rows, but got " << rows;
  return success();
}

LogicalResult ModelAttr::verify(ErrorEmitter emitError, StringAttr architecture, StringAttr name,
                                FlatSymbolRefAttr file, int64_t vocabulary, int64_t contextLength,
                                int64_t sequences) {
  if (vocabulary < 1 || contextLength < 1 || sequences < 1)
    return emitError() << "expects positive vocabulary, context and sequences, but got "
                       << vocabulary << ", " << contextLength << " and " << sequences;
  return success();
}

LogicalResult TargetAttr::verify(ErrorEmitter emitError, StringAttr name, DeviceKind device,
                                 ArrayAttr features, DictionaryAttr properties) {
  for (Attribute feature : features)
    if (!llvm::isa<StringAttr>(feature))
      return emitError() << "expects strings as features, but got " << feature;
  return verifyIntegers(emitError, properties, "target property", 0);
}

std::optional<int64_t> TargetAttr::getProperty(llvm::StringRef name) const {
  return lookUpInteger(getProperties(), name);
}

} // namespace tenon

void tenon::TenonDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/TenonAttributes.cpp.inc"
      >();
}
