#ifndef TENON_TESTS_CODEGEN_CUDA_CUDACASES_H
#define TENON_TESTS_CODEGEN_CUDA_CUDACASES_H

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "frontends/builder/GraphBuilder.h"
#include "ir/ReferenceTensor.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::testing {

/// How the elements of an input are chosen.
enum class Fill {
  Gaussian, ///< about 0, deviation 1
  Small,    ///< the same, deviation 1/√(row length): weights
  Index,    ///< integers in [low, high)
  Listed,   ///< the values given
  Range,    ///< elements [low, high) lie in [-1, 1), all others are NaN
};

struct CaseInput {
  std::vector<int64_t> shape;
  std::string type; ///< name of an encoding
  Fill fill = Fill::Gaussian;
  int64_t low = 0, high = 0;
  std::vector<double> values = {};
};

/// The states `k` and `v` of a case.
struct CaseCache {
  std::vector<int64_t> shape;
  std::string type = "f32";         ///< name of an encoding
  std::optional<int64_t> kept = {}; ///< of a ring
  /// Where they are paged, positions of a page and how many there are; the last input of the case is the
  /// block table then.
  int64_t page = 0, pages = 0;
};

/// One function `f` with inputs, compiled for CUDA and run by the interpreter.
struct CudaCase {
  std::string name;
  std::vector<CaseInput> inputs;
  /// Element type of results that state none.
  std::string activation = "f32";
  std::function<void(frontends::GraphBuilder&, const std::vector<frontends::Value>&)> build;
  /// |a − b| ≤ tolerance · max |b|, plus two units of the result's last place.
  double tolerance = 2e-6;
  bool warpgroups = true; ///< whether the target may have them
  std::optional<CaseCache> cache = {};
};

/// For the names of tests.
inline void PrintTo(const CudaCase& testCase, std::ostream* out) { *out << testCase.name; }

/// Every emitter over types and shapes.
const std::vector<CudaCase>& allCudaCases();

/// The module of a case, in phase `input`.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> buildCase(mlir::MLIRContext& context,
                                                            const CudaCase& testCase);
/// The same, planned for the target of that name; `libraries` as in `PipelineOptions`.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> planCase(mlir::MLIRContext& context,
                                                           const CudaCase& testCase,
                                                           const std::string& target,
                                                           bool libraries = false);

} // namespace tenon::testing

#endif // TENON_TESTS_CODEGEN_CUDA_CUDACASES_H
