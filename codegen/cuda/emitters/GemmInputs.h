#ifndef TENON_CODEGEN_CUDA_EMITTERS_GEMMINPUTS_H
#define TENON_CODEGEN_CUDA_EMITTERS_GEMMINPUTS_H

#include "codegen/cuda/RegionPrinter.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "kernels/cuda/GemvBlock.h"
#include "llvm/ADT/MapVector.h"

namespace tenon::codegen::cuda {

/// The statement in which the warps of a block meet.
std::string meetingOf(const kernels::GemvBlock& block);

/// Makes the inputs of a region's GEMMs in shared memory, each whole in every block: elementwise
/// operations, and norms whose sums a block adds in the order of the norm's own kernel.
///
/// 1. What norms take is loaded into registers: warp w has the chunks w, w + warps, ... of the
///    norm's order, a thread of it pairs of elements 64 apart, so that halving takes few shuffles.
///    What no norm takes is stored.
/// 2. Each warp halves its chunks' lanes and stores the chunks' sums (a barrier), which every
///    thread adds: the mean's, then the squares'. Norms of one value that differ in weights alone
///    share the sums.
/// 3. Each thread norms its own elements and stores them (a barrier).
///
/// Where the registers of a thread do not hold what norms take, it is computed again for each step.
/// Input i is the array `input<i>` of the inputs' element type, `paddedDepth` elements a row.
class GemmInputs {
public:
  GemmInputs(KernelContext& context, kernels::GemmRegion& region, const kernels::GemvBlock& layout);

  /// Emits an error where a norm's order is none that warps can follow.
  mlir::LogicalResult check();
  /// Starts phases that load what norms take beside their input: constants are on their way before
  /// the kernel waits.
  void preload();
  /// Prints steps 1 to 3 with the results that the prologue makes, which the first tile stores;
  /// `behindLoads`, a statement or nothing, once after the loads of step 1 and before what waits for
  /// them, if registers hold what they bring.
  mlir::LogicalResult print(CodeWriter& code, const std::string& behindLoads);

  /// Where elements from `k` on of row `m` lie in an input. Vectors of 16 bytes of each lane stand
  /// together, so that a warp's loads meet no bank twice.
  std::string place(unsigned input, const std::string& m, const std::string& k) const;

private:
  /// From one pair of elements of a thread to the next.
  static constexpr int64_t pairStep = 64;

  /// What norms take, and how a block shares it out.
  struct Source {
    mlir::Value value;
    unsigned input;        ///< the first that a norm of it makes
    OrderAttr order;       ///< of its norms
    int64_t depth;         ///< elements of a row
    int64_t chunk, chunks; ///< elements of a chunk, in whole lanes; chunks of a row
    int64_t ownChunks;     ///< of a warp
    int64_t pairs;         ///< of a thread in a chunk
    bool kept;             ///< in registers, `source<i>` [rows][ownChunks * pairs][2]
    /// What it is computed of, where registers hold all of it as it lies in memory: arguments, and
    /// weighted sums of them.
    llvm::SmallVector<mlir::Value, 4> operands;
  };
  /// Norms that share their sums.
  struct SharedSums {
    NormTerms norm;
    unsigned source;
    llvm::SmallVector<unsigned, 2> inputs;
  };
  using PrintElements = llvm::function_ref<mlir::LogicalResult(RegionPrinter&)>;

  mlir::LogicalResult addSource(unsigned input, const NormTerms& norm);
  mlir::Operation* normOf(mlir::Value value) const;
  int64_t vectors(int64_t depth) const;
  mlir::LogicalResult forVectors(CodeWriter& code, unsigned input, PrintElements body);
  void openChunks(CodeWriter& code, const Source& source);
  mlir::LogicalResult forPairs(CodeWriter& code, const Source& source, PrintElements body);
  void closeChunks(CodeWriter& code);
  void openRows(CodeWriter& code);
  mlir::FailureOr<std::string> elementOf(RegionPrinter& printer, unsigned source);
  mlir::LogicalResult storeYields(CodeWriter& code, RegionPrinter& printer, unsigned input,
                                  mlir::Operation* norm);
  void findOperands(Source& source) const;
  void loadOperands(CodeWriter& code, unsigned source);
  void defineOperands(CodeWriter& code, RegionPrinter& printer, unsigned source);
  mlir::LogicalResult compute(CodeWriter& code, unsigned source);
  std::string stagedVectors(unsigned input, const std::string& extent) const;
  mlir::LogicalResult stageVector(CodeWriter& code, RegionPrinter& printer, unsigned input,
                                  const std::string& name);
  void storeStaged(CodeWriter& code, unsigned input, const std::string& name);
  mlir::LogicalResult stage(CodeWriter& code, const std::string& behindLoads);
  void printStatistics(CodeWriter& code, const SharedSums& shared, bool withFactor);
  mlir::LogicalResult printSum(CodeWriter& code, const SharedSums& shared, const std::string& name,
                               const std::string& term, bool behindMean);
  mlir::LogicalResult applyNorms(CodeWriter& code, const SharedSums& shared);
  mlir::LogicalResult applyNorm(CodeWriter& code, const SharedSums& shared, unsigned index);

  KernelContext& context;
  kernels::GemmRegion& region;
  const kernels::GemvBlock& layout;
  std::string type; ///< of the inputs' elements
  std::vector<Source> sources;
  std::vector<SharedSums> sums;
  int64_t sumsOffset;                                  ///< of the next chunks' sums, bytes
  llvm::MapVector<mlir::Value, std::string> preloaded; ///< arrays [ownChunks * pairs] of `Packed`
  llvm::SmallPtrSet<mlir::Value, 4> stored;            ///< of the prologue's results
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_GEMMINPUTS_H
