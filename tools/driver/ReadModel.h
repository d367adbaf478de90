#ifndef TENON_TOOLS_DRIVER_READMODEL_H
#define TENON_TOOLS_DRIVER_READMODEL_H

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/models/ImportModel.h"
#include "frontends/models/ModelSource.h"
#include "ir/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::tools {

/// What is compiled where no shapes are asked for: decode of one sequence and prefill in chunks of 32
/// tokens; for a GPU, which multiplies hundreds of rows in the time in which it reads the weights, also
/// of 128, 512 and 2,048, as far as the context goes. For several sequences at once also decode of 2, 4,
/// 8, … and of `sequences` rows.
std::vector<std::string> defaultShapes(DeviceKind device, int64_t sequences = 1);

/// The entry that `text` of `--shapes` means, `decode:1`, `prefill:32` or `mixed:64`; a usage error says
/// what it may be.
absl::StatusOr<frontends::EntryShape> parseEntryShape(const std::string& text);

/// The device that is none: the reference interpreter (`ReferenceExecutor`).
inline constexpr std::string_view interpreterDevice = "reference";

/// `--activations` of f32 whose factors a GPU's library may round.
inline constexpr std::string_view tf32Activations = "tf32";

/// Behind the type of a shape's weights: columns of layers' matrices have another order than their
/// inputs (GPTQ's `desc_act`).
inline constexpr std::string_view actOrderSuffix = ",act_order";

/// What model is read, and what of it is compiled.
struct ModelOptions {
  std::string path;
  std::string activations = {};         ///< as `--activations` has it; empty: what suits the device
  std::vector<std::string> shapes = {}; ///< entry shapes; empty: `defaultShapes`
  std::vector<std::string> mixedShapes = {}; ///< entry shapes beside those
  int64_t batch = 1;                         ///< sequences that the default shapes decode at once
  std::string cache = {}; ///< as `CacheType`, in lower case; empty: the activations'
  int64_t keptTokens = 0; ///< as in `ImportOptions`
  int64_t window = 0;     ///< the same
  int64_t page = 0;  ///< positions of a page of the caches, 16, 32, 64 or 128; 0: they are dense
  int64_t pages = 0; ///< of the pool; 0: as many as all sequences take
  int64_t contextLength = 0; ///< positions that the states hold; 0: the model's, within limits
  int64_t sequences = 0;     ///< that the states hold; 0: rows of the largest decode shape
  bool blockOutputs = false;
  bool nextIds = false;                      ///< as in `ImportOptions`, where the device is a GPU
  bool acceptedIds = false;                  ///< the same
  bool draftIds = false;                     ///< as in `ImportOptions`
  std::vector<std::string> ignoredKeys = {}; ///< as in `ImportOptions`
  std::optional<uint64_t> randomSeed = {};   ///< of weights made at load instead of the model's own
  std::string weightType = "f16"; ///< of a shape's weights, perhaps with `actOrderSuffix`
  std::string device = "auto";    ///< `cpu`, `cuda` or `auto`: as `chooseTarget` has it
  std::string target = "native";  ///< what to compile for
};

/// A context with the dialects that modules are made of.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Imports a model that is open, as `options` say.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext& context,
                                                              const frontends::ModelSource& source,
                                                              const ModelOptions& options,
                                                              DeviceKind device);

/// Reads the model: by the frontend that recognises the file, else as a graph in textual IR of any phase, which may come
/// from standard input, `-`. The paths of its `tenon.file`s come out absolute; relative ones in
/// textual IR are meant from its folder. A compiled program is refused, and what `identifyFile` does
/// not know.
/// Where the options name no type of activations, it is f32 on a CPU, and on a GPU the 16-bit type
/// that suits the weights.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> readModel(mlir::MLIRContext& context,
                                                            const ModelOptions& options,
                                                            DeviceKind device = DeviceKind::Cpu);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_READMODEL_H
