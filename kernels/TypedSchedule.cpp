#include "kernels/TypedSchedule.h"

#include "ir/Attributes.h"
#include "ir/KernelLimits.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon::kernels::typed {

std::string print(ScheduleAttr schedule) {
  std::string text;
  llvm::raw_string_ostream(text) << schedule;
  return text;
}

VerdictOr<int64_t> readParameter(ScheduleAttr schedule, const ParameterRange& range) {
  std::optional<int64_t> value = schedule.getParameter(range.name);
  if (!value && range.absent)
    return *range.absent;
  std::string name = range.name.str();
  if (!value)
    return Refusal{"expects a parameter '" + name + "' in the schedule " + print(schedule)};
  bool isOutside = *value < range.least || *value > range.most;
  if (range.inWholeWarps && (isOutside || *value % 32 != 0))
    return Refusal{"expects whole warps of at most " + std::to_string(range.most) + " " + name +
                   ", but got " + print(schedule)};
  if (isOutside)
    return Refusal{"expects " + std::to_string(range.least) + " to " + std::to_string(range.most) +
                   " " + name + ", but got " + std::to_string(*value)};
  return *value;
}

Verdict checkNames(ScheduleAttr schedule, llvm::ArrayRef<llvm::StringRef> names) {
  DictionaryAttr parameters = schedule.getParameters();
  for (NamedAttribute parameter :
       parameters ? parameters.getValue() : llvm::ArrayRef<NamedAttribute>())
    if (!llvm::is_contained(names, parameter.getName().strref()))
      return Refusal{"expects no parameter '" + parameter.getName().str() +
                     "' in a schedule of that kind, but got " + print(schedule)};
  return Verdict::accept();
}

ScheduleAttr makeSchedule(MLIRContext* context, llvm::StringRef kind, int64_t tiles,
                          llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> parameters) {
  Builder builder(context);
  llvm::SmallVector<NamedAttribute> entries;
  for (auto [name, value] : parameters)
    entries.push_back(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(std::min(value, mostCounted))));
  // What no program may hold is scheduled as if it were smaller, and refused where it is planned.
  return ScheduleAttr::get(context, kind, std::min(tiles, mostCounted),
                           builder.getDictionaryAttr(entries));
}

} // namespace tenon::kernels::typed
