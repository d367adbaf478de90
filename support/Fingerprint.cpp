#include "support/Fingerprint.h"

#include <vector>

#include "support/Hash.h"

namespace tenon {

uint64_t fingerprintFile(std::span<const std::byte> bytes) {
  constexpr size_t wholeBytes = 4 << 20, endBytes = 1 << 20, sampleBytes = 4096, samples = 256;
  std::vector<uint64_t> hashes{bytes.size()};
  if (bytes.size() <= wholeBytes) {
    hashes.push_back(hashBytes(bytes));
    return hashBytes(std::as_bytes(std::span(hashes)));
  }
  hashes.push_back(hashBytes(bytes.first(endBytes)));
  hashes.push_back(hashBytes(bytes.last(endBytes)));
  size_t stride = (bytes.size() - 2 * endBytes) / samples; // at least 8 KiB
  for (size_t i = 0; i < samples; ++i)
    hashes.push_back(hashBytes(bytes.subspan(endBytes + i * stride, sampleBytes)));
  return hashBytes(std::as_bytes(std::span(hashes)));
}

} // namespace tenon
