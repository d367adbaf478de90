#ifndef TENON_RUNTIME_TEXT_JINJA_VALUE_H
#define TENON_RUNTIME_TEXT_JINJA_VALUE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::runtime::jinja {

struct Node;
class Value;

using List = std::vector<Value>;
/// Keys are strings; the order is that of insertion.
using Dict = std::vector<std::pair<std::string, Value>>;

struct Undefined {
  bool operator==(const Undefined&) const = default;
};
struct None {
  bool operator==(const None&) const = default;
};
/// What `namespace()` gives: the one thing that a template can change.
struct Namespace {
  Dict members;
};
/// A macro of the template, or a global function by its name.
struct Callable {
  const Node* macro = nullptr;
  std::string_view global;
};

/// A value of a template. Copies share what they hold, which nothing changes but a namespace's members.
class Value {
public:
  Value() = default;
  Value(None) : held(None()) {}
  Value(bool value) : held(value) {}
  Value(int64_t value) : held(value) {}
  Value(double value) : held(value) {}
  Value(std::string text) : held(std::make_shared<const std::string>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::shared_ptr<Namespace> value) : held(std::move(value)) {}
  Value(Callable value) : held(value) {}

  /// Containers of values. InvalidArgument where they would hold others within each other too deeply or
  /// too much, or a namespace or function, of which a template could make a circle.
  static absl::StatusOr<Value> list(List values);
  static absl::StatusOr<Value> dict(Dict members);

  template <class T> bool is() const { return std::holds_alternative<T>(held); }
  bool isUndefined() const { return is<Undefined>(); }
  bool isNone() const { return is<None>(); }
  bool isString() const { return is<Text>(); }
  bool isList() const { return is<SharedList>(); }
  bool isDict() const { return is<SharedDict>(); }
  bool isNamespace() const { return is<std::shared_ptr<Namespace>>(); }
  bool isInteger() const { return is<int64_t>(); }
  bool isFloat() const { return is<double>(); }
  bool isBool() const { return is<bool>(); }
  /// A number in Python's sense: true and false are 1 and 0.
  bool isNumber() const { return isInteger() || isFloat() || isBool(); }
  bool isCallable() const { return is<Callable>(); }

  const std::string& string() const { return *std::get<Text>(held); }
  const List& items() const { return std::get<SharedList>(held)->values; }
  const Dict& members() const { return std::get<SharedDict>(held)->values; }
  Namespace& asNamespace() const { return *std::get<std::shared_ptr<Namespace>>(held); }
  const Callable& callable() const { return std::get<Callable>(held); }
  int64_t integer() const {
    return isBool() ? int64_t(std::get<bool>(held)) : std::get<int64_t>(held);
  }
  double number() const { return isFloat() ? std::get<double>(held) : double(integer()); }
  bool boolean() const { return std::get<bool>(held); }

  /// The member of a dictionary, or null.
  const Value* find(std::string_view key) const;

  /// Whether Python takes it for true.
  bool isTrue() const;
  bool operator==(const Value& other) const;
  /// Of what containers hold containers: 0 for others.
  int depth() const;
  /// About as many bytes as its text has; what is shared counts each time.
  size_t size() const;

  /// What Python's `str` makes of it; nothing of an undefined value.
  std::string text() const;
  /// What Python's `repr` makes of it.
  std::string repr() const;
  /// What Python's `json.dumps` makes of it without escapes for other characters than ASCII's; lines
  /// are indented where `indent` is at least 0. InvalidArgument where a value has no such form.
  absl::StatusOr<std::string> json(int64_t indent) const;
  /// Its type, for messages.
  std::string_view typeName() const;

private:
  using Text = std::shared_ptr<const std::string>;
  template <class T> struct Contained {
    T values;
    int depth;
    size_t size;
  };
  using SharedList = std::shared_ptr<const Contained<List>>;
  using SharedDict = std::shared_ptr<const Contained<Dict>>;

  std::variant<Undefined, None, bool, int64_t, double, Text, SharedList, SharedDict,
               std::shared_ptr<Namespace>, Callable>
      held;
};

/// The member of `members`, or null.
const Value* findMember(const Dict& members, std::string_view key);
/// Sets a member, new or not.
void setMember(Dict& members, std::string_view key, Value value);

/// Python's strings are of characters: their number, and those from `begin` up to `end`.
int64_t countCharacters(std::string_view text);
std::string_view sliceCharacters(std::string_view text, int64_t begin, int64_t end);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_VALUE_H
