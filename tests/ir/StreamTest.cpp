// Streams without end: rings, what they keep, and where their heads are rotated.

#include <cmath>
#include <random>

#include "absl/strings/str_format.h"
#include "ir/KvCache.h"
#include "ir/encoding/CacheEncoding.h"
#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using Values = std::vector<double>;

class StreamTest : public IrTest {};

TEST_F(StreamTest, RingsGiveLaterPositionsThePlacesBehindTheKeptOnes) {
  auto layout = StateLayoutAttr::get(&context, StateLayout::Ring, /*kept=*/3);
  auto type = StateType::get(&context, {2, 8, 1, 4}, mlir::Float32Type::get(&context), layout);
  KvCache cache(type);
  EXPECT_EQ(cache.ring(), 5);
  const int64_t places[] = {0, 1, 2, 3, 4, 5, 6, 7, 3, 4, 5, 6, 7, 3};
  for (int64_t position = 0; position < 14; ++position)
    EXPECT_EQ(cache.place(position), places[position]) << position;
  EXPECT_TRUE(cache.holds(1, 2147483647));
  EXPECT_FALSE(cache.holds(2, 0));
  EXPECT_FALSE(cache.holds(0, -1));
}

TEST_F(StreamTest, PlacesOfKeysAndQueries) {
  auto places = [&](int64_t views) {
    std::string m = std::to_string(5 * views);
    return run(absl::StrFormat(
                   "func.func @f(%%p: tensor<5xi32>) -> tensor<%1$sxi32> { %%0 = tenon.ring_places "
                   "%%p kept 2 ring 6 window 4 views %2$d : (tensor<5xi32>) -> tensor<%1$sxi32> "
                   "return %%0 : tensor<%1$sxi32> }",
                   m, views),
               {tensor("tensor<5xi32>", {-1, 1, 4, 7, 21})})
        .front();
  };
  EXPECT_EQ(places(1), Values({-1, 1, 4, 7, 3}));
  EXPECT_EQ(places(3), Values({-1, 1, 4, 7, 3, -1, 7, 10, 13, 9, -1, 1, 4, 5, 5}));
}

/// One head of a stream that is fed in chunks, against its definition (Xiao et al. 2023, arXiv
/// 2309.17453): of what a row sees, the first tokens and the last ones, each key is rotated at its
/// place among these, the query at the last, and nothing was ever compressed.
class Stream {
public:
  static constexpr int64_t kept = 3, window = 20, chunk = 4, size = 8, tokens = 2000;

  Stream() {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> real(-1, 1);
    for (Values* rows : {&queries, &keys, &values})
      for (int64_t i = 0; i < tokens * size; ++i)
        rows->push_back(real(random));
    for (int64_t i = 0; i < size / 2; ++i)
      frequencies.push_back(std::pow(10.0f, -static_cast<float>(i)));
  }

  /// Row `row` turned to `place`, pairs beside each other.
  Values turn(const Values& rows, int64_t row, double place) const {
    Values turned(size);
    for (int64_t i = 0; i < size / 2; ++i) {
      double x = rows[row * size + 2 * i], y = rows[row * size + 2 * i + 1];
      double angle = place * frequencies[i];
      turned[2 * i] = x * std::cos(angle) - y * std::sin(angle);
      turned[2 * i + 1] = x * std::sin(angle) + y * std::cos(angle);
    }
    return turned;
  }

  Values expectedRow(int64_t row) const {
    std::vector<int64_t> seen;
    for (int64_t c = 0; c <= row; ++c)
      if (c < kept || c > row - window)
        seen.push_back(c);
    Values query = turn(queries, row, static_cast<double>(seen.size()) - 1), result(size);
    double sum = 0;
    for (size_t place = 0; place < seen.size(); ++place) {
      Values key = turn(keys, seen[place], static_cast<double>(place));
      double score = 0;
      for (int64_t i = 0; i < size; ++i)
        score += query[i] * key[i];
      double weight = std::exp(score);
      sum += weight;
      for (int64_t i = 0; i < size; ++i)
        result[i] += weight * values[seen[place] * size + i];
    }
    for (double& element : result)
      element /= sum;
    return result;
  }

  Values queries, keys, values, frequencies;
};

/// What comes back of a head of that type differs from the head by at most this, of numbers up to 1.
struct CacheKind {
  const char* element;
  double tolerance;
};

class Streams : public StreamTest, public testing::WithParamInterface<CacheKind> {};

TEST_P(Streams, EqualTheirDefinition) {
  Stream stream;
  constexpr int64_t capacity = Stream::kept + Stream::window + Stream::chunk - 1;
  std::string state = absl::StrFormat("!tenon.state<1x%dx1x%dx%s, ring<%d>>", capacity,
                                      Stream::size, GetParam().element, Stream::kept);
  std::string places = absl::StrFormat("kept %d ring %d window %d", Stream::kept,
                                       capacity - Stream::kept, Stream::window);
  auto module = parse(absl::StrFormat(
      R"(tenon.state @k : %1$s tenon.state @v : %1$s
      func.func @f(%%q: tensor<4x1x8xf32>, %%k: tensor<4x1x8xf32>, %%v: tensor<4x1x8xf32>,
                   %%s: tensor<1xi32>, %%p: tensor<4xi32>, %%f: tensor<4xf32>) -> tensor<4x1x8xf32> {
        %%pk = tenon.ring_places %%p %2$s views 1 : (tensor<4xi32>) -> tensor<4xi32>
        %%pq = tenon.ring_places %%p %2$s views 3 : (tensor<4xi32>) -> tensor<12xi32>
        %%qs = tenon.concat %%q, %%q, %%q along 0
            : (tensor<4x1x8xf32>, tensor<4x1x8xf32>, tensor<4x1x8xf32>) -> tensor<12x1x8xf32>
        %%qr = tenon.rope adjacent %%qs, %%pq, %%f
            : (tensor<12x1x8xf32>, tensor<12xi32>, tensor<4xf32>) -> tensor<12x1x8xf32>
        %%kr = tenon.rope adjacent %%k, %%pk, %%f
            : (tensor<4x1x8xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4x1x8xf32>
        %%k0 = tenon.get_state @k : %1$s
        %%v0 = tenon.get_state @v : %1$s
        %%k1 = tenon.kv_write %%kr, %%s, %%p into %%k0
            : (tensor<4x1x8xf32>, tensor<1xi32>, tensor<4xi32>, %1$s) -> %1$s
        %%v1 = tenon.kv_write %%v, %%s, %%p into %%v0
            : (tensor<4x1x8xf32>, tensor<1xi32>, tensor<4xi32>, %1$s) -> %1$s
        %%y = tenon.attention %%qr, %%k1, %%v1, %%s, %%p scale 1.0 {window = %3$d : i64}
            : (tensor<12x1x8xf32>, %1$s, %1$s, tensor<1xi32>, tensor<4xi32>) -> tensor<4x1x8xf32>
        return %%y : tensor<4x1x8xf32>
      })",
      state, places, Stream::window));
  ASSERT_TRUE(module);
  auto interpreter = Interpreter::create(*module, {.round = false});
  ASSERT_THAT(interpreter, IsOk());
  constexpr int64_t elements = Stream::chunk * Stream::size;
  for (int64_t first = 0; first < Stream::tokens; first += Stream::chunk) {
    auto chunkOf = [&](const Values& rows) {
      auto begin = rows.begin() + first * Stream::size;
      return tensor("tensor<4x1x8xf32>", Values(begin, begin + elements));
    };
    Values positions;
    for (int64_t row = 0; row < Stream::chunk; ++row)
      positions.push_back(static_cast<double>(first + row));
    auto results =
        (*interpreter)
            ->run("f", {chunkOf(stream.queries), chunkOf(stream.keys), chunkOf(stream.values),
                        tensor("tensor<1xi32>", {0}), tensor("tensor<4xi32>", positions),
                        tensor("tensor<4xf32>", stream.frequencies)});
    ASSERT_THAT(results, IsOk());
    Values found = results->front().toVector();
    for (int64_t row = 0; row < Stream::chunk; ++row) {
      auto begin = found.begin() + row * Stream::size;
      ASSERT_THAT(Values(begin, begin + Stream::size),
                  AreNear(stream.expectedRow(first + row), GetParam().tolerance))
          << "token " << first + row;
    }
  }
}

// The angles are rounded to f32; a quant is half a step off, 1/254 or 1/16 of the largest or 1/16 of itself.
INSTANTIATE_TEST_SUITE_P(Kinds, Streams,
                         testing::Values(CacheKind{"f32", 1e-5},
                                         CacheKind{"!tenon.block<int8_h8>", 0.02},
                                         CacheKind{"!tenon.block<e4m3_h8>", 0.2},
                                         CacheKind{"!tenon.block<int4_h8>", 0.4}));

/// Heads that were decoded are encoded to the same bytes again, and no quant is far from its number.
TEST(CacheEncoding, RoundsOnce) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (CacheQuants quants : {CacheQuants::Int8, CacheQuants::E4M3, CacheQuants::Int4})
    for (int64_t size : {8, 64, 128, 256}) {
      const Encoding* encoding = findCacheEncoding(quants, size);
      ASSERT_TRUE(encoding);
      EXPECT_EQ(cacheQuantsOf(*encoding), quants);
      EXPECT_EQ(findEncoding(encoding->name), encoding);
      EXPECT_EQ(encoding->blockBytes, 4 + (quants == CacheQuants::Int4 ? size / 2 : size));
      for (double scale : {1.0, 1e-20, 3e7, 0.0}) {
        Values head(size), decoded(size);
        double largest = 0;
        for (double& value : head) {
          value = static_cast<float>(scale * normal(random));
          largest = std::max(largest, std::fabs(value));
        }
        std::vector<std::byte> bytes(encoding->blockBytes), again(encoding->blockBytes);
        encoding->encode(head, bytes);
        encoding->decode(bytes, decoded);
        encoding->encode(decoded, again);
        EXPECT_EQ(bytes, again) << encoding->name << " " << scale;
        for (int64_t i = 0; i < size; ++i) {
          // Rounding the scale takes up to 2^-9 of the largest value.
          double bound = quants == CacheQuants::Int8 ? largest * (0.5 / 127 + 1.0 / 512)
                         : quants == CacheQuants::E4M3
                             ? std::fabs(head[i]) / 16 + largest / 448 / 512 + largest / 512
                             : largest * (1.0 / 8 + 1.0 / 512);
          EXPECT_LE(std::fabs(decoded[i] - head[i]), bound) << encoding->name;
        }
      }
    }
  for (int64_t size : {0, 4, 12, 264, -8})
    EXPECT_EQ(findCacheEncoding(CacheQuants::Int8, size), nullptr);
}

} // namespace
} // namespace tenon::tests
