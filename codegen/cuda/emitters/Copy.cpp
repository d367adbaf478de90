#include "codegen/cuda/Emitter.h"
#include "kernels/cuda/Moves.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Operations that move elements: a thread takes `vector` consecutive elements of the result and
/// computes where they come from. Parameters: `threads`; `vector`, which divides the innermost axis
/// of the result and of what it is cut from.
class CopyEmission {
public:
  explicit CopyEmission(KernelContext& context) : context(context) {}

  LogicalResult emit();

private:
  /// A result axis as steps in a source: coordinate · stride.
  struct Mapping {
    int64_t offset = 0;
    llvm::SmallVector<int64_t> strides; ///< of the source, by result axis
  };
  static llvm::SmallVector<int64_t> rowMajor(llvm::ArrayRef<int64_t> shape);
  static Mapping map(ReshapeOp op);
  static Mapping map(TransposeOp op);
  static Mapping map(SliceOp op);
  LogicalResult checkVector(Operation* op, llvm::ArrayRef<int64_t> offsetsAndStrides,
                            int64_t innermost);
  LogicalResult emitMapped(Operation* op, const Mapping& mapping);
  LogicalResult emitConcat(ConcatOp op);
  void begin(CodeWriter& code);
  void printMove(CodeWriter& code, Value source, const std::string& offset);

  KernelContext& context;
  RankedTensorType type;
  int64_t vector = 0;
};

} // namespace

llvm::SmallVector<int64_t> CopyEmission::rowMajor(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

CopyEmission::Mapping CopyEmission::map(ReshapeOp op) {
  return {0, rowMajor(op.getType().getShape())};
}

CopyEmission::Mapping CopyEmission::map(TransposeOp op) {
  llvm::SmallVector<int64_t> source = rowMajor(op.getInput().getType().getShape());
  Mapping mapping;
  for (int64_t axis : op.getPermutation())
    mapping.strides.push_back(source[axis]);
  return mapping;
}

CopyEmission::Mapping CopyEmission::map(SliceOp op) {
  Mapping mapping;
  llvm::SmallVector<int64_t> source = rowMajor(op.getInput().getType().getShape());
  for (auto [axis, stride] : llvm::enumerate(source)) {
    mapping.offset += op.getOffsets()[axis] * stride;
    mapping.strides.push_back(op.getStrides()[axis] * stride);
  }
  return mapping;
}

LogicalResult CopyEmission::checkVector(Operation* op, llvm::ArrayRef<int64_t> steps,
                                        int64_t innermost) {
  auto divides = [&](int64_t step) { return step % vector == 0; };
  if (vector == 1 ||
      (llvm::isPowerOf2_64(vector) && divides(innermost) &&
       vector * elementBytes(type.getElementType()) <= 16 && llvm::all_of(steps, divides)))
    return success();
  return op->emitOpError(
             "expects a vector of at most 16 bytes that divides every step of the copy, "
             "but got ")
         << vector;
}

void CopyEmission::begin(CodeWriter& code) {
  code.format("using Bits = Word<%d>::type;", vector * elementBytes(type.getElementType()));
  code.format("const long long index = (tile * %d + threadIdx.x) * %d;", context.structure.threads,
              vector);
  code.openFormat("if (index < %d)", type.getNumElements());
}

void CopyEmission::printMove(CodeWriter& code, Value source, const std::string& offset) {
  code.format("const Bits bits = *reinterpret_cast<const Bits*>(%s + %s);", context.pointer(source),
              offset);
  for (const std::string& pointer : context.destinations(context.kernel.getYield().getValues()[0]))
    code.format("*reinterpret_cast<Bits*>(%s + index) = bits;", pointer);
}

LogicalResult CopyEmission::emitMapped(Operation* op, const Mapping& mapping) {
  llvm::SmallVector<int64_t> steps(mapping.strides);
  bool contiguous = steps.empty() || steps.back() == 1 || type.getShape().back() == 1;
  if (!steps.empty())
    steps.pop_back();
  steps.push_back(mapping.offset);
  int64_t innermost = contiguous && type.getRank() > 0 ? type.getShape().back() : 1;
  if (failed(checkVector(op, steps, innermost)))
    return failure();
  CodeWriter& code = context.structure.begin(PhaseKind::Store, {context.access(op->getOperand(0))},
                                             context.results());
  begin(code);
  code.line("long long rest = index;");
  code.format("long long from = %d;", mapping.offset);
  for (size_t axis = mapping.strides.size(); axis-- > 0;) {
    code.format("from += rest %% %d * %d;", type.getShape()[axis], mapping.strides[axis]);
    code.format("rest /= %d;", type.getShape()[axis]);
  }
  printMove(code, op->getOperand(0), "from");
  code.close();
  return success();
}

LogicalResult CopyEmission::emitConcat(ConcatOp op) {
  llvm::ArrayRef<int64_t> shape = type.getShape();
  int64_t inner = ShapedType::getNumElements(shape.drop_front(op.getAxis() + 1));
  llvm::SmallVector<int64_t> pieces;
  for (Value input : op.getInputs())
    pieces.push_back(shapeOf(input.getType())[op.getAxis()] * inner);
  if (failed(checkVector(op, pieces, pieces.front())))
    return failure();
  CodeWriter& code =
      context.structure.begin(PhaseKind::Store, context.arguments(false), context.results());
  for (const Access& access : context.arguments(true))
    context.structure.phases.back().reads.push_back(access);
  begin(code);
  int64_t row = shape[op.getAxis()] * inner, start = 0;
  code.format("const long long outer = index / %d;", row);
  code.format("const long long within = index %% %d;", row);
  for (auto [input, piece] : llvm::zip_equal(op.getInputs(), pieces)) {
    code.openFormat("if (within >= %d && within < %d)", start, start + piece);
    printMove(code, input, absl::StrFormat("outer * %d + within - %d", piece, start));
    code.close();
    start += piece;
  }
  code.close();
  return success();
}

LogicalResult CopyEmission::emit() {
  FailureOr<CopyKernel> kernel = context.read<CopyKernel>();
  if (failed(kernel))
    return failure();
  vector = kernel->schedule.vector;
  type = llvm::dyn_cast<RankedTensorType>(kernel->op->getResult(0).getType());
  context.structure.headers = {"memory.cuh"};
  int64_t threads = context.structure.threads;
  if (failed(context.expectTiles(llvm::divideCeil(type.getNumElements(), threads * vector))))
    return failure();
  return llvm::TypeSwitch<Operation*, LogicalResult>(kernel->op)
      .Case<ReshapeOp, TransposeOp, SliceOp>(
          [&](auto mapped) { return emitMapped(mapped, map(mapped)); })
      .Case([&](ConcatOp concat) { return emitConcat(concat); });
}

static LogicalResult emitCopy(KernelContext& context) { return CopyEmission(context).emit(); }

extern constexpr Emitter copy = {CopyKernel::name, emitCopy};

} // namespace tenon::codegen::cuda::emitters
