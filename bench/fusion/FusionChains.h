#ifndef TENON_BENCH_FUSION_FUSIONCHAINS_H
#define TENON_BENCH_FUSION_FUSIONCHAINS_H

#include <string>
#include <vector>

#include "frontends/builder/GraphBuilder.h"

namespace tenon::bench {

/// Where a chain is measured. Not every chain has columns.
struct ChainShape {
  std::string type = "f16"; ///< of activations and weights: f16, bf16 or f32
  int64_t rows = 1;
  int64_t hidden = 0;  ///< length of the rows of x
  int64_t columns = 0; ///< of a product, or of its widest part
};

/// One of several copies of a chain in a function. Copies have weights of their own, so that these
/// come from memory, and activations that the copy before has just written or that all share, so
/// that these come from the cache if they fit: as in a model.
class ChainCopy {
public:
  ChainCopy(frontends::GraphBuilder& builder, const ChainShape& shape) : b(builder), shape(shape) {}

  /// A weight [columns, depth] or [length] of this copy alone.
  frontends::Value matrix(const std::string& name, int64_t columns, int64_t depth,
                          mlir::Type type = {});
  frontends::Value vector(const std::string& name, int64_t length, mlir::Type type = {});
  /// An activation that all copies share.
  frontends::Value shared(const std::string& name, llvm::ArrayRef<int64_t> dimensions,
                          mlir::Type type = {}, std::optional<PortRole> role = {});
  /// An activation of this copy alone, where copies that share it would become one kernel.
  frontends::Value own(const std::string& name, llvm::ArrayRef<int64_t> dimensions);
  /// A cache of this copy alone.
  frontends::StateValue cache(const std::string& name, llvm::ArrayRef<int64_t> dimensions);
  /// What nothing in the function reads but its caller.
  void result(frontends::Value value);
  mlir::Type i32() const;
  mlir::Type f32() const;

  frontends::GraphBuilder& b;
  const ChainShape& shape;
  frontends::Value x;        ///< [rows, hidden]
  frontends::Value residual; ///< [rows, hidden]
  int64_t weightBytes = 0;   ///< of all weights so far

private:
  friend class ChainFunction;
  std::string named(const std::string& name) const { return name + std::to_string(copy); }
  frontends::Value declared(const std::string& name, llvm::ArrayRef<int64_t> dimensions,
                            mlir::Type type);

  int copy = 0;
  int results = 0;
  bool keepsMemory = false; ///< has had results or caches of a copy's own
  llvm::StringMap<frontends::Value> inputs;
};

/// A chain of operations that one fusion rule, or several together, make one kernel.
struct FusionChain {
  std::string name;
  /// That are on; the first is the one that the chain stands for. None of a single operation.
  std::vector<std::string> rules;
  void (*build)(ChainCopy& copy); ///< adds a copy; what the next one reads goes to x and residual
};

/// All chains, each once.
const std::vector<FusionChain>& allChains();
/// The chain of that name; null where there is none.
const FusionChain* findChain(const std::string& name);

/// A module in phase `input` with one function `f` of `copies` copies of the chain; weights refer to
/// a file that there is not, for `tools::randomizeConstants`.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> makeChainModule(mlir::MLIRContext& context,
                                                                  const FusionChain& chain,
                                                                  const ChainShape& shape,
                                                                  int copies);
/// As many copies as hold 200 MB of weights, several times a second-level cache, from 2 to 48. Of a
/// chain with less than 64 KB of them 16, or 64 where each copy reads what the one before has
/// written, x is small, and what starts and ends a graph would count.
absl::StatusOr<int> chooseCopies(const FusionChain& chain, const ChainShape& shape);

} // namespace tenon::bench

#endif // TENON_BENCH_FUSION_FUSIONCHAINS_H
