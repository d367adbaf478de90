#ifndef TENON_FRONTENDS_HF_HFSOURCE_H
#define TENON_FRONTENDS_HF_HFSOURCE_H

#include <deque>
#include <map>
#include <optional>
#include <set>

#include "absl/functional/function_ref.h"

#include "frontends/hf/ChangedTensors.h"
#include "frontends/hf/HfFamily.h"
#include "frontends/hf/HfKeys.h"
#include "frontends/hf/NestedModel.h"
#include "frontends/hf/Quantization.h"
#include "frontends/hf/SafetensorsFile.h"
#include "frontends/models/ModelSource.h"

namespace tenon::frontends {

/// A folder as Hugging Face's transformers write one: config.json, and the tensors in
/// model.safetensors or in several files that model.safetensors.index.json names; as a source.
///
/// Tensors are used where they lie in these files, but for what GGUF, whose layouts architectures
/// expect, stores in another form (`TensorChange`): that is written once to a file in the cache
/// folder (`support/CacheFolder.h`), whose name follows from all files that it is made of. Llama's
/// rows of Q and K stay as they are; heads are rotated by halves instead (`keepsHalves`), so that
/// the products of Q and K add up in another order than GGUF's form of the same model gives.
/// Weights that are quantised (`Quantization`) are repacked into that file as blocks, exactly; rows
/// of gate and up in the order that down's columns have (`internal/ColumnOrders.h`).
class HfSource : public ModelSource {
public:
  /// Opens the folder at `path`, or the one that the safetensors file at `path` lies in.
  static absl::StatusOr<std::unique_ptr<ModelSource>> open(const std::string& path);

  const std::string& path() const override { return folder; }
  std::span<const std::shared_ptr<const MappedFile>> files() const override { return mappings; }
  std::vector<SourceKey> keys() const override;
  bool has(std::string_view key) const override { return config.entries().contains(key); }
  absl::StatusOr<bool> flag(std::string_view key) const override;
  absl::StatusOr<std::string_view> text(std::string_view key) const override;
  using ModelSource::text;
  absl::Status keyError(std::string_view key, const std::string& expected,
                        const std::string& found) const override;
  std::span<const SourceTensor> tensors() const override { return list; }
  bool hasTensor(std::string_view name) const override { return indexByName.contains(name); }
  absl::StatusOr<const SourceTensor*> requireTensor(std::string_view name,
                                                    std::span<const int64_t> shape) const override;
  bool keepsHalves() const override { return family.rotatesHalves; }
  absl::StatusOr<runtime::TokenizerSpec> tokenizer() const override;
  absl::Status checkVocabulary(int64_t rows) const override { return absl::OkStatus(); }

protected:
  absl::StatusOr<uint64_t> integer(std::string_view key, uint64_t highest) const override;
  absl::StatusOr<float> number(std::string_view key) const override;

private:
  HfSource(std::string folder, HfKeys config, const HfFamily& family, bool isNested)
      : folder(std::move(folder)), config(std::move(config)), family(family), isNested(isNested) {}

  /// The value of `key`; NotFound where there is none.
  absl::StatusOr<const nlohmann::json*> require(std::string_view key) const;
  absl::Status openFiles();
  absl::Status openShards();
  absl::Status addTensors(const SafetensorsFile& file);
  absl::Status addTensor(SourceTensor tensor, std::string name);
  /// An expert's part of a tensor of all experts.
  struct ExpertPart {
    SourceTensor place;
    SafetensorsTensor tensor;
  };
  /// Puts a tensor [experts, ...] in place of those of single experts.
  absl::Status joinExperts();
  /// Refuses parts of the tensor `name` of all experts that are not those of 0, 1, ...
  absl::Status checkExperts(const std::string& name,
                            const std::map<int64_t, ExpertPart>& parts) const;
  /// `<folder>: tensors <name of all experts> expect <expected>, but got <found>`.
  absl::Status expertsError(const std::string& name, const std::string& expected,
                            const std::string& found) const;
  /// The output layer: that of the file, or the embedding, as config.json says.
  absl::Status tieOutput();
  absl::StatusOr<HeadCounts> headCounts() const;
  absl::Status changeTensors();
  /// Puts two tensors in place of each whose rows alternate (`AlternatingRows`).
  absl::Status splitAlternating();
  /// Finds the linear layers whose weights lie in containers and puts a tensor in place of the parts
  /// of each.
  absl::Status findPackedWeights();
  /// Weights in containers: one, or one for each expert, in one encoding.
  struct Packed {
    std::vector<containers::PackedWeight> weights;
    std::vector<int64_t> shape; ///< of all together
  };
  /// A tensor of a file; null where there is none.
  struct Part {
    const SafetensorsTensor* tensor = nullptr;
    size_t file = 0; ///< a position in `mappings`
  };
  using FindPart = absl::FunctionRef<Part(std::string_view suffix)>;
  /// The weight of the layer `module`, as the file names it, whose parts `find` finds. `keepsZeros`: as
  /// `containers::WeightRequest` has it.
  absl::StatusOr<Packed> openPackedWeight(const std::string& module, FindPart find,
                                          bool keepsZeros = false);
  /// Those of all experts of the layer `base`, in canonical names.
  absl::StatusOr<Packed> openPackedExperts(const std::string& base);
  /// The same, each in an encoding of its own.
  absl::StatusOr<Packed> openEachExpert(const std::string& base, bool keepsZeros);
  /// The parts of all experts that stand under that suffix; null where there are none.
  const std::map<int64_t, ExpertPart>* findExperts(const std::string& base,
                                                   std::string_view suffix) const;
  /// Puts a tensor in place of the parts of each such layer.
  absl::Status findPackedExperts();
  /// Drops the tensors of `names` from the list.
  void drop(const std::set<std::string, std::less<>>& dropped);

  std::string folder;
  HfKeys config;
  HfFamily family;
  bool isNested;            ///< whether the folder has more than the text model
  bool hasPrefixes = false; ///< whether a nested family has the file's prefixes
  int64_t imageTensors = 0; ///< which were passed over
  std::vector<std::shared_ptr<const MappedFile>> mappings;
  /// By canonical name, what the files say of tensors: also of types that no encoding has.
  std::map<std::string, SafetensorsTensor, std::less<>> stored;
  std::optional<Quantization> quantization;
  /// By canonical name, the weights of containers, whose tensors have no place yet.
  std::map<std::string, Packed, std::less<>> packed;
  /// By canonical name, the parts of tensors of all experts, by the number of the expert.
  std::map<std::string, std::map<int64_t, ExpertPart>, std::less<>> experts;
  /// A tensor that is every second row of another.
  struct Half {
    std::string whole; ///< that tensor's name
    RowChoice rows;
  };
  std::map<std::string, Half, std::less<>> halves; ///< by canonical name
  std::deque<std::string> names;                   ///< what the tensors' names are views of
  std::vector<SourceTensor> list;
  std::map<std::string_view, size_t> indexByName;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_HFSOURCE_H
