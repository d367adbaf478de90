#ifndef TENON_TESTS_COMMON_COLLIDINGNAMES_H
#define TENON_TESTS_COMMON_COLLIDINGNAMES_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace tenon::tests {

/// Names of 16 bytes for which libstdc++'s `std::hash`, MurmurHash64A with a fixed seed, has one
/// value. It takes 8 bytes at a time: state' = (state ^ mix(bytes)) * factor, in which `mix` can be
/// inverted, so that for any first 8 bytes there are second ones that lead to the same state.
inline std::vector<std::string> namesOfOneHash(size_t count) {
  constexpr uint64_t factor = 0xc6a4a7935bd1e995, seed = 0xc70f6907;
  uint64_t inverse = factor; // by Newton's method, modulo 2^64
  for (int i = 0; i < 6; ++i)
    inverse *= 2 - factor * inverse;
  auto shift = [](uint64_t value) { return value ^ value >> 47; }; // its own inverse
  std::vector<std::string> names;
  for (uint64_t first = 1; first <= count; ++first) {
    uint64_t state = ((seed ^ 16 * factor) ^ shift(first * factor) * factor) * factor;
    uint64_t second = shift(state * inverse) * inverse; // mix(second) is the state itself
    std::string& name = names.emplace_back(16, '\0');
    std::memcpy(name.data(), &first, 8);
    std::memcpy(name.data() + 8, &second, 8);
  }
  return names;
}

/// As many names of 16 bytes whose hashes differ.
inline std::vector<std::string> namesOfManyHashes(size_t count) {
  std::vector<std::string> names = namesOfOneHash(count);
  for (std::string& name : names)
    name[15] = static_cast<char>(name[0] ^ 'x');
  return names;
}

/// The least CPU seconds of three runs.
template <typename Function> double cpuSecondsOf(const Function& run) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    std::clock_t begin = std::clock();
    run();
    least = std::min(least, double(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

} // namespace tenon::tests

#endif // TENON_TESTS_COMMON_COLLIDINGNAMES_H
