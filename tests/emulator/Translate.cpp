#include "Translate.h"

#include <regex>
#include <vector>

namespace tenon::emulator {

namespace {

/// The index after the parenthesis that closes the one at `open`.
size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = open; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

/// The contents of the string literals at the front of `text`, which are taken off.
std::string takeLiterals(std::string_view& text) {
  std::string literal;
  while (true) {
    size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos || text[begin] != '"')
      return literal;
    size_t i = begin + 1;
    for (; text[i] != '"'; ++i)
      literal += text[i] == '\\' ? (++i, '\n') : text[i];
    text.remove_prefix(i + 1);
  }
}

/// The expressions of `"=r"(a), "r"(b)`.
void takeOperands(std::string_view& text, std::vector<std::string>& operands) {
  while (true) {
    size_t at = text.find_first_not_of(" \n,");
    if (at == std::string_view::npos || text[at] == ':')
      return text.remove_prefix(at == std::string_view::npos ? text.size() : at);
    text.remove_prefix(at);
    takeLiterals(text);
    size_t open = text.find_first_not_of(" \n");
    if (open == std::string_view::npos || text[open] != '(')
      return;
    size_t end = closing(text, open);
    operands.emplace_back(text.substr(open, end - open));
    text.remove_prefix(end);
  }
}

/// The first instruction of an asm template: after braces, declarations, labels and predicates.
std::string_view firstInstruction(std::string_view text) {
  while (true) {
    size_t begin = text.find_first_not_of(" \n{");
    if (begin == std::string_view::npos)
      return "";
    text.remove_prefix(begin);
    std::string_view line = text.substr(0, text.find_first_of(";\n"));
    if (line.front() != '.' && line.back() != ':' && !line.starts_with("setp."))
      return line;
    text.remove_prefix(line.size() + 1);
  }
}

std::string translateAsm(std::string_view statement) {
  std::string text = takeLiterals(statement);
  std::vector<std::string> operands;
  for (int list = 0; list < 2; ++list) { // outputs, inputs
    size_t colon = statement.find_first_not_of(" \n");
    if (colon == std::string_view::npos || statement[colon] != ':')
      break;
    statement.remove_prefix(colon + 1);
    takeOperands(statement, operands);
  }
  std::string_view instruction = firstInstruction(text);
  std::string name(instruction.substr(0, instruction.find(' ')));
  std::string_view rest = instruction.substr(name.size());
  if (operands.empty() && rest.find_first_of("0123456789") != std::string_view::npos)
    operands.emplace_back(rest);
  std::string call = "asm_";
  for (char c : name)
    call += isalnum(static_cast<unsigned char>(c)) ? c : '_';
  call += "(";
  for (size_t i = 0; i < operands.size(); ++i)
    call += (i == 0 ? "" : ", ") + operands[i];
  return call + ")";
}

std::string translateAllAsm(std::string_view source) {
  static const std::regex start(R"(\basm\s*(volatile)?\s*\()");
  std::string result;
  std::cmatch match;
  while (std::regex_search(source.data(), source.data() + source.size(), match, start)) {
    size_t begin = match.position(), open = begin + match.length() - 1;
    size_t end = closing(source, open);
    result += source.substr(0, begin);
    result += translateAsm(source.substr(open + 1, end - open - 2));
    source.remove_prefix(end);
  }
  return result.append(source);
}

std::string translateShared(const std::string& source) {
  static const std::regex dynamic(
      R"(extern __shared__ (?:__align__\(\d+\) )?unsigned char (\w+)\[\];)");
  static const std::regex fixed(
      R"(__shared__ (?:(?:__align__|alignas)\(\d+\) )?([\w:<>, ]+?) (\w+)((?:\[[^\]]+\])*);)");
  std::string text =
      std::regex_replace(source, dynamic, "unsigned char* const $1 = emulatedDynamic();");
  return std::regex_replace(text, fixed,
                            "auto& $2 = emulated::sharedVariable<$1$3, decltype([] {})>();");
}

std::string describeKernels(const std::string& source) {
  static const std::regex kernel(
      R"(__global__ void __launch_bounds__\((\d+)[^)]*\)\s*(?:__cluster_dims__\((\d+)[^)]*\)\s*)?(\w+)\()");
  std::string text;
  for (std::sregex_iterator i(source.begin(), source.end(), kernel), end; i != end; ++i) {
    std::string cluster = (*i)[2].matched ? (*i)[2].str() : "1", name = (*i)[3];
    text += "extern \"C\" const EmulatedKernel emulated_kernel_" + name +
            ";\nconst EmulatedKernel emulated_kernel_" + name + " = emulated::describe<&" + name +
            ">(" + (*i)[1].str() + ", " + cluster + ");\n";
  }
  return text;
}

} // namespace

std::string translate(std::string_view source) {
  std::string text = translateShared(translateAllAsm(source));
  return text + "\n" + describeKernels(text);
}

} // namespace tenon::emulator
