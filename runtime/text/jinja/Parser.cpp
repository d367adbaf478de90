#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "runtime/text/jinja/Lexer.h"
#include "runtime/text/jinja/Node.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {
namespace {

using NodePtr = std::unique_ptr<Node>;
using Parsed = absl::StatusOr<NodePtr>;

/// Of nodes within each other, also in chains such as a + b + …: they are visited recursively.
constexpr int deepestNode = 200;

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

/// Counts a level while it lives.
class Level {
public:
  explicit Level(int& level) : level(level) { ++level; }
  ~Level() { --level; }

private:
  int& level;
};

absl::Status Parser::error(std::string_view expected) const {
  constexpr std::string_view names[] = {"text",     "'{{'",        "'}}'",     "'{%'",
                                        "'%}'",     "a name",      "a string", "a number",
                                        "a number", "an operator", "the end"};
  const std::string found = token().type >= TokenType::Name && token().type != TokenType::End
                                ? quoteName(token().text)
                                : std::string(names[size_t(token().type)]);
  return errorAt(token().line, absl::StrFormat("expects %s, but found %s", expected, found));
}

absl::StatusOr<std::string> Parser::readName() {
  if (token().type != TokenType::Name)
    return error("a name");
  return tokens[place++].text;
}

absl::Status Parser::addChild(Node& node, NodePtr child) const {
  if (child) {
    node.depth = std::max(node.depth, child->depth + 1);
    if (node.depth > deepestNode)
      return errorAt(
          token().line,
          absl::StrFormat("expects expressions of at most %d levels, but found more", deepestNode));
  }
  node.children.push_back(std::move(child));
  return absl::OkStatus();
}

Parsed Parser::binary(NodeKind kind, std::string op, NodePtr left, NodePtr right) const {
  NodePtr node = make(kind, std::move(op));
  TENON_RETURN_IF_ERROR(addChild(*node, std::move(left)));
  TENON_RETURN_IF_ERROR(addChild(*node, std::move(right)));
  return node;
}

Parsed Parser::parseBody(std::initializer_list<std::string_view> ends) {
  const Level counted(level);
  if (level > deepestNode)
    return errorAt(token().line,
                   absl::StrFormat("expects at most %d levels, but found more", deepestNode));
  NodePtr body = make(NodeKind::Body);
  while (token().type != TokenType::End) {
    if (token().type == TokenType::Text) {
      TENON_RETURN_IF_ERROR(addChild(*body, make(NodeKind::Text, token().text)));
      ++place;
    } else if (take(token().type == TokenType::OutputBegin)) {
      NodePtr output = make(NodeKind::Output);
      TENON_ASSIGN_OR_RETURN(NodePtr value, parseList("}}"));
      TENON_RETURN_IF_ERROR(addChild(*output, std::move(value)));
      if (!take(token().type == TokenType::OutputEnd))
        return error("'}}'");
      TENON_RETURN_IF_ERROR(addChild(*body, std::move(output)));
    } else {
      if (std::ranges::count(ends, next().text) != 0 && next().type == TokenType::Name)
        return body;
      ++place;
      TENON_ASSIGN_OR_RETURN(NodePtr statement, parseStatement());
      TENON_RETURN_IF_ERROR(addChild(*body, std::move(statement)));
    }
  }
  if (ends.size() > 0)
    return error(absl::StrFormat("'{%% %s %%}'", std::string(*(ends.end() - 1))));
  return body;
}

absl::Status Parser::endBlock(std::string_view name) {
  ++place; // the begin of the block
  TENON_RETURN_IF_ERROR(expectName(name));
  return expectBlockEnd();
}

Parsed Parser::parseStatement() {
  if (isName("if"))
    return parseIf();
  if (isName("for"))
    return parseFor();
  if (isName("set"))
    return parseSet();
  if (isName("macro"))
    return parseMacro();
  if (isName("generation"))
    return parseGeneration();
  if (isName("break") || isName("continue")) {
    NodePtr node = make(isName("break") ? NodeKind::Break : NodeKind::Continue);
    ++place;
    TENON_RETURN_IF_ERROR(expectBlockEnd());
    return node;
  }
  return error("if, for, set, macro, generation, break or continue");
}

/// Marks what a model said, for training: its body alone.
Parsed Parser::parseGeneration() {
  ++place;
  TENON_RETURN_IF_ERROR(expectBlockEnd());
  TENON_ASSIGN_OR_RETURN(NodePtr body, parseBody({"endgeneration"}));
  TENON_RETURN_IF_ERROR(endBlock("endgeneration"));
  return body;
}

Parsed Parser::parseIf() {
  NodePtr node = make(NodeKind::If);
  while (takeName("if") || takeName("elif")) {
    TENON_ASSIGN_OR_RETURN(NodePtr condition, parseList("%}"));
    TENON_RETURN_IF_ERROR(expectBlockEnd());
    TENON_ASSIGN_OR_RETURN(NodePtr body, parseBody({"elif", "else", "endif"}));
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(condition)));
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(body)));
    ++place;
  }
  if (takeName("else")) {
    TENON_RETURN_IF_ERROR(expectBlockEnd());
    TENON_ASSIGN_OR_RETURN(NodePtr body, parseBody({"endif"}));
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(body)));
    ++place;
  }
  TENON_RETURN_IF_ERROR(expectName("endif"));
  TENON_RETURN_IF_ERROR(expectBlockEnd());
  return node;
}

Parsed Parser::parseFor() {
  NodePtr node = make(NodeKind::For);
  ++place;
  do {
    TENON_ASSIGN_OR_RETURN(std::string name, readName());
    node->names.push_back(std::move(name));
  } while (takeOperator(","));
  TENON_RETURN_IF_ERROR(expectName("in"));
  TENON_ASSIGN_OR_RETURN(NodePtr list, parseOr());
  NodePtr condition, otherwise;
  if (takeName("if")) {
    TENON_ASSIGN_OR_RETURN(condition, parseExpression());
  }
  TENON_RETURN_IF_ERROR(expectBlockEnd());
  TENON_ASSIGN_OR_RETURN(NodePtr body, parseBody({"else", "endfor"}));
  ++place;
  if (takeName("else")) {
    TENON_RETURN_IF_ERROR(expectBlockEnd());
    TENON_ASSIGN_OR_RETURN(otherwise, parseBody({"endfor"}));
    ++place;
  }
  TENON_RETURN_IF_ERROR(expectName("endfor"));
  TENON_RETURN_IF_ERROR(expectBlockEnd());
  for (NodePtr* child : {&list, &condition, &body, &otherwise})
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(*child)));
  return node;
}

Parsed Parser::parseSet() {
  NodePtr node = make(NodeKind::Set);
  ++place;
  TENON_ASSIGN_OR_RETURN(std::string name, readName());
  if (takeOperator(".")) {
    node->text = std::move(name);
    TENON_ASSIGN_OR_RETURN(name, readName());
  }
  node->names.push_back(std::move(name));
  while (takeOperator(",")) {
    TENON_ASSIGN_OR_RETURN(std::string further, readName());
    node->names.push_back(std::move(further));
  }
  NodePtr value;
  if (takeOperator("=")) {
    TENON_ASSIGN_OR_RETURN(value, parseList("%}"));
    TENON_RETURN_IF_ERROR(expectBlockEnd());
  } else {
    node->kind = NodeKind::SetBody;
    TENON_RETURN_IF_ERROR(expectBlockEnd());
    TENON_ASSIGN_OR_RETURN(value, parseBody({"endset"}));
    TENON_RETURN_IF_ERROR(endBlock("endset"));
  }
  TENON_RETURN_IF_ERROR(addChild(*node, std::move(value)));
  return node;
}

Parsed Parser::parseMacro() {
  ++place;
  TENON_ASSIGN_OR_RETURN(std::string name, readName());
  NodePtr node = make(NodeKind::Macro, std::move(name));
  TENON_RETURN_IF_ERROR(expectOperator("("));
  std::vector<NodePtr> defaults;
  while (!isOperator(")")) {
    TENON_ASSIGN_OR_RETURN(std::string parameter, readName());
    node->names.push_back(std::move(parameter));
    NodePtr value;
    if (takeOperator("=")) {
      TENON_ASSIGN_OR_RETURN(value, parseExpression());
    }
    defaults.push_back(std::move(value));
    if (!takeOperator(","))
      break;
  }
  TENON_RETURN_IF_ERROR(expectOperator(")"));
  TENON_RETURN_IF_ERROR(expectBlockEnd());
  TENON_ASSIGN_OR_RETURN(NodePtr body, parseBody({"endmacro"}));
  TENON_RETURN_IF_ERROR(endBlock("endmacro"));
  TENON_RETURN_IF_ERROR(addChild(*node, std::move(body)));
  for (NodePtr& value : defaults)
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(value)));
  return node;
}

/// One expression, or several with commas between: a list.
Parsed Parser::parseList(std::string_view end) {
  TENON_ASSIGN_OR_RETURN(NodePtr first, parseExpression());
  if (!isOperator(","))
    return first;
  NodePtr list = make(NodeKind::List);
  TENON_RETURN_IF_ERROR(addChild(*list, std::move(first)));
  const auto isAtEnd = [&] {
    return isOperator(end) || token().type == TokenType::BlockEnd ||
           token().type == TokenType::OutputEnd;
  };
  while (takeOperator(",") && !isAtEnd()) {
    TENON_ASSIGN_OR_RETURN(NodePtr item, parseExpression());
    TENON_RETURN_IF_ERROR(addChild(*list, std::move(item)));
  }
  return list;
}

Parsed Parser::parseExpression() {
  const Level counted(level);
  if (level > deepestNode)
    return errorAt(token().line,
                   absl::StrFormat("expects at most %d levels, but found more", deepestNode));
  TENON_ASSIGN_OR_RETURN(NodePtr value, parseOr());
  while (isName("if")) {
    NodePtr node = make(NodeKind::Conditional);
    ++place;
    TENON_ASSIGN_OR_RETURN(NodePtr condition, parseOr());
    NodePtr otherwise;
    if (takeName("else")) {
      TENON_ASSIGN_OR_RETURN(otherwise, parseExpression());
    }
    for (NodePtr* child : {&condition, &value, &otherwise})
      TENON_RETURN_IF_ERROR(addChild(*node, std::move(*child)));
    value = std::move(node);
  }
  return value;
}

Parsed Parser::parseOr() {
  TENON_ASSIGN_OR_RETURN(NodePtr left, parseAnd());
  while (takeName("or")) {
    TENON_ASSIGN_OR_RETURN(NodePtr right, parseAnd());
    TENON_ASSIGN_OR_RETURN(left, binary(NodeKind::Or, "or", std::move(left), std::move(right)));
  }
  return left;
}

Parsed Parser::parseAnd() {
  TENON_ASSIGN_OR_RETURN(NodePtr left, parseNot());
  while (takeName("and")) {
    TENON_ASSIGN_OR_RETURN(NodePtr right, parseNot());
    TENON_ASSIGN_OR_RETURN(left, binary(NodeKind::And, "and", std::move(left), std::move(right)));
  }
  return left;
}

Parsed Parser::parseNot() {
  if (!isName("not"))
    return parseCompare();
  const Level counted(level);
  if (level > deepestNode)
    return errorAt(token().line,
                   absl::StrFormat("expects at most %d levels, but found more", deepestNode));
  NodePtr node = make(NodeKind::Not);
  ++place;
  TENON_ASSIGN_OR_RETURN(NodePtr of, parseNot());
  TENON_RETURN_IF_ERROR(addChild(*node, std::move(of)));
  return node;
}

Parsed Parser::parseCompare() {
  TENON_ASSIGN_OR_RETURN(NodePtr left, parseSum());
  NodePtr node;
  while (true) {
    std::string op;
    for (std::string_view known : {"==", "!=", "<=", ">=", "<", ">"})
      if (isOperator(known))
        op = known;
    if (isName("in"))
      op = "in";
    if (isName("not") && next().type == TokenType::Name && next().text == "in") {
      op = "not in";
      ++place;
    }
    if (op.empty())
      break;
    ++place;
    if (!node) {
      node = make(NodeKind::Compare);
      TENON_RETURN_IF_ERROR(addChild(*node, std::move(left)));
    }
    node->names.push_back(std::move(op));
    TENON_ASSIGN_OR_RETURN(NodePtr right, parseSum());
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(right)));
  }
  return node ? std::move(node) : std::move(left);
}

Parsed Parser::parseSum() {
  TENON_ASSIGN_OR_RETURN(NodePtr left, parseConcat());
  while (isOperator("+") || isOperator("-")) {
    std::string op = tokens[place++].text;
    TENON_ASSIGN_OR_RETURN(NodePtr right, parseConcat());
    TENON_ASSIGN_OR_RETURN(
        left, binary(NodeKind::Arithmetic, std::move(op), std::move(left), std::move(right)));
  }
  return left;
}

Parsed Parser::parseConcat() {
  TENON_ASSIGN_OR_RETURN(NodePtr left, parseProduct());
  while (takeOperator("~")) {
    TENON_ASSIGN_OR_RETURN(NodePtr right, parseProduct());
    TENON_ASSIGN_OR_RETURN(left,
                           binary(NodeKind::Arithmetic, "~", std::move(left), std::move(right)));
  }
  return left;
}

Parsed Parser::parseProduct() {
  TENON_ASSIGN_OR_RETURN(NodePtr left, parseUnary());
  while (isOperator("*") || isOperator("/") || isOperator("//") || isOperator("%")) {
    std::string op = tokens[place++].text;
    TENON_ASSIGN_OR_RETURN(NodePtr right, parseUnary());
    TENON_ASSIGN_OR_RETURN(
        left, binary(NodeKind::Arithmetic, std::move(op), std::move(left), std::move(right)));
  }
  return left;
}

Parsed Parser::parseUnary(bool takesFilters) {
  const Level counted(level);
  if (level > deepestNode)
    return errorAt(token().line,
                   absl::StrFormat("expects at most %d levels, but found more", deepestNode));
  if (takeOperator("+"))
    return parseUnary(takesFilters);
  if (!isOperator("-"))
    return parsePower(takesFilters);
  NodePtr node = make(NodeKind::Negate);
  ++place;
  TENON_ASSIGN_OR_RETURN(NodePtr of, parseUnary(/*takesFilters=*/false));
  TENON_RETURN_IF_ERROR(addChild(*node, std::move(of)));
  return takesFilters ? parseFilters(std::move(node)) : std::move(node);
}

Parsed Parser::parsePower(bool takesFilters) {
  TENON_ASSIGN_OR_RETURN(NodePtr left, parsePrimary());
  TENON_ASSIGN_OR_RETURN(left, parsePostfix(std::move(left)));
  if (takeOperator("**")) {
    TENON_ASSIGN_OR_RETURN(NodePtr right, parseUnary(/*takesFilters=*/false));
    TENON_ASSIGN_OR_RETURN(left,
                           binary(NodeKind::Arithmetic, "**", std::move(left), std::move(right)));
  }
  return takesFilters ? parseFilters(std::move(left)) : std::move(left);
}

Parsed Parser::parsePrimary() {
  NodePtr node = make(NodeKind::Literal);
  const Token& given = token();
  if (given.type == TokenType::Name) {
    ++place;
    if (given.text == "true" || given.text == "True" || given.text == "false" ||
        given.text == "False") {
      node->value = Value(given.text == "true" || given.text == "True");
    } else if (given.text == "none" || given.text == "None") {
      node->value = Value(None());
    } else {
      node->kind = NodeKind::Name;
      node->text = given.text;
    }
    return node;
  }
  if (given.type == TokenType::String) {
    std::string text;
    while (token().type == TokenType::String) // strings after one another are one
      text += tokens[place++].text;
    node->value = Value(std::move(text));
    return node;
  }
  if (given.type == TokenType::Integer || given.type == TokenType::Float) {
    int64_t integer = 0;
    double number = 0;
    if (given.type == TokenType::Integer && absl::SimpleAtoi(given.text, &integer))
      node->value = Value(integer);
    else if (absl::SimpleAtod(given.text, &number))
      node->value = Value(number);
    ++place;
    return node;
  }
  if (takeOperator("(")) {
    if (takeOperator(")")) {
      node->kind = NodeKind::List;
      return node;
    }
    TENON_ASSIGN_OR_RETURN(node, parseList(")"));
    TENON_RETURN_IF_ERROR(expectOperator(")"));
    return node;
  }
  if (takeOperator("[")) {
    node->kind = NodeKind::List;
    while (!isOperator("]")) {
      TENON_ASSIGN_OR_RETURN(NodePtr item, parseExpression());
      TENON_RETURN_IF_ERROR(addChild(*node, std::move(item)));
      if (!takeOperator(","))
        break;
    }
    TENON_RETURN_IF_ERROR(expectOperator("]"));
    return node;
  }
  if (takeOperator("{"))
    return parseDict();
  return error("a value");
}

Parsed Parser::parseDict() {
  NodePtr node = make(NodeKind::Dict);
  while (!isOperator("}")) {
    TENON_ASSIGN_OR_RETURN(NodePtr key, parseExpression());
    TENON_RETURN_IF_ERROR(expectOperator(":"));
    TENON_ASSIGN_OR_RETURN(NodePtr value, parseExpression());
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(key)));
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(value)));
    if (!takeOperator(","))
      break;
  }
  TENON_RETURN_IF_ERROR(expectOperator("}"));
  return node;
}

Parsed Parser::parsePostfix(NodePtr of) {
  while (true) {
    if (takeOperator(".")) {
      NodePtr node = make(NodeKind::Attribute);
      TENON_ASSIGN_OR_RETURN(node->text, readName());
      TENON_RETURN_IF_ERROR(addChild(*node, std::move(of)));
      of = std::move(node);
    } else if (takeOperator("[")) {
      TENON_ASSIGN_OR_RETURN(of, parseSubscript(std::move(of)));
    } else if (isOperator("(")) {
      NodePtr node = make(NodeKind::Call);
      TENON_RETURN_IF_ERROR(addChild(*node, std::move(of)));
      TENON_RETURN_IF_ERROR(parseArguments(*node));
      of = std::move(node);
    } else {
      return of;
    }
  }
}

Parsed Parser::parseSubscript(NodePtr of) {
  NodePtr node = make(NodeKind::Slice);
  TENON_RETURN_IF_ERROR(addChild(*node, std::move(of)));
  bool isSlice = false;
  NodePtr part;
  while (!isOperator("]")) {
    if (takeOperator(":")) {
      isSlice = true;
      TENON_RETURN_IF_ERROR(addChild(*node, std::move(part)));
      part = nullptr;
    } else {
      if (part)
        return error("']'");
      TENON_ASSIGN_OR_RETURN(part, parseExpression());
    }
  }
  ++place;
  TENON_RETURN_IF_ERROR(addChild(*node, std::move(part)));
  if (!isSlice)
    node->kind = NodeKind::Index;
  if (node->children.size() > 4 || (!isSlice && !node->children[1]))
    return error("an index or a slice");
  node->children.resize(isSlice ? 4 : 2);
  return node;
}

/// Filters and tests after a value.
Parsed Parser::parseFilters(NodePtr of) {
  while (isOperator("|") || isName("is")) {
    const bool isTest = isName("is");
    ++place;
    const bool isNegated = isTest && takeName("not");
    NodePtr node = make(isTest ? NodeKind::Test : NodeKind::Filter);
    TENON_ASSIGN_OR_RETURN(node->text, readName());
    TENON_RETURN_IF_ERROR(addChild(*node, std::move(of)));
    if (isOperator("(")) {
      TENON_RETURN_IF_ERROR(parseArguments(*node));
    } else if (isTest && (token().type == TokenType::String || token().type == TokenType::Integer ||
                          token().type == TokenType::Float || isOperator("[") ||
                          (token().type == TokenType::Name && !isName("and") && !isName("or") &&
                           !isName("else") && !isName("if") && !isName("is") && !isName("in") &&
                           !isName("not")))) {
      TENON_ASSIGN_OR_RETURN(NodePtr argument, parsePrimary());
      TENON_ASSIGN_OR_RETURN(argument, parsePostfix(std::move(argument)));
      TENON_RETURN_IF_ERROR(addChild(*node, std::move(argument)));
      node->names.emplace_back();
    }
    if (isNegated) {
      NodePtr negation = make(NodeKind::Not);
      TENON_RETURN_IF_ERROR(addChild(*negation, std::move(node)));
      node = std::move(negation);
    }
    of = std::move(node);
  }
  return of;
}

absl::Status Parser::parseArguments(Node& call) {
  TENON_RETURN_IF_ERROR(expectOperator("("));
  while (!isOperator(")")) {
    std::string name;
    if (token().type == TokenType::Name && next().type == TokenType::Operator &&
        next().text == "=") {
      name = token().text;
      place += 2;
    } else if (!call.names.empty() && !call.names.back().empty()) {
      return error("an argument with a name");
    }
    TENON_ASSIGN_OR_RETURN(NodePtr argument, parseExpression());
    call.names.push_back(std::move(name));
    TENON_RETURN_IF_ERROR(addChild(call, std::move(argument)));
    if (!takeOperator(","))
      break;
  }
  return expectOperator(")");
}

} // namespace

absl::StatusOr<std::unique_ptr<Node>> parseTemplate(std::string_view source) {
  TENON_ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(source));
  return Parser(std::move(tokens)).parse();
}

} // namespace tenon::runtime::jinja
