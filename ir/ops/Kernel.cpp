#include "ir/Dialect.h"
#include "ir/StateOrder.h"

using namespace mlir;

namespace tenon {

void KernelOp::build(OpBuilder& builder, OperationState& state, TypeRange resultTypes,
                     ValueRange inputs) {
  state.addOperands(inputs);
  state.addTypes(resultTypes);
  Block& block = state.addRegion()->emplaceBlock();
  for (Value input : inputs)
    block.addArgument(input.getType(), input.getLoc());
}

YieldOp KernelOp::getYield() { return llvm::cast<YieldOp>(getBlock().getTerminator()); }

/// Assembly: `(` (`%arg` `=` `%input` `:` type)* `)` (`->` types)? (`schedule` attr)?
///           (`buffers` attr)? (`attributes` dict)? region
ParseResult KernelOp::parse(OpAsmParser& parser, OperationState& result) {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  llvm::SMLoc inputsLoc = parser.getCurrentLocation();
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument& argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseOperand(inputs.emplace_back()) ||
                   parser.parseColonType(argument.type));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput) ||
      parser.parseOptionalArrowTypeList(result.types))
    return failure();
  llvm::SmallVector<Type> inputTypes;
  for (const OpAsmParser::Argument& argument : arguments)
    inputTypes.push_back(argument.type);
  if (parser.resolveOperands(inputs, inputTypes, inputsLoc, result.operands))
    return failure();
  ScheduleAttr schedule;
  if (succeeded(parser.parseOptionalKeyword("schedule")) &&
      parser.parseAttribute(schedule, "schedule", result.attributes))
    return failure();
  ArrayAttr buffers;
  if (succeeded(parser.parseOptionalKeyword("buffers")) &&
      parser.parseAttribute(buffers, "buffers", result.attributes))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  ensureTerminator(*result.regions.front(), parser.getBuilder(), result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter& printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip_equal(getBlock().getArguments(), getInputs()), printer,
                        [&](auto pair) {
                          auto [argument, input] = pair;
                          printer.printRegionArgument(argument, {}, /*omitType=*/true);
                          printer << " = " << input << " : " << input.getType();
                        });
  printer << ")";
  printer.printOptionalArrowTypeList(getResultTypes());
  if (ScheduleAttr schedule = getScheduleAttr())
    printer << " schedule " << schedule;
  if (ArrayAttr buffers = getBuffersAttr())
    printer << " buffers " << buffers;
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"schedule", "buffers"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// The region computes: it names no symbol, calls nothing and holds no other kernel.
static LogicalResult verifyContents(KernelOp kernel) {
  for (Operation& op : kernel.getBlock().without_terminator())
    if (!llvm::isa<ComputeOpInterface, ConstantOp>(op))
      return (kernel.emitOpError("expects computations and constants in its region, but got '")
              << op.getName() << "'")
                 .attachNote(op.getLoc())
             << "the operation is here";
  return success();
}

/// Every result that is no state is computed in the region: no emitter copies an argument, which
/// the caller has already, or stores a constant.
static LogicalResult verifyYield(KernelOp kernel) {
  for (OpOperand& yielded : kernel.getYield()->getOpOperands()) {
    Value value = yielded.get();
    bool isArgument = llvm::isa<BlockArgument>(value) && !llvm::isa<StateType>(value.getType());
    if (!isArgument && !value.getDefiningOp<ConstantOp>())
      continue;
    InFlightDiagnostic error = kernel.emitOpError("expects to yield what it computes, but result #")
                               << yielded.getOperandNumber() << " is ";
    if (isArgument)
      error << "its argument #" << llvm::cast<BlockArgument>(value).getArgNumber();
    else
      error << "a constant";
    return error.attachNote(kernel.getYield().getLoc()) << "yields here";
  }
  return success();
}

/// A buffer, of as many bytes, for each result that has one.
static LogicalResult verifyBuffers(KernelOp kernel) {
  ArrayAttr buffers = kernel.getBuffersAttr();
  if (!buffers)
    return success();
  if (buffers.size() != kernel.getNumResults())
    return kernel.emitOpError("expects one buffer for each of ")
           << kernel.getNumResults() << " results, but got " << buffers.size();
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    if (llvm::isa<UnitAttr>(buffer))
      continue;
    auto place = llvm::dyn_cast<BufferAttr>(buffer);
    if (!place || place.getBytes() != getStorageBytes(kernel.getResult(index).getType()))
      return kernel.emitOpError("expects a buffer of the bytes of result #")
             << index << ", " << kernel.getResult(index).getType() << ", but got " << buffer;
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (failed(verifyContents(*this)))
    return failure();
  if (getInputs().getTypes() != getBlock().getArgumentTypes())
    return emitOpError("expects region arguments of the inputs' types, ")
           << getInputs().getTypes() << ", but got " << getBlock().getArgumentTypes();
  if (getYield().getValues().getTypes() != getResultTypes())
    return (emitOpError("expects its region to yield the result types, ")
            << getResultTypes() << ", but got " << getYield().getValues().getTypes())
               .attachNote(getYield().getLoc())
           << "yields here";
  return failed(verifyBuffers(*this)) || failed(verifyYield(*this)) ? failure()
                                                                    : verifyStateOrder(*this);
}

} // namespace tenon
