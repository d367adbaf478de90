// Builds a graph with the C++ API, compiles it for this machine, runs it, and compares the result
// with the reference interpreter.

#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include "frontends/builder/GraphBuilder.h"
#include "ir/interpreter/Interpreter.h"
#include "runtime/cpu/CpuExecutor.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace {

using tenon::frontends::GraphBuilder;
using tenon::frontends::Value;

/// A feed-forward block: y = x + down · (silu(gate · n) · (up · n)), n = rms_norm(x).
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> buildFeedForward(mlir::MLIRContext& context,
                                                                   int64_t hidden, int64_t inner) {
  GraphBuilder builder(context, mlir::Float32Type::get(&context));
  builder.beginFunction("feed_forward");
  Value x = builder.input("x", {1, hidden});
  Value gate = builder.input("gate", {inner, hidden});
  Value up = builder.input("up", {inner, hidden});
  Value down = builder.input("down", {hidden, inner});
  Value norm = builder.rmsNorm(x, 1e-5);
  Value product =
      builder.glu(tenon::Activation::Silu, builder.matmul(norm, gate), builder.matmul(norm, up));
  builder.output("y", builder.add(x, builder.matmul(product, down)));
  builder.endFunction();
  return builder.finish();
}

/// The absolute difference that is largest, and the value that is.
struct Difference {
  double largest = 0;
  double scale = 0;
};

absl::StatusOr<Difference> compareWithReference() {
  constexpr int64_t hidden = 64, inner = 172;
  auto context = tenon::tools::makeContext();
  TENON_ASSIGN_OR_RETURN(auto module, buildFeedForward(*context, hidden, inner));

  std::vector<std::vector<float>> inputs;
  for (int64_t size : {hidden, inner * hidden, inner * hidden, hidden * inner}) {
    std::vector<float>& values = inputs.emplace_back(size);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<float>(i * 37 % 1009) + static_cast<float>(inputs.size()));
  }

  // The reference: double arithmetic, rounded to f32 where the graph says so.
  TENON_ASSIGN_OR_RETURN(auto interpreter, tenon::Interpreter::create(*module, {}));
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  std::vector<tenon::ReferenceTensor> arguments;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto& tensor = arguments.emplace_back(llvm::cast<mlir::RankedTensorType>(type));
    llvm::copy(inputs[index], tensor.getValues().begin());
  }
  TENON_ASSIGN_OR_RETURN(auto expected, interpreter->run("feed_forward", arguments));

  // The same graph, compiled.
  TENON_ASSIGN_OR_RETURN(auto target, tenon::tools::chooseTarget(*context, "cpu"));
  TENON_ASSIGN_OR_RETURN(auto program, tenon::tools::compileModel(*module, target));
  TENON_ASSIGN_OR_RETURN(auto executor,
                         tenon::runtime::CpuExecutor::create(std::move(program), {}));
  std::vector<std::span<const std::byte>> inputBytes;
  for (const std::vector<float>& values : inputs)
    inputBytes.push_back(std::as_bytes(std::span(values)));
  std::vector<float> y(hidden);
  std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(y))};
  TENON_RETURN_IF_ERROR(executor->run(0, inputBytes, outputs));

  Difference difference;
  for (int64_t i = 0; i < hidden; ++i) {
    double reference = expected[0].getValues()[i];
    difference.largest = std::max(difference.largest, std::abs(y[i] - reference));
    difference.scale = std::max(difference.scale, std::abs(reference));
  }
  return difference;
}

} // namespace

int main() {
  absl::StatusOr<Difference> difference = compareWithReference();
  if (!difference.ok()) {
    std::cerr << "build_graph: error: " << difference.status().message() << "\n";
    return 1;
  }
  std::printf("max |compiled - reference| = %.2e, max |reference| = %.2e\n", difference->largest,
              difference->scale);
  return difference->largest <= 1e-4 * difference->scale ? 0 : 1;
}
