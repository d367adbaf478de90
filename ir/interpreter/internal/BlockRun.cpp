#include "ir/interpreter/internal/BlockRun.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Diagnostics.h"
#include "support/Status.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::interpreter {

/// The values that nothing uses after each operation of the block, in the block's order.
static std::vector<llvm::SmallVector<Value>> findLastUses(Block& block) {
  std::vector<llvm::SmallVector<Value>> dead;
  llvm::DenseSet<Value> usedLater;
  for (Operation& op : llvm::reverse(block)) {
    llvm::SmallVector<Value>& values = dead.emplace_back();
    for (Value result : op.getResults())
      if (!usedLater.contains(result))
        values.push_back(result);
    for (Value operand : op.getOperands())
      if (usedLater.insert(operand).second)
        values.push_back(operand);
  }
  std::reverse(dead.begin(), dead.end());
  return dead;
}

absl::Status checkIntegers(llvm::ArrayRef<double> values, Type elementType) {
  // Of i64 those that doubles tell apart.
  constexpr double mostExact = 0x1p53 - 1;
  double least = -mostExact, most = mostExact;
  const char* what = "integers of 64 bits of which a double holds each, of at most 53 bits,";
  if (elementType.isInteger(32)) {
    least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();
    what = "integers of 32 bits,";
  } else if (elementType.isInteger(1)) {
    least = 0, most = 1;
    what = "bools, 0 or 1,";
  }
  for (auto [index, value] : llvm::enumerate(values))
    if (!(value >= least && value <= most) || value != std::trunc(value))
      return absl::InvalidArgumentError(
          absl::StrFormat("expects %s but got %g at element %d", what, value, index));
  return absl::OkStatus();
}

static absl::Status atOperation(Operation& op, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrFormat("%s at %s: %s", op.getName().getStringRef().str(),
                                      formatLocation(op.getLoc()), std::string(status.message())));
}

absl::StatusOr<llvm::SmallVector<Slot>> BlockRun::execute(Block& block,
                                                          llvm::ArrayRef<Slot> arguments) {
  for (auto [argument, slot] : llvm::zip_equal(block.getArguments(), arguments))
    if (!argument.use_empty())
      slots[argument] = slot;
  std::vector<llvm::SmallVector<Value>> dead = findLastUses(block);
  for (auto [op, values] : llvm::zip_equal(block.without_terminator(), llvm::drop_end(dead))) {
    if (absl::Status status = step(op); !status.ok())
      return atOperation(op, status);
    for (Value value : values)
      slots.erase(value);
  }
  Operation* terminator = block.getTerminator();
  if (!llvm::isa<func::ReturnOp, YieldOp>(terminator))
    return atOperation(*terminator, absl::UnimplementedError("is no operation of the interpreter"));
  return lookUp(terminator->getOperands());
}

absl::Status BlockRun::step(Operation& op) {
  return llvm::TypeSwitch<Operation*, absl::Status>(&op)
      .Case<ComputeOpInterface>([&](auto op) { return compute(op); })
      .Case<KernelOp>([&](auto op) { return callKernel(op); })
      .Case<ConstantOp>([&](auto op) { return materialize(op); })
      .Case<GetWeightOp>([&](auto op) { return fetchWeight(op); })
      .Case<GetStateOp>([&](auto op) { return fetchState(op); })
      .Default(absl::UnimplementedError("is no operation of the interpreter"));
}

llvm::SmallVector<Slot> BlockRun::lookUp(ValueRange values) const {
  return llvm::map_to_vector(values, [&](Value value) { return slots.lookup(value); });
}

/// A tensor for a result; nothing for a state, which the operation takes from its operand.
absl::StatusOr<Slot> BlockRun::makeResult(OpResult result) {
  if (!llvm::isa<StateType>(result.getType())) {
    TENON_ASSIGN_OR_RETURN(Reservation reservation, budget.reserve(result.getType()));
    return Slot{ReferenceTensor(llvm::cast<RankedTensorType>(result.getType())), reservation};
  }
  for (Value operand : result.getOwner()->getOperands())
    if (operand.getType() == result.getType())
      return Slot{{}, slots.lookup(operand).reservation};
  return absl::UnimplementedError("yields a state that it does not take");
}

absl::Status BlockRun::compute(ComputeOpInterface op) {
  llvm::SmallVector<Reservation> reservations;
  llvm::SmallVector<ReferenceTensor> operands, results;
  for (Slot& slot : lookUp(op->getOperands()))
    operands.push_back(std::move(slot.tensor));
  for (OpResult result : op->getResults()) {
    TENON_ASSIGN_OR_RETURN(Slot slot, makeResult(result));
    results.push_back(std::move(slot.tensor));
    reservations.push_back(std::move(slot.reservation));
  }
  op.evaluate(operands, results);
  for (OpResult result : op->getResults()) {
    unsigned index = result.getResultNumber();
    auto tensor = llvm::dyn_cast<RankedTensorType>(result.getType());
    if (tensor && (options.round || tensor.getElementType().isInteger()))
      results[index].roundToElementType();
    if (tensor && tensor.getElementType().isInteger(64))
      TENON_RETURN_IF_ERROR(checkIntegers(results[index].getValues(), tensor.getElementType()));
    if (options.probe)
      options.probe(op, index, results[index]);
    slots[result] = {results[index], reservations[index]};
  }
  return absl::OkStatus();
}

absl::Status BlockRun::callKernel(KernelOp kernel) {
  TENON_ASSIGN_OR_RETURN(llvm::SmallVector<Slot> results,
                         execute(kernel.getBlock(), lookUp(kernel.getInputs())));
  for (auto [result, slot] : llvm::zip_equal(kernel.getResults(), results))
    slots[result] = slot;
  for (Value yielded : kernel.getYield().getValues())
    slots.erase(yielded);
  return absl::OkStatus();
}

/// An element of a constant of integers; a bool is 0 or 1.
static double valueOf(const APInt& value) {
  return static_cast<double>(value.getBitWidth() == 1 ? static_cast<int64_t>(value.getZExtValue())
                                                      : value.getSExtValue());
}

absl::Status BlockRun::materialize(ConstantOp constant) {
  TENON_ASSIGN_OR_RETURN(Slot slot, makeResult(llvm::cast<OpResult>(constant.getResult())));
  auto elements = llvm::cast<DenseElementsAttr>(constant.getValue());
  llvm::MutableArrayRef<double> values = slot.tensor.getValues();
  if (elements.getElementType().isInteger())
    llvm::transform(elements.getValues<APInt>(), values.begin(), valueOf);
  else
    llvm::transform(elements.getValues<APFloat>(), values.begin(),
                    [](const APFloat& value) { return value.convertToDouble(); });
  if (elements.getElementType().isInteger(64))
    TENON_RETURN_IF_ERROR(checkIntegers(values, elements.getElementType()));
  slots[constant.getResult()] = slot;
  return absl::OkStatus();
}

absl::Status BlockRun::fetchWeight(GetWeightOp op) {
  TENON_ASSIGN_OR_RETURN(ReferenceTensor tensor,
                         weights.load(symbols.lookup<WeightOp>(op.getWeight()), budget));
  if (Type element = tensor.getType().getElementType(); element.isInteger(64))
    TENON_RETURN_IF_ERROR(checkIntegers(tensor.toVector(), element));
  slots[op.getResult()] = {tensor, nullptr};
  return absl::OkStatus();
}

absl::Status BlockRun::fetchState(GetStateOp op) {
  slots[op.getResult()] = states.lookup(op.getState());
  return absl::OkStatus();
}

} // namespace tenon::interpreter
