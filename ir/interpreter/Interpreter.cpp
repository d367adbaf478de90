#include "ir/interpreter/Interpreter.h"

#include "absl/strings/str_format.h"
#include "ir/Dialect.h"
#include "ir/interpreter/internal/BlockRun.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "support/Diagnostics.h"
#include "support/Status.h"

using namespace mlir;

namespace tenon {

using interpreter::BlockRun;
using interpreter::ElementBudget;
using interpreter::Reservation;
using interpreter::Slot;

/// The type of the tensor that an argument takes; null where there is none.
static RankedTensorType getInputType(Type type) {
  return getStorageBytes(type) ? getTensorType(type) : RankedTensorType();
}

static absl::Status checkInput(Type type, const ReferenceTensor& input) {
  RankedTensorType expected = getInputType(type);
  if (!expected)
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a tensor or state of static size, but is %s", detail::formatType(type)));
  if (input.getType() != expected)
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects %s, but got %s", detail::formatType(expected),
        input.getType() ? detail::formatType(input.getType()) : std::string("nothing")));
  Type element = expected.getElementType();
  // Of encoded bools and i32 there are none that a double does not hold.
  if (element.isInteger(64) || (element.isInteger() && !input.isEncoded()))
    return interpreter::checkIntegers(input.toVector(), element);
  return absl::OkStatus();
}

class Interpreter::Impl {
public:
  Impl(ModuleOp module, InterpreterOptions options)
      : symbols(module), options(std::move(options)), budget(this->options.maxElements),
        weights(this->options.baseFolder) {}

  absl::Status createStates(ModuleOp module) {
    for (auto state : module.getOps<StateOp>()) {
      auto type = llvm::cast<StateType>(state.getType());
      absl::StatusOr<Reservation> reservation = budget.reserve(type);
      if (!reservation.ok())
        return absl::Status(reservation.status().code(),
                            absl::StrFormat("state '%s': %s", state.getSymName().str(),
                                            std::string(reservation.status().message())));
      states[state.getSymName()] = {ReferenceTensor(type.getTensorType()), *reservation};
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<ReferenceTensor>> call(func::FuncOp function,
                                                    llvm::ArrayRef<ReferenceTensor> inputs) {
    if (inputs.size() != function.getNumArguments())
      return absl::InvalidArgumentError(absl::StrFormat("expects %d inputs, but got %d",
                                                        function.getNumArguments(), inputs.size()));
    llvm::SmallVector<Slot> arguments;
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      absl::StatusOr<Slot> argument = takeArgument(type, inputs[index]);
      if (!argument.ok())
        return absl::Status(
            argument.status().code(),
            absl::StrFormat("argument #%d: %s", index, std::string(argument.status().message())));
      arguments.push_back(*std::move(argument));
    }
    BlockRun run(symbols, options, budget, weights, states);
    TENON_ASSIGN_OR_RETURN(llvm::SmallVector<Slot> results,
                           run.execute(function.front(), arguments));
    std::vector<ReferenceTensor> tensors;
    for (Slot& result : results)
      tensors.push_back(std::move(result.tensor));
    return tensors;
  }

  SymbolTable symbols;
  InterpreterOptions options;
  ElementBudget budget;
  interpreter::WeightStore weights;
  llvm::StringMap<Slot> states;

private:
  /// Checks an input; a state is copied, since it is written in place.
  absl::StatusOr<Slot> takeArgument(Type type, const ReferenceTensor& input) {
    TENON_RETURN_IF_ERROR(checkInput(type, input));
    if (!llvm::isa<StateType>(type))
      return Slot{input, nullptr};
    TENON_ASSIGN_OR_RETURN(Reservation reservation, budget.reserve(type));
    ReferenceTensor copy(input.getType());
    llvm::copy(input.toVector(), copy.getValues().begin());
    return Slot{copy, reservation};
  }
};

Interpreter::Interpreter(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Interpreter::~Interpreter() = default;

absl::StatusOr<std::unique_ptr<Interpreter>> Interpreter::create(ModuleOp module,
                                                                 InterpreterOptions options) {
  DiagnosticCollector diagnostics(module.getContext());
  if (failed(verify(module)))
    return diagnostics.takeStatus();
  auto impl = std::make_unique<Impl>(module, std::move(options));
  TENON_RETURN_IF_ERROR(impl->createStates(module));
  return std::unique_ptr<Interpreter>(new Interpreter(std::move(impl)));
}

absl::StatusOr<std::vector<ReferenceTensor>>
Interpreter::run(std::string_view name, llvm::ArrayRef<ReferenceTensor> inputs) {
  auto function = impl->symbols.lookup<func::FuncOp>(name);
  if (!function)
    return absl::NotFoundError(absl::StrFormat("the module has no function '%s'", name));
  if (!function.getBody().hasOneBlock())
    return absl::InvalidArgumentError(
        absl::StrFormat("function '%s': expects a body of one block, but got %d", name,
                        function.getBody().getBlocks().size()));
  auto results = impl->call(function, inputs);
  if (!results.ok())
    return absl::Status(
        results.status().code(),
        absl::StrFormat("function '%s': %s", name, std::string(results.status().message())));
  return results;
}

absl::StatusOr<ReferenceTensor> Interpreter::getState(std::string_view name) const {
  auto state = impl->states.find(name);
  if (state == impl->states.end())
    return absl::NotFoundError(absl::StrFormat("the module has no state '%s'", name));
  return state->second.tensor;
}

void Interpreter::resetStates() {
  for (auto& state : impl->states)
    llvm::fill(state.second.tensor.getValues(), 0.0);
}

} // namespace tenon
