#include "tools/cli/Version.h"

#include "tenon_commit.h"

namespace tenon::tools {

std::string versionNumber() { return TENON_VERSION; }

std::string versionCommit() { return TENON_COMMIT; }

std::string versionText(const std::string& name, bool isCompiler) {
  std::string text = name + " " + TENON_VERSION + "\ncommit " + TENON_COMMIT + ", " +
                     TENON_BUILD_TYPE + " build by " + TENON_COMPILER + "\n";
  if (isCompiler)
    text += "LLVM " TENON_LLVM "\n";
  text += "devices";
#ifdef TENON_CPU
  text += " cpu";
#endif
#ifdef TENON_CUDA
  text += " cuda (headers of CUDA " TENON_CUDA_TOOLKIT ")";
#endif
  return text;
}

} // namespace tenon::tools
