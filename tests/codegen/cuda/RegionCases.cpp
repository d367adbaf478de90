#include "RegionCases.h"

#include "absl/strings/str_replace.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"

namespace tenon::testing {

double toleranceOf(const std::string& type) {
  return type == "f32" ? 1e-5 : type == "f16" ? 4e-3 : 3e-2;
}

std::string nameOf(const RegionParameters& p) {
  return std::string(p.region->name) +
         (p.isPaged   ? "_pages_"
          : p.isSmall ? "_small_"
                      : "_") +
         (p.blocks.empty() ? "" : p.blocks + "_") + p.type + "_" + std::to_string(p.rows) + "x" +
         std::to_string(p.columns) + "x" + std::to_string(p.depth);
}

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

} // namespace tenon::testing
