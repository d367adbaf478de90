#include <gtest/gtest.h>

#include "CompareOnDevice.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

/// A norm in front of two products with an epilogue, and after them a product of what they give in
/// lines of several segments, with a residual. T stands for an element type, W for that of weights.
constexpr const char* chain = R"(
module attributes {tenon.phase = #tenon.phase<fused>} {
  func.func @f(%x: tensor<1x2048xT>, %g: tensor<2048xT>, %u: tensor<4096x2048xW>,
               %v: tensor<4096x2048xW>, %w: tensor<2048x4096xW>) -> tensor<1x2048xT> {
    %0 = tenon.kernel (%a = %x : tensor<1x2048xT>, %b = %g : tensor<2048xT>,
                       %c = %u : tensor<4096x2048xW>, %d = %v : tensor<4096x2048xW>)
        -> tensor<1x4096xT> {
      %n = tenon.rms_norm %a, %b eps 1.0e-5 : (tensor<1x2048xT>, tensor<2048xT>) -> tensor<1x2048xT>
      %p = tenon.matmul %n, %c : (tensor<1x2048xT>, tensor<4096x2048xW>) -> tensor<1x4096xT>
      %q = tenon.matmul %n, %d : (tensor<1x2048xT>, tensor<4096x2048xW>) -> tensor<1x4096xT>
      %y = tenon.glu silu %p, %q : (tensor<1x4096xT>, tensor<1x4096xT>) -> tensor<1x4096xT>
      tenon.yield %y : tensor<1x4096xT>
    }
    %1 = tenon.kernel (%a = %0 : tensor<1x4096xT>, %b = %w : tensor<2048x4096xW>,
                       %c = %x : tensor<1x2048xT>) -> tensor<1x2048xT> {
      %p = tenon.matmul %a, %b : (tensor<1x4096xT>, tensor<2048x4096xW>) -> tensor<1x2048xT>
      %y = tenon.add %p, %c : (tensor<1x2048xT>, tensor<1x2048xT>) -> tensor<1x2048xT>
      tenon.yield %y : tensor<1x2048xT>
    }
    return %1 : tensor<1x2048xT>
  }
})";

/// Parameters of a ring.
struct Ring {
  int64_t stages, early, held, batch = 0;
};

/// Element types of activations and of weights.
struct RingTypes {
  const char *name, *input, *weight;
};

void PrintTo(const RingTypes& types, std::ostream* stream) { *stream << types.name; }

/// The program of the chain with those rings, or with the rule's own, and its module.
absl::StatusOr<runtime::Program> compileChain(mlir::MLIRContext& context, const RingTypes& types,
                                              const Ring* ring,
                                              mlir::OwningOpRef<mlir::ModuleOp>& module) {
  auto parsed = frontends::parseModuleText(
      context,
      absl::StrReplaceAll(chain, {{"xT>", absl::StrCat("x", types.input, ">")},
                                  {"xW>", absl::StrCat("x", types.weight, ">")}}),
      "chain");
  if (!parsed.ok())
    return parsed.status();
  module = *std::move(parsed);
  passes::PipelineOptions options = {.upTo = Phase::Scheduled,
                                     .target = findTarget(&context, "h200")};
  if (absl::Status status = passes::runPipeline(*module, options); !status.ok())
    return status;
  module->walk([&](KernelOp kernel) {
    ScheduleAttr own = kernel.getScheduleAttr();
    EXPECT_EQ(own.getEmitter(), "gemv_bulk");
    if (!ring)
      return;
    mlir::NamedAttrList parameters(own.getParameters());
    parameters.erase("held");
    parameters.erase("batch");
    for (auto [name, value] : {std::pair("stages", ring->stages),
                               {"early", ring->early},
                               {"held", ring->held},
                               {"batch", ring->batch}})
      if (value != 0)
        parameters.set(name, mlir::Builder(&context).getI64IntegerAttr(value));
    kernel.setScheduleAttr(ScheduleAttr::get(&context, own.getEmitter(), own.getTiles(),
                                             parameters.getDictionary(&context)));
  });
  options.upTo = Phase::Planned;
  if (absl::Status status = passes::runPipeline(*module, options); !status.ok())
    return status;
  return codegen::compileForCuda(*module, {});
}

class CudaRingTest : public ::testing::TestWithParam<RingTypes> {};

/// Rings change when weights come, and no bit.
TEST_P(CudaRingTest, LeavesEveryBit) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  auto run = [&](const Ring* ring, std::vector<ReferenceTensor>& inputs)
      -> absl::StatusOr<std::vector<std::vector<std::byte>>> {
    auto program = compileChain(context, GetParam(), ring, module);
    if (!program.ok())
      return program.status();
    auto executor = runtime::CudaExecutor::create(*std::move(program), {});
    if (!executor.ok())
      return executor.status();
    if (inputs.empty()) {
      std::vector<CaseInput> described;
      for (const runtime::Port& port : (*executor)->program().functions[0].inputs)
        described.push_back({port.shape, port.encoding, Fill::Small, -1, 3});
      inputs = makeInputs(context, described);
    }
    return runOnDevice(**executor, inputs);
  };
  std::vector<ReferenceTensor> inputs;
  auto own = run(nullptr, inputs);
  if (absl::IsNotFound(own.status()))
    GTEST_SKIP() << "no GPU: " << own.status();
  ASSERT_TRUE(own.ok()) << own.status();
  auto interpreter = Interpreter::create(*module);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  auto expected = (*interpreter)->run("f", inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  expectClose(expected->front(), own->front(), 3e-2, "result");
  std::vector<Ring> rings = {{2, 2, 0}, {3, 1, 0}, {3, 2, 1}};
  if (std::string_view(GetParam().weight).starts_with("!"))
    rings.insert(rings.end(), {{3, 1, 0, 2}, {2, 1, 1, 2}, {2, 1, 1, 4}});
  for (const Ring& ring : rings) {
    auto outputs = run(&ring, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(*outputs, *own) << ring.stages << " stages, early " << ring.early << ", held "
                              << ring.held << ", batches of " << ring.batch;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaRingTest,
                         ::testing::Values(RingTypes{"f16", "f16", "f16"},
                                           RingTypes{"bf16", "bf16", "bf16"},
                                           RingTypes{"q4_1_f16", "f16", "!tenon.block<q4_1>"},
                                           RingTypes{"q4_1_bf16", "bf16", "!tenon.block<q4_1>"}),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tenon::testing
