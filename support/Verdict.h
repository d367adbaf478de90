#ifndef TENON_SUPPORT_VERDICT_H
#define TENON_SUPPORT_VERDICT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tenon {

/// Why something is refused: a sentence without final period.
struct Refusal {
  std::string reason;
};

/// Whether something is accepted and, where it is not, why.
///
/// ```cpp
/// Verdict checkRows(int64_t rows) {
///   if (rows > 16)
///     return Refusal{"expects at most 16 rows, but got " + std::to_string(rows)};
///   return Verdict::accept();
/// }
/// if (Verdict verdict = checkRows(rows); !verdict)
///   return op.emitOpError(verdict.reason());
/// ```
class [[nodiscard]] Verdict {
public:
  static Verdict accept() { return {}; }
  Verdict(Refusal refusal) : why(std::move(refusal)) {}

  explicit operator bool() const { return !why; }
  /// Why it is refused; it must be.
  const std::string& reason() const { return refusal().reason; }
  const Refusal& refusal() const {
    assert(why && "an accepted verdict has no reason");
    return *why;
  }

private:
  Verdict() = default;

  std::optional<Refusal> why;
};

/// A value, or why there is none.
template <typename T> class [[nodiscard]] VerdictOr {
public:
  VerdictOr(T value) : result(std::move(value)) {}
  VerdictOr(Refusal refusal) : result(std::move(refusal)) {}

  explicit operator bool() const { return std::holds_alternative<T>(result); }
  T& operator*() & { return std::get<T>(result); }
  const T& operator*() const& { return std::get<T>(result); }
  T&& operator*() && { return std::get<T>(std::move(result)); }
  T* operator->() { return &std::get<T>(result); }
  const T* operator->() const { return &std::get<T>(result); }
  /// Why there is no value; there must be none.
  const std::string& reason() const { return refusal().reason; }
  const Refusal& refusal() const { return std::get<Refusal>(result); }

private:
  std::variant<T, Refusal> result;
};

} // namespace tenon

#endif // TENON_SUPPORT_VERDICT_H
