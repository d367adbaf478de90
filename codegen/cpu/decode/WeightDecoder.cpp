#include "codegen/cpu/decode/WeightDecoder.h"

#include "codegen/cpu/decode/Decoders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu {

static const WeightDecoder* const allDecoders[] = {
    &decoders::f32,  &decoders::f16,    &decoders::bf16, &decoders::q8_0,
    &decoders::q4_0, &decoders::q4_1,   &decoders::q5_0, &decoders::q5_1,
    &decoders::q2_k, &decoders::q3_k,   &decoders::q4_k, &decoders::q5_k,
    &decoders::q6_k, &decoders::iq4_nl, &decoders::q8_s, &decoders::q8_k};

const WeightDecoder* findWeightDecoder(Type elementType) {
  const Encoding* encoding = getEncoding(elementType);
  for (const WeightDecoder* decoder : allDecoders)
    if (encoding && std::string_view(decoder->encoding) == encoding->name)
      return decoder;
  return nullptr;
}

RowDecoder::RowDecoder(RankedTensorType type)
    : encoding(*getEncoding(type.getElementType())),
      decoder(*findWeightDecoder(type.getElementType())),
      bytesPerRow(encoding.bytesFor(type.getShape().back())) {}

Value RowDecoder::byteOffset(VectorBuilder& b, Value element) const {
  return b.mul(b.div(element, encoding.blockSize), encoding.blockBytes);
}

bool RowDecoder::supports(int64_t count) const {
  return blockSize() == 1 ||
         (llvm::isPowerOf2_64(count) && (blockSize() % count == 0 || count % blockSize() == 0));
}

Value RowDecoder::decode(VectorBuilder& b, Value pointer, int64_t first, int64_t count) const {
  if (blockSize() == 1)
    return decoder.decode(b, b.advance(pointer, bytes(first)), 0, count);
  if (count > blockSize())
    return b.concat(decode(b, pointer, first, count / 2),
                    decode(b, pointer, first + count / 2, count / 2));
  int64_t block = first / blockSize();
  return decoder.decode(b, b.advance(pointer, block * encoding.blockBytes), first % blockSize(),
                        count);
}

} // namespace tenon::codegen::cpu
