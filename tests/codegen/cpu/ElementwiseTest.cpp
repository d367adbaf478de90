#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

/// Functions with running numbers as names.
class CaseList {
public:
  /// Adds a function with arguments of types `inputs` whose body is `operation`, with `%N` for the
  /// arguments, of type `result`.
  CpuCase& add(const std::string& what, const std::vector<std::string>& inputs,
               const std::string& result, const std::string& operation) {
    CpuCase test;
    test.name = absl::StrFormat("%s_%u", what, cases.size());
    std::string arguments, types;
    for (size_t i = 0; i < inputs.size(); ++i) {
      arguments += absl::StrFormat("%s%%%c: %s", i ? ", " : "", 'a' + static_cast<int>(i), inputs[i]);
      types += (i ? ", " : "") + inputs[i];
    }
    test.function = absl::StrFormat("func.func @%s(%s) -> %s {\n  %%r = %s : (%s) -> %s\n"
                                    "  return %%r : %s\n}",
                                    test.name, arguments, result, operation, types, result, result);
    cases.push_back(test);
    return cases.back();
  }
  std::vector<CpuCase> cases;
};

TEST(CpuElementwise, Unary) {
  CaseList list;
  for (const char* op : {"neg", "abs", "square", "exp", "sin", "cos", "tanh", "erf", "sigmoid",
                         "silu", "relu", "gelu", "gelu_tanh"}) {
    std::string type = tensorType({3, 37}, "f32");
    CpuCase& test = list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a", op));
    test.low = -8, test.high = 8;
  }
  for (const char* op : {"sqrt", "rsqrt", "log"}) {
    std::string type = tensorType({3, 37}, "f32");
    CpuCase& test = list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a", op));
    test.low = 0.01, test.high = 100;
  }
  expectMatchesReference(list.cases);
}

} // namespace tenon::tests
