// Regions of norms, ropes and cache writes of heads.
#include "RegionCases.h"

namespace tenon::testing {
namespace {

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
