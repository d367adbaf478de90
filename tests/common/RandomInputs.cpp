// Arguments of random graphs.
#include <cmath>
#include <limits>
#include <random>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/common/GraphMaker.h"

using namespace mlir;

namespace tenon::tests {

/// Extent `axis` of the caches, 0 for sequences and 1 for positions; 0 where there are no caches.
static int64_t findExtent(ModuleOp graph, unsigned axis) {
  auto states = graph.getOps<StateOp>();
  return states.empty() ? 0 : llvm::cast<StateType>((*states.begin()).getType()).getShape()[axis];
}

/// At or beyond an end of [0, count).
static double wildIndex(int64_t count, std::mt19937_64& random) {
  const int64_t ends[] = {-1,        0,         count - 1,        count, count + 1, -count,
                          INT32_MAX, INT32_MIN, INT32_MAX - count};
  return static_cast<double>(ends[random() % std::size(ends)]);
}

/// Every second number of an integer argument, of the range that its name says.
static void makeWild(ReferenceTensor& values, llvm::StringRef name, int64_t sequences,
                     int64_t capacity, std::mt19937_64& random) {
  int64_t count = name.starts_with("positions") || name.starts_with("chunk_positions") ? capacity
                  : name.starts_with("stream_positions") ? streamPositions
                  : name.starts_with("ids")              ? ids
                                                         : sequences;
  for (double& value : values.getValues())
    if (random() % 2 == 0)
      value = wildIndex(count, random);
}

static void makeSpecial(ReferenceTensor& values, std::mt19937_64& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double special[] = {std::numeric_limits<double>::quiet_NaN(),
                                infinity,
                                -infinity,
                                0.0,
                                -0.0,
                                0x1p-140,
                                -0x1p-24,
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::lowest(),
                                65504,
                                1e-30};
  constexpr uint64_t oneIn = 16;
  for (double& value : values.getValues())
    if (random() % oneIn == 0)
      value = special[random() % std::size(special)];
}

/// Rows of a chunk of one sequence at positions that follow each other; the last chunk may have fewer.
constexpr int64_t rowsOfChunk = 13;

/// Chunks of a sequence each, all at the same positions.
static void fillChunks(ReferenceTensor& values, bool arePositions, int64_t capacity,
                       std::mt19937_64& random) {
  const int64_t first =
      arePositions ? static_cast<int64_t>(random() % (capacity - rowsOfChunk + 1)) : 0;
  for (auto [row, value] : llvm::enumerate(values.getValues())) {
    const auto number = static_cast<int64_t>(row);
    value = static_cast<double>(arePositions ? first + number % rowsOfChunk : number / rowsOfChunk);
  }
}

/// An integer argument: bools; ids anywhere, a sequence of its own a row, positions in the first half of
/// the caches or of those of a stream, or consecutive ones where rows share a sequence.
static void fillIndices(ReferenceTensor& values, llvm::StringRef name, int64_t capacity,
                        std::mt19937_64& random) {
  auto upTo = [&](int64_t count) { return static_cast<int64_t>(random() % count); };
  if (values.getType().getElementType().isInteger(1)) {
    for (double& value : values.getValues())
      value = static_cast<double>(upTo(2));
    return;
  }
  if (name.starts_with("guess_")) {
    constexpr int64_t fewIds = 3;
    for (auto [row, value] : llvm::enumerate(values.getValues()))
      value = static_cast<double>(name.starts_with("guess_ids") ? upTo(fewIds)
                                                                : static_cast<int64_t>(row));
    return;
  }
  if (name.starts_with("chunk_"))
    return fillChunks(values, name.starts_with("chunk_positions"), capacity, random);
  int64_t count = values.getNumElements();
  const bool areOfStream = name.starts_with("stream_positions");
  bool isChunk = count > mostDecodeRows,
       arePositions = areOfStream || name.starts_with("positions");
  if (areOfStream)
    capacity = streamPositions;
  int64_t first = isChunk && arePositions ? upTo(capacity - count + 1) : 0;
  for (auto [element, value] : llvm::enumerate(values.getValues())) {
    auto number = static_cast<int64_t>(element);
    if (!name.starts_with("sequences") && !(arePositions && isChunk))
      number = upTo(arePositions ? capacity / 2 : ids);
    value = static_cast<double>(first + number);
  }
}

std::vector<ReferenceTensor> makeRandomInputs(ModuleOp graph, uint64_t seed, InputValues kind) {
  std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15);
  std::vector<ReferenceTensor> inputs;
  int64_t sequences = findExtent(graph, 0), capacity = findExtent(graph, 1);
  auto function = *graph.getOps<func::FuncOp>().begin();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = llvm::cast<RankedTensorType>(type);
    auto name = function.getArgAttrOfType<StringAttr>(index, TenonDialect::portAttrName);
    bool isInteger = tensor.getElementType().isInteger();
    bool isMatrix = tensor.getRank() == 2 || llvm::any_of(function.getArgument(index).getUsers(),
                                                          llvm::IsaPred<ExpertMatmulOp>);
    double scale = isMatrix ? 2 / std::sqrt(static_cast<double>(tensor.getShape().back())) : 1;
    ReferenceTensor values(tensor);
    if (isInteger)
      fillIndices(values, name.getValue(), capacity, random);
    else
      for (double& value : values.getValues())
        value = scale * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    if (isInteger && kind == InputValues::WildIndices && !tensor.getElementType().isInteger(1))
      makeWild(values, name.getValue(), sequences, capacity, random);
    if (!isInteger && kind == InputValues::SpecialFloats)
      makeSpecial(values, random);
    if (isInteger || !llvm::isa<BlockType>(tensor.getElementType())) {
      values.roundToElementType();
      inputs.push_back(values);
      continue;
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(values.encode());
    inputs.emplace_back(tensor, *bytes, bytes);
  }
  return inputs;
}

} // namespace tenon::tests
