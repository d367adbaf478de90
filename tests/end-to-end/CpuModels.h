#ifndef TENON_TESTS_END_TO_END_CPUMODELS_H
#define TENON_TESTS_END_TO_END_CPUMODELS_H

#include <memory>

#include "absl/status/statusor.h"
#include "passes/Pipeline.h"
#include "runtime/Executor.h"
#include "tools/driver/ReadModel.h"

namespace tenon::tests {

/// A model on two threads of the CPU, without the tokeniser, which would end texts.
absl::StatusOr<std::unique_ptr<runtime::Executor>> compile(const tools::ModelOptions& options,
                                                           passes::Plan plan = passes::Plan::Auto);

} // namespace tenon::tests

#endif // TENON_TESTS_END_TO_END_CPUMODELS_H
