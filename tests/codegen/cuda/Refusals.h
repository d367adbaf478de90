#ifndef TENON_TESTS_CODEGEN_CUDA_REFUSALS_H
#define TENON_TESTS_CODEGEN_CUDA_REFUSALS_H

#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::testing {

/// A scheduled region that its emitter refuses, and what it says.
struct Refusal {
  const char* name;
  std::string emitter;
  /// Those that matter; `tiles` too.
  std::string parameters;
  /// Types of the region's arguments %a, %b, …, which are those of the function.
  std::vector<std::string> arguments;
  std::vector<std::string> results;
  /// The operations, which define %r, or %r and %n for two results.
  std::string body;
  std::string message;
  std::string feature = "sm_90a";
};

/// For the names of tests.
void PrintTo(const Refusal& refusal, std::ostream* out);
std::string nameOf(const ::testing::TestParamInfo<Refusal>& info);

/// Whether the emitter says what it expects. Each family of kernels instantiates it.
class CudaRefusals : public ::testing::TestWithParam<Refusal> {};

/// tensor<…xf16>
std::string f16(std::initializer_list<int> shape);

/// y = x · Wᵀ of 16-bit rows.
std::string matmul(int rows, int k, int n, const char* input = "%a", const char* order = "");

/// The norm of %a in chunks, as %n.
std::string norm(int rows, int k, const char* order);

/// An elementwise operation on %a [4, 256].
inline constexpr const char* exponential =
    "%r = tenon.exp %a : (tensor<4x256xf16>) -> tensor<4x256xf16>";

} // namespace tenon::testing

#endif // TENON_TESTS_CODEGEN_CUDA_REFUSALS_H
