#include "frontends/text/TextFrontend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::frontends {
namespace {

using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::tenon::tests::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;

/// `text` after one another, `count` times.
std::string repeat(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

class TextFrontendTest : public ::testing::Test {
protected:
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> parse(std::string_view text) {
    return parseModuleText(context, text, "t.mlir");
  }
  mlir::MLIRContext context;
};

constexpr std::string_view silu = R"(func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = tenon.silu %x : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
)";

TEST_F(TextFrontendTest, ReadsAFunctionAsAModuleInPhaseInput) {
  auto module = parse(silu);
  ASSERT_THAT(module, IsOk());
  EXPECT_TRUE((*module)->lookupSymbol<mlir::func::FuncOp>("f"));
  auto phase = (**module)->getAttrOfType<PhaseAttr>(TenonDialect::phaseAttrName);
  ASSERT_TRUE(phase);
  EXPECT_EQ(phase.getValue(), Phase::Input);
}

TEST_F(TextFrontendTest, KeepsThePhaseThatIsStated) {
  auto module = parse("module attributes {tenon.phase = #tenon.phase<planned>} {}");
  ASSERT_THAT(module, IsOk());
  auto phase = (**module)->getAttrOfType<PhaseAttr>(TenonDialect::phaseAttrName);
  EXPECT_EQ(phase.getValue(), Phase::Planned);
}

TEST_F(TextFrontendTest, ReadsAFile) {
  TempFolder folder;
  EXPECT_THAT(parseModuleFile(context, folder.write("f.mlir", silu)), IsOk());
  // A whole page: the byte after the text is not mapped.
  std::string page(silu);
  page += "//" + std::string(4096 - page.size() - 2, 'x');
  EXPECT_THAT(parseModuleFile(context, folder.write("page.mlir", page)), IsOk());
}

TEST_F(TextFrontendTest, AMissingFile) {
  EXPECT_THAT(parseModuleFile(context, "/nowhere/g.mlir"),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("/nowhere/g.mlir")));
}

TEST_F(TextFrontendTest, ASyntaxErrorHasItsPlace) {
  EXPECT_THAT(parse("module {\n  func.func @f( {\n}"), FailsWith(invalid, StartsWith("t.mlir:2:")));
}

TEST_F(TextFrontendTest, AVerifierErrorHasItsPlaceAndNotTheOperation) {
  EXPECT_THAT(parse("func.func @f(%x: tensor<2xf32>) {\n"
                    "  %y = tenon.silu %x : (tensor<2xf32>) -> tensor<3xf32>\n  return\n}"),
              FailsWith(invalid, AllOf(StartsWith("t.mlir:2:8: 'tenon.silu' op"),
                                       Not(HasSubstr("see current operation")))));
}

TEST_F(TextFrontendTest, AnOperationOfAnUnknownDialect) {
  EXPECT_THAT(parse("func.func @f() {\n  \"evil.op\"() : () -> ()\n  return\n}"),
              FailsWith(invalid, AllOf(StartsWith("t.mlir:2:12"), HasSubstr("unregistered"))));
}

TEST_F(TextFrontendTest, AnOperationThatOnlyTheContextKnows) {
  context.loadDialect<mlir::arith::ArithDialect>();
  EXPECT_THAT(parse("func.func @f() {\n  %c = arith.constant 1 : i32\n  return\n}"),
              FailsWith(invalid, AllOf(StartsWith("t.mlir:2:8"),
                                       HasSubstr("expects operations of builtin, func and tenon, "
                                                 "but got 'arith.constant'"))));
  context.allowUnregisteredDialects();
  EXPECT_THAT(parse("\"evil.op\"() : () -> ()"),
              FailsWith(invalid, HasSubstr("but got 'evil.op'")));
}

TEST_F(TextFrontendTest, TypesAndAttributesThatOnlyTheContextKnows) {
  context.loadDialect<mlir::arith::ArithDialect>();
  EXPECT_THAT(parse("func.func @f() attributes {a = [#arith.fastmath<fast>]} { return }"),
              FailsWith(invalid, AllOf(StartsWith("t.mlir:1:1"),
                                       HasSubstr("expects attributes of builtin and tenon, but "
                                                 "got #arith.fastmath<fast>"))));
  context.allowUnregisteredDialects();
  auto refusesType =
      FailsWith(invalid, HasSubstr("expects types of builtin and tenon, but got '!evil.t'"));
  EXPECT_THAT(parse("func.func @f(%x: !evil.t) { return }"), refusesType);
  EXPECT_THAT(parse("func.func private @g() -> tuple<!evil.t>"), refusesType);
  EXPECT_THAT(parse("func.func @f() attributes {a = #evil.a} { return }"),
              FailsWith(invalid, HasSubstr("but got #evil.a")));
}

TEST_F(TextFrontendTest, Bytecode) {
  EXPECT_THAT(parse("ML\xEFR\x06"), FailsWith(invalid, HasSubstr("t.mlir: expects textual IR")));
}

TEST_F(TextFrontendTest, TooManyBytes) {
  std::string text(maxTextBytes + 1, ' ');
  EXPECT_THAT(parse(text), FailsWith(invalid, HasSubstr("at most 67108864 bytes")));
}

struct DeepCase {
  const char* name;
  std::string text;
};

class NestingTest : public ::testing::TestWithParam<DeepCase> {};

/// Deep enough to overflow the stack of MLIR's parser.
constexpr int deep = 200000;

std::string aliasChain(int length) {
  std::string text = "!t0 = tuple<i32>\n";
  for (int i = 0; i < length; ++i) {
    std::string last = std::to_string(i);
    text += "!t" + std::to_string(i + 1) + " = tuple\n<!t" + last + ">\n";
  }
  return text;
}

TEST_P(NestingTest, IsRefused) {
  mlir::MLIRContext context;
  EXPECT_THAT(parseModuleText(context, GetParam().text, "deep.mlir"),
              FailsWith(invalid, AllOf(StartsWith("deep.mlir:"),
                                       HasSubstr("expects brackets nested at most 64 deep"))));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, NestingTest,
    ::testing::Values(
        DeepCase{"Regions", "func.func @f() " + repeat("{", deep)},
        DeepCase{"Modules", repeat("module {", deep) + repeat("}", deep)},
        DeepCase{"Arrays", "module attributes {tenon.a = " + repeat("[", deep)},
        DeepCase{"Parentheses", "func.func private @f(%x: " + repeat("() -> (", deep)},
        DeepCase{"AngleBrackets", "func.func private @f(%x: " + repeat("tuple<", deep)},
        DeepCase{"Locations", "module {} loc(" + repeat("callsite(", deep)},
        DeepCase{"Mixed", "module attributes {a = " + repeat("[{b = ", deep)},
        DeepCase{"UnmatchedClosers", repeat("module { >", deep)},
        DeepCase{"ClosersInComments", "func.func private @f(%x: " + repeat("tuple<//>\n", deep)},
        DeepCase{"ClosersInStrings", "module attributes {a = " + repeat("[\"]\", ", deep)},
        DeepCase{"OpenersBehindAnAttributesSlashes", "#a = #x.y<//>" + repeat("[", deep)},
        DeepCase{"AliasesOfTypes", aliasChain(deep) + "func.func private @f(!t200000)"},
        DeepCase{"BehindAnEscapedQuote",
                 "module attributes {a = \"\\\"\", b = " + repeat("[", deep)}),
    [](const auto& info) { return info.param.name; });

TEST_F(TextFrontendTest, TheLimitItself) {
  // The module's braces are the first level.
  EXPECT_THAT(parse("module attributes {tenon.x = " + repeat("[", 63) + repeat("]", 63) + "} {}"),
              FailsWith(invalid, HasSubstr("unknown attribute of the dialect")));
  EXPECT_THAT(parse("module attributes {tenon.x = " + repeat("[", 64) + repeat("]", 64) + "} {}"),
              FailsWith(invalid, AllOf(StartsWith("t.mlir:1:94: "), HasSubstr("at most 64"))));
}

TEST_F(TextFrontendTest, BracketsInStringsAndCommentsDoNotCount) {
  std::string text = "// " + repeat("[", 100) + "\nmodule @\"" + repeat("(", 100) + "\\\"<\" {}";
  EXPECT_THAT(parse(text), IsOk());
}

TEST_F(TextFrontendTest, ArrowsCloseNothingAndManySiblingsAreFine) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    std::string function(silu);
    text += function.replace(function.find("@f"), 2, "@f" + std::to_string(i));
  }
  EXPECT_THAT(parse(text), IsOk());
}

/// Locations printed with debug information are aliases after the module; attribute aliases stand
/// before it and are used deep inside.
TEST_F(TextFrontendTest, AliasesAsMlirPrintsThem) {
  std::string text = "#order = #tenon.order<chunk = 0, lanes = 16, tree = halving>\n"
                     "func.func @f(%x: tensor<2xf32>) -> tensor<1xf32> {\n";
  for (int i = 0; i < 100; ++i)
    text += "  %y" + std::to_string(i) +
            " = tenon.reduce sum %x order #order : (tensor<2xf32>) -> tensor<1xf32> loc(#loc1)\n";
  text += "  return %y0 : tensor<1xf32>\n} loc(#loc)\n"
          "#loc = loc(\"f\")\n#loc1 = loc(\"f.sum\"(#loc))\n";
  EXPECT_THAT(parse(text), IsOk());
}

TEST_F(TextFrontendTest, AffineMaps) {
  EXPECT_THAT(
      parse("module attributes {tenon.a =\n affine_map<(d0) -> (" + repeat("-", deep) + "d0)>} {}"),
      FailsWith(invalid, HasSubstr("t.mlir:2:2: 'affine_map' is no part of this IR")));
  EXPECT_THAT(parse("module attributes {tenon.a = affine_set<(d0) : (d0 >= 0)>} {}"),
              FailsWith(invalid, HasSubstr("'affine_set' is no part of this IR")));
}

/// A text with all token kinds, cut anywhere inside its module, is refused where it ends; what stands
/// before the module is a whole text by itself.
TEST_F(TextFrontendTest, RefusesTruncation) {
  std::string head = "#a = #tenon.phase<input>\n// c \"(\n";
  std::string text =
      head + "module attributes {tenon.phase = #a, func.b = \"s\\\"\", func.c = [1 : i32]} {\n" +
      std::string(silu) + "}";
  EXPECT_THAT(parse(text), IsOk());
  EXPECT_THAT(parse(head), IsOk());
  for (size_t size = head.size() + 1; size < text.size(); ++size) {
    SCOPED_TRACE(text.substr(0, size));
    EXPECT_THAT(parse(text.substr(0, size)), FailsWith(invalid, StartsWith("t.mlir:")));
  }
}

} // namespace
} // namespace tenon::frontends
