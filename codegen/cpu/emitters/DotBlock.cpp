#include "codegen/cpu/emitters/DotBlock.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu {

LogicalResult DotBlock::read(Operation* op, OrderAttr scheduled) {
  order = scheduled;
  int64_t granule = std::max(order.getLanes(), decoder.blockSize());
  if (!decoder.supports(order.getLanes()) || order.getChunk() % granule != 0)
    return op->emitOpError("expects an order whose lanes divide or hold whole blocks of ")
           << decoder.blockSize() << " elements, and whose chunk is a multiple of both, but got "
           << order;
  step = llvm::alignTo(schedule.step, granule);
  return checkUnrolled(op);
}

/// Bounds the code of a step, in which every vector of a row of W meets every row of x.
LogicalResult DotBlock::checkUnrolled(Operation* op) {
  constexpr int64_t most = kernels::cpu::mostAccumulators, mostGemms = 4096;
  int64_t columns = schedule.columnBlock, rows = schedule.rowBlock;
  if (columns * rows > most)
    return op->emitOpError("expects at most ")
           << most << " accumulators in a block, but got column_block = " << columns
           << " and row_block = " << rows;
  if (step / order.getLanes() * columns * rows > mostGemms)
    return op->emitOpError("expects at most ")
           << mostGemms << " products of vectors in a step, but got column_block = " << columns
           << ", row_block = " << rows << " and " << step << " elements in " << order.getLanes()
           << " lanes";
  return success();
}

void DotBlock::prepare() {
  if (const BlockUnits* units = decoder.units())
    preparedScales = b.scratch(schedule.columnBlock * units->preparedFloats * 4);
}

/// Adds `count` elements of K from `element` on to the accumulators, row-major [rows, columns].
void DotBlock::emitStep(Value element, int64_t count, llvm::SmallVectorImpl<Value>& accumulators) {
  int64_t lanes = order.getLanes();
  Value weightOffset = decoder.byteOffset(b, element);
  llvm::SmallVector<Value> weights;
  for (Value row : weightRows) {
    weights.push_back(b.advance(row, weightOffset));
    if (count == step)
      prefetchRow(weights.back(), decoder.bytes(step));
  }
  auto loadInput = [&](Value row, int64_t first, int64_t part) {
    return RowView(inputType, row).load(b, b.add(element, first), part, lanes);
  };
  auto addTerms = [&](Value x, Value w, int64_t part, Value& accumulator) {
    accumulator = b.keepTail(b.fma(x, w, accumulator), accumulator, part);
  };
  auto forParts = [&](auto body) {
    for (int64_t first = 0; first < count; first += lanes)
      body(first, std::min(lanes, count - first));
  };
  auto decode = [&](Value weight, int64_t first, int64_t part) {
    return b.pad(decoder.decode(b, weight, first, part), lanes);
  };
  // Whichever operand is used again stays in registers: the parts of the one row of x, or a part
  // of each weight row.
  if (inputRows.size() == 1) {
    llvm::SmallVector<Value> x;
    forParts(
        [&](int64_t first, int64_t part) { x.push_back(loadInput(inputRows[0], first, part)); });
    for (auto [weight, accumulator] : llvm::zip_equal(weights, accumulators))
      forParts([&](int64_t first, int64_t part) {
        addTerms(x[first / lanes], decode(weight, first, part), part, accumulator);
      });
    return;
  }
  forParts([&](int64_t first, int64_t part) {
    llvm::SmallVector<Value> x, w;
    for (Value row : inputRows)
      x.push_back(loadInput(row, first, part));
    for (Value weight : weights)
      w.push_back(decode(weight, first, part));
    for (auto [index, accumulator] : llvm::enumerate(accumulators))
      addTerms(x[index / w.size()], w[index % w.size()], part, accumulator);
  });
}

/// True where the blocks of the weight are decoded unit by unit.
bool DotBlock::usesUnits() const { return decoder.units() && order.getLanes() <= 16; }

/// Asks for the `bytes` that lie `prefetchBytes` after `weight`.
void DotBlock::prefetchRow(Value weight, int64_t bytes) {
  constexpr int64_t cacheLine = 64;
  for (int64_t line = 0; schedule.prefetchBytes > 0 && line < bytes; line += cacheLine)
    b.prefetch(b.advance(weight, schedule.prefetchBytes + line));
}

/// Adds the block of K from `element` on to the accumulators, unit by unit.
llvm::SmallVector<Value> DotBlock::emitUnits(Value element, ValueRange accumulators) {
  const BlockUnits& units = *decoder.units();
  int64_t lanes = order.getLanes(), preparedBytes = units.preparedFloats * 4;
  llvm::SmallVector<Value> blocks, prepared;
  for (Value row : weightRows) {
    blocks.push_back(b.advance(row, decoder.byteOffset(b, element)));
    prefetchRow(blocks.back(), decoder.bytes(decoder.blockSize()));
    prepared.push_back(b.advance(preparedScales, preparedBytes * prepared.size()));
    units.prepare(b, blocks.back(), prepared.back());
  }
  int64_t count = decoder.blockSize() / units.elements;
  return b.loop(b.i64(0), b.i64(count), 1, accumulators, [&](Value unit, ValueRange state) {
    Value first = b.add(element, b.mul(unit, units.elements));
    llvm::SmallVector<llvm::SmallVector<Value>> x(inputRows.size());
    llvm::SmallVector<Value> next(state);
    for (auto [row, parts] : llvm::zip_equal(inputRows, x))
      for (int64_t part = 0; part < units.elements; part += lanes)
        parts.push_back(RowView(inputType, row).load(b, b.add(first, part), lanes, lanes));
    for (size_t column = 0; column < blocks.size(); ++column)
      for (auto [part, w] :
           llvm::enumerate(units.decode(b, blocks[column], prepared[column], unit, lanes)))
        for (size_t row = 0; row < x.size(); ++row) {
          Value& accumulator = next[row * blocks.size() + column];
          accumulator = b.fma(x[row][part], w, accumulator);
        }
    return next;
  });
}

/// The block's dot products over elements [start, start + length) of K.
llvm::SmallVector<Value> DotBlock::emitChunk(Value start, int64_t length) {
  int64_t whole = length / step * step;
  Value zeros = b.splat(0.0f, order.getLanes());
  llvm::SmallVector<Value> sums(inputRows.size() * weightRows.size(), zeros);
  if (whole > 0)
    sums = b.loop(start, b.add(start, whole), step, sums, [&](Value element, ValueRange state) {
      llvm::SmallVector<Value> next(state);
      if (!usesUnits()) {
        emitStep(element, step, next);
        return next;
      }
      for (int64_t first = 0; first < step; first += decoder.blockSize())
        next = emitUnits(b.add(element, first), next);
      return next;
    });
  if (whole < length)
    emitStep(b.add(start, whole), length - whole, sums);
  for (Value& sum : sums)
    sum = b.combineLanes(sum, order.getTree());
  return sums;
}

llvm::SmallVector<Value> DotBlock::emit(llvm::ArrayRef<Value> inputs,
                                        llvm::ArrayRef<Value> weights) {
  inputRows = inputs, weightRows = weights;
  int64_t chunk = order.getChunk();
  if (chunk == 0 || chunk >= depth)
    return emitChunk(b.i64(0), depth);
  int64_t whole = depth / chunk * chunk;
  auto addChunk = [&](Value start, int64_t length, ValueRange totals) {
    llvm::SmallVector<Value> parts = emitChunk(start, length);
    for (auto [part, total] : llvm::zip_equal(parts, totals))
      part = b.fadd(total, part);
    return parts;
  };
  llvm::SmallVector<Value> sums(inputs.size() * weights.size(), b.splat(-0.0f, 0));
  sums = b.loop(b.i64(0), b.i64(whole), chunk, sums,
                [&](Value start, ValueRange totals) { return addChunk(start, chunk, totals); });
  if (whole < depth)
    sums = addChunk(b.i64(whole), depth - whole, sums);
  return sums;
}

} // namespace tenon::codegen::cpu
