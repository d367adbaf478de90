#ifndef TENON_TESTS_IR_CONTAINERS_WEIGHTWRITER_H
#define TENON_TESTS_IR_CONTAINERS_WEIGHTWRITER_H

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ir/containers/PackedWeight.h"
#include "ir/encoding/Float16.h"

namespace tenon::containers::test {

/// A quantised matrix, free of any layout: value [n, k] = scale[n, g] · (code[n, k] − zero[n, g])
/// with g = groupOf[k].
struct Matrix {
  int32_t bits = 4;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t groupSize = 0;
  std::vector<uint32_t> codes;  ///< [rows, columns]
  std::vector<uint32_t> zeros;  ///< [rows, groups]
  std::vector<uint16_t> scales; ///< [rows, groups], binary16
  std::vector<int32_t> groupOf; ///< [columns]

  int64_t groups() const { return (columns + groupSize - 1) / groupSize; }
  uint32_t code(int64_t n, int64_t k) const { return codes[n * columns + k]; }
  uint32_t zero(int64_t n, int64_t g) const { return zeros[n * groups() + g]; }
};

/// A matrix of random codes, its columns in the order of their groups. `makeZero` and `makeScale` are
/// asked in turn, for each group of each row.
inline Matrix makeRandomMatrix(int32_t bits, int64_t rows, int64_t columns, int64_t groupSize,
                               std::mt19937& random, const std::function<uint32_t()>& makeZero,
                               const std::function<float()>& makeScale) {
  Matrix m{.bits = bits,
           .rows = rows,
           .columns = columns,
           .groupSize = groupSize,
           .codes = {},
           .zeros = {},
           .scales = {},
           .groupOf = {}};
  const uint32_t last = (1u << bits) - 1;
  for (int64_t i = 0; i < rows * columns; ++i)
    m.codes.push_back(random() & last);
  for (int64_t i = 0; i < rows * m.groups(); ++i) {
    m.zeros.push_back(makeZero());
    m.scales.push_back(f32ToF16(makeScale()));
  }
  for (int64_t k = 0; k < columns; ++k)
    m.groupOf.push_back(static_cast<int32_t>(k / groupSize));
  return m;
}

/// A request with the bytes that it refers to.
struct Written {
  WeightRequest request;
  std::map<Part, std::vector<std::byte>> bytes;

  Written() = default;
  Written(const Written&) = delete;
  Written(Written&&) = default;
  Written& operator=(Written&&) = default;

  PartTensor& part(Part part) {
    for (PartTensor& tensor : request.parts)
      if (tensor.part == part)
        return tensor;
    std::abort();
  }
  /// Lets the part refer to its bytes, which have changed.
  void refresh() {
    for (PartTensor& tensor : request.parts)
      tensor.bytes = bytes[tensor.part];
  }
  /// Word `index` of 32 bits of a part.
  uint32_t word(Part part, size_t index) {
    uint32_t word;
    std::memcpy(&word, bytes[part].data() + 4 * index, 4);
    return word;
  }
  void setWord(Part part, size_t index, uint32_t word) {
    std::memcpy(bytes[part].data() + 4 * index, &word, 4);
  }
  template <typename T>
  void add(Part part, ElementType type, std::vector<int64_t> shape, const std::vector<T>& values) {
    std::vector<std::byte>& stored = bytes[part];
    stored.resize(values.size() * sizeof(T));
    std::memcpy(stored.data(), values.data(), stored.size());
    constexpr const char* names[] = {"codes", "scales", "zeros", "g_idx", "global_scale"};
    request.parts.push_back(
        {part, type, std::move(shape), stored, names[static_cast<size_t>(part)]});
  }
};

/// 32-bit words [count] with field i of `bits` bits, `perWord` a word (0: without gaps).
inline std::vector<uint32_t> packStream(int64_t count, int32_t bits, int64_t perWord,
                                        const std::function<uint32_t(int64_t)>& field) {
  int64_t words = perWord ? (count + perWord - 1) / perWord : (count * bits + 31) / 32;
  std::vector<uint32_t> packed(words);
  for (int64_t i = 0; i < count; ++i)
    for (int32_t b = 0; b < bits; ++b) {
      int64_t bit = (perWord ? i / perWord * 32 + i % perWord * bits : i * bits) + b;
      packed[bit / 32] |= (field(i) >> b & 1) << bit % 32;
    }
  return packed;
}

/// [rows, columns] → [columns, rows].
template <typename T>
std::vector<T> transposed(const std::vector<T>& values, int64_t rows, int64_t columns) {
  std::vector<T> result(values.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[j * rows + i] = values[i * columns + j];
  return result;
}

inline Written start(const Matrix& m, Layout layout) {
  Written written;
  written.request = {.file = "test.safetensors",
                     .format = {.layout = layout,
                                .bits = m.bits,
                                .groupSize = m.groupSize == m.columns ? -1 : m.groupSize},
                     .rows = m.rows,
                     .columns = m.columns,
                     .parts = {}};
  return written;
}

/// `lessOne`: zeros as version 1 stores them.
inline Written writeGptq(const Matrix& m, bool lessOne, bool withIndex = true) {
  Written written = start(m, lessOne ? Layout::Gptq : Layout::GptqV2);
  std::vector<uint32_t> codes, zeros;
  for (int64_t n = 0; n < m.rows; ++n)
    for (uint32_t word : packStream(m.columns, m.bits, 0, [&](int64_t k) { return m.code(n, k); }))
      codes.push_back(word);
  uint32_t mask = (1u << m.bits) - 1;
  for (int64_t g = 0; g < m.groups(); ++g)
    for (uint32_t word : packStream(m.rows, m.bits, 0, [&](int64_t n) {
           return (m.zero(n, g) - (lessOne ? 1 : 0)) & mask;
         }))
      zeros.push_back(word);
  int64_t words = m.columns * m.bits / 32;
  written.add(Part::Codes, ElementType::I32, {words, m.rows}, transposed(codes, m.rows, words));
  written.add(Part::Zeros, ElementType::I32, {m.groups(), m.rows * m.bits / 32}, zeros);
  written.add(Part::Scales, ElementType::F16, {m.groups(), m.rows},
              transposed(m.scales, m.rows, m.groups()));
  if (withIndex)
    written.add(Part::GroupIndex, ElementType::I32, {m.columns}, m.groupOf);
  return written;
}

/// AutoAWQ's order of columns in a word.
inline Written writeAwqGemm(const Matrix& m) {
  Written written = start(m, Layout::AwqGemm);
  constexpr int64_t order[] = {0, 2, 4, 6, 1, 3, 5, 7};
  auto pack = [&](const std::function<uint32_t(int64_t)>& ofRow) {
    return packStream(m.rows, 4, 0, [&](int64_t i) { return ofRow(i / 8 * 8 + order[i % 8]); });
  };
  std::vector<uint32_t> codes, zeros;
  for (int64_t k = 0; k < m.columns; ++k)
    for (uint32_t word : pack([&](int64_t n) { return m.code(n, k); }))
      codes.push_back(word);
  for (int64_t g = 0; g < m.groups(); ++g)
    for (uint32_t word : pack([&](int64_t n) { return m.zero(n, g); }))
      zeros.push_back(word);
  written.add(Part::Codes, ElementType::I32, {m.columns, m.rows / 8}, codes);
  written.add(Part::Zeros, ElementType::I32, {m.groups(), m.rows / 8}, zeros);
  written.add(Part::Scales, ElementType::F16, {m.groups(), m.rows},
              transposed(m.scales, m.rows, m.groups()));
  return written;
}

inline Written writeAwqGemv(const Matrix& m) {
  Written written = start(m, Layout::AwqGemv);
  int64_t multiple = m.groupSize >= 128 ? 1 : m.groupSize == 64 ? 2 : 4;
  int64_t zeroWords = ((m.groups() + 7) / 8 + multiple - 1) / multiple * multiple;
  std::vector<uint32_t> codes, zeros;
  std::vector<uint16_t> scales;
  for (int64_t n = 0; n < m.rows; ++n) {
    for (uint32_t word : packStream(m.columns, 4, 0, [&](int64_t k) { return m.code(n, k); }))
      codes.push_back(word);
    for (uint32_t word : packStream(8 * zeroWords, 4, 0,
                                    [&](int64_t g) { return g < m.groups() ? m.zero(n, g) : 0; }))
      zeros.push_back(word);
    for (int64_t g = 0; g < 8 * zeroWords; ++g)
      scales.push_back(g < m.groups() ? m.scales[n * m.groups() + g] : 0);
  }
  written.add(Part::Codes, ElementType::I32, {m.rows, m.columns / 8}, codes);
  written.add(Part::Zeros, ElementType::I32, {m.rows, zeroWords}, zeros);
  written.add(Part::Scales, ElementType::F16, {m.rows, 8 * zeroWords}, scales);
  return written;
}

/// `perWord`: 0, or as many codes a word as before compressed-tensors' change of 2026.
inline Written writePackQuantized(const Matrix& m, int64_t perWord = 0, bool withIndex = false) {
  Written written = start(m, Layout::PackQuantized);
  std::vector<uint32_t> codes;
  for (int64_t n = 0; n < m.rows; ++n)
    for (uint32_t word :
         packStream(m.columns, m.bits, perWord, [&](int64_t k) { return m.code(n, k); }))
      codes.push_back(word);
  std::vector<uint32_t> zeros;
  for (int64_t g = 0; g < m.groups(); ++g)
    for (uint32_t word :
         packStream(m.rows, m.bits, perWord, [&](int64_t n) { return m.zero(n, g); }))
      zeros.push_back(word);
  int64_t zeroWords = std::ssize(zeros) / m.groups();
  written.add(Part::Codes, ElementType::I32, {m.rows, std::ssize(codes) / m.rows}, codes);
  written.add(Part::Zeros, ElementType::I32, {zeroWords, m.groups()},
              transposed(zeros, m.groups(), zeroWords));
  written.add(Part::Scales, ElementType::F16, {m.rows, m.groups()}, m.scales);
  if (withIndex)
    written.add(Part::GroupIndex, ElementType::I32, {m.columns}, m.groupOf);
  return written;
}

inline Written writeIntQuantized(const Matrix& m) {
  Written written = start(m, Layout::IntQuantized);
  std::vector<int8_t> codes, zeros;
  for (uint32_t code : m.codes)
    codes.push_back(static_cast<int8_t>(static_cast<int>(code) - 128));
  for (uint32_t zero : m.zeros)
    zeros.push_back(static_cast<int8_t>(static_cast<int>(zero) - 128));
  written.add(Part::Codes, ElementType::I8, {m.rows, m.columns}, codes);
  written.add(Part::Zeros, ElementType::I8, {m.rows, m.groups()}, zeros);
  written.add(Part::Scales, ElementType::F16, {m.rows, m.groups()}, m.scales);
  return written;
}

} // namespace tenon::containers::test

#endif // TENON_TESTS_IR_CONTAINERS_WEIGHTWRITER_H
