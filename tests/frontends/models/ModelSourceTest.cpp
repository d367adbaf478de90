// Architectures on a source that is no GGUF file.

#include "frontends/models/ModelSource.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "frontends/gguf/GgufSource.h"
#include "frontends/models/ImportModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "support/Status.h"
#include "tests/common/StatusMatchers.h"
#include "tests/frontends/gguf/ModelFile.h"

namespace tenon::frontends {
namespace {

using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::testing::HasSubstr;

constexpr auto invalid = absl::StatusCode::kInvalidArgument;
constexpr auto notFound = absl::StatusCode::kNotFound;

/// A model in memory: the keys and tensors of a test's GGUF file, whose prefix `llama.` it drops, each
/// tensor in 64 KiB of zeros.
class MemorySource : public ModelSource {
public:
  explicit MemorySource(const ModelFile& model) : entries(model.keys) {
    for (const auto& [name, tensor] : model.tensors) {
      const Encoding* encoding = findEncoding(tensor.encoding);
      int64_t elements = 1;
      for (int64_t length : tensor.shape)
        elements *= length;
      list.push_back({name, tensor.shape, encoding, 0, tensorBytes * list.size(),
                      static_cast<uint64_t>(encoding->bytesFor(elements))});
      names.push_back(name);
    }
    for (size_t i = 0; i < list.size(); ++i)
      list[i].name = names[i];
    mapped = {MappedFile::ofPieces("memory", tensorBytes * list.size(), {}).value()};
  }

  const std::string& path() const override { return mapped.front()->path(); }
  std::span<const std::shared_ptr<const MappedFile>> files() const override { return mapped; }
  std::vector<SourceKey> keys() const override {
    std::vector<SourceKey> all;
    for (const auto& [key, value] : entries)
      if (key.starts_with("llama."))
        all.push_back({key.substr(6), key, "a value", std::nullopt});
    return all;
  }
  bool has(std::string_view key) const override { return entries.contains(storedKey(key)); }
  absl::StatusOr<bool> flag(std::string_view key) const override { return value<bool>(key); }
  absl::StatusOr<std::string_view> text(std::string_view key) const override {
    TENON_ASSIGN_OR_RETURN(copy, value<std::string>(key));
    return copy;
  }
  using ModelSource::text;
  absl::Status keyError(std::string_view key, const std::string& expected,
                        const std::string& found) const override {
    return absl::InvalidArgumentError(
        absl::StrCat("memory: key ", std::string(key), ": ", expected, ", not ", found));
  }
  std::span<const SourceTensor> tensors() const override { return list; }
  bool hasTensor(std::string_view name) const override { return find(name) != nullptr; }
  absl::StatusOr<const SourceTensor*> requireTensor(std::string_view name,
                                                    std::span<const int64_t> shape) const override {
    const SourceTensor* tensor = find(name);
    if (!tensor)
      return absl::NotFoundError(absl::StrCat("memory: no tensor ", std::string(name)));
    if (!shape.empty() && !std::ranges::equal(shape, tensor->shape))
      return absl::InvalidArgumentError(absl::StrCat("memory: shape of ", std::string(name)));
    return tensor;
  }
  absl::StatusOr<runtime::TokenizerSpec> tokenizer() const override {
    return absl::NotFoundError("memory: no tokeniser");
  }
  absl::Status checkVocabulary(int64_t rows) const override {
    return rows == vocabulary ? absl::OkStatus() : absl::InvalidArgumentError("memory: vocabulary");
  }

  std::map<std::string, ModelFile::KeyValue> entries;
  int64_t vocabulary = 5;

protected:
  absl::StatusOr<uint64_t> integer(std::string_view key, uint64_t highest) const override {
    TENON_ASSIGN_OR_RETURN(uint32_t number, value<uint32_t>(key));
    if (number > highest)
      return keyError(key, "less", absl::StrCat(number));
    return number;
  }
  absl::StatusOr<float> number(std::string_view key) const override { return value<float>(key); }

private:
  static constexpr uint64_t tensorBytes = 1 << 16;

  static std::string storedKey(std::string_view key) {
    bool isGeneral = key == "architecture" || key == "name";
    return absl::StrCat(isGeneral ? "general." : "llama.", std::string(key));
  }
  template <typename T> absl::StatusOr<T> value(std::string_view key) const {
    auto found = entries.find(storedKey(key));
    if (found == entries.end())
      return absl::NotFoundError(absl::StrCat("memory: no key ", std::string(key)));
    return std::get<T>(found->second);
  }
  const SourceTensor* find(std::string_view name) const {
    for (const SourceTensor& tensor : list)
      if (tensor.name == name)
        return &tensor;
    return nullptr;
  }

  std::vector<std::string> names;
  std::vector<SourceTensor> list;
  std::vector<std::shared_ptr<const MappedFile>> mapped;
  mutable std::string copy;
};

/// The functions of a module as text: what remains of it but symbols of bytes in files.
std::string functionsOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto function : module.getOps<mlir::func::FuncOp>())
    function.print(stream);
  return text;
}

TEST(ModelSource, AnArchitectureNeedsNoGguf) {
  mlir::MLIRContext context;
  tests::TempFolder folder;
  auto file = GgufSource::open(ModelFile::llama().write(folder));
  ASSERT_THAT(file, IsOk());
  MemorySource memory(ModelFile::llama());
  auto fromFile = importModel(context, **file);
  auto fromMemory = importModel(context, memory);
  ASSERT_THAT(fromFile, IsOk());
  ASSERT_THAT(fromMemory, IsOk());
  EXPECT_THAT(functionsOf(**fromMemory), HasSubstr("tenon.attention"));
  EXPECT_EQ(functionsOf(**fromMemory), functionsOf(**fromFile));
}

TEST(ModelSource, ErrorsSpeakAsTheSourceDoes) {
  mlir::MLIRContext context;
  auto import = [&](void (*change)(MemorySource&)) {
    MemorySource source(ModelFile::llama());
    change(source);
    return importModel(context, source);
  };
  EXPECT_THAT(
      import([](MemorySource& s) { s.entries["general.architecture"] = std::string("mamba"); }),
      FailsWith(invalid, HasSubstr("memory: key architecture: one of 'bert', ")));
  EXPECT_THAT(import([](MemorySource& s) { s.entries.erase("llama.block_count"); }),
              FailsWith(notFound, HasSubstr("memory: no key block_count")));
  EXPECT_THAT(import([](MemorySource& s) { s.entries["llama.block_count"] = 0u; }),
              FailsWith(invalid, HasSubstr("memory: key block_count: an integer of at least 1")));
  EXPECT_THAT(import([](MemorySource& s) { s.entries["llama.logit_scale"] = 2.0f; }),
              FailsWith(invalid, HasSubstr("memory: key logit_scale: to be absent")));
  EXPECT_THAT(import([](MemorySource& s) { s.vocabulary = 6; }),
              FailsWith(invalid, HasSubstr("memory: vocabulary")));
}

} // namespace
} // namespace tenon::frontends
