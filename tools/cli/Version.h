#ifndef TENON_TOOLS_CLI_VERSION_H
#define TENON_TOOLS_CLI_VERSION_H

#include <string>

namespace tenon::tools {

/// `0.1.0`.
std::string versionNumber();
/// The commit that was built, `-dirty` after it where files had changed; `unknown` without git.
std::string versionCommit();

/// What `--version` prints of the tool `name`: number, commit, how it was built, the devices that it
/// has a backend for; of a compiler its LLVM, too.
std::string versionText(const std::string& name, bool isCompiler);

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_VERSION_H
