#ifndef TENON_RUNTIME_TEXT_JINJA_PARSER_H
#define TENON_RUNTIME_TEXT_JINJA_PARSER_H

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/text/jinja/Lexer.h"
#include "runtime/text/jinja/Node.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {

using NodePtr = std::unique_ptr<Node>;
using Parsed = absl::StatusOr<NodePtr>;

/// Of nodes within each other, also in chains such as a + b + …: they are visited recursively.
inline constexpr int deepestNode = 200;

/// Counts a level while it lives.
class ParserLevel {
public:
  explicit ParserLevel(int& level) : level(level) { ++level; }
  ~ParserLevel() { --level; }

private:
  int& level;
};

/// Reads tokens by recursive descent, a function for each statement (Parser.cpp) and each level of
/// precedence (Expressions.cpp).
class Parser {
public:
  explicit Parser(std::vector<Token> tokens) : tokens(std::move(tokens)) {}

  Parsed parse() {
    TENON_ASSIGN_OR_RETURN(NodePtr body, parseBody({}));
    return body;
  }

private:
  const Token& token() const { return tokens[place]; }
  const Token& next() const { return tokens[std::min(place + 1, tokens.size() - 1)]; }
  bool isOperator(std::string_view text) const {
    return token().type == TokenType::Operator && token().text == text;
  }
  bool isName(std::string_view text) const {
    return token().type == TokenType::Name && token().text == text;
  }
  bool takeOperator(std::string_view text) { return take(isOperator(text)); }
  bool takeName(std::string_view text) { return take(isName(text)); }
  bool take(bool fits) {
    place += fits;
    return fits;
  }
  absl::Status error(std::string_view expected) const;
  absl::Status expectOperator(std::string_view text) {
    return takeOperator(text) ? absl::OkStatus() : error(quoteName(text));
  }
  absl::Status expectName(std::string_view text) {
    return takeName(text) ? absl::OkStatus() : error(quoteName(text));
  }
  absl::Status expectBlockEnd() {
    return take(token().type == TokenType::BlockEnd) ? absl::OkStatus() : error("'%}'");
  }
  absl::StatusOr<std::string> readName();

  NodePtr make(NodeKind kind, std::string text = "") const {
    auto node = std::make_unique<Node>(Node{kind, token().line});
    node->text = std::move(text);
    return node;
  }
  /// Adds a child, which may be null.
  absl::Status addChild(Node& node, NodePtr child) const;
  absl::StatusOr<NodePtr> binary(NodeKind kind, std::string op, NodePtr left, NodePtr right) const;

  /// Statements up to `{%` and one of the names, which is left to be read.
  Parsed parseBody(std::initializer_list<std::string_view> ends);
  Parsed parseStatement();
  Parsed parseIf();
  Parsed parseFor();
  Parsed parseSet();
  Parsed parseMacro();
  Parsed parseGeneration();
  absl::Status endBlock(std::string_view name);

  /// A function that parses one level of precedence enters through here.
  Parsed parseExpression();
  Parsed parseList(std::string_view end);
  Parsed parseOr();
  Parsed parseAnd();
  Parsed parseNot();
  Parsed parseCompare();
  Parsed parseSum();
  Parsed parseConcat();
  Parsed parseProduct();
  Parsed parseUnary(bool takesFilters = true);
  Parsed parsePower(bool takesFilters);
  Parsed parsePrimary();
  Parsed parsePostfix(NodePtr of);
  Parsed parseFilters(NodePtr of);
  Parsed parseSubscript(NodePtr of);
  Parsed parseDict();
  absl::Status parseArguments(Node& call);

  std::vector<Token> tokens;
  size_t place = 0;
  int level = 0; ///< of expressions and statements that are being read
};

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_PARSER_H
