#include "kernels/cuda/LibraryGemm.h"

#include "kernels/Schedules.h"
#include "kernels/regions/MatmulExtents.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

/// Follows the operations after a GEMM as far as they are a library's epilogue.
class EpilogueReader {
public:
  EpilogueReader(Block& block, LibraryGemmRegion& region)
      : block(block), region(region), value(region.op.getResult()) {}

  Verdict read();

private:
  Verdict take(Operation& op);
  Verdict takeSum(AddOp op);
  Verdict checkRounding(Operation& op) const;

  Block& block;
  LibraryGemmRegion& region;
  Value value;           ///< what has been computed so far
  unsigned argument = 2; ///< the next one of the region
};

} // namespace

static RankedTensorType typeOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

static Type elementOf(Value value) { return typeOf(value).getElementType(); }

static std::string nameOf(Operation& op) { return op.getName().stripDialect().str(); }

/// `value` and a residual or a bias.
Verdict EpilogueReader::takeSum(AddOp op) {
  Value other = op.getLhs() == value ? op.getRhs() : op.getLhs();
  if (argument == block.getNumArguments() || other != block.getArgument(argument++))
    return Refusal{"a library reads x, W, a residual and a bias from memory, in this order"};
  if (!elementOf(other).isF32())
    return Refusal{"the epilogue of a library is all f32, but the graph adds " +
                   detail::formatType(other.getType())};
  llvm::ArrayRef<int64_t> shape = typeOf(other).getShape(), positions = typeOf(value).getShape();
  if (shape == positions) {
    if (region.hasEpilogue())
      return Refusal{"a library adds one residual, before a bias and GELU"};
    region.hasResidual = true;
    return Verdict::accept();
  }
  bool isRow = !shape.empty() && shape.back() == positions.back() &&
               typeOf(other).getNumElements() == positions.back();
  if (!isRow || region.hasBias || region.hasGelu)
    return Refusal{"a library adds one bias, of all columns, before GELU"};
  region.hasBias = true;
  return Verdict::accept();
}

Verdict EpilogueReader::take(Operation& op) {
  if (auto sum = llvm::dyn_cast<AddOp>(op))
    return takeSum(sum);
  if (!llvm::isa<GeluTanhOp>(op) || region.hasGelu)
    return Refusal{"no library has an epilogue that computes " + nameOf(op) + " here"};
  region.hasGelu = true;
  return Verdict::accept();
}

/// Some of cuBLASLt's implementations round a result of 16 bits before they add a bias, others
/// after (docs/notebook/2026-11-27-epilogues-of-libraries.md).
Verdict EpilogueReader::checkRounding(Operation& op) const {
  for (Value rounded : {value, Value(op.getResult(0))})
    if (!elementOf(rounded).isF32())
      return Refusal{"the epilogue of a library is all f32, but the graph rounds " +
                     nameOf(*rounded.getDefiningOp()) + " to " +
                     detail::formatType(elementOf(rounded))};
  return Verdict::accept();
}

Verdict EpilogueReader::read() {
  for (Operation& op : llvm::drop_begin(block.without_terminator())) {
    if (!value.hasOneUse() || !llvm::is_contained(op.getOperands(), value))
      return Refusal{"a library stores one result, the end of a chain"};
    if (Verdict verdict = take(op); !verdict)
      return verdict;
    if (Verdict verdict = checkRounding(op); !verdict)
      return verdict;
    value = op.getResult(0);
  }
  auto yields = llvm::cast<YieldOp>(block.getTerminator()).getValues();
  if (!llvm::hasSingleElement(yields) || yields.front() != value)
    return Refusal{"a library stores one result, the end of a chain"};
  if (argument != block.getNumArguments())
    return Refusal{"a library reads x, W, a residual and a bias from memory, in this order"};
  return Verdict::accept();
}

static Verdict checkTypes(MatmulOp op) {
  Type input = elementOf(op.getInput()), output = elementOf(op.getResult());
  bool isPlain = input.isF32() || input.isF16() || input.isBF16();
  if (isPlain && input == elementOf(op.getWeight()) && (output == input || output.isF32()))
    return Verdict::accept();
  return Refusal{"expects factors of one type, f32, f16 or bf16, and a result of that type or f32 "
                 "for a library"};
}

VerdictOr<LibraryGemmRegion> readLibraryGemm(KernelOp kernel) {
  Block& block = kernel.getBlock();
  auto op = llvm::dyn_cast<MatmulOp>(block.front());
  if (!op || op.isQuantized() || op.getWeight().getType().getRank() != 2 ||
      block.getNumArguments() < 2 || op.getInput() != block.getArgument(0) ||
      op.getWeight() != block.getArgument(1))
    return Refusal{"expects a region of one tenon.matmul of x and a matrix for a library"};
  if (Verdict verdict = checkTypes(op); !verdict)
    return verdict.refusal();
  LibraryGemmRegion region = {op};
  if (Verdict verdict = EpilogueReader(block, region).read(); !verdict)
    return verdict.refusal();
  return region;
}

VerdictOr<LibraryGemmKernel> LibraryGemmKernel::read(KernelOp kernel) {
  VerdictOr<LibraryGemmRegion> region = readLibraryGemm(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<LibraryGemmSchedule> schedule =
      parseSchedule<LibraryGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return LibraryGemmKernel{*region, *schedule};
}

/// A residual is read when the product is done, and GELU takes as long as to read and write y: with
/// it products of 512 and 2,048 x 12288 x 3072 by TF32 take 10.5 and 51 µs more, with a bias none
/// (docs/notebook/2026-11-27-epilogues-of-libraries.md).
PriceTerms LibraryGemmKernel::priceTerms() const {
  MatmulExtents extents(region.op);
  int64_t resultBytes = extents.rows * extents.columns * 4;
  bool isF32 = elementOf(MatmulOp(region.op).getInput()).isF32();
  PriceTerms terms;
  terms.library = {extents.rows, extents.columns, extents.depth,
                   !isF32               ? PriceTerms::Library::Rate::Tensor16
                   : schedule.tf32 != 0 ? PriceTerms::Library::Rate::Tf32
                                        : PriceTerms::Library::Rate::F32,
                   (region.hasResidual ? resultBytes : 0) + (region.hasGelu ? 2 * resultBytes : 0)};
  return terms;
}

bool allowsLibrary(MatmulOp op, const CudaTarget& target) {
  int64_t rows = MatmulExtents(op).rows;
  switch (target.libraries.gemms) {
  case LibraryGemms::None:
    return false;
  case LibraryGemms::ManyRows:
    return rows >= std::max(target.libraryRows, mostFewRows + 1);
  case LibraryGemms::All:
    return rows >= target.libraryRows;
  }
  llvm_unreachable("all values are handled");
}

/// A workspace of 32 MiB, what NVIDIA recommends for Hopper (cuBLAS documentation,
/// cublasSetWorkspace).
LibraryGemmSchedule chooseLibraryGemm(MatmulOp op, const CudaTarget& target) {
  constexpr int64_t workspaceBytes = 32 << 20;
  bool rounds = target.libraries.tf32 && elementOf(op.getInput()).isF32();
  return {.workspaceBytes = workspaceBytes, .tf32 = rounds ? 1 : 0};
}

namespace kinds {
extern constexpr KernelKind libraryGemm = kindOf<LibraryGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
