#include "runtime/text/jinja/Arguments.h"

#include "absl/strings/str_format.h"

namespace tenon::runtime::jinja {

absl::Status unfit(std::string_view expected, const Value& found) {
  return absl::InvalidArgumentError(
      absl::StrFormat("expects %s, but got %s", expected, found.typeName()));
}

absl::StatusOr<std::string> textOf(const Arguments& arguments, size_t index, std::string_view name,
                                   std::string_view otherwise) {
  const Value* value = arguments.find(index, name);
  if (!value || value->isNone())
    return std::string(otherwise);
  if (!value->isString())
    return unfit("a string as argument", *value);
  return value->string();
}

absl::StatusOr<int64_t> integerOf(const Arguments& arguments, size_t index, std::string_view name,
                                  int64_t otherwise) {
  const Value* value = arguments.find(index, name);
  if (!value || value->isNone())
    return otherwise;
  if (!value->isInteger() && !value->isBool())
    return unfit("an integer as argument", *value);
  return value->integer();
}

bool isGiven(const Arguments& arguments, size_t index, std::string_view name) {
  const Value* value = arguments.find(index, name);
  return value && value->isTrue();
}

} // namespace tenon::runtime::jinja
