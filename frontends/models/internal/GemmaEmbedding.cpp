#include "frontends/models/internal/GemmaEmbedding.h"

#include <cmath>

#include "llvm/ADT/APFloat.h"

namespace tenon::frontends {

Value buildGemmaEmbedding(ModelGraph& graph) {
  GraphBuilder& builder = graph.builder();
  auto type = llvm::cast<mlir::FloatType>(builder.getActivationType());
  llvm::APFloat root(std::sqrt(static_cast<double>(graph.parameters().hidden)));
  bool losesInfo;
  root.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return builder.scale(graph.embedTokens(), root.convertToDouble(), {.name = "embedding_scaled"});
}

} // namespace tenon::frontends
