#ifndef TENON_TESTS_CODEGEN_CUDA_REGIONCASES_H
#define TENON_TESTS_CODEGEN_CUDA_REGIONCASES_H

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "runtime/program/Program.h"

namespace tenon::testing {

/// A kernel region in text, in which T stands for an element type, M for rows.
struct RegionCase {
  const char* name;
  const char* arguments; ///< of the function
  const char* region;    ///< kernel operation(s) and return
  const char* results;   ///< of the function
  const char* states = "";
  const char* pairs = ""; ///< of a rope, for PAIRS
};

struct RegionParameters {
  const RegionCase* region;
  std::string type;
  int64_t rows, columns, depth; ///< of heads: rows, 1 for adjacent pairs, size
  std::string blocks = {};      ///< encoding of the weights, where it is one of blocks
  bool isPaged = false;         ///< whether caches of heads have pages
  bool isSmall = false;         ///< whether they hold quants
};

/// The name of a test: region, layout of caches, encoding, type and shape.
std::string nameOf(const RegionParameters& p);
/// For the names of tests.
void PrintTo(const RegionParameters& p, std::ostream* out);
/// The module of phase `fused` that has the region.
std::string textOf(const RegionParameters& p);

/// |a − b| ≤ tolerance · max |b| against the reference, which rounds only results: 16-bit values
/// inside a region are rounded alike there and here, but a rounding may fall the other way.
double toleranceOf(const std::string& type);

/// The program of the region, or of its operations one by one.
absl::StatusOr<runtime::Program> compileRegion(mlir::MLIRContext& context, const std::string& text,
                                               passes::Plan plan,
                                               mlir::OwningOpRef<mlir::ModuleOp>& module);

/// Whether a kernel of a region computes what kernels of its operations do, bit for bit, and what the
/// interpreter does, within `toleranceOf`. Each family of regions instantiates it.
class CudaRegionTest : public ::testing::TestWithParam<RegionParameters> {};

} // namespace tenon::testing

#endif // TENON_TESTS_CODEGEN_CUDA_REGIONCASES_H
