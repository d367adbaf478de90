#ifndef TENON_KERNELS_KERNELKIND_H
#define TENON_KERNELS_KERNELKIND_H

#include <memory>
#include <optional>
#include <span>

#include "ir/Dialect.h"
#include "kernels/cuda/BlockResources.h"
#include "kernels/cuda/CudaTarget.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// What a kernel waits for beside its launch, its bytes and its operations: what the cost model
/// asks a kind, and prices with the constants of the target.
struct PriceTerms {
  /// Rows are whole in a block: each is one multiprocessor's, and a thread takes its vectors one
  /// after the other.
  bool keepsRows = false;
  /// True where what the kernel reads and writes passes through memory, although its own operands
  /// would fit the cache: it is one of several that share what a GEMM has written.
  bool passesMemory = false;
  /// Several warps share a row, and meet for each of its reductions.
  bool sharesRows = false;
  /// How blocks of decode attention take the keys of a row.
  struct KeySteps {
    int64_t capacity;      ///< keys of a row where its cache is full
    int64_t splits;        ///< parts of a row, at most; each is a tile
    int64_t leastKeys = 0; ///< of a part, where rows of fewer keys have fewer parts; else 0
    int64_t stepKeys;      ///< that the warps of a block take at once
    int64_t sets = 1;      ///< steps that overlap

    /// Parts of a row of `keys`.
    int64_t parts(int64_t keys) const;
    /// Steps of `keys` that a warp takes one after the other.
    int64_t steps(int64_t keys) const;
  };
  std::optional<KeySteps> keySteps = std::nullopt;
  /// Who computes the reductions that stand before a GEMM.
  enum class Prologue {
    Block,    ///< all threads of a block share each row
    Warps,    ///< each warp takes whole rows
    Registers ///< warps that hold the rows already
  } prologue = Prologue::Block;
  /// With `Warps`: rows of x, and those of them that one warp takes.
  int64_t rows = 1, rowsOfWarp = 1;

  /// A GEMM that a library computes, in tiles of its own choice.
  struct Library {
    enum class Rate { Tensor16, Tf32, F32 };
    int64_t m, n, k;
    Rate rate;                 ///< of its factors' type
    int64_t epilogueBytes = 0; ///< that an epilogue moves when the product is done
  };
  std::optional<Library> library = std::nullopt;

  /// GEMMs of many rows by warpgroups, whose loads of weights, tensor cores and epilogue
  /// overlap.
  struct Warpgroups {
    int64_t tilesOfResult;         ///< or parts of them, which the kernel's blocks take in turn
    int64_t tileRows, tileColumns; ///< of A · Bᵀ
    int64_t stages = 0;            ///< of K that each has, 64 elements; 0 where not known
    double l2Rows = 0;             ///< of both factors of a stage that a block reads itself
    int64_t exchangeBytes = 0;     ///< of sums of other parts of a tile that a block gets
    int64_t instructions = 0;      ///< of warps, to make factors of a stage's quantised weights
  };
  std::optional<Warpgroups> warpgroups = std::nullopt;

  /// Instructions of warps that all blocks issue, where these and not the tensor cores bind the
  /// GEMMs; 0: not known.
  int64_t warpInstructions = 0;
  /// Those warps wait for rows that they gather and for each other, and issue less often.
  bool gathersRows = false;
  /// Weights come through rings that warps keep full while they multiply, which hides nearly all of
  /// the shorter of memory and arithmetic.
  bool keepsRingsFull = false;
};

/// A region as a kind of kernel computes it, with its schedule: read once, and asked by whoever
/// prices, launches or prints it. Each kind has a struct of its own (`NarrowGemmKernel`), with its
/// region and its schedule as types; this is what all of them can tell.
class MatchedKernel {
public:
  virtual ~MatchedKernel() = default;
  /// What a block takes where there are registers enough; nothing where the kind has no blocks, as
  /// a library's.
  virtual std::optional<BlockResources> resources() const = 0;
  virtual PriceTerms priceTerms() const = 0;
};

/// A kind of kernels for GPUs: one way to compute a region, which code generation has an emitter
/// for. What it knows lies in the struct `Kernel` of the kind:
///
/// ```cpp
/// struct NarrowGemmKernel {
///   static constexpr llvm::StringLiteral name = "narrow_gemm";   // in #tenon.schedule
///   GemmRegion region;                                        // what is computed
///   NarrowGemmSchedule schedule;                                 // how
///   static VerdictOr<NarrowGemmKernel> read(KernelOp kernel);    // both, from a scheduled region
///   BlockResources resources() const;
///   PriceTerms priceTerms() const;
/// };
/// extern constexpr KernelKind narrowGemm = // in its .cpp, listed by the build
///     kindOf<NarrowGemmKernel>();
/// ```
struct KernelKind {
  llvm::StringRef name;
  /// Reads a scheduled region, or says why it is none of the kind.
  VerdictOr<std::unique_ptr<MatchedKernel>> (*read)(KernelOp kernel);
  /// Its struct's member `tuning`, where it has one.
  llvm::ArrayRef<Tuning> tuning;
};

template <typename Kernel> class TypedKernel final : public MatchedKernel {
public:
  explicit TypedKernel(Kernel kernel) : kernel(std::move(kernel)) {}

  std::optional<BlockResources> resources() const override { return kernel.resources(); }
  PriceTerms priceTerms() const override { return kernel.priceTerms(); }

  static VerdictOr<std::unique_ptr<MatchedKernel>> read(KernelOp op) {
    VerdictOr<Kernel> found = Kernel::read(op);
    if (!found)
      return found.refusal();
    return std::unique_ptr<MatchedKernel>(new TypedKernel(*std::move(found)));
  }

private:
  Kernel kernel;
};

template <typename Kernel> constexpr KernelKind kindOf() {
  if constexpr (requires { Kernel::tuning; })
    return {Kernel::name, TypedKernel<Kernel>::read, Kernel::tuning};
  else
    return {Kernel::name, TypedKernel<Kernel>::read, {}};
}

/// The kinds that GPUs have, each defined in the file that reads it; generated by the build.
std::span<const KernelKind* const> allCudaKinds();

/// Reads a scheduled region by the kind that its schedule names. Refuses one that no kind for GPUs
/// has.
VerdictOr<std::unique_ptr<MatchedKernel>> readKernel(KernelOp kernel);

/// Shared memory that a search for the largest elements of rows takes of a block (a key of 8 bytes
/// for each row, and a flag), in multiples of `unit` bytes; 0 where no search ends the region.
int64_t searchSmemBytes(KernelOp kernel, int64_t unit = 1);

/// What a block of a kernel that takes `resources` takes in `kernel`: with the shared memory of a
/// search that ends the region, and no more registers than multiprocessors with `registersPerSm` of
/// 32 bits leave it, 0 where that is not known.
BlockResources resourcesInPlace(KernelOp kernel, BlockResources resources, int64_t registersPerSm);

} // namespace tenon::kernels

#endif // TENON_KERNELS_KERNELKIND_H
