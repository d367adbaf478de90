#include "runtime/program/CheckCall.h"

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime {

template <typename Byte>
static absl::Status checkPorts(const Function& function, const char* kind,
                               const std::vector<Port>& ports,
                               std::span<const std::span<Byte>> given, bool mayBeEmpty) {
  if (given.size() != ports.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("function %s expects as many %ss as it has, %u, but got %u", function.name,
                        kind, ports.size(), given.size()));
  for (size_t i = 0; i < ports.size(); ++i)
    if (given[i].size() != ports[i].bytes && !(mayBeEmpty && given[i].empty()))
      return absl::InvalidArgumentError(
          absl::StrFormat("function %s: %s %s expects %u bytes, but got %u", function.name, kind,
                          ports[i].name, ports[i].bytes, given[i].size()));
  return absl::OkStatus();
}

absl::Status checkCall(const Program& program, size_t index,
                       std::span<const std::span<const std::byte>> inputs,
                       std::span<const std::span<std::byte>> outputs) {
  if (index >= program.functions.size())
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects one of the %u functions, but got function %u", program.functions.size(), index));
  const Function& function = program.functions[index];
  TENON_RETURN_IF_ERROR(
      checkPorts(function, "input", function.inputs, inputs, /*mayBeEmpty=*/false));
  return checkPorts(function, "output", function.outputs, outputs, /*mayBeEmpty=*/true);
}

} // namespace tenon::runtime
