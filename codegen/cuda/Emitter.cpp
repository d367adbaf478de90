#include "codegen/cuda/Emitter.h"

#include "absl/strings/str_format.h"

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/CacheEncoding.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

const Emitter* findEmitter(llvm::StringRef name) {
  for (const Emitter* emitter : allEmitters())
    if (emitter->name == name)
      return emitter;
  return nullptr;
}

Type elementTypeOf(Type type) { return getTensorType(type).getElementType(); }

llvm::ArrayRef<int64_t> shapeOf(Type type) { return getTensorType(type).getShape(); }

std::string deviceCache(const KvCache& cache) {
  std::string extents = absl::StrFormat("%d, %d, %d", cache.sequences, cache.capacity, cache.heads);
  switch (cache.layout) {
  case StateLayout::Dense:
    return "DenseCache<" + extents + ">";
  case StateLayout::Ring:
    return absl::StrFormat("RingCache<%s, %d>", extents, cache.kept);
  case StateLayout::Paged:
    return absl::StrFormat("PagedCache<%s, %d, %d>", extents, cache.pages, cache.page);
  }
  llvm_unreachable("all layouts are handled");
}

int64_t headUnits(const KvCache& cache) {
  return cache.isQuantized() ? cache.headBytes() : cache.size;
}

int64_t elementBytes(Type elementType) { return getEncoding(elementType)->blockBytes; }

bool isBlockQuantized(Type elementType) { return getEncoding(elementType)->isBlockQuantized(); }

/// The type in `device/groups.cuh` of a format of a family (`ir/encoding/families`).
static std::string groupType(const BlockFormat& format, int64_t size) {
  if (format.kind == BlockFormat::QuantKind::E4M3)
    return absl::StrFormat("E4M3<%d>", size);
  const char* zero = format.zeroOffset ? "Stored" : format.hasMinimum() ? "Minimum" : "Middle";
  const char* scale = format.scale.type == BlockFormat::NumberType::F16 ? "F16" : "BF16";
  if (format.groupSize != 0)
    return absl::StrFormat("WideIntegers<%d, %s, GroupZero::%s>", size / format.groupSize, scale,
                           zero);
  return absl::StrFormat("Integers<%d, %d, %s, GroupZero::%s>",
                         format.planes[0].bits + format.planes[1].bits, size, scale, zero);
}

std::string deviceType(Type elementType) {
  if (elementType.isF32())
    return "float";
  if (elementType.isInteger())
    return elementType.isInteger(1) ? "Bool" : elementType.isInteger(64) ? "Int64" : "int";
  const Encoding& encoding = *getEncoding(elementType);
  if (std::optional<CacheQuants> quants = cacheQuantsOf(encoding))
    return absl::StrFormat("%s<%d>",
                           *quants == CacheQuants::Int8   ? "Int8Head"
                           : *quants == CacheQuants::E4M3 ? "E4M3Head"
                                                          : "Int4Head",
                           encoding.blockSize);
  const BlockFormat* format = findBlockFormat(encoding.name);
  if (format && !format->ggufFileType && format->kind != BlockFormat::QuantKind::E2M1)
    return groupType(*format, encoding.blockSize);
  return llvm::StringRef(encoding.name).upper();
}

/// The type of a parameter that points to `type`.
static std::string pointerType(Type type, bool written) {
  std::string element =
      isBlockQuantized(elementTypeOf(type)) ? "unsigned char" : deviceType(elementTypeOf(type));
  return (written ? "" : "const ") + element + "*";
}

KernelContext::KernelContext(KernelOp kernelOp, Architecture target,
                             std::vector<MemorySpace> argumentSpaces)
    : kernel(kernelOp), architecture(std::move(target)), spaces(std::move(argumentSpaces)),
      written(kernelOp->getNumResults()) {
  structure.symbol = schedule().getEmitter().str();
  structure.pdl = architecture.isHopperOrLater();
  for (BlockArgument argument : kernel.getBlock().getArguments()) {
    auto writes = [&](Operation* user) {
      auto write = llvm::dyn_cast<KvWriteOp>(user);
      return write && write.getState() == argument;
    };
    bool written = llvm::any_of(argument.getUsers(), writes);
    structure.parameters.push_back({pointerType(argument.getType(), written), pointer(argument)});
  }
  for (OpResult result : kernel->getResults())
    if (!llvm::isa<StateType>(result.getType()))
      structure.parameters.push_back({pointerType(result.getType(), /*written=*/true),
                                      "r" + std::to_string(result.getResultNumber())});
}

std::string KernelContext::pointer(Value argument) const {
  return "a" + std::to_string(llvm::cast<BlockArgument>(argument).getArgNumber());
}

llvm::SmallVector<std::string> KernelContext::destinations(Value value) {
  llvm::SmallVector<std::string> found;
  for (auto [index, yielded] : llvm::enumerate(kernel.getYield().getValues()))
    if (yielded == value) {
      written.set(index);
      found.push_back("r" + std::to_string(index));
    }
  return found;
}

LogicalResult KernelContext::expectWritten() {
  for (OpResult result : kernel->getResults())
    if (!llvm::isa<StateType>(result.getType()) && !written.test(result.getResultNumber()))
      return kernel.emitOpError("expects an emitter that writes every result, but ")
             << schedule().getEmitter() << " leaves out result #" << result.getResultNumber();
  return success();
}

Access KernelContext::access(Value argument) const {
  return {spaces[llvm::cast<BlockArgument>(argument).getArgNumber()], pointer(argument)};
}

std::vector<Access> KernelContext::arguments(bool constant) {
  std::vector<Access> found;
  for (BlockArgument argument : kernel.getBlock().getArguments())
    if ((spaces[argument.getArgNumber()] == MemorySpace::Constant) == constant)
      found.push_back(access(argument));
  return found;
}

std::vector<Access> KernelContext::results() {
  std::vector<Access> found;
  for (OpResult result : kernel->getResults())
    if (!llvm::isa<StateType>(result.getType()))
      found.push_back({MemorySpace::Global, "r" + std::to_string(result.getResultNumber())});
  return found;
}

LogicalResult KernelContext::expectTiles(int64_t tiles) {
  if (schedule().getTiles() == tiles)
    return success();
  return kernel.emitOpError("expects ")
         << tiles << " tiles for the parameters of its schedule, but got " << schedule().getTiles();
}

LogicalResult KernelContext::useResources(const BlockResources& needs) {
  resources = resourcesInPlace(kernel, needs, architecture.registersPerSm);
  // What a source declares is part of an executable, which holds 48 KiB for a block of any device
  // (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
  constexpr int64_t mostStaticBytes = 48 << 10;
  int64_t most = architecture.smemBytesPerBlock;
  int64_t all = detail::saturatingSum({resources.staticSmemBytes, resources.dynamicSmemBytes});
  if (resources.staticSmemBytes > mostStaticBytes || (most > 0 && all > most))
    return kernel.emitOpError("expects a block of at most ")
           << mostStaticBytes << " bytes of declared shared memory"
           << (most > 0 ? " and " + std::to_string(most) + " in all" : "") << ", but " << schedule()
           << " takes " << resources.staticSmemBytes << " and " << all;
  structure.threads = resources.threads;
  structure.blocksPerSm = resources.blocksPerSm;
  return success();
}

} // namespace tenon::codegen::cuda
