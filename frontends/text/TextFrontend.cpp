#include "frontends/text/TextFrontend.h"

#include "absl/strings/str_format.h"
#include "ir/Dialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include "frontends/text/NestingCheck.h"
#include "support/Diagnostics.h"
#include "support/MappedFile.h"
#include "support/Status.h"

using namespace mlir;

namespace tenon::frontends {

/// The first bytes of MLIR's bytecode, which `parseSourceString` would read as well.
static constexpr std::string_view bytecodeMagic = "ML\xEFR";

static bool isAllowedDialect(Dialect& dialect) {
  return llvm::isa<BuiltinDialect, func::FuncDialect, TenonDialect>(dialect);
}

/// Refuses operations, types and attributes of dialects that the caller's context knows, or takes
/// unregistered, but a module of ours cannot hold.
static LogicalResult checkDialects(Operation* op) {
  Dialect* dialect = op->getDialect();
  if (!dialect || !isAllowedDialect(*dialect))
    return op->emitError("expects operations of builtin, func and tenon, but got '")
           << op->getName() << "'";
  AttrTypeWalker walker;
  walker.addWalk([&](Type type) {
    if (isAllowedDialect(type.getDialect()) && !llvm::isa<OpaqueType>(type))
      return WalkResult::advance();
    op->emitError("expects types of builtin and tenon, but got ") << type;
    return WalkResult::interrupt();
  });
  walker.addWalk([&](Attribute attribute) {
    if (isAllowedDialect(attribute.getDialect()) && !llvm::isa<OpaqueAttr>(attribute))
      return WalkResult::advance();
    op->emitError("expects attributes of builtin and tenon, but got ") << attribute;
    return WalkResult::interrupt();
  });
  llvm::SmallVector<Type> types(op->getResultTypes());
  for (Region& region : op->getRegions())
    for (Block& block : region)
      llvm::append_range(types, block.getArgumentTypes());
  for (Type type : types)
    if (walker.walk(type).wasInterrupted())
      return failure();
  return failure(walker.walk(op->getAttrDictionary()).wasInterrupted());
}

/// Adds to operations that state a name the place where they stand: whoever edits a dump looks for a
/// line.
static void addPlaces(const llvm::SourceMgr& sources, const AsmParserState& state,
                      StringAttr file) {
  for (const AsmParserState::OperationDefinition& definition : state.getOpDefs()) {
    auto name = llvm::dyn_cast<NameLoc>(definition.op->getLoc());
    if (!name || !llvm::isa<UnknownLoc>(name.getChildLoc()))
      continue;
    auto [line, column] = sources.getLineAndColumn(definition.loc.Start);
    definition.op->setLoc(NameLoc::get(name.getName(), FileLineColLoc::get(file, line, column)));
  }
}

/// The module of `text`, verified; null, with diagnostics, where it is none.
static OwningOpRef<ModuleOp> parseVerified(MLIRContext& context, std::string text,
                                           std::string_view name) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, name), SMLoc());
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  AsmParserState state;
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return nullptr;
  auto file = StringAttr::get(&context, name);
  addPlaces(sources, state, file);
  OwningOpRef<ModuleOp> module = mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, &context, FileLineColLoc::get(file, 0, 0));
  if (module && failed(mlir::verify(*module)))
    return nullptr;
  return module;
}

absl::StatusOr<OwningOpRef<ModuleOp>> parseModuleText(MLIRContext& context, std::string_view text,
                                                      std::string_view name) {
  if (text.size() > maxTextBytes)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects at most %d bytes of textual IR, but got %d", name, maxTextBytes, text.size()));
  if (text.starts_with(bytecodeMagic))
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects textual IR, but got bytecode", name));
  TENON_RETURN_IF_ERROR(checkNesting(text, name, maxTextNesting));

  context.loadDialect<TenonDialect, func::FuncDialect>();
  DiagnosticCollector diagnostics(&context);
  // MLIR's lexer reads the byte after the end: the copy has one.
  OwningOpRef<ModuleOp> module = parseVerified(context, std::string(text), name);
  if (!module)
    return diagnostics.takeStatus();
  WalkResult walk = module->walk([](Operation* op) {
    return failed(checkDialects(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return diagnostics.takeStatus();
  if (!(*module)->hasAttr(TenonDialect::phaseAttrName))
    (*module)->setAttr(TenonDialect::phaseAttrName, PhaseAttr::get(&context, Phase::Input));
  return module;
}

absl::StatusOr<OwningOpRef<ModuleOp>> parseModuleFile(MLIRContext& context,
                                                      const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  return parseModuleText(context, text, path);
}

} // namespace tenon::frontends
