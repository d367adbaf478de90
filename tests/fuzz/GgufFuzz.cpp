// GGUF files: the reader, the tokeniser's metadata, the importer, and the passes over what it
// imports.

#include "frontends/gguf/GgufSource.h"
#include "frontends/models/ImportModel.h"
#include "ir/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "runtime/text/Tokenizer.h"
#include "tests/frontends/gguf/ReadEverything.h"
#include "tests/fuzz/Fuzz.h"

using namespace tenon;

static void tokenize(const frontends::ModelSource& source) {
  auto spec = source.tokenizer();
  if (!spec.ok())
    return;
  auto tokenizer = runtime::Tokenizer::create(*std::move(spec));
  if (!tokenizer.ok())
    return;
  auto ids = (*tokenizer)->encode("a b\xff ab\n<s>", {.parseSpecial = true});
  if (!ids.ok())
    return;
  for (int32_t id : *ids)
    fuzz::require((*tokenizer)->decode(id).ok(), "the tokeniser gave an id that it cannot decode");
}

static void compile(const frontends::ModelSource& source) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  frontends::ImportOptions options;
  options.entries = {{Role::Decode, 1}, {Role::Prefill, 3}};
  auto module = frontends::importModel(context, source, options);
  if (!module.ok())
    return;
  passes::PipelineOptions pipeline;
  pipeline.target = findTarget(&context, "x86-64-v3");
  passes::runPipeline(**module, pipeline).IgnoreError();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::MemoryFile input({data, size});
  auto file = frontends::GgufFile::open(input.path());
  if (!file.ok())
    return 0;
  frontends::readEverything(**file);
  auto source = frontends::GgufSource::open(input.path());
  if (!source.ok())
    return 0;
  tokenize(**source);
  compile(**source);
  return 0;
}
