#ifndef TENON_TESTS_RUNTIME_PROGRAM_TESTPROGRAMS_H
#define TENON_TESTS_RUNTIME_PROGRAM_TESTPROGRAMS_H

#include <string>
#include <string_view>
#include <vector>

#include "runtime/program/DescribeKernels.h"
#include "runtime/program/Program.h"

namespace tenon::runtime::test {

inline std::vector<std::byte> bytesOf(std::string_view text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline TokenizerSpec richTokenizer() {
  TokenizerSpec spec;
  spec.model = TokenizerModel::ByteLevelBpe;
  spec.preTokenizer = "gpt-2";
  spec.splits = {{"a+", SplitBehavior::MergedWithNext, true}, {"b", SplitBehavior::Removed, false}};
  spec.ignoreMerges = true;
  spec.normalizers = {{RewriteKind::Replace, "c", "d"},
                      {RewriteKind::Charsmap, "", std::string("\0\xff\0", 3)}};
  spec.pieceNormalizers = {{RewriteKind::Prefix, "", " "}, {RewriteKind::Nfkc, "", ""}};
  spec.added = {{2, true, false, true, false}, {4, false, true, false, true}};
  spec.fuseUnknown = true;
  spec.tokens = {"<unk>", "a", "b", "", "\xe2\x96\x81z"};
  spec.scores = {0.0f, -1.5f, 2.25f, 0.0f, 1e30f};
  spec.kinds = {TokenKind::Unknown, TokenKind::Normal, TokenKind::Control, TokenKind::Byte,
                TokenKind::UserDefined};
  spec.merges = {"a b", "b a"};
  spec.bosId = 1;
  spec.eosId = 2;
  spec.extraEndIds = {3, 0};
  spec.addBos = true;
  spec.addEos = true;
  spec.addSpacePrefix = false;
  spec.chatTemplate = "{{ messages }}";
  return spec;
}

/// A valid program in which every field has a value of its own.
inline Program richProgram() {
  Program program;
  program.target = "x86-64-v3";
  program.device = "cpu";
  program.features = {"avx2", "fma"};
  program.encodings = {{"f32", 1, 4}, {"i32", 1, 4}, {"q8_0", 32, 34}};
  program.files = {{"/models/a.gguf", 10'000'000'000, 0x0123456789abcdef},
                   {"/models/b.gguf", 4096, 7}};
  program.constants = {
      {"q", "q8_0", {2, 32}, 68, std::vector<FileRange>{{0, 9'000'000'000, 68}}},
      {"qkv",
       "f32",
       {3, 2},
       24,
       std::vector<FileRange>{{0, 16, 8}, {1, 4088, 8}, {0, 32, 8}},
       true},
      {"scale", "f32", {}, 4, SharedBytes(bytesOf("\1\2\3\4"))},
      {"table", "f32", {1500}, 6000, SharedBytes(std::vector<std::byte>(6000, std::byte{0x5a}))}};
  program.states = {{"k", "f32", {2, 4, 8}, 256}, {"v", "f32", {2, 4, 8}, 256}};
  program.code = {bytesOf("object zero"), bytesOf(std::string(5000, 'x'))};
  program.kernels = {{"embed", 0}, {"matmul", 1}};
  Step embed{0, 3, {{Space::Input, 0, 4, 4}, {Space::Workspace, 0, 64, 64}}, "embedding"};
  Step matmul{1,
              1,
              {{Space::Constant, 1, 0, 24},
               {Space::State, 1, 128, 128},
               {Space::Workspace, 0, 0, 128},
               {Space::Output, 0, 0, 40}},
              "matmul, bias"};
  program.functions = {{"decode",
                        Role::Decode,
                        2,
                        {{"ids", "i32", {2}, 8, PortRole::Ids},
                         {"sequences", "i32", {2}, 8, PortRole::Sequences},
                         {"positions", "i32", {2}, 8, PortRole::Positions}},
                        {{"logits", "f32", {2, 5}, 40, PortRole::Logits}, {"probe", "f32", {1}, 4}},
                        {embed, matmul}},
                       {"prefill",
                        Role::Prefill,
                        4,
                        {{"ids", "i32", {4}, 16, PortRole::Ids},
                         {"sequences", "i32", {1}, 4, PortRole::Sequences},
                         {"positions", "i32", {4}, 16, PortRole::Positions},
                         {"output_rows", "i32", {1}, 4, PortRole::OutputRows}},
                        {{"logits", "f32", {1, 5}, 20, PortRole::Logits}},
                        {embed}},
                       {"graph", Role::Other, 0, {{"x", "q8_0", {32}, 34}}, {}, {}}};
  program.functions[1].predictedNs = 123'456;
  program.functions[1].sharedPercent = 75;
  program.workspaceBytes = 128;
  program.model = ModelInfo{"llama", "tiny", 5, 4, 2};
  program.tokenizer = richTokenizer();
  program.report = R"({"decisions": []})";
  describeKernelsBySteps(program);
  return program;
}

/// A valid program for CUDA in which every field of its kernels has a value of its own.
inline Program richCudaProgram() {
  Program program;
  program.target = "h200";
  program.device = "cuda";
  program.encodings = {{"f32", 1, 4}, {"bf16", 1, 2}};
  program.constants = {{"w",
                        "bf16",
                        {6, 8},
                        96,
                        std::vector<RandomRange>{{64, 1ull << 60, 0.0f, 0.25f}, {32, 7, 1, 0}}}};
  program.code = {bytesOf("cubin")};
  program.kernels = {
      {"cast", 0, CudaLaunch{256, 1024, true, false, {{1, 2, 4, 8, MatmulType::Bf16}}}},
      {"matmul", 0,
       LibraryMatmul{4, 6, 8, MatmulType::Bf16, MatmulType::F32, false, 1 << 20, true, false,
                     true}}};
  program.functions = {{"graph",
                        Role::Other,
                        0,
                        {{"x", "f32", {4, 8}, 128}},
                        {{"y", "f32", {4, 6}, 96}},
                        {{0, 3, {{Space::Input, 0, 0, 128}, {Space::Workspace, 0, 0, 64}}, "cast"},
                         {1,
                          1,
                          {{Space::Workspace, 0, 0, 64},
                           {Space::Constant, 0, 0, 96},
                           {Space::Input, 0, 0, 96},
                           {Space::Output, 0, 0, 96}},
                          "matmul"}}}};
  program.workspaceBytes = 64;
  describeKernelsBySteps(program);
  return program;
}

} // namespace tenon::runtime::test

#endif // TENON_TESTS_RUNTIME_PROGRAM_TESTPROGRAMS_H
