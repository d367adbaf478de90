#include <filesystem>

#include <gtest/gtest.h>

#include "codegen/ProgramBuilder.h"
#include "codegen/cpu/CompileForCpu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

using namespace mlir;
using testing::ElementsAre;

namespace tenon::tests {

constexpr char modelText[] = R"(
  module attributes {tenon.model = #tenon.model<architecture = "llama", name = "Tiny", file = @file,
                     vocabulary = 8, contextLength = 16, sequences = 2>} {
    tenon.file @file "tiny.gguf" bytes 4096 fingerprint 77
    tenon.weight @w : tensor<8x32x!tenon.block<q8_0>>
        from [#tenon.range<@file, offset = 64, bytes = 136>, #tenon.range<@file, offset = 512, bytes = 136>]
    tenon.state @k : !tenon.state<2x16x1x32xf16>
    func.func @decode(%ids: tensor<2xi32> {tenon.name = "ids"}, %p: tensor<2xi32>)
        -> (tensor<2x8xf32> {tenon.name = "scores"}, tensor<32x2xf32>) {
      %w = tenon.get_weight @w : tensor<8x32x!tenon.block<q8_0>>
      %k = tenon.get_state @k : !tenon.state<2x16x1x32xf16>
      %half = tenon.constant dense<0.5> : tensor<32xf32> : tensor<32xf32>
      %same = tenon.constant dense<0.5> : tensor<32xf32> : tensor<32xf32>
      %e = tenon.embedding %w, %ids : (tensor<8x32x!tenon.block<q8_0>>, tensor<2xi32>) -> tensor<2x32xf32>
      %h = tenon.mul %e, %half : (tensor<2x32xf32>, tensor<32xf32>) -> tensor<2x32xf32>
      %g = tenon.mul %h, %same : (tensor<2x32xf32>, tensor<32xf32>) -> tensor<2x32xf16>
      %r = tenon.reshape %g to [2, 1, 32] : (tensor<2x32xf16>) -> tensor<2x1x32xf16>
      %k1 = tenon.kv_write %r, %ids, %p into %k
          : (tensor<2x1x32xf16>, tensor<2xi32>, tensor<2xi32>, !tenon.state<2x16x1x32xf16>)
          -> !tenon.state<2x16x1x32xf16>
      %y = tenon.matmul %h, %w : (tensor<2x32xf32>, tensor<8x32x!tenon.block<q8_0>>) -> tensor<2x8xf32>
      %t = tenon.transpose %h by [1, 0] : (tensor<2x32xf32>) -> tensor<32x2xf32>
      return %y, %t : tensor<2x8xf32>, tensor<32x2xf32>
    }
  })";

static runtime::Program compileModel() {
  auto context = makeContext();
  auto module = planModule(*context, modelText, "x86-64-v3");
  EXPECT_THAT(module, IsOk());
  auto program = codegen::compileForCpu(**module, {});
  EXPECT_THAT(program, IsOk());
  return *std::move(program);
}

TEST(ProgramBuilder, DescribesModelTargetAndMemory) {
  runtime::Program program = compileModel();
  EXPECT_EQ(program.target, "x86-64-v3");
  EXPECT_EQ(program.device, "cpu");
  EXPECT_THAT(program.features, testing::Contains("avx2"));
  ASSERT_TRUE(program.model);
  EXPECT_EQ(program.model->architecture, "llama");
  EXPECT_EQ(program.model->name, "Tiny");
  EXPECT_EQ(program.model->vocabulary, 8);
  EXPECT_EQ(program.model->context, 16);
  EXPECT_EQ(program.model->sequences, 2);
  ASSERT_EQ(program.files.size(), 1u);
  EXPECT_EQ(program.files[0].path, "tiny.gguf");
  EXPECT_EQ(program.files[0].bytes, 4096u);
  EXPECT_EQ(program.files[0].fingerprint, 77u);
  ASSERT_EQ(program.states.size(), 1u);
  EXPECT_EQ(program.states[0].encoding, "f16");
  EXPECT_EQ(program.states[0].bytes, 2048u);
  for (const runtime::EncodingInfo& info : program.encodings)
    if (info.name == "q8_0") {
      EXPECT_EQ(info.blockElements, 32u);
      EXPECT_EQ(info.blockBytes, 34u);
    }
}

TEST(ProgramBuilder, RefersToWeightsAndEmbedsConstantsOnce) {
  runtime::Program program = compileModel();
  ASSERT_EQ(program.constants.size(), 2u);
  EXPECT_EQ(program.constants[0].name, "w");
  EXPECT_EQ(program.constants[0].encoding, "q8_0");
  EXPECT_THAT(program.constants[0].shape, ElementsAre(8, 32));
  const auto& ranges = std::get<std::vector<runtime::FileRange>>(program.constants[0].source);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[1].offset, 512u);
  EXPECT_EQ(ranges[1].bytes, 136u);
  const auto& bytes = std::get<runtime::SharedBytes>(program.constants[1].source);
  ASSERT_EQ(bytes.size(), 128u);
  EXPECT_EQ(reinterpret_cast<const float*>(bytes.data())[31], 0.5f);
}

TEST(ProgramBuilder, PlacesPortsStatesViewsAndOutputs) {
  runtime::Program program = compileModel();
  ASSERT_EQ(program.functions.size(), 1u);
  const runtime::Function& function = program.functions[0];
  EXPECT_EQ(function.inputs[0].name, "ids");
  EXPECT_EQ(function.inputs[1].name, "input1");
  EXPECT_EQ(function.outputs[0].name, "scores");
  EXPECT_EQ(function.outputs[1].name, "output1");
  ASSERT_EQ(function.steps.size(), 6u);
  const runtime::Step& write = function.steps[3];
  EXPECT_EQ(write.name.substr(write.name.size() - 8), "kv_write");
  // values, sequences, positions, and the state once: its result is written in place.
  ASSERT_EQ(write.args.size(), 4u);
  EXPECT_EQ(write.args[0].space, runtime::Space::Workspace);
  EXPECT_EQ(write.args[0].offset, function.steps[2].args.back().offset) << "a view of the product";
  EXPECT_EQ(write.args[1].space, runtime::Space::Input);
  EXPECT_EQ(write.args[3].space, runtime::Space::State);
  EXPECT_EQ(function.steps[4].args[1].space, runtime::Space::Constant);
  EXPECT_EQ(function.steps[4].args.back().space, runtime::Space::Output);
  EXPECT_EQ(function.steps[5].args.back().index, 1u);
  EXPECT_GT(program.workspaceBytes, 0u);
}

// Equal regions share a kernel: here the two products differ in their result types only.
TEST(ProgramBuilder, CompilesEqualRegionsOnce) {
  auto context = makeContext();
  std::string text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "  %a = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
                     "  %b = tenon.exp %a : (tensor<4xf32>) -> tensor<4xf32>\n"
                     "  %c = tenon.neg %b : (tensor<4xf32>) -> tensor<4xf32>\n"
                     "  return %c : tensor<4xf32>\n}";
  auto module = planModule(*context, text, "x86-64-v3");
  ASSERT_THAT(module, IsOk());
  auto program = codegen::compileForCpu(**module, {});
  ASSERT_THAT(program, IsOk());
  EXPECT_EQ(program->kernels.size(), 2u);
  EXPECT_EQ(program->functions[0].steps[0].kernel, program->functions[0].steps[1].kernel);
  EXPECT_NE(program->functions[0].steps[1].kernel, program->functions[0].steps[2].kernel);
}

// Listings for people: the code that was compiled, without reassociation or contraction.
TEST(CpuListings, ShowLlvmIrAndAssembly) {
  auto context = makeContext();
  std::string text =
      "func.func @f(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {\n"
      "  %a = tenon.rms_norm %x eps 1.0e-5 : (tensor<4x64xf32>) -> tensor<4x64xf32>\n"
      "  return %a : tensor<4x64xf32>\n}";
  auto module = planModule(*context, text, "x86-64-v3");
  ASSERT_THAT(module, IsOk());
  std::string llvmIr, assembly;
  codegen::CpuCodegenOptions options;
  options.llvmIr = &llvmIr, options.assembly = &assembly;
  ASSERT_THAT(codegen::compileForCpu(**module, options), IsOk());
  EXPECT_THAT(llvmIr, testing::HasSubstr("define void @k0_rms_norm("));
  EXPECT_THAT(llvmIr, testing::Not(testing::HasSubstr("reassoc")));
  EXPECT_THAT(assembly, testing::HasSubstr("vmulps"));
  EXPECT_THAT(assembly, testing::Not(testing::HasSubstr("vfmadd")));
}

static const char* const expText = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                                   "  %a = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
                                   "  return %a : tensor<4xf32>\n}";

/// Compiles `text` for `target` with a cache in `folder`; returns the object.
static std::vector<std::byte> compileWithCache(const std::string& text, const std::string& target,
                                               const std::string& folder) {
  auto context = makeContext();
  auto module = planModule(*context, text, target);
  EXPECT_THAT(module, IsOk());
  codegen::CpuCodegenOptions options;
  options.cacheFolder = folder;
  auto program = codegen::compileForCpu(**module, options);
  EXPECT_THAT(program, IsOk());
  std::span<const std::byte> bytes = program->code[0].bytes();
  return {bytes.begin(), bytes.end()};
}

static size_t countFiles(const std::string& folder) {
  std::filesystem::directory_iterator files(folder);
  return std::distance(begin(files), end(files));
}

TEST(CpuObjectCache, KeepsAnObjectForEachCodeAndTarget) {
  TempFolder folder;
  std::string cache = folder.path("cache");
  std::vector<std::byte> first = compileWithCache(expText, "x86-64-v3", cache);
  EXPECT_EQ(countFiles(cache), 1u);
  // Writing an entry replaces its file; a second compilation must not have written.
  std::string path = std::filesystem::directory_iterator(cache)->path();
  std::string kept = folder.path("kept");
  std::filesystem::create_hard_link(path, kept);
  EXPECT_EQ(compileWithCache(expText, "x86-64-v3", cache), first);
  EXPECT_TRUE(std::filesystem::equivalent(path, kept));
  compileWithCache(expText, "x86-64-v4", cache);
  EXPECT_EQ(countFiles(cache), 2u);
  std::string other = expText;
  other.replace(other.find("tenon.exp"), 9, "tenon.neg");
  compileWithCache(other, "x86-64-v3", cache);
  EXPECT_EQ(countFiles(cache), 3u);
}

TEST(CpuObjectCache, CompilesWhereTheCacheCannotBeWritten) {
  EXPECT_EQ(compileWithCache(expText, "x86-64-v3", "/proc/no-such-folder"),
            compileWithCache(expText, "x86-64-v3", ""));
}

} // namespace tenon::tests
