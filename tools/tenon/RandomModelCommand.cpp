#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/Progress.h"
#include "tools/driver/RandomModel.h"
#include "tools/driver/UsageError.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  std::string shape;
  std::string output;
  std::string encoding = "f16";
  uint64_t seed = 0;
  JsonFlag json;
};

/// True for what weights of a file may be stored in.
bool isForWeights(const Encoding& encoding) {
  return encoding.ggufType >= 0 && !encoding.name.starts_with("i32") &&
         !encoding.name.starts_with("i64");
}

/// The names of the encodings that weights may have.
std::string weightEncodings() {
  std::string names;
  for (const Encoding* encoding : allEncodings())
    if (isForWeights(*encoding))
      names += (names.empty() ? "" : ", ") + std::string(encoding->name);
  return names;
}

absl::Status writeModel(const Options& options) {
  if (options.output == "-" && options.json.replacesText())
    return usageError("--json: expects --json=FILE where -o - prints the model");
  TENON_ASSIGN_OR_RETURN(ModelShape shape, findModelShape(options.shape));
  const Encoding* encoding = findEncoding(options.encoding);
  if (!encoding || !isForWeights(*encoding))
    return usageError(absl::StrFormat("--type: expects one of %s, but got '%s'", weightEncodings(),
                                      options.encoding));
  if (shape.hidden % encoding->blockSize != 0 || shape.ffn % encoding->blockSize != 0)
    std::cerr << absl::StrFormat(
        "tenon: note: matrices whose rows are no whole blocks of %d elements "
        "are stored as f16 instead of %s\n",
        encoding->blockSize, encoding->name);
  const std::string path = outputPath(options.output);
  uint64_t bytes = 0;
  {
    Progress progress("writing " + path);
    TENON_RETURN_IF_ERROR(
        writeRandomModel(shape, *encoding, options.seed, path, [&](uint64_t done, uint64_t total) {
          progress.update(done, total);
          bytes = total;
        }));
  }
  return writeJson(options.json, {{"output", options.output},
                                  {"shape", shape.name},
                                  {"type", encoding->name},
                                  {"seed", options.seed},
                                  {"layers", shape.layers},
                                  {"hidden", shape.hidden},
                                  {"ffn", shape.ffn},
                                  {"heads", shape.heads},
                                  {"kv_heads", shape.kvHeads},
                                  {"vocabulary", shape.vocabulary},
                                  {"context", shape.context},
                                  {"tensor_bytes", bytes}});
}

} // namespace

void addRandomModelCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "random-model", "Write a GGUF file of a real model's shape with random weights");
  std::string shapes;
  for (const ModelShape& shape : namedModelShapes())
    shapes += (shapes.empty() ? "" : ", ") + std::string(shape.name);
  command
      ->add_option(
          "SHAPE", options->shape,
          absl::StrFormat("One of %s, and sizes in place of its own, %s,layers=2,ffn=512; of "
                          "%s",
                          shapes, namedModelShapes().front().name,
                          absl::StrJoin(modelShapeFields(), ", ")))
      ->required();
  command->add_option("-o,--output", options->output, "The file to write; - for standard output")
      ->required();
  command->add_option("--type", options->encoding, "Encoding of the matrices: " + weightEncodings())
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the weights")
      ->check(anySeed())
      ->capture_default_str();
  addJsonFlag(*command, options->json, "one object: output, shape, type, seed, the sizes");
  command->callback([options, &action] { action = [options] { return writeModel(*options); }; });
}

} // namespace tenon::tools
