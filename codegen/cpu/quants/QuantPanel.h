#ifndef TENON_CODEGEN_CPU_QUANTS_QUANTPANEL_H
#define TENON_CODEGEN_CPU_QUANTS_QUANTPANEL_H

#include "codegen/cpu/quants/WeightQuants.h"

namespace tenon::codegen::cpu {

/// Weights of as many columns (rows of W) as a native vector has lanes, and of up to 256 elements
/// of K, arranged for products of integers. A number of 32 bits of each column is a vector; they
/// are, in blocks of 32 (n of them),
///
///     8 n × four quants, n × f32 scale, padding to a multiple of four
///
/// and in a block of 256
///
///     64 × four quants, then what `WeightQuants::unpackScales` writes, f16 numbers widened to f32
///
/// First the record of each column is unpacked, then records are transposed into the panel.
class QuantPanel {
public:
  /// Elements of K in a panel, at most.
  static constexpr int64_t depth = 256;

  QuantPanel(VectorBuilder& builder, const WeightQuants& quants, const Encoding& encoding)
      : b(builder), quants(quants), encoding(encoding) {}

  /// Bytes of the record of one column for `length` elements of K, whole blocks.
  int64_t recordBytes(int64_t length) const { return 4 * numbers(length); }
  /// Bytes of the largest panel.
  int64_t bytes() const { return recordBytes(depth) * b.nativeLanes(); }

  /// Unpacks `length` elements at `source`, one column, to `record`.
  void unpack(mlir::Value source, mlir::Value record, int64_t length);
  /// Makes the panel of the records of all columns, one after the other.
  void transpose(mlir::Value records, mlir::Value panel, int64_t length);

  /// Vector number `index` (i64) of the panel.
  mlir::Value load(mlir::Value panel, mlir::Value index, mlir::Type element);

  // Numbers of the vectors
  int64_t groups() const { return encoding.blockSize / quants.groupSize; }
  int64_t firstGroupScale() const { return depth / 4; }
  int64_t firstPair() const { return firstGroupScale() + groups(); }
  static constexpr int64_t pairs = 8;
  /// The first scale of a block in a panel of `length` elements.
  int64_t firstFactor(int64_t length) const;

private:
  int64_t numbers(int64_t length) const;
  void widenFactor(mlir::Value panel, int64_t index, bool isNegated);

  VectorBuilder& b;
  const WeightQuants& quants;
  const Encoding& encoding;
};

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_QUANTS_QUANTPANEL_H
