#ifndef TENON_TESTS_RUNTIME_CUDA_TESTPROGRAMS_H
#define TENON_TESTS_RUNTIME_CUDA_TESTPROGRAMS_H

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>

#include "runtime/cuda/CudaExecutor.h"
#include "runtime/program/DescribeKernels.h"
#include "runtime/program/Program.h"
#include "support/Fingerprint.h"
#include "support/MappedFile.h"

namespace tenon::runtime::test {

using Floats = std::vector<float>;

/// What a loader takes for a cubin, after `edit`: a header without code.
inline std::vector<std::byte> makeCubin(const std::function<void(Elf64_Ehdr&)>& edit = {}) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_machine = 190;
  if (edit)
    edit(header);
  auto bytes = std::as_bytes(std::span(&header, 1));
  return {bytes.begin(), bytes.end()};
}

/// A model file of 3,000 floats, 0 to 2999, in a folder that is removed at the end.
class ModelFile {
public:
  ModelFile() {
    std::string pattern = testing::TempDir() + "tenon-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    Floats weights(3000);
    std::iota(weights.begin(), weights.end(), 0.0f);
    write(weights);
  }
  ~ModelFile() { std::filesystem::remove_all(folder); }

  std::string path() const { return (folder / "model.bin").string(); }
  void write(const Floats& weights) const {
    std::ofstream(path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(weights.data()), std::ssize(weights) * 4);
  }

private:
  std::filesystem::path folder;
};

/// The functions of `makeCudaProgram`, in order: for each constant c, y = x + 10·c; `Sum` adds x to
/// the state's second row through the workspace and returns it.
enum FunctionIndex : size_t { Piece, Scattered, Embedded, Random, Sum };

/// A program of the kernels of kernels.cu over 8 floats, whose constants lie in `model`.
inline Program makeCudaProgram(const ModelFile& model, SharedBytes cubin) {
  auto embedded = std::as_bytes(std::span("\0\0\0\x3f\0\0\0\x3f\0\0\0\x3f\0\0\0\x3f"
                                          "\0\0\0\x3f\0\0\0\x3f\0\0\0\x3f\0\0\0\x3f",
                                          32)); // 0.5f
  Program program;
  program.target = "h200";
  program.device = "cuda";
  program.encodings = {{"f32", 1, 4}};
  program.files = {
      {model.path(), 12'000, fingerprintFile((*MappedFile::open(model.path()))->bytes())}};
  program.constants = {
      {"piece", "f32", {8}, 32, std::vector<FileRange>{{0, 40, 32}}},
      {"scattered", "f32", {8}, 32, std::vector<FileRange>{{0, 8000, 8}, {0, 0, 24}}},
      {"embedded", "f32", {8}, 32, SharedBytes({embedded.begin(), embedded.end()})},
      {"random", "f32", {8}, 32, std::vector<RandomRange>{{12, 3, 2, 0.5}, {20, 7, 4, 0}}}};
  program.states = {{"padding", "f32", {1}, 4}, {"sum", "f32", {2, 8}, 64}};
  program.code = {std::move(cubin)};
  program.kernels = {{"addScaled", 0, CudaLaunch{4, 0, false}},
                     {"twice", 0, CudaLaunch{8, 256, true}},
                     {"accumulate", 0, CudaLaunch{8, 0, true}}};
  program.workspaceBytes = 128;
  Port x{"x", "f32", {8}, 32}, y{"y", "f32", {8}, 32};
  for (uint32_t constant = 0; constant < 4; ++constant) {
    Step step{
        0,
        2,
        {{Space::Input, 0, 0, 32}, {Space::Constant, constant, 0, 32}, {Space::Output, 0, 0, 32}},
        "add"};
    program.functions.push_back(
        {"add " + program.constants[constant].name, Role::Other, 0, {x}, {y}, {step}});
  }
  Step twice{1, 1, {{Space::Input, 0, 0, 32}, {Space::Workspace, 0, 64, 32}}, "twice"};
  Step accumulate{
      2,
      1,
      {{Space::Workspace, 0, 64, 32}, {Space::State, 1, 32, 32}, {Space::Output, 0, 0, 32}},
      "accumulate"};
  program.functions.push_back({"sum", Role::Other, 0, {x}, {y}, {twice, accumulate}});
  describeKernelsBySteps(program);
  return program;
}

inline Floats call(CudaExecutor& executor, size_t function, const Floats& x) {
  Floats y(8, NAN);
  std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
  std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(y))};
  EXPECT_EQ(executor.run(function, inputs, outputs), absl::OkStatus());
  return y;
}

} // namespace tenon::runtime::test

#endif // TENON_TESTS_RUNTIME_CUDA_TESTPROGRAMS_H
