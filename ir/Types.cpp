#include "ir/Types.h"

#include "ir/Dialect.h"
#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/CacheEncoding.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon {

/// Element types of states other than block types.
static bool isPlainElementType(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() || type.isSignlessInteger(32);
}

const Encoding* getEncoding(Type elementType) {
  if (auto block = llvm::dyn_cast<BlockType>(elementType))
    return &block.getEncoding();
  if (elementType.isF32())
    return findEncoding("f32");
  if (elementType.isF16())
    return findEncoding("f16");
  if (elementType.isBF16())
    return findEncoding("bf16");
  if (elementType.isSignlessInteger(1))
    return findEncoding("bool");
  if (elementType.isSignlessInteger(32))
    return findEncoding("i32");
  if (elementType.isSignlessInteger(64))
    return findEncoding("i64");
  return nullptr;
}

Type getElementType(MLIRContext* context, const Encoding& encoding) {
  if (encoding.isBlockQuantized())
    return BlockType::get(context, encoding.name);
  for (Type plain : {Type(Float32Type::get(context)), Type(Float16Type::get(context)),
                     Type(BFloat16Type::get(context)), Type(IntegerType::get(context, 1)),
                     Type(IntegerType::get(context, 32)), Type(IntegerType::get(context, 64))})
    if (getEncoding(plain) == &encoding)
      return plain;
  return {};
}

RankedTensorType getTensorType(Type type) {
  if (auto state = llvm::dyn_cast<StateType>(type))
    return state.getTensorType();
  return llvm::cast<RankedTensorType>(type);
}

std::optional<int64_t> getStorageBytes(Type type) {
  if (auto state = llvm::dyn_cast<StateType>(type))
    type = state.getTensorType();
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return std::nullopt;
  const Encoding* encoding = getEncoding(tensor.getElementType());
  if (!encoding)
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t extent : tensor.getShape())
    if (llvm::MulOverflow(elements, extent, elements))
      return std::nullopt;
  int64_t rowLength = tensor.getRank() == 0 ? 1 : tensor.getShape().back();
  if (rowLength % encoding->blockSize != 0)
    return std::nullopt;
  int64_t bytes;
  if (llvm::MulOverflow(elements / encoding->blockSize, encoding->blockBytes, bytes))
    return std::nullopt;
  return bytes;
}

//===-- BlockType ---------------------------------------------------------------------------===//

LogicalResult BlockType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                llvm::StringRef encodingName) {
  const Encoding* encoding = findEncoding(encodingName);
  if (encoding && encoding->isBlockQuantized())
    return success();
  InFlightDiagnostic error = emitError() << "expects the name of a block-quantised encoding, but "
                                         << "got '" << encodingName << "'; known are";
  for (const Encoding* known : allEncodings()) {
    const BlockFormat* format = findBlockFormat(known->name);
    if (known->isBlockQuantized() && (!format || format->ggufFileType))
      error << " " << llvm::StringRef(known->name);
  }
  return error << " and families such as int4_g128_f16_zero and e4m3_g128_f32";
}

const Encoding& BlockType::getEncoding() const { return *findEncoding(getEncodingName()); }

bool BlockType::isOfCache() const { return cacheQuantsOf(getEncoding()).has_value(); }

static ParseResult parseEncodingName(AsmParser& parser, std::string& name) {
  return parser.parseKeywordOrString(&name);
}

static void printEncodingName(AsmPrinter& printer, llvm::StringRef name) { printer << name; }

//===-- StateType ---------------------------------------------------------------------------===//

/// Of a paged state [N, H, P, D].
static constexpr size_t pageAxis = 2;

static bool isPageSize(int64_t positions) {
  return llvm::is_contained({16, 32, 64, 128}, positions);
}

LogicalResult StateType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                llvm::ArrayRef<int64_t> shape, Type elementType,
                                StateLayoutAttr layout) {
  auto block = llvm::dyn_cast<BlockType>(elementType);
  if (!isPlainElementType(elementType) && !(block && block.isOfCache()))
    return emitError() << "expects states of f32, f16, bf16, i32 or blocks such as int8_h64, "
                          "e4m3_h64 and int4_h64, but got "
                       << elementType;
  for (int64_t extent : shape)
    if (extent <= 0)
      return emitError() << "expects positive extents, but got " << extent;
  if (block && (shape.empty() || shape.back() != block.getEncoding().blockSize))
    return emitError() << "expects a last axis of one block, " << block.getEncoding().blockSize
                       << " elements, but got " << (shape.empty() ? 0 : shape.back());
  if (layout.getKind() == StateLayout::Ring &&
      (shape.size() < 2 || layout.getKept() < 0 || layout.getKept() >= shape[1]))
    return emitError() << "expects a ring that keeps fewer first positions than it holds, but got "
                       << layout.getKept() << " of " << (shape.size() < 2 ? 0 : shape[1]);
  if (layout.getKind() == StateLayout::Paged &&
      (shape.size() != 4 || !isPageSize(shape[pageAxis]) || shape[0] > INT32_MAX))
    return emitError() << "expects a paged state [N, H, P, D] of at most 2^31 - 1 pages of 16, 32, "
                          "64 or 128 positions, but got "
                       << (shape.size() == 4 ? shape[pageAxis] : 0) << " positions";
  if (!getStorageBytes(RankedTensorType::get(shape, elementType)))
    return emitError() << "expects a state size within 63 bits, but the extents multiply to more";
  return success();
}

RankedTensorType StateType::getTensorType() const {
  return RankedTensorType::get(getShape(), getElementType());
}

/// The `<P>` after `paged`, which the shape has, too.
static ParseResult parsePageSize(AsmParser& parser, llvm::ArrayRef<int64_t> shape) {
  int64_t page = 0;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(page) || parser.parseGreater())
    return failure();
  if (shape.size() == 4 && shape[pageAxis] != page)
    return parser.emitError(loc) << "expects pages of the " << shape[pageAxis]
                                 << " positions that the shape has, but got " << page;
  return success();
}

Type StateType::parse(AsmParser& parser) {
  llvm::SmallVector<int64_t> shape;
  Type elementType;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return {};
  auto kind = StateLayout::Dense;
  int64_t kept = 0;
  if (succeeded(parser.parseOptionalComma())) {
    FailureOr<StateLayout> written = FieldParser<StateLayout>::parse(parser);
    if (failed(written))
      return {};
    kind = *written;
    if (kind == StateLayout::Ring &&
        (parser.parseLess() || parser.parseInteger(kept) || parser.parseGreater()))
      return {};
    if (kind == StateLayout::Paged && failed(parsePageSize(parser, shape)))
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto layout = StateLayoutAttr::get(parser.getContext(), kind, kept);
  return parser.getChecked<StateType>(loc, parser.getContext(), shape, elementType, layout);
}

void StateType::print(AsmPrinter& printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << (getShape().empty() ? "" : "x") << getElementType();
  if (getLayout().getKind() == StateLayout::Ring)
    printer << ", ring<" << getLayout().getKept() << ">";
  if (getLayout().getKind() == StateLayout::Paged)
    printer << ", paged<" << getShape()[pageAxis] << ">";
  printer << ">";
}

} // namespace tenon

#define GET_TYPEDEF_CLASSES
#include "ir/TenonTypes.cpp.inc"

void tenon::TenonDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/TenonTypes.cpp.inc"
      >();
}
