#ifndef TENON_TESTS_FRONTENDS_GGUF_READEVERYTHING_H
#define TENON_TESTS_FRONTENDS_GGUF_READEVERYTHING_H

#include "frontends/gguf/GgufFile.h"

namespace tenon::frontends {

/// Uses everything that an opened file offers. The result keeps a compiler from leaving it out.
inline size_t readEverything(const GgufFile& file) {
  size_t sum = 0;
  for (const GgufMetadata& entry : file.metadata()) {
    sum += entry.value.text().size() + entry.value.typeText().size();
    sum += file.requireStrings(entry.key).ok() + file.requireF32s(entry.key).ok();
    sum += file.requireI64s(entry.key).ok() + file.requireU64(entry.key).ok();
  }
  for (const GgufTensor& tensor : file.tensors()) {
    sum += file.requireTensor(tensor.name, tensor.shape()).ok();
    std::span<const std::byte> data = file.data(tensor);
    if (!data.empty())
      sum += static_cast<size_t>(data.front()) + static_cast<size_t>(data.back());
  }
  return sum;
}

} // namespace tenon::frontends

#endif // TENON_TESTS_FRONTENDS_GGUF_READEVERYTHING_H
