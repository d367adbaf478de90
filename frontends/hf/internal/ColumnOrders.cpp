#include "frontends/hf/internal/ColumnOrders.h"

#include <string>
#include <vector>

namespace tenon::frontends {

namespace {

using TensorsByName = std::map<std::string_view, SourceTensor*>;

/// Whether `tensor`, a matrix or a bias, has `rows` rows, and the family keeps them.
bool hasRows(const SourceTensor& tensor, int64_t rows, const HfFamily& family) {
  const size_t axes = tensor.name.ends_with(".bias") ? 1 : 2;
  return tensor.encoding && tensor.shape.size() == axes && tensor.shape.front() == rows &&
         family.changeOf(tensor.name) == TensorChange::None;
}

/// The names of the weights and biases whose rows are the elements of `down`'s input; none where it
/// must keep its order.
std::vector<std::string_view> findRowsBefore(const SourceTensor& down, const TensorsByName& tensors,
                                             const HfFamily& family) {
  std::string block(down.name.substr(0, down.name.rfind("ffn_down")));
  auto up = tensors.find(block + "ffn_up.weight");
  if (up == tensors.end() || up->second->shape.empty())
    return {};
  const int64_t rows = up->second->shape.front(), columns = std::ssize(down.permutation);
  // Of some families gate and up are one tensor.
  const bool mayBeBoth = !tensors.contains(block + "ffn_gate.weight");
  if (rows != columns && !(mayBeBoth && rows == 2 * columns))
    return {};
  std::vector<std::string_view> found;
  const std::string layers = block + "ffn_";
  for (auto at = tensors.lower_bound(layers); at != tensors.end() && at->first.starts_with(layers);
       ++at) {
    std::string_view name = at->first.substr(block.size());
    std::string_view layer = name.substr(0, name.find('.'));
    std::string_view suffix = name.substr(layer.size());
    if (suffix != ".weight" && suffix != ".bias")
      return {};
    if (layer == "ffn_norm" || layer == "ffn_down")
      continue;
    bool isBefore = layer == "ffn_gate" || layer == "ffn_up";
    if (!isBefore || !hasRows(*at->second, rows, family))
      return {};
    found.push_back(at->first);
  }
  return found;
}

} // namespace

std::map<std::string_view, RowChoice> moveColumnOrders(std::span<SourceTensor> tensors,
                                                       const HfFamily& family) {
  TensorsByName byName;
  for (SourceTensor& tensor : tensors)
    byName.emplace(tensor.name, &tensor);
  std::map<std::string_view, RowChoice> rows;
  for (SourceTensor& down : tensors) {
    if (down.permutation.empty() || !down.name.ends_with(".ffn_down.weight"))
      continue;
    std::vector<std::string_view> before = findRowsBefore(down, byName, family);
    for (std::string_view name : before)
      rows.emplace(name, RowChoice{RowChoice::Ordered, down.permutation});
    if (!before.empty())
      down.permutation = {};
  }
  return rows;
}

} // namespace tenon::frontends
