#ifndef TENON_FRONTENDS_HF_INTERNAL_COLUMNORDERS_H
#define TENON_FRONTENDS_HF_INTERNAL_COLUMNORDERS_H

#include <map>
#include <span>
#include <string_view>

#include "frontends/hf/ChangedTensors.h"
#include "frontends/hf/HfFamily.h"
#include "frontends/models/ModelSource.h"

namespace tenon::frontends {

/// Moves orders of columns (`SourceTensor::permutation`) to the rows of the layers before, where that
/// gives the same products.
///
/// The input of ffn_down is made element by element of the rows of ffn_gate and ffn_up. With the
/// columns of ffn_down in the order p, it takes elements p of its input:
///
///     (act(gate) · up)[p] = act(gate[p]) · up[p]
///
/// So the rows of gate and up, weights and biases, are stored in the order p, and no step reorders
/// what they give; each sum has the same terms in the same order. Where gate and up are one tensor,
/// the rows of each half have that order.
///
/// Empties the permutation of every such ffn_down among `tensors`, which have names, shapes and
/// encodings, and returns by name the rows of each tensor before it; the orders live as long as the
/// permutations. A block stays as it is where the number of rows is not that of ffn_down's columns,
/// a tensor has no known type or is changed by the family, or the block has a tensor `ffn_*` that
/// may lie between: any but weights and biases of ffn_norm, ffn_gate, ffn_up and ffn_down.
std::map<std::string_view, RowChoice> moveColumnOrders(std::span<SourceTensor> tensors,
                                                       const HfFamily& family);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_INTERNAL_COLUMNORDERS_H
