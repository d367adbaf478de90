#ifndef TENON_IR_ATTENTIONROWS_H
#define TENON_IR_ATTENTIONROWS_H

#include "ir/Dialect.h"

namespace tenon {

/// Whose rows attention has: `sequences` of `rows` rows each, one after the other.
struct AttentionRows {
  explicit AttentionRows(AttentionOp op)
      : sequences(op.getSequences().getType().getNumElements()),
        rows(op.getType().getDimSize(0) / sequences) {}

  int64_t sequences, rows;
};

/// Where the bias of attention, [Hq or 1, M or 1, C] or [B or 1, Hq or 1, M / B or 1, C], has the
/// line of keys of row t of sequence b and of head h: at b · `ofSequence` + t · `ofRow` + h ·
/// `ofHead`.
struct BiasLines {
  explicit BiasLines(AttentionOp op) {
    llvm::ArrayRef<int64_t> shape = op.getBias().getType().getShape();
    llvm::ArrayRef<int64_t> ofOne = shape.take_back(3); // heads, rows, keys
    keys = ofOne[2];
    ofRow = ofOne[1] == 1 ? 0 : 1;
    ofHead = ofOne[0] == 1 ? 0 : ofOne[1];
    if (shape.size() == 3)
      ofSequence = ofRow * AttentionRows(op).rows;
    else
      ofSequence = shape[0] == 1 ? 0 : ofOne[0] * ofOne[1];
  }

  int64_t ofSequence, ofRow, ofHead, keys;
};

} // namespace tenon

#endif // TENON_IR_ATTENTIONROWS_H
