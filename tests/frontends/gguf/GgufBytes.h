#ifndef TENON_TESTS_FRONTENDS_GGUF_GGUFBYTES_H
#define TENON_TESTS_FRONTENDS_GGUF_GGUFBYTES_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/gguf/GgufFile.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::frontends {

/// The bytes of a GGUF file put together by hand, right or wrong: what is appended is what the file
/// holds.
class GgufBytes {
public:
  /// Starts with a header.
  GgufBytes(uint64_t tensors, uint64_t metadata, uint32_t version = 3) : bytes("GGUF") {
    number(version).number(tensors).number(metadata);
  }

  template <typename T> GgufBytes& number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  GgufBytes& string(std::string_view text) {
    number<uint64_t>(text.size());
    bytes.append(text);
    return *this;
  }
  /// A metadata entry up to its value.
  GgufBytes& key(std::string_view name, GgufValueType type) {
    return string(name).number(static_cast<uint32_t>(type));
  }
  /// The same for an array, up to its elements.
  GgufBytes& arrayKey(std::string_view name, GgufValueType elementType, uint64_t count) {
    return key(name, GgufValueType::Array).array(elementType, count);
  }
  GgufBytes& array(GgufValueType elementType, uint64_t count) {
    return number(static_cast<uint32_t>(elementType)).number(count);
  }
  GgufBytes& tensor(std::string_view name, const std::vector<uint64_t>& ne, uint32_t type,
                    uint64_t offset) {
    string(name).number(static_cast<uint32_t>(ne.size()));
    for (uint64_t length : ne)
      number(length);
    return number(type).number(offset);
  }
  /// Zeros up to a multiple of `alignment`, then `size` bytes of data.
  GgufBytes& data(uint64_t size, uint64_t alignment = 32) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment + size);
    return *this;
  }

  absl::StatusOr<std::shared_ptr<const GgufFile>> open() const {
    return GgufFile::open(folder.write("test.gguf", bytes));
  }

  std::string bytes;

private:
  tests::TempFolder folder;
};

} // namespace tenon::frontends

#endif // TENON_TESTS_FRONTENDS_GGUF_GGUFBYTES_H
