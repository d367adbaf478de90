#ifndef TENON_TESTS_CODEGEN_CUDA_ATTENTIONCASES_H
#define TENON_TESTS_CODEGEN_CUDA_ATTENTIONCASES_H

#include "tests/codegen/cuda/CudaCases.h"

namespace tenon::testing {

/// Attention of few rows and of many.
void addAttention(std::vector<CudaCase>& cases);
/// Attention of chunks of several sequences.
void addAttentionChunks(std::vector<CudaCase>& cases);
/// Attention with a bias, slopes and sinks.
void addScoreOperands(std::vector<CudaCase>& cases);
/// Attention whose weights are a result.
void addAttentionWeights(std::vector<CudaCase>& cases);
/// Caches of plain types and of 8 and 4 bits, streams, and guesses of the tokens of one.
void addCaches(std::vector<CudaCase>& cases);
/// Paged caches.
void addPages(std::vector<CudaCase>& cases);
/// A case of `addPages` of that name, once with dense caches and once with paged ones.
std::pair<CudaCase, CudaCase> denseAndPaged(const std::string& name);

} // namespace tenon::testing

#endif // TENON_TESTS_CODEGEN_CUDA_ATTENTIONCASES_H
