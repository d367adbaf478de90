#ifndef TENON_CODEGEN_CUDA_EMITTERS_NORMTERMS_H
#define TENON_CODEGEN_CUDA_EMITTERS_NORMTERMS_H

#include <optional>

#include "codegen/cuda/Emitter.h"

namespace tenon::codegen::cuda {

/// RMS or layer norm of rows, as expressions that every kernel that computes one prints alike, so
/// that all of them give the same bits.
class NormTerms {
public:
  /// Nothing where `op` is no norm.
  static std::optional<NormTerms> of(mlir::Operation* op);

  mlir::Operation* op;
  mlir::Value input;
  llvm::SmallVector<mlir::Value, 2> operands; ///< weight, bias: where there are any
  int64_t length;                             ///< of a row

  mlir::FailureOr<OrderAttr> order() const;
  /// True where `other` is a norm of the same value with the same sums and factor.
  bool hasStatisticsOf(const NormTerms& other) const {
    return input == other.input && isLayerNorm == other.isLayerNorm && epsilon == other.epsilon;
  }
  /// True where the sum of `x[j]`, `total`, comes first, and `mean` from it.
  bool hasMean() const { return isLayerNorm; }
  std::string meanStatement() const;
  /// An element `x` less the mean, where there is one.
  std::string centeredOf(const std::string& x) const;
  /// What is added over the row into `squares`, of an element `x`.
  std::string squareOf(const std::string& x) const;
  /// The same of `centeredOf(x)`.
  std::string squareOfCentered(const std::string& centered) const {
    return centered + " * " + centered;
  }
  /// `const float factor = …` of `squares`: within three units of the last place, without the long
  /// sequences of exact division and root that every element would wait for.
  std::string factorStatement() const;
  /// The result at element `x` with the elements of `operands`, not yet rounded.
  std::string resultOf(const std::string& x, llvm::ArrayRef<std::string> elements) const;
  /// The same of `centeredOf(x)`.
  std::string resultOfCentered(const std::string& centered,
                               llvm::ArrayRef<std::string> elements) const;

private:
  bool isLayerNorm, hasWeight, hasBias;
  double epsilon;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_NORMTERMS_H
