// Regions of norms of rows.
#include "RegionCases.h"

namespace tenon::testing {
namespace {

/// Rows of many multiprocessors' worth, too: a norm after sums, all of them results.
const RegionCase rowCases[] = {
    {"residual_norm", "%x: tensor<MxKxT>, %r: tensor<MxKxT>, %g: tensor<KxT>", R"(
  %0:2 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %r : tensor<MxKxT>, %c = %g : tensor<KxT>)
      -> (tensor<MxKxT>, tensor<MxKxT>) {
    %s = tenon.add %a, %b : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %n = tenon.rms_norm %s, %c eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    tenon.yield %s, %n : tensor<MxKxT>, tensor<MxKxT>
  }
  return %0#0, %0#1 : tensor<MxKxT>, tensor<MxKxT>)",
     "tensor<MxKxT>, tensor<MxKxT>"},
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
    {"sibling_layer_norms",
     "%x: tensor<MxKxT>, %g: tensor<Kxf32>, %h: tensor<Kxf32>, %e: tensor<KxT>", R"(
  %0:2 = tenon.kernel (%a = %x : tensor<MxKxT>, %c = %g : tensor<Kxf32>, %d = %h : tensor<Kxf32>,
                       %f = %e : tensor<KxT>) -> (tensor<MxKxT>, tensor<MxKxT>) {
    %m = tenon.layer_norm %a weight %c bias %d eps 1.0e-5
        : (tensor<MxKxT>, tensor<Kxf32>, tensor<Kxf32>) -> tensor<MxKxT>
    %n = tenon.layer_norm %a weight %f bias %d eps 1.0e-5
        : (tensor<MxKxT>, tensor<KxT>, tensor<Kxf32>) -> tensor<MxKxT>
    tenon.yield %m, %n : tensor<MxKxT>, tensor<MxKxT>
  }
  return %0#0, %0#1 : tensor<MxKxT>, tensor<MxKxT>)",
     "tensor<MxKxT>, tensor<MxKxT>"},
    {"residual_sibling_norms",
     "%x: tensor<MxKxT>, %r: tensor<MxKxT>, %g: tensor<KxT>, %h: tensor<KxT>", R"(
  %0:4 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %r : tensor<MxKxT>, %c = %g : tensor<KxT>,
                       %d = %h : tensor<KxT>)
      -> (tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>) {
    %s = tenon.add %a, %b : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %l = tenon.rms_norm %s, %c eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %m = tenon.rms_norm %s, %d eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %n = tenon.rms_norm %s eps 1.0e-5 : (tensor<MxKxT>) -> tensor<MxKxT>
    %y = tenon.mul %m, %n : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    tenon.yield %s, %l, %m, %y : tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>
  }
  return %0#0, %0#1, %0#2, %0#3 : tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>)",
     "tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>, tensor<MxKxT>"},
};

std::vector<RegionParameters> rowRegions() {
  std::vector<RegionParameters> all;
  const char* types[] = {"f32", "f16", "bf16"};
  const RegionCase& residualNorm = rowCases[0];
  for (const char* type : types)
    for (auto [rows, columns, depth] :
         {std::tuple{1, 2048, 2048}, {1, 2560, 2560}, {2, 1100, 3072}, {5, 528, 1032}})
      all.push_back({&residualNorm, type, rows, columns, depth});
  // A row a multiprocessor, then rows of one warp, of two in chunks of different lengths, of four, the
  // last block with one row, rows that are no whole vectors.
  for (const RegionCase& region : rowCases)
    for (const char* type : types)
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
        all.push_back({&region, type, rows, 1, depth});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Rows, CudaRegionTest, ::testing::ValuesIn(rowRegions()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
} // namespace tenon::testing
