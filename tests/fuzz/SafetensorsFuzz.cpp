// Safetensors files: the header, and the ranges that it names.

#include "frontends/hf/SafetensorsFile.h"
#include "tests/fuzz/Fuzz.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::MemoryFile input({data, size});
  auto file = frontends::SafetensorsFile::open(input.path());
  if (!file.ok())
    return 0;
  std::span<const std::byte> bytes = file->mapping()->bytes();
  for (const frontends::SafetensorsTensor& tensor : file->tensors()) {
    fuzz::require(tensor.offset <= bytes.size() && tensor.byteSize <= bytes.size() - tensor.offset,
                  "a tensor lies outside of the file");
    if (!tensor.encoding)
      continue;
    uint64_t elements = 1;
    for (int64_t length : tensor.shape)
      elements *= static_cast<uint64_t>(length);
    fuzz::require(static_cast<uint64_t>(
                      tensor.encoding->bytesFor(static_cast<int64_t>(elements))) == tensor.byteSize,
                  "a tensor's shape contradicts its bytes");
  }
  return 0;
}
