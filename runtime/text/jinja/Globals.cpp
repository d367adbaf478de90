#include "runtime/text/jinja/Globals.h"

#include <algorithm>
#include <ctime>
#include <memory>

#include "absl/numeric/int128.h"
#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {

/// As Jinja's sandbox has it.
constexpr int64_t longestRange = 100000;

std::string_view findGlobal(std::string_view name) {
  for (std::string_view global : {"range", "namespace", "dict", "raise_exception", "strftime_now"})
    if (name == global)
      return global;
  return {};
}

static absl::StatusOr<Value> makeRange(const Arguments& arguments, Budget& budget) {
  int64_t bounds[3] = {0, 0, 1};
  const size_t count = arguments.positional.size();
  for (size_t i = 0; i < std::min<size_t>(count, 3); ++i) {
    if (!arguments.positional[i].isInteger())
      return absl::InvalidArgumentError(absl::StrFormat("range expects integers, but got %s",
                                                        arguments.positional[i].typeName()));
    bounds[count == 1 ? 1 : i] = arguments.positional[i].integer();
  }
  const auto [begin, end, step] = bounds;
  // The difference of two integers of 64 bits needs 65, and so does the way to the last item.
  const absl::int128 distance = absl::int128(end) - begin;
  const absl::int128 length =
      step == 0 ? absl::int128(0) : (distance + step + (step > 0 ? -1 : 1)) / step;
  if (count == 0 || count > 3 || step == 0 || length > longestRange)
    return absl::InvalidArgumentError(
        absl::StrFormat("range expects 1 to 3 integers and at most %d steps", longestRange));
  List items;
  for (int64_t i = 0; i < length; ++i)
    items.emplace_back(static_cast<int64_t>(begin + absl::int128(i) * step));
  TENON_RETURN_IF_ERROR(budget.takeItems(items.size()));
  return Value::list(std::move(items));
}

static absl::StatusOr<Value> formatTime(const Arguments& arguments, int64_t now) {
  const Value* format = arguments.find(0, "format");
  if (!format || !format->isString() || format->string().size() > 100)
    return absl::InvalidArgumentError("strftime_now expects a format of at most 100 bytes");
  const std::time_t seconds = now;
  std::tm parts = {};
  localtime_r(&seconds, &parts);
  char buffer[4096];
  const size_t length = std::strftime(buffer, sizeof(buffer), format->string().c_str(), &parts);
  return Value(std::string(buffer, length));
}

absl::StatusOr<Value> callGlobal(std::string_view name, const Arguments& arguments, int64_t now,
                                 Budget& budget) {
  if (name == "range")
    return makeRange(arguments, budget);
  if (name == "raise_exception") {
    const Value* message = arguments.find(0, "message");
    return absl::InvalidArgumentError(
        absl::StrFormat("the template says: %s", message ? message->text() : ""));
  }
  if (name == "strftime_now")
    return formatTime(arguments, now);
  Dict members = arguments.named;
  if (const Value* from = arguments.find(0, "mapping"); from && from->isDict())
    for (const auto& [key, value] : from->members())
      if (!findMember(members, key))
        members.emplace_back(key, value);
  if (name == "dict")
    return Value::dict(std::move(members));
  TENON_RETURN_IF_ERROR(Value::dict(members).status()); // holds what a dictionary may
  return Value(std::make_shared<Namespace>(Namespace{std::move(members)}));
}

} // namespace tenon::runtime::jinja
