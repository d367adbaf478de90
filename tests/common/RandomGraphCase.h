#ifndef TENON_TESTS_COMMON_RANDOMGRAPHCASE_H
#define TENON_TESTS_COMMON_RANDOMGRAPHCASE_H

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/ReferenceTensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Pipeline.h"
#include "runtime/Executor.h"
#include "tests/common/RandomGraph.h"

namespace tenon::tests {

/// The random graph of a seed and two calls of it, the second of which finds what the first has left
/// in the caches. Where the graph has all operations, a third call has wild indices and a fourth one
/// special floats, of which infinities may arise in one order of additions and not in another.
class RandomGraphCase {
public:
  static absl::StatusOr<RandomGraphCase> create(uint64_t seed, GraphOps ops = GraphOps::Models);

  /// Moves the arguments that are weights (matrices of products, tables of embeddings, factors of
  /// norms) from every call into a file written to `path`, each at an odd offset. All calls then have
  /// the values of the first.
  absl::Status moveWeightsToFile(const std::string& path);

  /// A planned copy of the graph; `report` may be null.
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
  plan(const std::string& target, passes::Plan plan,
       std::vector<passes::FusionDecision>* report = nullptr) const;

  /// The bytes of the outputs, call by call; one NaN for all in the call of special floats. Fails the
  /// test where a byte beside a buffer changes.
  using Outputs = std::vector<std::vector<std::byte>>;
  absl::StatusOr<Outputs> run(runtime::Executor& executor, size_t function = 0) const;

  /// Fails the test where an output of a run, of a call without special floats, is not near the interpreter's. The
  /// index of a largest element may be that of another one that is as large within the tolerance.
  /// `target` is what a graph whose activations are quantised was planned for.
  void expectNearReference(llvm::ArrayRef<Outputs> runs, const std::string& target = "h200") const;

  /// In textual IR.
  std::string text() const;

private:
  struct Call {
    InputValues values;
    std::vector<ReferenceTensor> inputs;
  };

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> graph;
  std::vector<Call> calls;
};

struct SeedRange {
  uint64_t first = 0, last = 0;
};
inline void PrintTo(const SeedRange& range, std::ostream* out) {
  *out << range.first << "-" << range.last;
}
/// A range written `SEED` or `FIRST-LAST`.
absl::StatusOr<SeedRange> parseSeedRange(absl::string_view text);
/// The ranges of a file such as `tests/data/random-graphs.seeds`: one a line, text after `#` apart.
absl::StatusOr<std::vector<SeedRange>> readSeeds(const std::string& path);

} // namespace tenon::tests

#endif // TENON_TESTS_COMMON_RANDOMGRAPHCASE_H
