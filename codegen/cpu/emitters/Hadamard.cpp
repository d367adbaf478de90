#include <cmath>

#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

constexpr int64_t lanes = 8;

/// Sums and differences of elements `offset` apart within a vector.
static Value combineLanes(VectorBuilder& b, Value vector, int64_t offset) {
  llvm::SmallVector<int64_t> partners, chosen;
  for (int64_t i = 0; i < lanes; ++i) {
    partners.push_back(i ^ offset);
    chosen.push_back((i & offset) == 0 ? i : lanes + i);
  }
  Value partner = vector::ShuffleOp::create(b, vector, vector, partners);
  return vector::ShuffleOp::create(b, b.fadd(partner, vector), b.fsub(partner, vector), chosen);
}

/// A head lies in vectors, of which sums and differences are taken, of elements 1 apart first.
static LogicalResult emitHadamard(KernelContext& context, Value tile) {
  auto kernel = context.read<RowKernelOf<HadamardOp>>();
  if (failed(kernel))
    return failure();
  HadamardOp op = kernel->op;
  VectorBuilder& b = context.builder;
  RowView input(context, op.getInput());
  const int64_t size = input.length(), run = op.getRun();
  return forTileRows(context, *kernel, tile, [&](Value row) {
    RowView x = input.from(b, row);
    llvm::SmallVector<Value> vectors;
    auto count = [&](size_t i) { return std::min(lanes, size - lanes * static_cast<int64_t>(i)); };
    for (int64_t first = 0; first < size; first += lanes)
      vectors.push_back(x.load(b, b.i64(first), count(vectors.size()), lanes));
    for (int64_t offset = 1; offset < run; offset *= 2)
      for (size_t i = 0, apart = offset / lanes; i < vectors.size(); ++i) {
        if (apart == 0) {
          vectors[i] = combineLanes(b, vectors[i], offset);
        } else if ((i & apart) == 0) {
          Value low = vectors[i], high = vectors[i + apart];
          vectors[i] = b.fadd(low, high);
          vectors[i + apart] = b.fsub(low, high);
        }
      }
    Value factor = b.splat(static_cast<float>(1 / std::sqrt(static_cast<double>(run))), lanes);
    for (auto [i, vector] : llvm::enumerate(vectors))
      storeRow(context, op.getResult(), row, b.i64(lanes * static_cast<int64_t>(i)),
               b.fmul(vector, factor), count(i));
  });
}

extern constexpr Emitter hadamard = {"hadamard", emitHadamard};

} // namespace tenon::codegen::cpu::emitters
