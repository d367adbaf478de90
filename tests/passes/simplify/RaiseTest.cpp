// What is raised means the same to the interpreter, and what only looks like it stays as it is.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "frontends/text/TextFrontend.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Pipeline.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::passes {
namespace {

using namespace mlir;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;
using ::testing::UnorderedElementsAreArray;
using tests::IsOk;

/// Operations on tensor<5x8xf32> %x, with %w and %b of its 8 columns; %y is the result.
std::string rows(const std::string& body) {
  std::string text = body;
  // `t`, `c` and `s` stand for types: of x, of a column of it, of one number.
  for (auto [letter, type] :
       {std::pair(" t", " tensor<5x8xf32>"), {" c", " tensor<5x1xf32>"}, {" s", " tensor<1xf32>"}})
    for (size_t at = 0; (at = text.find(letter, at)) != std::string::npos;) {
      char next = at + 2 < text.size() ? text[at + 2] : '\n';
      if (next == ',' || next == ')' || next == '\n' || next == ' ')
        text.replace(at, 2, type), at += std::string(type).size();
      else
        ++at;
    }
  return "func.func @f(%x: tensor<5x8xf32>, %u: tensor<5x8xf32>, %w: tensor<8xf32>, %b: "
         "tensor<8xf32>) -> tensor<5x8xf32> {\n"
         "%half = tenon.constant dense<0.5> : tensor<1xf32> : tensor<1xf32>\n"
         "%one = tenon.constant dense<1.0> : tensor<1xf32> : tensor<1xf32>\n"
         "%zero = tenon.constant dense<0.0> : tensor<1xf32> : tensor<1xf32>\n"
         "%eps = tenon.constant dense<1.0e-5> : tensor<1xf32> : tensor<1xf32>\n" +
         text + "\nreturn %y : tensor<5x8xf32>\n}\n";
}

const std::string squares = R"(
%q = tenon.square %x : ( t) -> t
%m = tenon.reduce mean %q : ( t) -> c
%e = tenon.add %m, %eps : ( c, s) -> c
)";
const std::string centred = R"(
%m = tenon.reduce mean %x : ( t) -> c
%c = tenon.sub %x, %m : ( t, c) -> t
)";
const std::string variance = R"(
%q = tenon.mul %c, %c : ( t, t) -> t
%v = tenon.reduce mean %q : ( t) -> c
%e = tenon.add %eps, %v : ( s, c) -> c
)";

struct Case {
  std::string name, text;
  std::vector<std::string> operations; ///< of the raised function, in any order, without constants
  double tolerance = 1e-5;

  friend void PrintTo(const Case& printed, std::ostream* out) { *out << printed.name; }
};

std::string attention(int heads, int keyHeads, const std::string& between,
                      const std::string& mask = "") {
  int groups = heads / keyHeads;
  return absl::StrReplaceAll(
      R"(
func.func @f(%q: tensor<3x{HD}xf32>, %k: tensor<7x{KD}xf32>, %v: tensor<7x{KV}xf32>)
    -> tensor<3x{HV}xf32> {
  {mask}
  %q0 = tenon.reshape %q to [3, {K}, {GD}] : (tensor<3x{HD}xf32>) -> tensor<3x{K}x{GD}xf32>
  %q1 = tenon.transpose %q0 by [1, 0, 2] : (tensor<3x{K}x{GD}xf32>) -> tensor<{K}x3x{GD}xf32>
  %q2 = tenon.reshape %q1 to [{K}, {R}, 8] : (tensor<{K}x3x{GD}xf32>) -> tensor<{K}x{R}x8xf32>
  %k0 = tenon.reshape %k to [7, {K}, 8] : (tensor<7x{KD}xf32>) -> tensor<7x{K}x8xf32>
  %k1 = tenon.transpose %k0 by [1, 0, 2] : (tensor<7x{K}x8xf32>) -> tensor<{K}x7x8xf32>
  %v0 = tenon.reshape %v to [7, {K}, 4] : (tensor<7x{KV}xf32>) -> tensor<7x{K}x4xf32>
  %v1 = tenon.transpose %v0 by [1, 2, 0] : (tensor<7x{K}x4xf32>) -> tensor<{K}x4x7xf32>
  %p = tenon.matmul %q2, %k1 : (tensor<{K}x{R}x8xf32>, tensor<{K}x7x8xf32>) -> tensor<{K}x{R}x7xf32>
  {between}
  %w = tenon.softmax %s : (tensor<{K}x{R}x7xf32>) -> tensor<{K}x{R}x7xf32>
  %o = tenon.matmul %w, %v1 : (tensor<{K}x{R}x7xf32>, tensor<{K}x4x7xf32>) -> tensor<{K}x{R}x4xf32>
  %o1 = tenon.reshape %o to [{K}, 3, {GV}] : (tensor<{K}x{R}x4xf32>) -> tensor<{K}x3x{GV}xf32>
  %o2 = tenon.transpose %o1 by [1, 0, 2] : (tensor<{K}x3x{GV}xf32>) -> tensor<3x{K}x{GV}xf32>
  %y = tenon.reshape %o2 to [3, {HV}] : (tensor<3x{K}x{GV}xf32>) -> tensor<3x{HV}xf32>
  return %y : tensor<3x{HV}xf32>
})",
      {{"{mask}", mask},
       {"{between}",
        absl::StrReplaceAll(
            between, {{"{S}", absl::StrFormat("tensor<%dx%dx7xf32>", keyHeads, 3 * groups)}})},
       {"{HD}", absl::StrCat(heads * 8)},
       {"{KD}", absl::StrCat(keyHeads * 8)},
       {"{KV}", absl::StrCat(keyHeads * 4)},
       {"{HV}", absl::StrCat(heads * 4)},
       {"{K}", absl::StrCat(keyHeads)},
       {"{GD}", absl::StrCat(groups * 8)},
       {"{GV}", absl::StrCat(groups * 4)},
       {"{R}", absl::StrCat(3 * groups)}});
}

/// The same with the softmax as a second result, of `rows` rows a head of keys.
std::string attentionWithWeights(int heads, int keyHeads, const std::string& between,
                                 const std::string& mask = "") {
  std::string type = absl::StrFormat("tensor<%dx%dx7xf32>", keyHeads, 3 * heads / keyHeads);
  std::string result = absl::StrFormat("tensor<3x%dxf32>", heads * 4);
  return absl::StrReplaceAll(
      attention(heads, keyHeads, between, mask),
      {{"-> " + result + " {", "-> (" + result + ", " + type + ") {"},
       {"return %y : " + result, "return %y, %w : " + result + ", " + type}});
}

/// Attention of two sequences, 3 rows each.
std::string attentionOfSequences(int heads, int keyHeads, const std::string& between,
                                 const std::string& mask = "") {
  int groups = heads / keyHeads;
  return absl::StrReplaceAll(
      R"(
func.func @f(%q: tensor<2x3x{HD}xf32>, %k: tensor<2x7x{KD}xf32>, %v: tensor<2x7x{KV}xf32>)
    -> tensor<2x3x{HV}xf32> {
  {mask}
  %q0 = tenon.reshape %q to [2, 3, {K}, {GD}] : (tensor<2x3x{HD}xf32>) -> tensor<2x3x{K}x{GD}xf32>
  %q1 = tenon.transpose %q0 by [0, 2, 1, 3] : (tensor<2x3x{K}x{GD}xf32>) -> tensor<2x{K}x3x{GD}xf32>
  %q2 = tenon.reshape %q1 to [2, {K}, {R}, 8] : (tensor<2x{K}x3x{GD}xf32>) -> tensor<2x{K}x{R}x8xf32>
  %k0 = tenon.reshape %k to [2, 7, {K}, 8] : (tensor<2x7x{KD}xf32>) -> tensor<2x7x{K}x8xf32>
  %k1 = tenon.transpose %k0 by [0, 2, 1, 3] : (tensor<2x7x{K}x8xf32>) -> tensor<2x{K}x7x8xf32>
  %v0 = tenon.reshape %v to [2, 7, {K}, 4] : (tensor<2x7x{KV}xf32>) -> tensor<2x7x{K}x4xf32>
  %v1 = tenon.transpose %v0 by [0, 2, 3, 1] : (tensor<2x7x{K}x4xf32>) -> tensor<2x{K}x4x7xf32>
  %p = tenon.matmul %q2, %k1 : (tensor<2x{K}x{R}x8xf32>, tensor<2x{K}x7x8xf32>) -> {S}
  {between}
  %w = tenon.softmax %s : ({S}) -> {S}
  %o = tenon.matmul %w, %v1 : ({S}, tensor<2x{K}x4x7xf32>) -> tensor<2x{K}x{R}x4xf32>
  %o1 = tenon.reshape %o to [2, {K}, 3, {GV}] : (tensor<2x{K}x{R}x4xf32>) -> tensor<2x{K}x3x{GV}xf32>
  %o2 = tenon.transpose %o1 by [0, 2, 1, 3] : (tensor<2x{K}x3x{GV}xf32>) -> tensor<2x3x{K}x{GV}xf32>
  %y = tenon.reshape %o2 to [2, 3, {HV}] : (tensor<2x3x{K}x{GV}xf32>) -> tensor<2x3x{HV}xf32>
  return %y : tensor<2x3x{HV}xf32>
})",
      {{"{mask}", mask},
       {"{between}",
        absl::StrReplaceAll(
            between, {{"{S}", absl::StrFormat("tensor<2x%dx%dx7xf32>", keyHeads, 3 * groups)}})},
       {"{S}", absl::StrFormat("tensor<2x%dx%dx7xf32>", keyHeads, 3 * groups)},
       {"{HD}", absl::StrCat(heads * 8)},
       {"{KD}", absl::StrCat(keyHeads * 8)},
       {"{KV}", absl::StrCat(keyHeads * 4)},
       {"{HV}", absl::StrCat(heads * 4)},
       {"{K}", absl::StrCat(keyHeads)},
       {"{GD}", absl::StrCat(groups * 8)},
       {"{GV}", absl::StrCat(groups * 4)},
       {"{R}", absl::StrCat(3 * groups)}});
}

const std::string scaled = "%s = tenon.scale %p by 0.35 : ({S}) -> {S}";
const std::string masked = "%t = tenon.scale %p by 0.35 : ({S}) -> {S}\n"
                           "%s = tenon.add %t, %mask : ({S}, tensor<3x7xf32>) -> {S}";
const std::string causalMask =
    "%mask = tenon.constant dense<[[0.0, 0.0, 0.0, 0.0, 0.0, -1.0e30, -1.0e30], "
    "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0e30], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> "
    ": tensor<3x7xf32> : tensor<3x7xf32>";
const std::string holedMask =
    "%mask = tenon.constant dense<[[0.0, -1.0e30, 0.0, 0.0, 0.0, -1.0e30, -1.0e30], "
    "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0e30], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> "
    ": tensor<3x7xf32> : tensor<3x7xf32>";

/// The scores, scaled, and a mask of `type`.
std::string maskedBy(const std::string& type) {
  return absl::StrReplaceAll("%t = tenon.scale %p by 0.35 : ({S}) -> {S}\n"
                             "%s = tenon.add %mask, %t : (TYPE, {S}) -> {S}",
                             {{"TYPE", type}});
}
const std::string keyMask =
    "%mask = tenon.constant dense<[0.0, -1.0e9, 0.5, 0.0, 0.0, -1.0, -3.4028234663852886e+38]> "
    ": tensor<7xf32> : tensor<7xf32>";
const std::string headMask = "%mask = tenon.constant dense<[[[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]], "
                             "[[0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]]]> "
                             ": tensor<2x1x7xf32> : tensor<2x1x7xf32>";
const std::string sequenceMask =
    "%mask = tenon.constant dense<[[[[0.0, 0.5, 1.0, 1.5, 2.0, -1.0e9, -1.0e9]]], "
    "[[[-1.0e9, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]]]]> : tensor<2x1x1x7xf32> : tensor<2x1x1x7xf32>";
const std::string twiceMasked =
    "%t = tenon.scale %p by 0.35 : ({S}) -> {S}\n"
    "%u = tenon.add %t, %mask : ({S}, tensor<3x7xf32>) -> {S}\n"
    "%a = tenon.constant dense<[[[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]], "
    "[[0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]]]> : tensor<2x1x7xf32> : tensor<2x1x7xf32>\n"
    "%s = tenon.add %u, %a : ({S}, tensor<2x1x7xf32>) -> {S}";
const std::string rowMask = "%mask = tenon.constant dense<0.0> : tensor<9x7xf32> : tensor<9x7xf32>";

/// Rows of 3 heads of 8, turned by their positions from 0 on; `body` makes %y of %x, %c and %s, the
/// cosines and sines [5, 4] of the positions %p and frequencies %f.
std::string turned(const std::string& body) {
  return absl::StrReplaceAll(R"(
func.func @f(%x: X, %i: tensor<5xi32>) -> X {
  %p = tenon.constant dense<[[0.0], [1.0], [2.0], [3.0], [4.0]]> : tensor<5x1xf32> : tensor<5x1xf32>
  %f = tenon.constant dense<[2.5, 0.3, 0.04, 0.001]> : tensor<4xf32> : tensor<4xf32>
  %a = tenon.mul %p, %f : (tensor<5x1xf32>, tensor<4xf32>) -> T
  %c = tenon.cos %a : (T) -> T
  %s = tenon.sin %a : (T) -> T
  BODY
  return %y : X
})",
                             {{"BODY", absl::StrReplaceAll(body, {{"XX", "tensor<5x3x4xf32>"},
                                                                  {"CC", "tensor<5x1x4xf32>"},
                                                                  {"X", "tensor<5x3x8xf32>"},
                                                                  {"T", "tensor<5x4xf32>"}})},
                              {" X", " tensor<5x3x8xf32>"},
                              {"T", "tensor<5x4xf32>"}});
}

const std::string shapedTables = R"(
  %c1 = tenon.reshape %c to [5, 1, 4] : (T) -> CC
  %s1 = tenon.reshape %s to [5, 1, 4] : (T) -> CC
)";
/// The two elements of each pair, turned, as %y1 and %y2.
const std::string turnedPairs = R"(
  %a1 = tenon.mul %x1, %c1 : (XX, CC) -> XX
  %a2 = tenon.mul %x2, %s1 : (XX, CC) -> XX
  %b1 = tenon.mul %x1, %s1 : (XX, CC) -> XX
  %b2 = tenon.mul %c1, %x2 : (CC, XX) -> XX
  %y1 = tenon.sub %a1, %a2 : (XX, XX) -> XX
  %y2 = tenon.add %b2, %b1 : (XX, XX) -> XX
)";
const std::string halves = R"(
  %x1 = tenon.slice %x [0, 0, 0] [5, 3, 4] [1, 1, 1] : (X) -> XX
  %x2 = tenon.slice %x [0, 0, 4] [5, 3, 4] [1, 1, 1] : (X) -> XX
)";
const std::string adjacent = R"(
  %x1 = tenon.slice %x [0, 0, 0] [5, 3, 4] [1, 1, 2] : (X) -> XX
  %x2 = tenon.slice %x [0, 0, 1] [5, 3, 4] [1, 1, 2] : (X) -> XX
)";
const std::string joinedHalves = "%y = tenon.concat %y1, %y2 along 2 : (XX, XX) -> X";
const std::string joinedPairs = R"(
  %z1 = tenon.reshape %y1 to [5, 3, 4, 1] : (XX) -> tensor<5x3x4x1xf32>
  %z2 = tenon.reshape %y2 to [5, 3, 4, 1] : (XX) -> tensor<5x3x4x1xf32>
  %z = tenon.concat %z1, %z2 along 3 : (tensor<5x3x4x1xf32>, tensor<5x3x4x1xf32>) -> tensor<5x3x4x2xf32>
  %y = tenon.reshape %z to [5, 3, 8] : (tensor<5x3x4x2xf32>) -> X
)";
/// Cosines and sines a column for each element, by which x and its exchanged halves are multiplied.
const std::string rotatedHalves = R"(
  %cc = tenon.concat %c, %c along 1 : (T, T) -> tensor<5x8xf32>
  %ss = tenon.concat %s, %s along 1 : (T, T) -> tensor<5x8xf32>
  %c1 = tenon.reshape %cc to [5, 1, 8] : (tensor<5x8xf32>) -> tensor<5x1x8xf32>
  %s1 = tenon.reshape %ss to [5, 1, 8] : (tensor<5x8xf32>) -> tensor<5x1x8xf32>
  %n = tenon.neg %x2 : (XX) -> XX
  %r = tenon.concat %n, %x1 along 2 : (XX, XX) -> X
  %m1 = tenon.mul %x, %c1 : (X, tensor<5x1x8xf32>) -> X
  %m2 = tenon.mul %r, %s1 : (X, tensor<5x1x8xf32>) -> X
  %y = tenon.add %m1, %m2 : (X, X) -> X
)";
/// The tables' rows that ids choose, in another order than they have.
const std::string chosenTables = R"(
  %ce = tenon.embedding %c, %i : (T, tensor<5xi32>) -> T
  %se = tenon.embedding %s, %i : (T, tensor<5xi32>) -> T
  %c1 = tenon.reshape %ce to [5, 1, 4] : (T) -> CC
  %s1 = tenon.reshape %se to [5, 1, 4] : (T) -> CC
)";
/// Heads before rows.
const std::string transposedHeads = R"(
func.func @f(%x: tensor<5x3x8xf32>) -> tensor<3x5x8xf32> {
  %p = tenon.constant dense<[[0.0], [1.0], [2.0], [3.0], [4.0]]> : tensor<5x1xf32> : tensor<5x1xf32>
  %f = tenon.constant dense<[2.5, 0.3, 0.04, 0.001]> : tensor<4xf32> : tensor<4xf32>
  %a = tenon.mul %p, %f : (tensor<5x1xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  %c0 = tenon.cos %a : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %s0 = tenon.sin %a : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %c = tenon.scale %c0 by 1.25 : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %s = tenon.scale %s0 by 1.25 : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %t = tenon.transpose %x by [1, 0, 2] : (tensor<5x3x8xf32>) -> tensor<3x5x8xf32>
  %x1 = tenon.slice %t [0, 0, 0] [3, 5, 4] [1, 1, 1] : (tensor<3x5x8xf32>) -> tensor<3x5x4xf32>
  %x2 = tenon.slice %t [0, 0, 4] [3, 5, 4] [1, 1, 1] : (tensor<3x5x8xf32>) -> tensor<3x5x4xf32>
  %a1 = tenon.mul %x1, %c : (tensor<3x5x4xf32>, tensor<5x4xf32>) -> tensor<3x5x4xf32>
  %a2 = tenon.mul %x2, %s : (tensor<3x5x4xf32>, tensor<5x4xf32>) -> tensor<3x5x4xf32>
  %b1 = tenon.mul %x1, %s : (tensor<3x5x4xf32>, tensor<5x4xf32>) -> tensor<3x5x4xf32>
  %b2 = tenon.mul %x2, %c : (tensor<3x5x4xf32>, tensor<5x4xf32>) -> tensor<3x5x4xf32>
  %y1 = tenon.sub %a1, %a2 : (tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  %y2 = tenon.add %b1, %b2 : (tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  %y = tenon.concat %y1, %y2 along 2 : (tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> tensor<3x5x8xf32>
  return %y : tensor<3x5x8xf32>
})";

std::vector<Case> raisedCases() {
  const std::vector<std::string> views(4, "tenon.reshape");
  std::vector<std::string> attentionAlone = {"tenon.attention"};
  attentionAlone.insert(attentionAlone.end(), views.begin(), views.end());
  std::vector<std::string> attentionAndView = attentionAlone, attentionOfGroups = attentionAlone;
  attentionAndView.push_back("tenon.reshape");
  attentionOfGroups.insert(attentionOfGroups.end(),
                           {"tenon.reshape", "tenon.transpose", "tenon.reshape"});
  std::vector<std::string> withTwoMasks = attentionAlone;
  withTwoMasks.push_back("tenon.add");
  return {
      {"rms_norm",
       rows(squares + "%r = tenon.rsqrt %e : ( c) -> c\n"
                      "%y = tenon.mul %x, %r : ( t, c) -> t"),
       {"tenon.rms_norm"}},
      {"rms_norm_weighted",
       rows(squares + "%r = tenon.sqrt %e : ( c) -> c\n"
                      "%n = tenon.div %x, %r : ( t, c) -> t\n"
                      "%y = tenon.mul %w, %n : (tensor<8xf32>, t) -> t"),
       {"tenon.rms_norm"}},
      {"rms_norm_by_sums",
       rows(R"(
%q = tenon.mul %x, %x : ( t, t) -> t
%a = tenon.reduce sum %q : ( t) -> c
%m = tenon.scale %a by 0.125 : ( c) -> c
%e = tenon.add %m, %eps : ( c, s) -> c
%r = tenon.rsqrt %e : ( c) -> c
%y = tenon.mul %r, %x : ( c, t) -> t)"),
       {"tenon.rms_norm"}},
      {"layer_norm",
       rows(centred + variance +
            "%r = tenon.rsqrt %e : ( c) -> c\n"
            "%y = tenon.mul %c, %r : ( t, c) -> t"),
       {"tenon.layer_norm"}},
      {"layer_norm_affine",
       rows(centred + variance + R"(
%r = tenon.sqrt %e : ( c) -> c
%n = tenon.div %c, %r : ( t, c) -> t
%s = tenon.mul %n, %w : ( t, tensor<8xf32>) -> t
%y = tenon.add %b, %s : (tensor<8xf32>, t) -> t)"),
       {"tenon.layer_norm"}},
      {"layer_norm_of_squares",
       rows(centred + R"(
%q = tenon.square %x : ( t) -> t
%n = tenon.reduce mean %q : ( t) -> c
%k = tenon.square %m : ( c) -> c
%v = tenon.sub %n, %k : ( c, c) -> c
%e = tenon.add %v, %eps : ( c, s) -> c
%r = tenon.rsqrt %e : ( c) -> c
%y = tenon.mul %c, %r : ( t, c) -> t)"),
       {"tenon.layer_norm"},
       1e-4},
      {"gelu",
       rows(R"(
%a = tenon.scale %x by 0.70710678118 : ( t) -> t
%e = tenon.erf %a : ( t) -> t
%g = tenon.add %e, %one : ( t, s) -> t
%h = tenon.mul %x, %g : ( t, t) -> t
%y = tenon.mul %h, %half : ( t, s) -> t)"),
       {"tenon.gelu"}},
      {"gelu_half_first",
       rows(R"(
%root = tenon.constant dense<1.41421356> : tensor<1xf32> : tensor<1xf32>
%a = tenon.div %x, %root : ( t, s) -> t
%e = tenon.erf %a : ( t) -> t
%g = tenon.add %one, %e : ( s, t) -> t
%h = tenon.scale %x by 0.5 : ( t) -> t
%y = tenon.mul %h, %g : ( t, t) -> t)"),
       {"tenon.gelu"}},
      {"gelu_tanh",
       rows(R"(
%q = tenon.square %x : ( t) -> t
%k = tenon.mul %q, %x : ( t, t) -> t
%l = tenon.scale %k by 0.044715 : ( t) -> t
%a = tenon.add %x, %l : ( t, t) -> t
%i = tenon.scale %a by 0.7978845608 : ( t) -> t
%t = tenon.tanh %i : ( t) -> t
%g = tenon.add %t, %one : ( t, s) -> t
%h = tenon.scale %x by 0.5 : ( t) -> t
%y = tenon.mul %h, %g : ( t, t) -> t)"),
       {"tenon.gelu_tanh"}},
      {"gelu_tanh_factored",
       rows(R"(
%q = tenon.mul %x, %x : ( t, t) -> t
%k = tenon.scale %q by 0.044715 : ( t) -> t
%l = tenon.add %k, %one : ( t, s) -> t
%i = tenon.scale %x by 0.7978845608 : ( t) -> t
%a = tenon.mul %i, %l : ( t, t) -> t
%t = tenon.tanh %a : ( t) -> t
%g = tenon.add %t, %one : ( t, s) -> t
%p = tenon.mul %x, %g : ( t, t) -> t
%y = tenon.scale %p by 0.5 : ( t) -> t)"),
       {"tenon.gelu_tanh"}},
      {"silu",
       rows(R"(
%n = tenon.neg %x : ( t) -> t
%e = tenon.exp %n : ( t) -> t
%d = tenon.add %e, %one : ( t, s) -> t
%y = tenon.div %x, %d : ( t, t) -> t)"),
       {"tenon.silu"}},
      {"swiglu",
       rows(R"(
%n = tenon.scale %x by -1.0 : ( t) -> t
%e = tenon.exp %n : ( t) -> t
%d = tenon.add %one, %e : ( s, t) -> t
%i = tenon.div %one, %d : ( s, t) -> t
%a = tenon.mul %i, %x : ( t, t) -> t
%y = tenon.mul %a, %u : ( t, t) -> t)"),
       {"tenon.glu"}},
      {"relu", rows("%y = tenon.max %zero, %x : ( s, t) -> t"), {"tenon.relu"}},
      {"attention", attention(2, 2, scaled), attentionAlone},
      {"attention_of_groups", attention(6, 2, scaled), attentionAlone},
      {"attention_with_weights", attentionWithWeights(2, 2, scaled), attentionAlone},
      {"causal_attention_with_weights", attentionWithWeights(2, 2, masked, causalMask),
       attentionAlone},
      {"attention_of_groups_with_weights", attentionWithWeights(6, 2, scaled), attentionOfGroups},
      {"attention_of_one_head_with_weights", R"(
func.func @f(%q: tensor<3x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x4xf32>)
    -> (tensor<3x4xf32>, tensor<3x7xf32>) {
  %p = tenon.matmul %q, %k : (tensor<3x8xf32>, tensor<7x8xf32>) -> tensor<3x7xf32>
  %w = tenon.softmax %p : (tensor<3x7xf32>) -> tensor<3x7xf32>
  %t = tenon.transpose %v by [1, 0] : (tensor<7x4xf32>) -> tensor<4x7xf32>
  %y = tenon.matmul %w, %t : (tensor<3x7xf32>, tensor<4x7xf32>) -> tensor<3x4xf32>
  %r = tenon.relu %w : (tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y, %r : tensor<3x4xf32>, tensor<3x7xf32>
})",
       [&] {
         std::vector<std::string> all = attentionAndView;
         all.push_back("tenon.relu");
         return all;
       }()},
      {"causal_attention", attention(2, 2, masked, causalMask), attentionAlone},
      {"attention_with_bias", attention(2, 2, masked, holedMask), attentionAlone},
      {"attention_with_keys_hidden", attention(2, 2, maskedBy("tensor<7xf32>"), keyMask),
       attentionAlone},
      {"attention_of_groups_with_keys_hidden", attention(6, 2, maskedBy("tensor<7xf32>"), keyMask),
       attentionAlone},
      {"attention_with_bias_of_heads", attention(2, 2, maskedBy("tensor<2x1x7xf32>"), headMask),
       attentionAlone},
      {"causal_attention_with_bias", attention(2, 2, twiceMasked, causalMask), attentionAlone},
      {"attention_of_sequences", attentionOfSequences(2, 2, scaled), attentionAlone},
      {"attention_of_sequences_and_groups", attentionOfSequences(6, 2, scaled), attentionAlone},
      {"causal_attention_of_sequences", attentionOfSequences(2, 2, masked, causalMask),
       attentionAlone},
      {"attention_of_sequences_with_bias_of_heads",
       attentionOfSequences(2, 2, maskedBy("tensor<2x1x7xf32>"), headMask), attentionAlone},
      {"attention_of_sequences_with_their_keys_hidden",
       attentionOfSequences(2, 2, maskedBy("tensor<2x1x1x7xf32>"), sequenceMask), attentionAlone},
      {"attention_with_two_masks", attention(2, 2, twiceMasked, holedMask), withTwoMasks},
      {"rope", turned(shapedTables + halves + turnedPairs + joinedHalves), {"tenon.rope"}},
      {"rope_of_adjacent_pairs",
       turned(shapedTables + adjacent + turnedPairs + joinedPairs),
       {"tenon.rope"}},
      {"rope_of_rotated_halves", turned(halves + rotatedHalves), {"tenon.rope"}},
      {"rope_at_chosen_positions",
       turned(chosenTables + halves + turnedPairs + joinedHalves),
       {"tenon.rope"}},
      {"rope_at_positions_of_64_bits",
       absl::StrReplaceAll(turned(chosenTables + halves + turnedPairs + joinedHalves),
                           {{"xi32>", "xi64>"}}),
       {"tenon.rope", "tenon.cast"}},
      {"rope_of_heads_before_rows", transposedHeads, {"tenon.rope", "tenon.transpose"}},
      {"attention_of_one_head", R"(
func.func @f(%q: tensor<3x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x4xf32>) -> tensor<3x4xf32> {
  %a = tenon.scale %q by 0.35 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %p = tenon.matmul %a, %k : (tensor<3x8xf32>, tensor<7x8xf32>) -> tensor<3x7xf32>
  %w = tenon.softmax %p : (tensor<3x7xf32>) -> tensor<3x7xf32>
  %t = tenon.transpose %v by [1, 0] : (tensor<7x4xf32>) -> tensor<4x7xf32>
  %y = tenon.matmul %w, %t : (tensor<3x7xf32>, tensor<4x7xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
})",
       attentionAlone}};
}

/// Turned halves of pairs beside one another, and what is left of it.
Case keptRope(const std::string& name, const std::string& from, const std::string& to) {
  std::string text = turned(shapedTables + halves + turnedPairs + joinedHalves);
  EXPECT_NE(text.find(from), text.npos) << from;
  return {name,
          absl::StrReplaceAll(text, {{from, to}}),
          {"tenon.mul", "tenon.cos", "tenon.sin", "tenon.reshape", "tenon.reshape", "tenon.slice",
           "tenon.slice", "tenon.mul", "tenon.mul", "tenon.mul", "tenon.mul", "tenon.sub",
           "tenon.add", "tenon.concat"}};
}

/// Looks like it, and is something else.
std::vector<Case> keptCases() {
  return {
      keptRope("angles that do not grow with the row", "[2.0], [3.0]", "[3.0], [2.0]"),
      keptRope("the other sign", "%y1 = tenon.sub %a1, %a2", "%y1 = tenon.sub %a2, %a1"),
      {"a norm without epsilon",
       rows(R"(
%q = tenon.square %x : ( t) -> t
%m = tenon.reduce mean %q : ( t) -> c
%r = tenon.rsqrt %m : ( c) -> c
%y = tenon.mul %x, %r : ( t, c) -> t)"),
       {"tenon.square", "tenon.reduce", "tenon.rsqrt", "tenon.mul"}},
      {"another value over the root",
       rows(squares + "%r = tenon.rsqrt %e : ( c) -> c\n"
                      "%y = tenon.mul %u, %r : ( t, c) -> t"),
       {"tenon.square", "tenon.reduce", "tenon.add", "tenon.rsqrt", "tenon.mul"}},
      {"a sum that is no mean",
       rows(R"(
%q = tenon.square %x : ( t) -> t
%m = tenon.reduce sum %q : ( t) -> c
%e = tenon.add %m, %eps : ( c, s) -> c
%r = tenon.rsqrt %e : ( c) -> c
%y = tenon.mul %x, %r : ( t, c) -> t)"),
       {"tenon.square", "tenon.reduce", "tenon.add", "tenon.rsqrt", "tenon.mul"}},
      {"an approximation by x · sigmoid(1.702 x)",
       rows(R"(
%a = tenon.scale %x by 1.702 : ( t) -> t
%g = tenon.sigmoid %a : ( t) -> t
%y = tenon.mul %x, %g : ( t, t) -> t)"),
       {"tenon.scale", "tenon.sigmoid", "tenon.mul"}},
      {"erf of another value",
       rows(R"(
%a = tenon.scale %u by 0.70710678118 : ( t) -> t
%e = tenon.erf %a : ( t) -> t
%g = tenon.add %e, %one : ( t, s) -> t
%h = tenon.mul %x, %g : ( t, t) -> t
%y = tenon.mul %h, %half : ( t, s) -> t)"),
       {"tenon.scale", "tenon.erf", "tenon.add", "tenon.mul", "tenon.mul"}},
      {"weights that are read before the product with the values",
       R"(
func.func @f(%q: tensor<3x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<3x3xf32> {
  %p = tenon.matmul %q, %k : (tensor<3x8xf32>, tensor<7x8xf32>) -> tensor<3x7xf32>
  %w = tenon.softmax %p : (tensor<3x7xf32>) -> tensor<3x7xf32>
  %a = tenon.transpose %w by [1, 0] : (tensor<3x7xf32>) -> tensor<7x3xf32>
  %b = tenon.add %a, %v : (tensor<7x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  %t = tenon.transpose %b by [1, 0] : (tensor<7x3xf32>) -> tensor<3x7xf32>
  %y = tenon.matmul %w, %t : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
})",
       {"tenon.matmul", "tenon.softmax", "tenon.transpose", "tenon.add", "tenon.transpose",
        "tenon.matmul"}},
      {"a mask of rows that heads share",
       attention(6, 2, maskedBy("tensor<9x7xf32>"), rowMask),
       {"tenon.reshape", "tenon.reshape", "tenon.reshape", "tenon.reshape", "tenon.reshape",
        "tenon.reshape", "tenon.transpose", "tenon.transpose", "tenon.transpose", "tenon.transpose",
        "tenon.matmul", "tenon.matmul", "tenon.scale", "tenon.add", "tenon.softmax"}}};
}

std::vector<ReferenceTensor> makeInputs(func::FuncOp function) {
  std::mt19937 engine(7);
  std::normal_distribution<double> gaussian;
  std::vector<ReferenceTensor> inputs;
  for (Type type : function.getArgumentTypes()) {
    auto tensor = llvm::cast<RankedTensorType>(type);
    int64_t next = 0; // of integers: 0, 3, 1, 4, 2 of 5
    for (double& value : inputs.emplace_back(tensor).getValues())
      value = tensor.getElementType().isInteger()
                  ? static_cast<double>(next++ * 3 % tensor.getNumElements())
                  : static_cast<float>(gaussian(engine));
  }
  return inputs;
}

std::vector<double> runFunction(ModuleOp module) {
  auto interpreter = Interpreter::create(module);
  EXPECT_THAT(interpreter, IsOk());
  auto results = (*interpreter)->run("f", makeInputs(*module.getOps<func::FuncOp>().begin()));
  EXPECT_THAT(results, IsOk());
  std::vector<double> all;
  for (const ReferenceTensor& result : *results)
    llvm::append_range(all, result.getValues());
  return all;
}

std::vector<std::string> operationsOf(ModuleOp module) {
  std::vector<std::string> names;
  module.walk([&](Operation* op) {
    if (llvm::isa_and_nonnull<TenonDialect>(op->getDialect()) && !llvm::isa<ConstantOp>(op))
      names.push_back(op->getName().getStringRef().str());
  });
  return names;
}

class Raised : public testing::TestWithParam<Case> {};

TEST_P(Raised, MeansTheSame) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, GetParam().text, "test");
  ASSERT_THAT(module, IsOk()) << GetParam().text;
  std::vector<double> expected = runFunction(**module);
  std::vector<RaisedOperation> reported;
  ASSERT_THAT(runPipeline(**module, {.upTo = Phase::Simplified, .raised = &reported}), IsOk());
  EXPECT_THAT(operationsOf(**module), UnorderedElementsAreArray(GetParam().operations));
  ASSERT_FALSE(reported.empty());
  EXPECT_EQ("tenon." + reported.back().operation, GetParam().operations.front());
  EXPECT_EQ(reported.back().function, "f");
  EXPECT_THAT(runFunction(**module), Pointwise(DoubleNear(GetParam().tolerance), expected));
}

INSTANTIATE_TEST_SUITE_P(Cases, Raised, testing::ValuesIn(raisedCases()),
                         [](const auto& info) { return info.param.name; });

TEST(Raise, KeepsWhatOnlyLooksLikeIt) {
  for (const Case& kept : keptCases()) {
    SCOPED_TRACE(kept.name);
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto module = frontends::parseModuleText(context, kept.text, "test");
    ASSERT_THAT(module, IsOk()) << kept.text;
    ASSERT_THAT(runPipeline(**module, {.upTo = Phase::Simplified}), IsOk());
    EXPECT_THAT(operationsOf(**module), UnorderedElementsAreArray(kept.operations));
  }
}

TEST(Raise, LeavesOutWhatIsDisabled) {
  for (const Case& raised : raisedCases()) {
    SCOPED_TRACE(raised.name);
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto module = frontends::parseModuleText(context, raised.text, "test");
    ASSERT_THAT(module, IsOk());
    std::vector<RaisedOperation> reported;
    PipelineOptions options = {.upTo = Phase::Simplified, .raised = &reported};
    options.fusion.disabledRaises = {"activation", "attention", "gelu", "glu",
                                     "layer_norm", "rms_norm",  "rope", "transposed_weight"};
    ASSERT_THAT(runPipeline(**module, options), IsOk());
    EXPECT_THAT(operationsOf(**module), Not(Contains(raised.operations.front())));
    EXPECT_TRUE(reported.empty());
  }
}

TEST(Raise, RefusesUnknownNames) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, raisedCases().front().text, "test");
  ASSERT_THAT(module, IsOk());
  PipelineOptions options = {.upTo = Phase::Simplified};
  options.fusion.disabledRaises = {"norm"};
  EXPECT_THAT(runPipeline(**module, options).message(),
              HasSubstr("unknown operation to raise 'norm'; there are activation, attention, gelu, "
                        "glu, layer_norm, rms_norm, rope, transposed_weight"));
}

} // namespace
} // namespace tenon::passes
