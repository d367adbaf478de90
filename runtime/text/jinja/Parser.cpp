#include "runtime/text/jinja/Parser.h"

#include "absl/strings/str_format.h"

namespace tenon::runtime::jinja {

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
  const ParserLevel counted(level);
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

absl::StatusOr<std::unique_ptr<Node>> parseTemplate(std::string_view source) {
  TENON_ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(source));
  return Parser(std::move(tokens)).parse();
}

} // namespace tenon::runtime::jinja
