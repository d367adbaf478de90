#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "runtime/text/jinja/Parser.h"

namespace tenon::runtime::jinja {

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
  const ParserLevel counted(level);
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
  const ParserLevel counted(level);
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
  const ParserLevel counted(level);
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

} // namespace tenon::runtime::jinja
