#ifndef TENON_CODEGEN_CUDA_KEEPSOURCE_H
#define TENON_CODEGEN_CUDA_KEEPSOURCE_H

#include <string>

namespace tenon::codegen::cuda {

/// Writes a source that does not compile to the cache folder, or to /tmp, and returns its path;
/// a reason in brackets where it cannot be kept.
std::string keepSource(const std::string& source, const std::string& name);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_KEEPSOURCE_H
