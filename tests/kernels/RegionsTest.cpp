// What the emitters of one form compute: each reason why a region is none of theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/regions/Regions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "support/Verdict.h"

using namespace mlir;

namespace tenon::tests {
namespace {

using namespace kernels;

struct RefusedRegion {
  const char* name;
  const RegionForm* form;
  const char* results; ///< of the kernel
  const char* body;    ///< with the arguments %x, %y [4, 64], %w [64, 64], %s a state, %i, %j [4]
  const char* message;
};

void PrintTo(const RefusedRegion& region, std::ostream* out) { *out << region.name; }

class RegionRefusals : public testing::TestWithParam<RefusedRegion> {};

TEST_P(RegionRefusals, SayWhat) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<TenonDialect, func::FuncDialect>();
  std::string text = R"(
tenon.state @s : !tenon.state<4x16x1x64xf16>
func.func @f(%0: tensor<4x64xf16>, %1: tensor<4x64xf16>, %2: tensor<64x64xf16>, %3: tensor<4xi32>,
             %4: tensor<4xi32>) {
  %5 = tenon.get_state @s : !tenon.state<4x16x1x64xf16>
  %6RESULTS = tenon.kernel (%x = %0 : tensor<4x64xf16>, %y = %1 : tensor<4x64xf16>,
      %w = %2 : tensor<64x64xf16>, %i = %3 : tensor<4xi32>, %j = %4 : tensor<4xi32>,
      %s = %5 : !tenon.state<4x16x1x64xf16>) -> )";
  bool hasTwo = *GetParam().results == '(';
  text.replace(text.find("RESULTS"), 7, hasTwo ? ":2" : "");
  text += std::string(GetParam().results) + " {\n" + GetParam().body + "\n}\nreturn\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  KernelOp kernel;
  module->walk([&](KernelOp found) { kernel = found; });
  Verdict verdict = acceptsForm(*GetParam().form, kernel);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.reason(), GetParam().message);
}

const RefusedRegion refusedRegions[] = {
    {"NoHero", &forms::cudaRows, "tensor<4x64xf16>",
     R"(%r = tenon.exp %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
        tenon.yield %r : tensor<4x64xf16>)",
     "the emitter of row reductions has no hero here"},
    {"TwoHeroes", &forms::cudaRows, "tensor<4x64xf16>",
     R"(%n = tenon.softmax %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
        %r = tenon.softmax %n : (tensor<4x64xf16>) -> tensor<4x64xf16>
        tenon.yield %r : tensor<4x64xf16>)",
     "the emitter of row reductions computes one softmax a kernel, not also softmax"},
    {"ResultInAState", &forms::cudaRows, "!tenon.state<4x16x1x64xf16>",
     R"(%n = tenon.softmax %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
        %h = tenon.reshape %n to [4, 1, 64] : (tensor<4x64xf16>) -> tensor<4x1x64xf16>
        %r = tenon.kv_write %h, %i, %j into %s : (tensor<4x1x64xf16>, tensor<4xi32>, tensor<4xi32>,
            !tenon.state<4x16x1x64xf16>) -> !tenon.state<4x16x1x64xf16>
        tenon.yield %r : !tenon.state<4x16x1x64xf16>)",
     "the emitter of row reductions stores float tensors"},
    {"Prologue", &forms::cudaMatmul, "tensor<4x64xf16>",
     R"(%e = tenon.exp %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
        %r = tenon.matmul %e, %w : (tensor<4x64xf16>, tensor<64x64xf16>) -> tensor<4x64xf16>
        tenon.yield %r : tensor<4x64xf16>)",
     "the emitter of matrix products reads its operands from memory: nothing may come before "
     "matmul, but exp does"},
    {"SearchAmongAnInput", &forms::cudaMatmul, "(tensor<4x64xf16>, tensor<4xi32>)",
     R"(%r = tenon.matmul %x, %w : (tensor<4x64xf16>, tensor<64x64xf16>) -> tensor<4x64xf16>
        %a = tenon.argmax %y : (tensor<4x64xf16>) -> tensor<4xi32>
        tenon.yield %r, %a : tensor<4x64xf16>, tensor<4xi32>)",
     "tiles search among what they compute, not among an input"},
    {"SearchThatIsRead", &forms::cudaMatmul, "(tensor<4x64xf16>, tensor<4x64xf16>)",
     R"(%r = tenon.matmul %x, %w : (tensor<4x64xf16>, tensor<64x64xf16>) -> tensor<4x64xf16>
        %a = tenon.argmax %r : (tensor<4x64xf16>) -> tensor<4xi32>
        %e = tenon.embedding %w, %a : (tensor<64x64xf16>, tensor<4xi32>) -> tensor<4x64xf16>
        tenon.yield %r, %e : tensor<4x64xf16>, tensor<4x64xf16>)",
     "the index of the largest element is known when every tile is done, too late for embedding"},
    {"ResultThatIsAState", &forms::cpuElementwise,
     "(tensor<4x64xf16>, !tenon.state<4x16x1x64xf16>)",
     R"(%r = tenon.exp %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
        tenon.yield %r, %s : tensor<4x64xf16>, !tenon.state<4x16x1x64xf16>)",
     "the emitter of elementwise chains stores tensors, not !tenon.state<4x16x1x64xf16>"},
    {"StateBesideANorm", &forms::cudaRows, "(tensor<4x64xf16>, !tenon.state<4x16x1x64xf16>)",
     R"(%r = tenon.softmax %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
        tenon.yield %r, %s : tensor<4x64xf16>, !tenon.state<4x16x1x64xf16>)",
     "the emitter of row reductions stores float tensors, not !tenon.state<4x16x1x64xf16>"},
    {"IntegersAfterANorm", &forms::cudaRows, "tensor<4x64xi64>",
     R"(%n = tenon.softmax %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
        %r = tenon.cast %n : (tensor<4x64xf16>) -> tensor<4x64xi64>
        tenon.yield %r : tensor<4x64xi64>)",
     "the emitter of row reductions computes floats, and cannot hold cast of integers"},
};

INSTANTIATE_TEST_SUITE_P(Forms, RegionRefusals, testing::ValuesIn(refusedRegions),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::tests
