#include "runtime/text/jinja/Interpreter.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "runtime/text/jinja/Budget.h"
#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Globals.h"
#include "runtime/text/jinja/Lexer.h"
#include "runtime/text/jinja/Operators.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {
namespace {

using Result = absl::StatusOr<Value>;

/// Of statements and expressions that are being evaluated within each other, through macros too.
constexpr int deepestLevel = 600;

/// What a statement says about the loop around it.
enum class Flow : uint8_t { Next, Break, Continue };

/// The variables of a template, a loop or a macro.
struct Scope {
  absl::flat_hash_map<std::string_view, Value> variables;
  Scope* parent;
};

/// Counts a level while it lives.
class Level {
public:
  explicit Level(int& level) : level(level) { ++level; }
  ~Level() { --level; }
  Level(const Level&) = delete;

  absl::Status check(size_t line) const {
    if (level <= deepestLevel)
      return absl::OkStatus();
    return errorAt(line, absl::StrFormat("expects at most %d levels, but got more", deepestLevel));
  }

private:
  int& level;
};

class Interpreter {
public:
  explicit Interpreter(int64_t now) : now(now) {}

  absl::StatusOr<std::string> render(const Node& root, const Dict& variables);

private:
  absl::StatusOr<Flow> run(const Node& node);
  absl::StatusOr<Flow> runBody(const Node& node);
  absl::StatusOr<Flow> runIf(const Node& node);
  absl::StatusOr<Flow> runFor(const Node& node);
  absl::Status runSet(const Node& node);
  absl::Status assignNames(const std::vector<std::string>& names, const Value& value);
  /// The text of a body.
  Result capture(const Node& body);
  absl::Status write(std::string_view text);

  Result evaluate(const Node& node);
  /// What `node` is worth, without the line in messages.
  Result compute(const Node& node);
  Result computeName(const Node& node);
  Result computeDict(const Node& node);
  Result computeAttribute(const Node& node);
  Result computeIndex(const Node& node);
  Result computeSlice(const Node& node);
  Result computeCall(const Node& node);
  Result computeArithmetic(const Node& node);
  Result computeCompare(const Node& node);
  absl::StatusOr<Arguments> readArguments(const Node& node);
  Result callMacro(const Node& macro, const Arguments& arguments);
  Result memberOf(const Value& value, std::string_view key);

  int64_t now;
  Budget budget;
  std::string* output = nullptr;
  Scope* scope = nullptr;
  Scope* top = nullptr;
  int level = 0;
};

absl::Status withLine(const absl::Status& status, size_t line) {
  if (absl::StartsWith(status.message(), "chat template, "))
    return status;
  return errorAt(line, std::string(status.message()));
}

absl::StatusOr<std::string> Interpreter::render(const Node& root, const Dict& variables) {
  std::string text;
  Scope outermost{{}, nullptr};
  for (const auto& [name, value] : variables)
    outermost.variables[name] = value;
  output = &text;
  scope = top = &outermost;
  TENON_RETURN_IF_ERROR(run(root).status());
  return text;
}

absl::Status Interpreter::write(std::string_view text) {
  TENON_RETURN_IF_ERROR(budget.take(text.size()));
  *output += text;
  if (output->size() > Budget::mostTextBytes)
    return budget.take(output->size());
  return absl::OkStatus();
}

absl::StatusOr<Flow> Interpreter::run(const Node& node) {
  TENON_RETURN_IF_ERROR(budget.take());
  const Level deeper(level);
  TENON_RETURN_IF_ERROR(deeper.check(node.line));
  switch (node.kind) {
  case NodeKind::Body:
    return runBody(node);
  case NodeKind::Text:
    TENON_RETURN_IF_ERROR(write(node.text));
    return Flow::Next;
  case NodeKind::Output: {
    TENON_ASSIGN_OR_RETURN(const Value value, evaluate(*node.children[0]));
    TENON_RETURN_IF_ERROR(write(value.text()));
    return Flow::Next;
  }
  case NodeKind::If:
    return runIf(node);
  case NodeKind::For:
    return runFor(node);
  case NodeKind::Macro:
    scope->variables[node.text] = Value(Callable{&node, {}});
    return Flow::Next;
  case NodeKind::Break:
    return Flow::Break;
  case NodeKind::Continue:
    return Flow::Continue;
  default:
    TENON_RETURN_IF_ERROR(runSet(node));
    return Flow::Next;
  }
}

absl::StatusOr<Flow> Interpreter::runBody(const Node& node) {
  for (const auto& child : node.children) {
    absl::StatusOr<Flow> flow = run(*child);
    if (!flow.ok())
      return withLine(flow.status(), child->line);
    if (*flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

absl::StatusOr<Flow> Interpreter::runIf(const Node& node) {
  const size_t count = node.children.size();
  for (size_t i = 0; i + 1 < count; i += 2) {
    TENON_ASSIGN_OR_RETURN(const Value condition, evaluate(*node.children[i]));
    if (condition.isTrue())
      return run(*node.children[i + 1]);
  }
  return count % 2 ? run(*node.children[count - 1]) : Flow::Next;
}

/// What `loop` holds in a turn.
Result loopState(const List& items, size_t turn) {
  const auto count = int64_t(items.size());
  const auto index = int64_t(turn);
  Dict state = {{"index", Value(index + 1)},
                {"index0", Value(index)},
                {"revindex", Value(count - index)},
                {"revindex0", Value(count - index - 1)},
                {"first", Value(turn == 0)},
                {"last", Value(index + 1 == count)},
                {"length", Value(count)}};
  if (turn > 0)
    state.emplace_back("previtem", items[turn - 1]);
  if (index + 1 < count)
    state.emplace_back("nextitem", items[turn + 1]);
  return Value::dict(std::move(state));
}

absl::StatusOr<Flow> Interpreter::runFor(const Node& node) {
  TENON_ASSIGN_OR_RETURN(const Value given, evaluate(*node.children[0]));
  TENON_ASSIGN_OR_RETURN(List items, iterate(given, budget));
  Scope* const outer = scope;
  Scope inner{{}, outer};
  // Whatever ends the loop, its variables end with it.
  struct Restore {
    Scope*& scope;
    Scope* outer;
    ~Restore() { scope = outer; }
  } restore{scope, outer};
  if (const Node* condition = node.children[1].get()) {
    List kept;
    scope = &inner;
    for (Value& item : items) {
      TENON_RETURN_IF_ERROR(assignNames(node.names, item));
      TENON_ASSIGN_OR_RETURN(const Value fits, evaluate(*condition));
      if (fits.isTrue())
        kept.push_back(std::move(item));
    }
    scope = outer;
    items = std::move(kept);
  }
  if (items.empty())
    return node.children[3] ? run(*node.children[3]) : Flow::Next;
  scope = &inner;
  for (size_t turn = 0; turn < items.size(); ++turn) {
    inner.variables.clear();
    TENON_RETURN_IF_ERROR(assignNames(node.names, items[turn]));
    TENON_ASSIGN_OR_RETURN(inner.variables["loop"], loopState(items, turn));
    TENON_ASSIGN_OR_RETURN(const Flow flow, run(*node.children[2]));
    if (flow == Flow::Break)
      break;
  }
  return Flow::Next;
}

absl::Status Interpreter::assignNames(const std::vector<std::string>& names, const Value& value) {
  if (names.size() == 1) {
    scope->variables[names[0]] = value;
    return absl::OkStatus();
  }
  if (!value.isList() || value.items().size() != names.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a list of %d values, but got %s", names.size(), value.typeName()));
  for (size_t i = 0; i < names.size(); ++i)
    scope->variables[names[i]] = value.items()[i];
  return absl::OkStatus();
}

absl::Status Interpreter::runSet(const Node& node) {
  TENON_ASSIGN_OR_RETURN(Value value, node.kind == NodeKind::SetBody ? capture(*node.children[0])
                                                                     : evaluate(*node.children[0]));
  if (node.text.empty())
    return assignNames(node.names, value);
  for (Scope* at = scope; at; at = at->parent) {
    const auto found = at->variables.find(node.text);
    if (found == at->variables.end())
      continue;
    if (!found->second.isNamespace() || value.isNamespace() || value.isCallable())
      break;
    Dict& members = found->second.asNamespace().members;
    TENON_RETURN_IF_ERROR(budget.takeItems(members.size() / 8));
    setMember(members, node.names[0], std::move(value));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "expects %s to be a namespace, and a value for its member", quoteName(node.text)));
}

Result Interpreter::capture(const Node& body) {
  std::string text;
  std::string* const outer = std::exchange(output, &text);
  const absl::StatusOr<Flow> flow = run(body);
  output = outer;
  TENON_RETURN_IF_ERROR(flow.status());
  return Value(std::move(text));
}

Result Interpreter::evaluate(const Node& node) {
  TENON_RETURN_IF_ERROR(budget.take());
  const Level deeper(level);
  TENON_RETURN_IF_ERROR(deeper.check(node.line));
  Result value = compute(node);
  if (!value.ok())
    return withLine(value.status(), node.line);
  return value;
}

Result Interpreter::compute(const Node& node) {
  const auto child = [&](size_t i) { return evaluate(*node.children[i]); };
  switch (node.kind) {
  case NodeKind::Literal:
    return node.value;
  case NodeKind::Name:
    return computeName(node);
  case NodeKind::List: {
    List items;
    for (size_t i = 0; i < node.children.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(Value item, child(i));
      items.push_back(std::move(item));
    }
    return Value::list(std::move(items));
  }
  case NodeKind::Dict:
    return computeDict(node);
  case NodeKind::Attribute:
    return computeAttribute(node);
  case NodeKind::Index:
    return computeIndex(node);
  case NodeKind::Slice:
    return computeSlice(node);
  case NodeKind::Call:
    return computeCall(node);
  case NodeKind::Filter: {
    TENON_ASSIGN_OR_RETURN(const Value value, child(0));
    TENON_ASSIGN_OR_RETURN(const Arguments arguments, readArguments(node));
    return applyFilter(node.text, value, arguments, budget);
  }
  case NodeKind::Test: {
    TENON_ASSIGN_OR_RETURN(const Value value, child(0));
    TENON_ASSIGN_OR_RETURN(const Arguments arguments, readArguments(node));
    TENON_ASSIGN_OR_RETURN(const bool fits, applyTest(node.text, value, arguments, budget));
    return Value(fits);
  }
  case NodeKind::Not: {
    TENON_ASSIGN_OR_RETURN(const Value value, child(0));
    return Value(!value.isTrue());
  }
  case NodeKind::Negate: {
    TENON_ASSIGN_OR_RETURN(const Value value, child(0));
    if (!value.isNumber())
      return absl::InvalidArgumentError(
          absl::StrFormat("expects a number after '-', but got %s", value.typeName()));
    return value.isFloat() || value.integer() == INT64_MIN ? Value(-value.number())
                                                           : Value(-value.integer());
  }
  case NodeKind::And:
  case NodeKind::Or: {
    TENON_ASSIGN_OR_RETURN(Value value, child(0));
    return value.isTrue() == (node.kind == NodeKind::Or) ? Result(std::move(value)) : child(1);
  }
  case NodeKind::Arithmetic:
    return computeArithmetic(node);
  case NodeKind::Compare:
    return computeCompare(node);
  default: { // Conditional: the parser makes no other expressions
    TENON_ASSIGN_OR_RETURN(const Value condition, child(0));
    if (condition.isTrue())
      return child(1);
    return node.children[2] ? child(2) : Value();
  }
  }
}

Result Interpreter::computeName(const Node& node) {
  for (Scope* at = scope; at; at = at->parent)
    if (const auto found = at->variables.find(node.text); found != at->variables.end())
      return found->second;
  const std::string_view global = findGlobal(node.text);
  return global.empty() ? Value() : Value(Callable{nullptr, global});
}

Result Interpreter::computeDict(const Node& node) {
  Dict members;
  for (size_t i = 0; i < node.children.size(); i += 2) {
    TENON_ASSIGN_OR_RETURN(const Value key, evaluate(*node.children[i]));
    TENON_ASSIGN_OR_RETURN(Value value, evaluate(*node.children[i + 1]));
    if (!key.isString())
      return absl::InvalidArgumentError(absl::StrFormat(
          "expects a string as the key of a dictionary, but got %s", key.typeName()));
    TENON_RETURN_IF_ERROR(budget.takeItems(members.size() / 8));
    setMember(members, key.string(), std::move(value));
  }
  return Value::dict(std::move(members));
}

Result Interpreter::memberOf(const Value& value, std::string_view key) {
  if (value.isUndefined())
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a value with a member %s, but got undefined", quoteName(key)));
  if (!value.isDict() && !value.isNamespace())
    return Value();
  const Dict& members = value.isDict() ? value.members() : value.asNamespace().members;
  TENON_RETURN_IF_ERROR(budget.takeItems(members.size() / 8));
  const Value* found = findMember(members, key);
  return found ? *found : Value();
}

Result Interpreter::computeAttribute(const Node& node) {
  TENON_ASSIGN_OR_RETURN(const Value value, evaluate(*node.children[0]));
  return memberOf(value, node.text);
}

Result Interpreter::computeIndex(const Node& node) {
  TENON_ASSIGN_OR_RETURN(const Value value, evaluate(*node.children[0]));
  TENON_ASSIGN_OR_RETURN(const Value index, evaluate(*node.children[1]));
  if (index.isString() || value.isUndefined())
    return memberOf(value, index.isString() ? index.string() : index.text());
  if (!index.isInteger() || !(value.isList() || value.isString()))
    return Value();
  const int64_t count =
      value.isList() ? int64_t(value.items().size()) : countCharacters(value.string());
  if (value.isString())
    TENON_RETURN_IF_ERROR(budget.take(value.size()));
  const int64_t at = index.integer() < 0 ? index.integer() + count : index.integer();
  if (at < 0 || at >= count)
    return Value();
  return value.isList() ? value.items()[size_t(at)]
                        : Value(sliceCharacters(value.string(), at, at + 1));
}

Result Interpreter::computeSlice(const Node& node) {
  TENON_ASSIGN_OR_RETURN(const Value value, evaluate(*node.children[0]));
  if (!value.isList() && !value.isString())
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a list or a string to slice, but got %s", value.typeName()));
  TENON_RETURN_IF_ERROR(budget.take(value.size()));
  std::optional<int64_t> bounds[3]; // begin, end, step
  for (size_t i = 0; i < 3; ++i) {
    if (!node.children[i + 1])
      continue;
    TENON_ASSIGN_OR_RETURN(const Value bound, evaluate(*node.children[i + 1]));
    if (bound.isNone())
      continue;
    if (!bound.isInteger())
      return absl::InvalidArgumentError(
          absl::StrFormat("expects integers in a slice, but got %s", bound.typeName()));
    bounds[i] = bound.integer();
  }
  return slice(value, bounds[0], bounds[1], bounds[2].value_or(1), budget);
}

absl::StatusOr<Arguments> Interpreter::readArguments(const Node& node) {
  Arguments arguments;
  for (size_t i = 0; i < node.names.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Value value, evaluate(*node.children[i + 1]));
    if (node.names[i].empty())
      arguments.positional.push_back(std::move(value));
    else
      setMember(arguments.named, node.names[i], std::move(value));
  }
  return arguments;
}

Result Interpreter::computeCall(const Node& node) {
  const Node& callee = *node.children[0];
  if (callee.kind == NodeKind::Attribute) {
    TENON_ASSIGN_OR_RETURN(const Value value, evaluate(*callee.children[0]));
    TENON_ASSIGN_OR_RETURN(const Arguments arguments, readArguments(node));
    return callMethod(value, callee.text, arguments, budget);
  }
  TENON_ASSIGN_OR_RETURN(const Value function, evaluate(callee));
  TENON_ASSIGN_OR_RETURN(const Arguments arguments, readArguments(node));
  if (!function.isCallable())
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a function%s, but got %s", callee.text.empty() ? "" : " " + quoteName(callee.text),
        function.typeName()));
  if (function.callable().macro)
    return callMacro(*function.callable().macro, arguments);
  return callGlobal(function.callable().global, arguments, now, budget);
}

Result Interpreter::callMacro(const Node& macro, const Arguments& arguments) {
  Scope inner{{}, top};
  Scope* const outer = std::exchange(scope, &inner);
  struct Restore {
    Scope*& scope;
    Scope* outer;
    ~Restore() { scope = outer; }
  } restore{scope, outer};
  for (size_t i = 0; i < macro.names.size(); ++i) {
    const Value* given = arguments.find(i, macro.names[i]);
    Value value = given ? *given : Value();
    if (!given && macro.children[i + 1]) {
      TENON_ASSIGN_OR_RETURN(value, evaluate(*macro.children[i + 1]));
    }
    inner.variables[macro.names[i]] = std::move(value);
  }
  return capture(*macro.children[0]);
}

Result Interpreter::computeArithmetic(const Node& node) {
  TENON_ASSIGN_OR_RETURN(const Value left, evaluate(*node.children[0]));
  TENON_ASSIGN_OR_RETURN(const Value right, evaluate(*node.children[1]));
  return calculate(node.text, left, right, budget);
}

Result Interpreter::computeCompare(const Node& node) {
  TENON_ASSIGN_OR_RETURN(Value left, evaluate(*node.children[0]));
  for (size_t i = 0; i < node.names.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Value right, evaluate(*node.children[i + 1]));
    TENON_ASSIGN_OR_RETURN(const bool holds, compare(node.names[i], left, right, budget));
    if (!holds)
      return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

} // namespace

absl::StatusOr<std::string> renderTemplate(const Node& root, const Dict& variables, int64_t now) {
  return Interpreter(now).render(root, variables);
}

} // namespace tenon::runtime::jinja
