#ifndef TENON_RUNTIME_TEXT_JINJA_NODE_H
#define TENON_RUNTIME_TEXT_JINJA_NODE_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/text/jinja/Value.h"

namespace tenon::runtime::jinja {

/// What a part of a template does, with what `Node` holds for it.
enum class NodeKind : uint8_t {
  // Expressions.
  Literal,     ///< value
  Name,        ///< text
  List,        ///< children
  Dict,        ///< children: key, value, key, value, …
  Attribute,   ///< of children[0], text
  Index,       ///< children: of what, which
  Slice,       ///< children: of what, begin, end, step; those that are not given are null
  Call,        ///< children: what, arguments; names
  Filter,      ///< text; children: of what, arguments; names
  Test,        ///< text; children: of what, arguments; names
  Not,         ///< children[0]
  Negate,      ///< children[0]
  And,         ///< children
  Or,          ///< children
  Arithmetic,  ///< text: the operator; children[0], children[1]
  Compare,     ///< children; names: the operators between them
  Conditional, ///< children: condition, value, other value or null
  // Statements.
  Body,    ///< children
  Text,    ///< text
  Output,  ///< children[0]
  If,      ///< children: condition, body, condition, body, …, body of else
  For,     ///< names: the variables; children: list, condition or null, body, body of else or null
  Set,     ///< names: the variables, or text: a namespace and names[0] its member; children[0]
  SetBody, ///< the same with a body, whose text it is
  Macro,   ///< text; names: the parameters; children: body, defaults of the parameters or null
  Break,
  Continue,
};

struct Node {
  NodeKind kind;
  size_t line = 0;
  std::string text = {};
  Value value = {};
  std::vector<std::unique_ptr<Node>> children = {};
  /// Of a call: for each argument its name, or an empty one.
  std::vector<std::string> names = {};
  int depth = 1; ///< of nodes within each other
};

/// Reads a template. InvalidArgument names the line, what was expected and what was found.
absl::StatusOr<std::unique_ptr<Node>> parseTemplate(std::string_view source);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_NODE_H
