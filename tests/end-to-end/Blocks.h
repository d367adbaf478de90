#ifndef TENON_TESTS_END_TO_END_BLOCKS_H
#define TENON_TESTS_END_TO_END_BLOCKS_H

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/fusion/Fusion.h"
#include "runtime/Executor.h"
#include "runtime/program/Program.h"

/// The blocks of models in examples/blocks, and what PyTorch makes of them
/// (tests/goldens/make_blocks.py).
namespace tenon::tests {

inline constexpr const char* blockNames[] = {"bert_block", "mlp_classifier", "t5_cross_attention",
                                             "vit_block", "whisper_block"};

/// How a block is run.
struct BlockCase {
  const char* block; ///< one of `blockNames`
  passes::Plan plan;
  bool raises = true; ///< whether operations are raised from their primitives
};

/// Each block under the plans unfused, fused and auto, and under auto in its primitives.
std::vector<BlockCase> blockCases();

/// `bert_block_fused`
std::string nameOf(const BlockCase& test);
void PrintTo(const BlockCase& test, std::ostream* out);

/// Path of the graph of that name.
std::string blockPath(const std::string& block);

/// Compiles the block of a case for the target of that name, `cpu` or a known one, without libraries.
absl::StatusOr<runtime::Program> compileBlock(const BlockCase& test, const std::string& target);

/// Calls the function of a block on its inputs and expects what PyTorch gives for them,
/// within the bounds of tests/Tolerances.h.
void expectBlock(runtime::Executor& executor, const std::string& block);

} // namespace tenon::tests

#endif // TENON_TESTS_END_TO_END_BLOCKS_H
