#ifndef TENON_TESTS_PASSES_FUSION_PLANNEDMODELS_H
#define TENON_TESTS_PASSES_FUSION_PLANNEDMODELS_H

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace tenon::tests {

/// Reads a model with every block's output, and the likeliest tokens where they are asked for. Some files hold no tokeniser, so the module does not
/// say that it is a model for text.
inline absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
readTestModel(mlir::MLIRContext& context, const std::string& file, const std::string& activations,
              const std::vector<std::string>& shapes, bool nextIds = false) {
  TENON_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> module,
                         tools::readModel(context,
                                          {.path = TENON_TEST_DATA "/" + file,
                                           .activations = activations,
                                           .shapes = shapes,
                                           .contextLength = 64,
                                           .blockOutputs = true,
                                           .nextIds = nextIds},
                                          nextIds ? DeviceKind::Cuda : DeviceKind::Cpu));
  (*module)->removeAttr(TenonDialect::modelAttrName);
  for (auto function : module->getOps<mlir::func::FuncOp>())
    function->removeAttr(TenonDialect::entryAttrName);
  return module;
}

/// How often each rule took part in a fused kernel.
inline std::map<std::string, int> countRules(const std::vector<passes::FusionDecision>& decisions) {
  std::map<std::string, int> counts;
  for (const passes::FusionDecision& decision : decisions) {
    if (!decision.taken)
      continue;
    for (size_t begin = 0; begin <= decision.rule.size();) {
      size_t end = std::min(decision.rule.find('+', begin), decision.rule.size());
      ++counts[decision.rule.substr(begin, end - begin)];
      begin = end + 1;
    }
  }
  return counts;
}

} // namespace tenon::tests

#endif // TENON_TESTS_PASSES_FUSION_PLANNEDMODELS_H
