#ifndef TENON_TESTS_CONFORMANCE_GGMLROW_H
#define TENON_TESTS_CONFORMANCE_GGMLROW_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::conformance {

/// A tensor of a row: ggml's `ne`, innermost first, and its bytes, row-major without gaps.
struct GgmlTensor {
  std::string type; ///< as Tenon names encodings, in lower case
  std::array<int64_t, 4> ne{};
  /// None where the row does not map to a graph: its data are left out of the file.
  std::span<const std::byte> bytes;

  /// The shape with all four axes, outermost first.
  std::vector<int64_t> shape() const { return {ne.rbegin(), ne.rend()}; }
  int64_t elements() const { return ne[0] * ne[1] * ne[2] * ne[3]; }
};

/// One operator case of ggml: what its CPU backend made of these inputs.
struct GgmlRow {
  int number = 0;   ///< in the file, from 0
  std::string op;   ///< `MUL_MAT`
  std::string vars; ///< the case in the words of ggml's test: `type_a=q8_0,type_b=f32,m=16,…`
  /// What ggml's own test allows: Σ(a − b)² / Σ b².
  double maxNmse = 0;
  /// `op_params` as ggml lays them out; floats as their bits.
  std::array<int32_t, 16> params{};
  /// By ggml's number of the source; absent ones are skipped.
  std::array<std::optional<GgmlTensor>, 4> sources;
  GgmlTensor result;

  /// Parameter `index` read as a float.
  float floatParam(size_t index) const;
  /// Source `index`, which must be there.
  const GgmlTensor& source(size_t index) const { return sources[index].value(); }
};

/// All rows of `tests/data/ggml-ops`, in order; read once. Fails the test where they cannot be read.
std::span<const GgmlRow> ggmlRows();

} // namespace tenon::conformance

#endif // TENON_TESTS_CONFORMANCE_GGMLROW_H
