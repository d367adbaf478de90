// Reads a dump of any phase and lists what each function would launch:
//
//   tenon dump model.gguf --as=planned > model.mlir
//   read_dump model.mlir

#include <iostream>

#include "absl/strings/str_format.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tools/driver/ReadModel.h"

/// Prints one kernel: its operations, and where the plan puts its results.
static void printKernel(tenon::KernelOp kernel) {
  std::string operations;
  for (mlir::Operation& op : kernel.getBlock().without_terminator())
    operations += (operations.empty() ? "" : " + ") + op.getName().stripDialect().str();
  std::string places;
  if (mlir::ArrayAttr buffers = kernel.getBuffersAttr())
    for (mlir::Attribute buffer : buffers) {
      auto place = llvm::dyn_cast<tenon::BufferAttr>(buffer);
      places += place ? absl::StrFormat(" workspace[%d, +%d]", place.getOffset(), place.getBytes())
                      : " in place";
    }
  std::cout << absl::StrFormat("  %-12s%s\n", operations, places);
}

static absl::Status readDump(const std::string& path) {
  auto context = tenon::tools::makeContext();
  TENON_ASSIGN_OR_RETURN(auto module, tenon::frontends::parseModuleFile(*context, path));
  tenon::Phase phase = tenon::passes::getPhase(*module);
  std::cout << path << ": phase " << tenon::stringifyPhase(phase).str() << "\n";
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    std::cout << function.getName().str() << "\n";
    for (auto kernel : function.getOps<tenon::KernelOp>())
      printKernel(kernel);
  }
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: read_dump DUMP.mlir\n";
    return 2;
  }
  absl::Status status = readDump(argv[1]);
  if (!status.ok())
    std::cerr << "read_dump: error: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
