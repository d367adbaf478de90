// Compiles a GGUF model ahead of time and says what the program holds:
//
//   compile_gguf model.gguf model.tnn

#include <iostream>

#include "absl/strings/str_format.h"
#include "runtime/program/ProgramFile.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

static absl::Status compile(const std::string& model, const std::string& output) {
  auto context = tenon::tools::makeContext();
  TENON_ASSIGN_OR_RETURN(auto module, tenon::tools::readModel(*context, {.path = model}));
  TENON_ASSIGN_OR_RETURN(auto target, tenon::tools::chooseTarget(*context, "cpu"));
  TENON_ASSIGN_OR_RETURN(auto program, tenon::tools::compileModel(*module, target));
  TENON_RETURN_IF_ERROR(tenon::runtime::writeProgram(program, output));

  uint64_t weightBytes = 0, stateBytes = 0;
  for (const auto& constant : program.constants)
    weightBytes += constant.bytes;
  for (const auto& state : program.states)
    stateBytes += state.bytes;
  std::cout << absl::StrFormat("%s for %s: %d kernels, %d bytes of weights, %d of states, %d of "
                               "workspace\n",
                               output, program.target, program.kernels.size(), weightBytes,
                               stateBytes, program.workspaceBytes);
  for (const auto& function : program.functions)
    std::cout << absl::StrFormat("  %s: %d steps\n", function.name, function.steps.size());
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: compile_gguf MODEL.gguf OUT.tnn\n";
    return 2;
  }
  absl::Status status = compile(argv[1], argv[2]);
  if (!status.ok())
    std::cerr << "compile_gguf: error: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
