#ifndef TENON_PASSES_SIMPLIFY_RAISE_RAISE_H
#define TENON_PASSES_SIMPLIFY_RAISE_RAISE_H

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon::passes {

/// Operations that are recognised where a graph has them in primitives, and weights where it has
/// their transposes: a name, and the patterns that put one there.
struct Raise {
  llvm::StringRef name; ///< as `--disable` takes it
  void (*add)(mlir::RewritePatternSet& patterns);
};

/// All of them, by name.
llvm::ArrayRef<Raise> allRaises();

/// InvalidArgument where `names` has one that is none.
absl::Status checkRaises(const std::vector<std::string>& names);

/// Adds the patterns of all but those named in `disabled`.
void addRaises(mlir::RewritePatternSet& patterns, llvm::ArrayRef<std::string> disabled);

namespace raise {

/// The debug label of patterns that put an operation where its primitives were.
inline constexpr llvm::StringLiteral label = "raise";

void addRmsNorm(mlir::RewritePatternSet& patterns);
void addLayerNorm(mlir::RewritePatternSet& patterns);
void addActivations(mlir::RewritePatternSet& patterns);
void addGelu(mlir::RewritePatternSet& patterns);
void addGlu(mlir::RewritePatternSet& patterns);
void addAttention(mlir::RewritePatternSet& patterns);
void addRope(mlir::RewritePatternSet& patterns);
void addTransposedWeight(mlir::RewritePatternSet& patterns);

} // namespace raise
} // namespace tenon::passes

#endif // TENON_PASSES_SIMPLIFY_RAISE_RAISE_H
