#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "CompareOnDevice.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

/// A kernel region in text, in which T stands for an element type, M for rows.
struct RegionCase {
  const char* name;
  const char* arguments; ///< of the function
  const char* region;    ///< kernel operation(s) and return
  const char* results;   ///< of the function
  const char* states = "";
  const char* pairs = ""; ///< of a rope, for PAIRS
};

/// |a − b| ≤ tolerance · max |b| against the reference, which rounds only results: 16-bit values
/// inside a region are rounded alike there and here, but a rounding may fall the other way.
double toleranceOf(const std::string& type) {
  return type == "f32" ? 1e-5 : type == "f16" ? 4e-3 : 3e-2;
}

const RegionCase headCases[] = {
    {"heads",
     "%q: tensor<Mx6xKxT>, %k: tensor<Mx2xKxT>, %v: tensor<Mx2xKxT>, %g: tensor<KxT>, "
     "%h: tensor<KxT>, %s: tensor<Mxi32>, %p: tensor<Mxi32>, %f: tensor<24xf32>",
     R"(
  %c0 = tenon.get_state @k : !tenon.state<3x40x2xKxT>
  %d0 = tenon.get_state @v : !tenon.state<3x40x2xKxT>
  %0:3 = tenon.kernel (%a = %q : tensor<Mx6xKxT>, %b = %k : tensor<Mx2xKxT>,
                       %c = %v : tensor<Mx2xKxT>, %d = %g : tensor<KxT>, %e = %h : tensor<KxT>,
                       %i = %s : tensor<Mxi32>, %j = %p : tensor<Mxi32>, %l = %f : tensor<24xf32>,
                       %m = %c0 : !tenon.state<3x40x2xKxT>, %n = %d0 : !tenon.state<3x40x2xKxT>)
      -> (tensor<Mx6xKxT>, !tenon.state<3x40x2xKxT>, !tenon.state<3x40x2xKxT>) {
    %1 = tenon.rms_norm %a, %d eps 1.0e-6 : (tensor<Mx6xKxT>, tensor<KxT>) -> tensor<Mx6xKxT>
    %2 = tenon.rope PAIRING %1, %j, %l
        : (tensor<Mx6xKxT>, tensor<Mxi32>, tensor<24xf32>) -> tensor<Mx6xKxT>
    %3 = tenon.rms_norm %b, %e eps 1.0e-6 : (tensor<Mx2xKxT>, tensor<KxT>) -> tensor<Mx2xKxT>
    %4 = tenon.rope PAIRING %3, %j, %l
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<24xf32>) -> tensor<Mx2xKxT>
    %5 = tenon.kv_write %4, %i, %j into %m
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<Mxi32>, !tenon.state<3x40x2xKxT>)
        -> !tenon.state<3x40x2xKxT>
    %6 = tenon.kv_write %c, %i, %j into %n
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<Mxi32>, !tenon.state<3x40x2xKxT>)
        -> !tenon.state<3x40x2xKxT>
    tenon.yield %2, %5, %6
        : tensor<Mx6xKxT>, !tenon.state<3x40x2xKxT>, !tenon.state<3x40x2xKxT>
  }
  %y = tenon.kernel (%a = %0#0 : tensor<Mx6xKxT>, %b = %0#1 : !tenon.state<3x40x2xKxT>,
                     %c = %0#2 : !tenon.state<3x40x2xKxT>, %i = %s : tensor<Mxi32>,
                     %j = %p : tensor<Mxi32>) -> tensor<Mx6xKxT> {
    %1 = tenon.attention %a, %b, %c, %i, %j scale 0.125
        : (tensor<Mx6xKxT>, !tenon.state<3x40x2xKxT>, !tenon.state<3x40x2xKxT>, tensor<Mxi32>,
           tensor<Mxi32>) -> tensor<Mx6xKxT>
    tenon.yield %1 : tensor<Mx6xKxT>
  }
  return %0#0, %y : tensor<Mx6xKxT>, tensor<Mx6xKxT>)",
     "tensor<Mx6xKxT>, tensor<Mx6xKxT>",
     "tenon.state @k : !tenon.state<3x40x2xKxT>\ntenon.state @v : !tenon.state<3x40x2xKxT>"},
};

/// Rope and cache writes of many rows, some of which go to one place: a vector of pairs' first
/// elements turns with a vector of their second ones, or pairs end within vectors.
constexpr const char* turnedRegion = R"(
  %c0 = tenon.get_state @k : !tenon.state<3x40x2xKxT>
  %d0 = tenon.get_state @v : !tenon.state<3x40x2xKxT>
  %0:3 = tenon.kernel (%a = %q : tensor<Mx6xKxT>, %b = %k : tensor<Mx2xKxT>,
                       %c = %v : tensor<Mx2xKxT>, %i = %s : tensor<Mxi32>, %j = %p : tensor<Mxi32>,
                       %l = %f : tensor<PAIRSxf32>, %m = %c0 : !tenon.state<3x40x2xKxT>,
                       %n = %d0 : !tenon.state<3x40x2xKxT>)
      -> (tensor<Mx6xKxT>, !tenon.state<3x40x2xKxT>, !tenon.state<3x40x2xKxT>) {
    %1 = tenon.rope PAIRING %a, %j, %l
        : (tensor<Mx6xKxT>, tensor<Mxi32>, tensor<PAIRSxf32>) -> tensor<Mx6xKxT>
    %2 = tenon.rope PAIRING %b, %j, %l
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<PAIRSxf32>) -> tensor<Mx2xKxT>
    %3 = tenon.kv_write %2, %i, %j into %m
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<Mxi32>, !tenon.state<3x40x2xKxT>)
        -> !tenon.state<3x40x2xKxT>
    %4 = tenon.kv_write %c, %i, %j into %n
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<Mxi32>, !tenon.state<3x40x2xKxT>)
        -> !tenon.state<3x40x2xKxT>
    tenon.yield %1, %3, %4
        : tensor<Mx6xKxT>, !tenon.state<3x40x2xKxT>, !tenon.state<3x40x2xKxT>
  }
  %y = tenon.kernel (%a = %0#0 : tensor<Mx6xKxT>, %b = %0#1 : !tenon.state<3x40x2xKxT>,
                     %c = %0#2 : !tenon.state<3x40x2xKxT>, %i = %s : tensor<Mxi32>,
                     %j = %p : tensor<Mxi32>) -> tensor<Mx6xKxT> {
    %1 = tenon.attention %a, %b, %c, %i, %j scale 0.125
        : (tensor<Mx6xKxT>, !tenon.state<3x40x2xKxT>, !tenon.state<3x40x2xKxT>, tensor<Mxi32>,
           tensor<Mxi32>) -> tensor<Mx6xKxT>
    tenon.yield %1 : tensor<Mx6xKxT>
  }
  return %0#0, %y : tensor<Mx6xKxT>, tensor<Mx6xKxT>)";
constexpr const char* turnedArguments =
    "%q: tensor<Mx6xKxT>, %k: tensor<Mx2xKxT>, %v: tensor<Mx2xKxT>, %s: tensor<Mxi32>, "
    "%p: tensor<Mxi32>, %f: tensor<PAIRSxf32>";
constexpr const char* turnedStates =
    "tenon.state @k : !tenon.state<3x40x2xKxT>\ntenon.state @v : !tenon.state<3x40x2xKxT>";
const RegionCase turnedCases[] = {{"turned_heads", turnedArguments, turnedRegion,
                                   "tensor<Mx6xKxT>, tensor<Mx6xKxT>", turnedStates, "24"},
                                  {"turned_pairs", turnedArguments, turnedRegion,
                                   "tensor<Mx6xKxT>, tensor<Mx6xKxT>", turnedStates, "10"}};

/// Rows of many multiprocessors' worth, too: a norm after sums, all of them results.
const RegionCase rowCases[] = {
    {"residual_layer_norm",
     "%x: tensor<MxKxT>, %r: tensor<MxKxT>, %g: tensor<KxT>, %h: tensor<KxT>", R"(
  %0:2 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %r : tensor<MxKxT>, %c = %g : tensor<KxT>,
                       %d = %h : tensor<KxT>) -> (tensor<MxKxT>, tensor<MxKxT>) {
    %s = tenon.add %a, %b : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %n = tenon.layer_norm %s weight %c bias %d eps 1.0e-5
        : (tensor<MxKxT>, tensor<KxT>, tensor<KxT>) -> tensor<MxKxT>
    tenon.yield %s, %n : tensor<MxKxT>, tensor<MxKxT>
  }
  return %0#0, %0#1 : tensor<MxKxT>, tensor<MxKxT>)",
     "tensor<MxKxT>, tensor<MxKxT>"},
    {"sums_norm_residual", "%x: tensor<MxKxT>, %r: tensor<MxKxT>, %g: tensor<KxT>", R"(
  %0:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %r : tensor<MxKxT>, %c = %g : tensor<KxT>)
      -> (tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>) {
    %p = tenon.add %a, %b : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %s = tenon.add %p, %a : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %n = tenon.rms_norm %s, %c eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %y = tenon.add %n, %b : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    tenon.yield %p, %s, %y : tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>
  }
  return %0#0, %0#1, %0#2 : tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>)",
     "tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>"},
};

/// Products of many rows, whose gate and up share a tile.
const RegionCase manyRowCase = {"gate_up_glu",
                                "%x: tensor<MxKxT>, %v: tensor<NxKxW>, %w: tensor<NxKxW>", R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %v : tensor<NxKxW>, %c = %w : tensor<NxKxW>)
      -> tensor<MxNxT> {
    %p = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxT>
    %q = tenon.matmul %a, %c : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxT>
    %y = tenon.glu silu %p, %q : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %y : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
                                "tensor<MxNxT>"};

const RegionCase regionCases[] = {
    {"residual_norm", "%x: tensor<MxKxT>, %r: tensor<MxKxT>, %g: tensor<KxT>", R"(
  %0:2 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %r : tensor<MxKxT>, %c = %g : tensor<KxT>)
      -> (tensor<MxKxT>, tensor<MxKxT>) {
    %s = tenon.add %a, %b : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %n = tenon.rms_norm %s, %c eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    tenon.yield %s, %n : tensor<MxKxT>, tensor<MxKxT>
  }
  return %0#0, %0#1 : tensor<MxKxT>, tensor<MxKxT>)",
     "tensor<MxKxT>, tensor<MxKxT>"},
    {"bias_gelu_residual",
     "%x: tensor<MxKxT>, %w: tensor<NxKxW>, %d: tensor<NxT>, %r: tensor<MxNxT>", R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %w : tensor<NxKxW>, %c = %d : tensor<NxT>,
                     %e = %r : tensor<MxNxT>) -> tensor<MxNxT> {
    %y = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxT>
    %s = tenon.add %y, %c : (tensor<MxNxT>, tensor<NxT>) -> tensor<MxNxT>
    %g = tenon.gelu %s : (tensor<MxNxT>) -> tensor<MxNxT>
    %z = tenon.add %g, %e : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %z : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"norm_product", "%x: tensor<MxKxT>, %g: tensor<KxT>, %w: tensor<NxKxT>", R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %g : tensor<KxT>, %c = %w : tensor<NxKxT>)
      -> tensor<MxNxT> {
    %n = tenon.rms_norm %a, %b eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %y = tenon.matmul %n, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    tenon.yield %y : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"layer_norm_product", "%x: tensor<MxKxT>, %g: tensor<KxT>, %h: tensor<KxT>, %w: tensor<NxKxT>",
     R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %g : tensor<KxT>, %d = %h : tensor<KxT>,
                     %c = %w : tensor<NxKxT>) -> tensor<MxNxT> {
    %n = tenon.layer_norm %a weight %b bias %d eps 1.0e-5
        : (tensor<MxKxT>, tensor<KxT>, tensor<KxT>) -> tensor<MxKxT>
    %y = tenon.matmul %n, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    tenon.yield %y : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"gate_up", "%x: tensor<MxKxT>, %v: tensor<NxKxT>, %w: tensor<NxKxT>", R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %v : tensor<NxKxT>, %c = %w : tensor<NxKxT>)
      -> tensor<MxNxT> {
    %g = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %u = tenon.matmul %a, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %y = tenon.glu silu %g, %u : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %y : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"residual_norm_qkv",
     "%x: tensor<MxKxT>, %r: tensor<MxKxT>, %g: tensor<KxT>, %q: tensor<NxKxT>, "
     "%k: tensor<264xKxT>, %v: tensor<264xKxT>, %d: tensor<264xT>",
     R"(
  %0:4 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %r : tensor<MxKxT>, %c = %g : tensor<KxT>,
                       %e = %q : tensor<NxKxT>, %f = %k : tensor<264xKxT>,
                       %h = %v : tensor<264xKxT>, %i = %d : tensor<264xT>)
      -> (tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>) {
    %s = tenon.add %a, %b : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %n = tenon.rms_norm %s, %c eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %1 = tenon.matmul %n, %e : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %n, %f : (tensor<MxKxT>, tensor<264xKxT>) -> tensor<Mx264xT>
    %3 = tenon.matmul %n, %h : (tensor<MxKxT>, tensor<264xKxT>) -> tensor<Mx264xT>
    %4 = tenon.add %3, %i : (tensor<Mx264xT>, tensor<264xT>) -> tensor<Mx264xT>
    tenon.yield %s, %1, %2, %4 : tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>
  }
  return %0#0, %0#1, %0#2, %0#3
      : tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>)",
     "tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>"},
    {"norm_gate_up_all_outputs",
     "%x: tensor<MxKxT>, %g: tensor<KxT>, %v: tensor<NxKxT>, %w: tensor<NxKxT>", R"(
  %0:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %g : tensor<KxT>, %c = %v : tensor<NxKxT>,
                       %d = %w : tensor<NxKxT>) -> (tensor<MxNxT>, tensor<MxKxT>, tensor<MxNxT>) {
    %n = tenon.rms_norm %a, %b eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %1 = tenon.matmul %n, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %n, %d : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %3 = tenon.glu gelu_tanh %1, %2 : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %3, %n, %2 : tensor<MxNxT>, tensor<MxKxT>, tensor<MxNxT>
  }
  return %0#0, %0#1, %0#2 : tensor<MxNxT>, tensor<MxKxT>, tensor<MxNxT>)",
     "tensor<MxNxT>, tensor<MxKxT>, tensor<MxNxT>"},
    {"head_argmax", "%x: tensor<MxKxT>, %w: tensor<NxKxT>", R"(
  %0:2 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %w : tensor<NxKxT>)
      -> (tensor<MxNxf32>, tensor<Mxi32>) {
    %1 = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxf32>
    %2 = tenon.argmax %1 : (tensor<MxNxf32>) -> tensor<Mxi32>
    tenon.yield %1, %2 : tensor<MxNxf32>, tensor<Mxi32>
  }
  return %0#0, %0#1 : tensor<MxNxf32>, tensor<Mxi32>)",
     "tensor<MxNxf32>, tensor<Mxi32>"},
};

/// The halves of a parallel block.
const RegionCase parallelCases[] = {
    {"parallel_products",
     "%x: tensor<MxKxT>, %g: tensor<KxT>, %h: tensor<KxT>, %l: tensor<KxT>, %q: tensor<NxKxT>, "
     "%k: tensor<264xKxT>, %u: tensor<520xKxT>, %d: tensor<520xT>",
     R"(
  %0:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %g : tensor<KxT>, %c = %h : tensor<KxT>,
                       %e = %l : tensor<KxT>, %f = %q : tensor<NxKxT>, %i = %k : tensor<264xKxT>,
                       %j = %u : tensor<520xKxT>, %m = %d : tensor<520xT>)
      -> (tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx520xT>) {
    %n = tenon.layer_norm %a weight %b bias %c eps 1.0e-5
        : (tensor<MxKxT>, tensor<KxT>, tensor<KxT>) -> tensor<MxKxT>
    %1 = tenon.matmul %n, %f : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %n, %i : (tensor<MxKxT>, tensor<264xKxT>) -> tensor<Mx264xT>
    %o = tenon.layer_norm %a weight %e eps 1.0e-5
        : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %3 = tenon.matmul %o, %j : (tensor<MxKxT>, tensor<520xKxT>) -> tensor<Mx520xT>
    %4 = tenon.add %3, %m : (tensor<Mx520xT>, tensor<520xT>) -> tensor<Mx520xT>
    %5 = tenon.gelu %4 : (tensor<Mx520xT>) -> tensor<Mx520xT>
    tenon.yield %1, %2, %5 : tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx520xT>
  }
  return %0#0, %0#1, %0#2 : tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx520xT>)",
     "tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx520xT>"},
    {"parallel_residual",
     "%x: tensor<MxKxT>, %h: tensor<Mx1544xT>, %w: tensor<NxKxT>, %v: tensor<Nx1544xT>, "
     "%d: tensor<NxT>, %r: tensor<MxNxT>",
     R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %w : tensor<NxKxT>, %c = %h : tensor<Mx1544xT>,
                     %e = %v : tensor<Nx1544xT>, %f = %d : tensor<NxT>, %g = %r : tensor<MxNxT>)
      -> tensor<MxNxT> {
    %1 = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %c, %e : (tensor<Mx1544xT>, tensor<Nx1544xT>) -> tensor<MxNxT>
    %3 = tenon.add %2, %f : (tensor<MxNxT>, tensor<NxT>) -> tensor<MxNxT>
    %4 = tenon.add %3, %1 : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    %5 = tenon.add %4, %g : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %5 : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
};

/// Groups of products of what lies in memory: of one input, of two.
const RegionCase groupCases[] = {
    {"qkv_bias",
     "%x: tensor<MxKxT>, %q: tensor<NxKxW>, %k: tensor<264xKxW>, %v: tensor<264xKxW>, "
     "%d: tensor<264xT>",
     R"(
  %0:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %q : tensor<NxKxW>, %c = %k : tensor<264xKxW>,
                       %e = %v : tensor<264xKxW>, %f = %d : tensor<264xT>)
      -> (tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>) {
    %1 = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxT>
    %2 = tenon.matmul %a, %c : (tensor<MxKxT>, tensor<264xKxW>) -> tensor<Mx264xT>
    %3 = tenon.add %2, %f : (tensor<Mx264xT>, tensor<264xT>) -> tensor<Mx264xT>
    %4 = tenon.matmul %a, %e : (tensor<MxKxT>, tensor<264xKxW>) -> tensor<Mx264xT>
    tenon.yield %1, %3, %4 : tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>
  }
  return %0#0, %0#1, %0#2 : tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>)",
     "tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>"},
    {"query_up",
     "%x: tensor<MxKxT>, %y: tensor<MxKxT>, %q: tensor<NxKxT>, %u: tensor<520xKxT>, "
     "%d: tensor<520xT>",
     R"(
  %0:2 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %y : tensor<MxKxT>, %c = %q : tensor<NxKxT>,
                       %e = %u : tensor<520xKxT>, %f = %d : tensor<520xT>)
      -> (tensor<MxNxT>, tensor<Mx520xT>) {
    %1 = tenon.matmul %a, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %b, %e : (tensor<MxKxT>, tensor<520xKxT>) -> tensor<Mx520xT>
    %3 = tenon.add %2, %f : (tensor<Mx520xT>, tensor<520xT>) -> tensor<Mx520xT>
    %4 = tenon.gelu %3 : (tensor<Mx520xT>) -> tensor<Mx520xT>
    tenon.yield %1, %4 : tensor<MxNxT>, tensor<Mx520xT>
  }
  return %0#0, %0#1 : tensor<MxNxT>, tensor<Mx520xT>)",
     "tensor<MxNxT>, tensor<Mx520xT>"},
};

/// Gate and up of the experts that rows choose, some of none; and a whole mixture.
const RegionCase expertCases[] = {
    {"gated_experts",
     "%x: tensor<MxKxT>, %s: tensor<Mx2xi32>, %g: tensor<4xNxKxW>, %u: tensor<4xNxKxW>",
     R"(
  %y = tenon.kernel (%a = %x : tensor<MxKxT>, %i = %s : tensor<Mx2xi32>,
                     %b = %g : tensor<4xNxKxW>, %c = %u : tensor<4xNxKxW>) -> tensor<Mx2xNxT> {
    %1 = tenon.expert_matmul %a, %b, %i
        : (tensor<MxKxT>, tensor<4xNxKxW>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %2 = tenon.expert_matmul %a, %c, %i
        : (tensor<MxKxT>, tensor<4xNxKxW>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %3 = tenon.glu silu %1, %2 : (tensor<Mx2xNxT>, tensor<Mx2xNxT>) -> tensor<Mx2xNxT>
    tenon.yield %3 : tensor<Mx2xNxT>
  }
  return %y : tensor<Mx2xNxT>)",
     "tensor<Mx2xNxT>"},
    {"summed_experts",
     "%x: tensor<Mx3xKxT>, %r: tensor<MxNxT>, %s: tensor<Mx3xi32>, %w: tensor<Mx3xf32>, "
     "%d: tensor<40xNxKxW>",
     R"(
  %y = tenon.kernel (%a = %x : tensor<Mx3xKxT>, %i = %s : tensor<Mx3xi32>,
                     %b = %d : tensor<40xNxKxW>, %c = %w : tensor<Mx3xf32>,
                     %e = %r : tensor<MxNxT>) -> tensor<MxNxT> {
    %1 = tenon.expert_matmul %a, %b, %i
        : (tensor<Mx3xKxT>, tensor<40xNxKxW>, tensor<Mx3xi32>) -> tensor<Mx3xNxT>
    %2 = tenon.weighted_sum %1, %c : (tensor<Mx3xNxT>, tensor<Mx3xf32>) -> tensor<MxNxT>
    %3 = tenon.add %e, %2 : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %3 : tensor<MxNxT>
  }
  return %y : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"chosen_experts", "%x: tensor<MxKxf32>",
     R"(
  %y:3 = tenon.kernel (%a = %x : tensor<MxKxf32>)
      -> (tensor<MxNxf32>, tensor<MxNxi32>, tensor<MxNxf32>) {
    %1 = tenon.softmax %a : (tensor<MxKxf32>) -> tensor<MxKxf32>
    %v, %i = tenon.top_k %1 k COLUMNS
        : (tensor<MxKxf32>) -> (tensor<MxNxf32>, tensor<MxNxi32>)
    %2 = tenon.reduce sum %v : (tensor<MxNxf32>) -> tensor<Mx1xf32>
    %3 = tenon.div %v, %2 : (tensor<MxNxf32>, tensor<Mx1xf32>) -> tensor<MxNxf32>
    tenon.yield %v, %i, %3 : tensor<MxNxf32>, tensor<MxNxi32>, tensor<MxNxf32>
  }
  return %y#0, %y#1, %y#2 : tensor<MxNxf32>, tensor<MxNxi32>, tensor<MxNxf32>)",
     "tensor<MxNxf32>, tensor<MxNxi32>, tensor<MxNxf32>"},
    {"biased_experts",
     "%x: tensor<MxKxT>, %s: tensor<Mx2xi32>, %g: tensor<4xNxKxW>, %u: tensor<4xNxKxW>, "
     "%p: tensor<4xNxf32>, %q: tensor<4xNxf32>",
     R"(
  %y = tenon.kernel (%a = %x : tensor<MxKxT>, %i = %s : tensor<Mx2xi32>,
                     %b = %g : tensor<4xNxKxW>, %c = %u : tensor<4xNxKxW>,
                     %d = %p : tensor<4xNxf32>, %e = %q : tensor<4xNxf32>) -> tensor<Mx2xNxT> {
    %1 = tenon.expert_matmul %a, %b, %i
        : (tensor<MxKxT>, tensor<4xNxKxW>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %2 = tenon.expert_matmul %a, %c, %i
        : (tensor<MxKxT>, tensor<4xNxKxW>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %3 = tenon.embedding %d, %i : (tensor<4xNxf32>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %4 = tenon.embedding %e, %i : (tensor<4xNxf32>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %5 = tenon.add %1, %3 : (tensor<Mx2xNxT>, tensor<Mx2xNxT>) -> tensor<Mx2xNxT>
    %6 = tenon.add %2, %4 : (tensor<Mx2xNxT>, tensor<Mx2xNxT>) -> tensor<Mx2xNxT>
    %7 = tenon.mul %5, %6 : (tensor<Mx2xNxT>, tensor<Mx2xNxT>) -> tensor<Mx2xNxT>
    tenon.yield %7 : tensor<Mx2xNxT>
  }
  return %y : tensor<Mx2xNxT>)",
     "tensor<Mx2xNxT>"},
    {"choosing_experts",
     "%x: tensor<MxKxT>, %s: tensor<Mx40xf32>, %g: tensor<40xNxKxW>, %u: tensor<40xNxKxW>, "
     "%p: tensor<40xNxf32>",
     R"(
  %y:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %t = %s : tensor<Mx40xf32>,
                       %b = %g : tensor<40xNxKxW>, %c = %u : tensor<40xNxKxW>,
                       %d = %p : tensor<40xNxf32>)
      -> (tensor<Mx3xNxT>, tensor<Mx3xi32>, tensor<Mx3xf32>) {
    %1 = tenon.softmax %t : (tensor<Mx40xf32>) -> tensor<Mx40xf32>
    %v, %i = tenon.top_k %1 k 3 : (tensor<Mx40xf32>) -> (tensor<Mx3xf32>, tensor<Mx3xi32>)
    %2 = tenon.reduce sum %v : (tensor<Mx3xf32>) -> tensor<Mx1xf32>
    %3 = tenon.div %v, %2 : (tensor<Mx3xf32>, tensor<Mx1xf32>) -> tensor<Mx3xf32>
    %4 = tenon.expert_matmul %a, %b, %i
        : (tensor<MxKxT>, tensor<40xNxKxW>, tensor<Mx3xi32>) -> tensor<Mx3xNxT>
    %5 = tenon.expert_matmul %a, %c, %i
        : (tensor<MxKxT>, tensor<40xNxKxW>, tensor<Mx3xi32>) -> tensor<Mx3xNxT>
    %6 = tenon.embedding %d, %i : (tensor<40xNxf32>, tensor<Mx3xi32>) -> tensor<Mx3xNxT>
    %7 = tenon.add %4, %6 : (tensor<Mx3xNxT>, tensor<Mx3xNxT>) -> tensor<Mx3xNxT>
    %8 = tenon.glu silu %7, %5 : (tensor<Mx3xNxT>, tensor<Mx3xNxT>) -> tensor<Mx3xNxT>
    tenon.yield %8, %i, %3 : tensor<Mx3xNxT>, tensor<Mx3xi32>, tensor<Mx3xf32>
  }
  return %y#0, %y#1, %y#2 : tensor<Mx3xNxT>, tensor<Mx3xi32>, tensor<Mx3xf32>)",
     "tensor<Mx3xNxT>, tensor<Mx3xi32>, tensor<Mx3xf32>"},
};

struct RegionParameters {
  const RegionCase* region;
  std::string type;
  int64_t rows, columns, depth; ///< of heads: rows, 1 for adjacent pairs, size
  std::string blocks = {};      ///< encoding of the weights, where it is one of blocks
  bool isPaged = false;         ///< whether caches of heads have pages
  bool isSmall = false;         ///< whether they hold quants
};

std::string nameOf(const RegionParameters& p) {
  return std::string(p.region->name) +
         (p.isPaged   ? "_pages_"
          : p.isSmall ? "_small_"
                      : "_") +
         (p.blocks.empty() ? "" : p.blocks + "_") + p.type + "_" + std::to_string(p.rows) + "x" +
         std::to_string(p.columns) + "x" + std::to_string(p.depth);
}

/// For the names of tests.
void PrintTo(const RegionParameters& p, std::ostream* out) { *out << nameOf(p); }

std::string textOf(const RegionParameters& p) {
  std::string text = absl::StrReplaceAll(
      R"(module attributes {tenon.phase = #tenon.phase<fused>} {
STATES
func.func @f(ARGUMENTS) -> (RESULTS) {REGION
}
})",
      {{"STATES", p.region->states},
       {"ARGUMENTS", p.region->arguments},
       {"RESULTS", p.region->results},
       {"REGION", p.region->region}});
  if (p.isSmall)
    absl::StrReplaceAll(
        {{"3x40x2xKxT>", "3x40x2xKx!tenon.block<int8_h" + std::to_string(p.depth) + ">>"}}, &text);
  if (p.isPaged) {
    absl::StrReplaceAll(
        {{"%f: ", "%t: tensor<3x3xi32>, %f: "},
         {"tenon.kernel (", "tenon.kernel (%x = %t : tensor<3x3xi32>, "},
         {"into %m", "into %m block_table %x"},
         {"into %n", "into %n block_table %x"},
         {"!tenon.state<3x40x2xKxT>)\n        ->", "!tenon.state<3x40x2xKxT>, tensor<3x3xi32>) ->"},
         {"%j scale", "%j block_table %x scale"},
         {"tensor<Mxi32>) -> tensor<Mx6xKxT>\n    tenon.yield",
          "tensor<Mxi32>, tensor<3x3xi32>) -> tensor<Mx6xKxT>\n    tenon.yield"}},
        &text);
    absl::StrReplaceAll({{"3x40x2xKxT>", "10x2x16xKx" + p.type + ", paged<16>>"}}, &text);
  }
  std::string rows = std::to_string(p.rows), columns = std::to_string(p.columns),
              depth = std::to_string(p.depth);
  absl::StrReplaceAll({{"PAIRS", p.region->pairs}, {"COLUMNS", columns}}, &text);
  absl::StrReplaceAll({{"PAIRING", p.columns == 1 ? "adjacent" : "halves"}}, &text);
  // One after another: neighbours share an x.
  std::string weight = p.blocks.empty() ? p.type : "!tenon.block<" + p.blocks + ">";
  absl::StrReplaceAll({{"xT>", "x" + p.type + ">"}, {"xW>", "x" + weight + ">"}}, &text);
  absl::StrReplaceAll({{"<Mx", "<" + rows + "x"}}, &text);
  absl::StrReplaceAll({{"<Nx", "<" + columns + "x"}, {"<Kx", "<" + depth + "x"}}, &text);
  absl::StrReplaceAll({{"xNx", "x" + columns + "x"}}, &text);
  absl::StrReplaceAll({{"xKx", "x" + depth + "x"}}, &text);
  return text;
}

/// The program of the region, or of its operations one by one.
absl::StatusOr<runtime::Program> compileRegion(mlir::MLIRContext& context, const std::string& text,
                                               passes::Plan plan,
                                               mlir::OwningOpRef<mlir::ModuleOp>& module) {
  auto parsed = frontends::parseModuleText(context, text, "region");
  if (!parsed.ok())
    return parsed.status();
  module = *std::move(parsed);
  passes::PipelineOptions options = {.target = findTarget(&context, "h200")};
  options.fusion.plan = plan;
  if (absl::Status status = passes::runPipeline(*module, options); !status.ok())
    return status;
  return codegen::compileForCuda(*module, {});
}

class CudaRegionTest : public ::testing::TestWithParam<RegionParameters> {};

TEST_P(CudaRegionTest, EqualsItsOperationsOneByOneInEveryBit) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string text = textOf(GetParam());
  mlir::OwningOpRef<mlir::ModuleOp> fusedModule, splitModule;
  auto fused = compileRegion(context, text, passes::Plan::Fused, fusedModule);
  ASSERT_TRUE(fused.ok()) << fused.status() << text;
  auto split = compileRegion(context, text, passes::Plan::Split, splitModule);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_LT(fused->functions[0].steps.size(), split->functions[0].steps.size());
  auto fusedExecutor = runtime::CudaExecutor::create(*std::move(fused), {});
  if (absl::IsNotFound(fusedExecutor.status()))
    GTEST_SKIP() << "no GPU: " << fusedExecutor.status();
  ASSERT_TRUE(fusedExecutor.ok()) << fusedExecutor.status();
  auto splitExecutor = runtime::CudaExecutor::create(*std::move(split), {});
  ASSERT_TRUE(splitExecutor.ok()) << splitExecutor.status();

  std::vector<CaseInput> described;
  for (const runtime::Port& port : (*fusedExecutor)->program().functions[0].inputs)
    if (GetParam().isPaged && port.shape == std::vector<int64_t>{3, 3})
      described.push_back({port.shape, "i32", Fill::Listed, 0, 0, {8, 3, 5, 1, 9, 2, 4, 0, 7}});
    else
      described.push_back({port.shape, port.encoding,
                           port.encoding == "i32"   ? Fill::Index
                           : port.shape.size() == 2 ? Fill::Small
                                                    : Fill::Gaussian,
                           -1, 3});
  std::vector<ReferenceTensor> inputs = makeInputs(context, described);
  auto fusedOutputs = runOnDevice(**fusedExecutor, inputs);
  ASSERT_TRUE(fusedOutputs.ok()) << fusedOutputs.status();
  auto splitOutputs = runOnDevice(**splitExecutor, inputs);
  ASSERT_TRUE(splitOutputs.ok()) << splitOutputs.status();
  auto interpreter = Interpreter::create(*fusedModule);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  auto expected = (*interpreter)->run("f", inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (auto [index, want] : llvm::enumerate(*expected)) {
    EXPECT_EQ((*fusedOutputs)[index], (*splitOutputs)[index]) << "result " << index;
    expectClose(want, (*fusedOutputs)[index], toleranceOf(GetParam().type),
                "result " + std::to_string(index));
  }
}

/// Of equal elements the lowest index counts and a row with a NaN has none, whichever block is done
/// last; what a call leaves after does not change the next.
TEST(CudaRegion, SearchesAmongEqualElementsAndNan) {
  constexpr int64_t rows = 3, depth = 64, columns = 1000;
  std::string text = absl::StrFormat(
      R"(module attributes {tenon.phase = #tenon.phase<fused>} {
func.func @f(%%x: tensor<%1$dx%2$dxf16>, %%w: tensor<%3$dx%2$dxf16>) -> tensor<%1$dxi32> {
  %%0 = tenon.kernel (%%a = %%x : tensor<%1$dx%2$dxf16>, %%b = %%w : tensor<%3$dx%2$dxf16>)
      -> tensor<%1$dxi32> {
    %%1 = tenon.matmul %%a, %%b : (tensor<%1$dx%2$dxf16>, tensor<%3$dx%2$dxf16>)
        -> tensor<%1$dx%3$dxf32>
    %%2 = tenon.argmax %%1 : (tensor<%1$dx%3$dxf32>) -> tensor<%1$dxi32>
    tenon.yield %%2 : tensor<%1$dxi32>
  }
  return %%0 : tensor<%1$dxi32>
}
})",
      rows, depth, columns);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  auto program = compileRegion(context, text, passes::Plan::Fused, module);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->functions[0].steps.size(), 1u);
  auto executor = runtime::CudaExecutor::create(*std::move(program), {});
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_TRUE(executor.ok()) << executor.status();
  auto interpreter = Interpreter::create(*module);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  double nan = std::numeric_limits<double>::quiet_NaN();
  for (double sign : {1.0, -1.0}) {
    CaseInput x = {{rows, depth}, "f16", Fill::Listed}, w = {{columns, depth}, "f16", Fill::Listed};
    for (int64_t i = 0; i < rows * depth; ++i) // row 1 is NaN
      x.values.push_back(i / depth == 1 ? nan : sign * static_cast<double>(i % 7 - 3));
    for (int64_t i = 0; i < columns * depth; ++i) // every 97th column alike
      w.values.push_back(static_cast<double>((i / depth % 97 + i % 5) % 11));
    std::vector<ReferenceTensor> inputs = makeInputs(context, {x, w});
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    auto outputs = runOnDevice(**executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    expectClose(expected->front(), outputs->front(), 0, "indices");
  }
}

/// Of equal shares the lowest index comes first, also of those that are 0 beside others, and of NaN,
/// as every share of a row is that has one; so do the kernels of the operations one by one.
TEST(CudaRegion, ChoosesAmongEqualSharesAndNan) {
  constexpr int64_t rows = 5, experts = 60, chosen = 6;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::string text = textOf({&expertCases[2], "f32", rows, chosen, experts});
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> fusedModule, splitModule;
  auto fused = compileRegion(context, text, passes::Plan::Fused, fusedModule);
  ASSERT_TRUE(fused.ok()) << fused.status();
  auto split = compileRegion(context, text, passes::Plan::Split, splitModule);
  ASSERT_TRUE(split.ok()) << split.status();
  auto fusedExecutor = runtime::CudaExecutor::create(*std::move(fused), {});
  if (absl::IsNotFound(fusedExecutor.status()))
    GTEST_SKIP() << "no GPU: " << fusedExecutor.status();
  ASSERT_TRUE(fusedExecutor.ok()) << fusedExecutor.status();
  auto splitExecutor = runtime::CudaExecutor::create(*std::move(split), {});
  ASSERT_TRUE(splitExecutor.ok()) << splitExecutor.status();

  CaseInput scores = {{rows, experts}, "f32", Fill::Listed};
  for (int64_t i = 0; i < rows * experts; ++i) {
    int64_t column = i % experts;
    double ofRow[] = {0.25, static_cast<double>(column * 7 % 11), -infinity,
                      column == 9 ? 1.0 : -3e4, static_cast<double>(column)};
    scores.values.push_back(ofRow[i / experts]);
  }
  scores.values[2 * experts + 37] = scores.values[2 * experts + 11] = -2.0;
  scores.values[4 * experts + 5] = std::numeric_limits<double>::quiet_NaN();
  std::vector<ReferenceTensor> inputs = makeInputs(context, {scores});
  auto fusedOutputs = runOnDevice(**fusedExecutor, inputs);
  ASSERT_TRUE(fusedOutputs.ok()) << fusedOutputs.status();
  auto splitOutputs = runOnDevice(**splitExecutor, inputs);
  ASSERT_TRUE(splitOutputs.ok()) << splitOutputs.status();
  auto interpreter = Interpreter::create(*fusedModule);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  auto expected = (*interpreter)->run("f", inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  expectClose((*expected)[1], (*fusedOutputs)[1], 0, "indices");
  EXPECT_EQ((*fusedOutputs)[1], (*splitOutputs)[1]);
  for (size_t result : {0, 2}) {
    expectClose((*expected)[result], (*fusedOutputs)[result], toleranceOf("f32"), "shares");
    constexpr size_t numbers = 4 * (rows - 1) * chosen; // bytes before the row of NaN
    EXPECT_TRUE(std::equal((*fusedOutputs)[result].begin(),
                           (*fusedOutputs)[result].begin() + numbers,
                           (*splitOutputs)[result].begin()));
  }
}

/// A tile of `hopper_gemm` by its parameters, K in `split` parts, in `tiles` blocks.
struct SplitTile {
  int split, tiles;
  const char* parameters;
};

/// y [33, 264] = x · Wᵀ + r, or two products with a gate, over 1,000 elements of K, 16 stages.
std::string splitProduct(const SplitTile& tile, bool gated) {
  int64_t chunk = (16 + tile.split - 1) / tile.split * 64;
  std::string text = absl::StrFormat(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>} {
func.func @f(%%x: X, %%w: W, %%r: OTHER) -> Y {
  %%0 = tenon.kernel (%%a = %%x : X, %%b = %%w : W, %%c = %%r : OTHER) -> Y
      schedule #tenon.schedule<"hopper_gemm", tiles = %d, {%s, split = %d : i64, stages = 3 : i64}> {
    %%p = tenon.matmul %%a, %%b ORDER : (X, W) -> Y
    BEHIND
    tenon.yield %%y : Y
  }
  return %%0 : Y
}
})",
      tile.tiles, tile.parameters, tile.split);
  std::string order = absl::StrFormat("order <chunk = %d, lanes = 16, tree = tensor_cores>", chunk);
  return absl::StrReplaceAll(
      text, {{"BEHIND", gated ? "%q = tenon.matmul %a, %c " + order +
                                    " : (X, W) -> Y\n    %y = tenon.glu silu %p, %q : (Y, Y) -> Y"
                              : "%y = tenon.add %p, %c : (Y, Y) -> Y"},
             {"ORDER", order},
             {"OTHER", gated ? "W" : "Y"}});
}

class CudaSplitTest : public ::testing::TestWithParam<bool> {};

/// Tiles of one split of K, whatever their shape, cluster and place of W, give the same bits; all are
/// right.
TEST_P(CudaSplitTest, AddsPartsOfKInOneOrderInEveryTile) {
  const bool gated = GetParam();
  const std::vector<SplitTile> plain = {
      {2, 10,
       "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, ping_pong = 1, weight_rows = 1 : "
       "i64"},
      {2, 12,
       "blocks = 1, columns = 48, cluster_a = 2, cluster_b = 1, ping_pong = 1, weight_rows = 1 : "
       "i64"},
      {2, 12, "blocks = 1, columns = 64, cluster_a = 1, cluster_b = 2 : i64"},
      {3, 9, "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1 : i64"},
      {3, 15, "blocks = 1, columns = 64, cluster_a = 1, cluster_b = 1, ping_pong = 1 : i64"},
      {8, 24, "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1 : i64"},
      {8, 24, "blocks = 1, columns = 128, cluster_a = 1, cluster_b = 1 : i64"}};
  const std::vector<SplitTile> joined = {
      {4, 12, "blocks = 2, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1 : i64"},
      {4, 20, "blocks = 1, columns = 128, cluster_a = 1, cluster_b = 1, ping_pong = 1 : i64"}};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::map<int, std::vector<std::byte>> bits;
  for (const SplitTile& tile : gated ? joined : plain) {
    SCOPED_TRACE(absl::StrFormat("split %d, %s", tile.split, tile.parameters));
    std::string text = absl::StrReplaceAll(splitProduct(tile, gated),
                                           {{"X", "tensor<33x1000xbf16>"},
                                            {"W", "tensor<264x1000xbf16>"},
                                            {"Y", "tensor<33x264xbf16>"},
                                            {" = 1,", " = 1 : i64,"},
                                            {" = 2,", " = 2 : i64,"},
                                            {"columns = 48,", "columns = 48 : i64,"},
                                            {"columns = 64,", "columns = 64 : i64,"},
                                            {"columns = 128,", "columns = 128 : i64,"}});
    auto module = frontends::parseModuleText(context, text, "split");
    ASSERT_TRUE(module.ok()) << module.status() << text;
    (**module)->setAttr(TenonDialect::targetAttrName, findTarget(&context, "h200"));
    absl::Status planned = passes::runPipeline(**module, {});
    ASSERT_TRUE(planned.ok()) << planned;
    auto program = codegen::compileForCuda(**module, {});
    ASSERT_TRUE(program.ok()) << program.status();
    auto executor = runtime::CudaExecutor::create(*std::move(program), {});
    if (absl::IsNotFound(executor.status()))
      GTEST_SKIP() << "no GPU: " << executor.status();
    ASSERT_TRUE(executor.ok()) << executor.status();
    std::vector<CaseInput> described;
    for (const runtime::Port& port : (*executor)->program().functions[0].inputs)
      described.push_back({port.shape, port.encoding, Fill::Small});
    std::vector<ReferenceTensor> inputs = makeInputs(context, described);
    auto outputs = runOnDevice(**executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    auto interpreter = Interpreter::create(**module);
    ASSERT_TRUE(interpreter.ok()) << interpreter.status();
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    expectClose(expected->front(), outputs->front(), toleranceOf("bf16"), "y");
    auto [same, isFirst] = bits.try_emplace(tile.split, outputs->front());
    EXPECT_EQ(same->second, outputs->front());
  }
}

INSTANTIATE_TEST_SUITE_P(Products, CudaSplitTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "gated" : "sum"; });

std::vector<RegionParameters> allRegions() {
  std::vector<RegionParameters> all;
  for (const RegionCase& region : regionCases)
    for (const char* type : {"f32", "f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{1, 2048, 2048}, {1, 2560, 2560}, {2, 1100, 3072}, {5, 528, 1032}})
        all.push_back({&region, type, rows, columns, depth});
  for (auto [rows, chosen, experts] : {std::tuple{1, 8, 128}, {5, 6, 60}, {3, 1, 8}, {2, 32, 512}})
    all.push_back({&expertCases[2], "f32", rows, chosen, experts});
  for (const char* type : {"f32", "f16", "bf16"}) {
    for (auto [rows, columns, depth] : {std::tuple{1, 301, 2048}, {3, 45, 264}, {70, 72, 100}})
      all.push_back({&expertCases[0], type, rows, columns, depth});
    for (auto [rows, columns, depth] : {std::tuple{1, 301, 768}, {3, 46, 264}})
      all.push_back({&expertCases[1], type, rows, columns, depth});
  }
  // On tensor cores, the second row of each of a depth whose rows in q6_k no copy brings alone.
  for (auto [blocks, type] : {std::pair{"q4_k", "f16"},
                              {"q6_k", "bf16"},
                              {"q8_0", "bf16"},
                              {"mxfp4", "f16"},
                              {"int4_g128_f16_zero", "f16"}}) {
    for (auto [rows, columns, depth] : {std::tuple{1, 304, 2048}, {1, 72, 768}})
      all.push_back({&expertCases[0], type, rows, columns, depth, blocks});
    for (auto [rows, columns, depth] : {std::tuple{1, 304, 1024}, {3, 48, 768}})
      all.push_back({&expertCases[1], type, rows, columns, depth, blocks});
  }
  // Rows of 1,530 bytes, of which copies bring some of those beside them, too.
  for (const char* type : {"f16", "bf16"}) {
    all.push_back({&expertCases[0], type, 1, 48, 2880, "mxfp4"});
    all.push_back({&expertCases[1], type, 2, 80, 2880, "mxfp4"});
    all.push_back({&expertCases[3], type, 1, 48, 2880, "mxfp4"});
    all.push_back({&expertCases[4], type, 2, 48, 2880, "mxfp4"});
    all.push_back({&expertCases[4], type, 1, 304, 768, "q4_k"});
  }
  for (const char* type : {"f32", "f16"})
    for (auto [rows, columns, depth] : {std::tuple{1, 301, 2048}, {3, 45, 264}})
      all.push_back({&expertCases[4], type, rows, columns, depth});
  for (const char* type : {"f32", "bf16"})
    for (auto [rows, columns, depth] : {std::tuple{1, 301, 2048}, {3, 45, 264}, {70, 72, 100}})
      all.push_back({&expertCases[3], type, rows, columns, depth});
  // A row a multiprocessor, then rows of one warp, of two in chunks of different lengths, of four, the
  // last block with one row, rows that are no whole vectors.
  for (const RegionCase* region : {&regionCases[0], &rowCases[0], &rowCases[1]})
    for (const char* type : {"f32", "f16", "bf16"})
      for (auto [rows, depth] : {std::tuple{1, 2560},
                                 {16, 5120},
                                 {129, 3080},
                                 {270, 1536},
                                 {269, 2560},
                                 {150, 2600},
                                 {140, 6144},
                                 {135, 1203},
                                 {133, 4100},
                                 {2500, 2560}, // more blocks than run at once
                                 {1901, 4096}})
        all.push_back({region, type, rows, 1, depth});
  for (const RegionCase& region : parallelCases)
    for (const char* type : {"f32", "f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{1, 2560, 2560}, {1, 1100, 1032}, {2, 528, 776}, {3, 528, 1032}})
        all.push_back({&region, type, rows, columns, depth});
  for (const RegionCase& region : parallelCases)
    for (const char* type : {"f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{4, 2560, 2560}, {3, 2147, 7168}, {16, 1100, 776}, {9, 1100, 3848}})
        all.push_back({&region, type, rows, columns, depth}); // the second: tiles of fewer lines
  for (const RegionCase& region : llvm::ArrayRef(regionCases).slice(1, 4)) // in memory, or a norm
    for (const char* type : {"f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{8, 6144, 2048}, {16, 1100, 1032}, {4, 2147, 3976}, {16, 1100, 4096}})
        all.push_back({&region, type, rows, columns, depth}); // the last two: x in registers
  for (const RegionCase* region : {&regionCases[1], &manyRowCase, &groupCases[0]})
    for (const char* type : {"f16", "bf16"})
      for (auto [rows, columns, depth] : {std::tuple{17, 2560, 2560},
                                          {33, 528, 1032},
                                          {150, 1104, 776},
                                          {700, 257, 520},
                                          {2048, 3072, 1024}})
        all.push_back({region, type, rows, columns, depth});
  // Warpgroups make factors of blocks: tiles with empty lines and rows, K in parts, several tiles
  // of rows.
  for (const RegionCase* region : {&regionCases[1], &manyRowCase, &groupCases[0]})
    for (auto [blocks, type] : {std::pair{"q4_k", "f16"},
                                {"q4_k", "bf16"},
                                {"q6_k", "f16"},
                                {"q8_0", "bf16"},
                                {"q5_1", "f16"},
                                {"int4_g128_f16_zero", "f16"}})
      for (auto [rows, columns, depth] : {std::tuple{17, 2560, 2560},
                                          {40, 528, 768},
                                          {150, 1104, 2048},
                                          {300, 264, 512},
                                          {700, 2000, 1024}})
        if (findEncoding(blocks)->bytesFor(depth) % 16 == 0) // else no lines of whole chunks
          all.push_back({region, type, rows, columns, depth, blocks});
  for (const RegionCase& region : regionCases)
    if (region.name == std::string("head_argmax"))
      for (const char* type : {"f16", "bf16"})
        all.push_back({&region, type, 11, 1100, 4096});
  for (const RegionCase& region : groupCases)
    for (const char* type : {"f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{8, 1100, 1032}, {16, 1100, 776}, {9, 1100, 3848}})
        all.push_back({&region, type, rows, columns, depth});
  for (const char* type : {"f32", "f16", "bf16"})
    for (auto [rows, pairing, size] :
         {std::tuple{1, 0, 128}, {7, 1, 64}, {4, 0, 50}, {900, 0, 128}, {1730, 1, 64}})
      all.push_back({&headCases[0], type, rows, pairing, size}); // the last two: heads share a warp
  for (const char* type : {"f16", "bf16"}) {
    all.push_back({&headCases[0], type, 20, 1, 64, {}, /*isPaged=*/true});
    all.push_back({&headCases[0], type, 20, 0, 64, {}, /*isPaged=*/false, /*isSmall=*/true});
    all.push_back({&turnedCases[0], type, 150, 2, 80, {}, /*isPaged=*/true});
  }
  for (const RegionCase& region : turnedCases)
    for (const char* type : {"f32", "f16", "bf16"})
      for (int64_t pairing : {1, 2})
        for (auto [rows, size] : {std::pair{128, 80}, {300, 52}, {131, 48}})
          all.push_back({&region, type, rows, pairing, size});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Regions, CudaRegionTest, ::testing::ValuesIn(allRegions()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
} // namespace tenon::testing
