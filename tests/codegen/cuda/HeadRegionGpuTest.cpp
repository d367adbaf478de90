// Regions of norms, ropes and cache writes of heads.
#include "RegionCases.h"
#include "absl/strings/str_replace.h"

namespace tenon::testing {
namespace {

/// Ropes of queries and keys, with norms before them or without, Hadamard transforms of all heads
/// or none, the write of keys and values, and attention to what they have written.
std::string headRegion(bool hasNorms, bool hasTransforms = false) {
  constexpr const char* region = R"(
  %c0 = tenon.get_state @k : !tenon.state<3x40x2xKxT>
  %d0 = tenon.get_state @v : !tenon.state<3x40x2xKxT>
  %0:3 = tenon.kernel (%a = %q : tensor<Mx6xKxT>, %b = %k : tensor<Mx2xKxT>,
                       %c = %v : tensor<Mx2xKxT>, WEIGHTS
                       %i = %s : tensor<Mxi32>, %j = %p : tensor<Mxi32>,
                       %l = %f : tensor<PAIRSxf32>,
                       %m = %c0 : !tenon.state<3x40x2xKxT>, %n = %d0 : !tenon.state<3x40x2xKxT>)
      -> (tensor<Mx6xKxT>, !tenon.state<3x40x2xKxT>, !tenon.state<3x40x2xKxT>) {
    NORM_OF_QUERIES
    %1 = tenon.rope PAIRING QUERIES, %j, %l
        : (tensor<Mx6xKxT>, tensor<Mxi32>, tensor<PAIRSxf32>) -> tensor<Mx6xKxT>
    TRANSFORM_OF_QUERIES
    NORM_OF_KEYS
    %2 = tenon.rope PAIRING KEYS, %j, %l
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<PAIRSxf32>) -> tensor<Mx2xKxT>
    TRANSFORM_OF_KEYS
    TRANSFORM_OF_VALUES
    %3 = tenon.kv_write WRITTEN_KEYS, %i, %j into %m
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<Mxi32>, !tenon.state<3x40x2xKxT>)
        -> !tenon.state<3x40x2xKxT>
    %4 = tenon.kv_write WRITTEN_VALUES, %i, %j into %n
        : (tensor<Mx2xKxT>, tensor<Mxi32>, tensor<Mxi32>, !tenon.state<3x40x2xKxT>)
        -> !tenon.state<3x40x2xKxT>
    tenon.yield YIELDED, %3, %4
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
  auto norm = [&](const char* name, const char* heads, const char* weight) {
    return absl::StrReplaceAll("NAME = tenon.rms_norm HEADS, WEIGHT eps 1.0e-6",
                               {{"NAME", name}, {"HEADS", heads}, {"WEIGHT", weight}});
  };
  auto transform = [&](const char* name, const char* heads, const char* count) {
    constexpr const char* text = "NAME = tenon.hadamard HEADS : (tensor<MxCOUNTxKxT>) -> "
                                 "tensor<MxCOUNTxKxT>";
    return hasTransforms
               ? absl::StrReplaceAll(text, {{"NAME", name}, {"HEADS", heads}, {"COUNT", count}})
               : "";
  };
  constexpr const char* ofQueries = " : (tensor<Mx6xKxT>, tensor<KxT>) -> tensor<Mx6xKxT>";
  constexpr const char* ofKeys = " : (tensor<Mx2xKxT>, tensor<KxT>) -> tensor<Mx2xKxT>";
  return absl::StrReplaceAll(
      region, {{"WEIGHTS", hasNorms ? "%d = %g : tensor<KxT>, %e = %h : tensor<KxT>," : ""},
               {"NORM_OF_QUERIES", hasNorms ? norm("%queries", "%a", "%d") + ofQueries : ""},
               {"TRANSFORM_OF_QUERIES", transform("%tq", "%1", "6")},
               {"TRANSFORM_OF_KEYS", transform("%tk", "%2", "2")},
               {"TRANSFORM_OF_VALUES", transform("%tv", "%c", "2")},
               {"WRITTEN_KEYS", hasTransforms ? "%tk" : "%2"},
               {"WRITTEN_VALUES", hasTransforms ? "%tv" : "%c"},
               {"YIELDED", hasTransforms ? "%tq" : "%1"},
               {"NORM_OF_KEYS", hasNorms ? norm("%keys", "%b", "%e") + ofKeys : ""},
               {"QUERIES", hasNorms ? "%queries" : "%a"},
               {"KEYS", hasNorms ? "%keys" : "%b"}});
}

const std::string normedRegion = headRegion(/*hasNorms=*/true);
const std::string turnedRegion = headRegion(/*hasNorms=*/false);
const std::string transformedRegion = headRegion(/*hasNorms=*/true, /*hasTransforms=*/true);
constexpr const char* results = "tensor<Mx6xKxT>, tensor<Mx6xKxT>";
constexpr const char* states =
    "tenon.state @k : !tenon.state<3x40x2xKxT>\ntenon.state @v : !tenon.state<3x40x2xKxT>";

const RegionCase headCases[] = {
    {"heads",
     "%q: tensor<Mx6xKxT>, %k: tensor<Mx2xKxT>, %v: tensor<Mx2xKxT>, %g: tensor<KxT>, "
     "%h: tensor<KxT>, %s: tensor<Mxi32>, %p: tensor<Mxi32>, %f: tensor<PAIRSxf32>",
     normedRegion.c_str(), results, states, "24"},
    {"transformed_heads",
     "%q: tensor<Mx6xKxT>, %k: tensor<Mx2xKxT>, %v: tensor<Mx2xKxT>, %g: tensor<KxT>, "
     "%h: tensor<KxT>, %s: tensor<Mxi32>, %p: tensor<Mxi32>, %f: tensor<PAIRSxf32>",
     transformedRegion.c_str(), results, states, "24"}};

/// Of many rows, some of which go to one place: a vector of pairs' first elements turns with a vector
/// of their second ones, or pairs end within vectors.
constexpr const char* turnedArguments =
    "%q: tensor<Mx6xKxT>, %k: tensor<Mx2xKxT>, %v: tensor<Mx2xKxT>, %s: tensor<Mxi32>, "
    "%p: tensor<Mxi32>, %f: tensor<PAIRSxf32>";
const RegionCase turnedCases[] = {
    {"turned_heads", turnedArguments, turnedRegion.c_str(), results, states, "24"},
    {"turned_pairs", turnedArguments, turnedRegion.c_str(), results, states, "10"}};

std::vector<RegionParameters> headRegions() {
  std::vector<RegionParameters> all;
  for (const char* type : {"f32", "f16", "bf16"})
    for (auto [rows, pairing, size] :
         {std::tuple{1, 0, 128}, {7, 1, 64}, {4, 0, 50}, {900, 0, 128}, {1730, 1, 64}})
      all.push_back({&headCases[0], type, rows, pairing, size}); // the last two: heads share a warp
  for (const char* type : {"f16", "bf16"}) {
    all.push_back({&headCases[0], type, 20, 1, 64, {}, /*isPaged=*/true});
    all.push_back({&headCases[0], type, 20, 0, 64, {}, /*isPaged=*/false, /*isSmall=*/true});
    all.push_back({&turnedCases[0], type, 150, 2, 80, {}, /*isPaged=*/true});
    for (int64_t size : {64, 80})
      all.push_back({&headCases[1], type, 20, 0, size, {}, /*isPaged=*/false, /*isSmall=*/true});
  }
  for (const RegionCase& region : turnedCases)
    for (const char* type : {"f32", "f16", "bf16"})
      for (int64_t pairing : {1, 2})
        for (auto [rows, size] : {std::pair{128, 80}, {300, 52}, {131, 48}})
          all.push_back({&region, type, rows, pairing, size});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Heads, CudaRegionTest, ::testing::ValuesIn(headRegions()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
} // namespace tenon::testing
