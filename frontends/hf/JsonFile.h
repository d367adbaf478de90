#ifndef TENON_FRONTENDS_HF_JSONFILE_H
#define TENON_FRONTENDS_HF_JSONFILE_H

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace tenon::frontends {

/// An object of JSON from a file of a Hugging Face folder, read without trust: a member that has
/// not the expected type is an error that names file, key, what was expected and what was found. A
/// member that is null counts as missing.
class JsonFile {
public:
  /// Far above the files in use (tokenizer.json of 256,000 tokens has 33 MB), and low enough for
  /// the values in memory, which take up to 16 times as much.
  static constexpr uint64_t maxBytes = uint64_t(64) << 20;
  /// Of objects and lists within each other: several times what the files in use have.
  static constexpr int maxDepth = 64;

  /// Reads the file at `path`. NotFound where there is none.
  static absl::StatusOr<JsonFile> open(const std::string& path);
  /// The same from `text`; `path` stands for it in messages.
  static absl::StatusOr<JsonFile> parse(const std::string& path, std::string_view text);

  /// The member `key` of the root, an object, as a root: its members, those of the root that it lacks, but for `left`,
  /// and those of `defaults` that neither has; one that is null counts as there. Of `prior` the
  /// root's is taken where both have one. In messages the root's members keep their names, all others
  /// have `key` in front.
  JsonFile nested(std::string_view key, std::span<const std::string_view> left,
                  std::string_view prior, const nlohmann::json& defaults) const;

  /// The same but for the members `left`.
  JsonFile without(std::span<const std::string_view> left) const;

  const std::string& path() const { return name; }
  const nlohmann::json& root() const { return value; }
  /// The member of the root, or null.
  const nlohmann::json* find(std::string_view key) const { return find(value, key); }
  /// The member of `object`, which may be no object, or null.
  static const nlohmann::json* find(const nlohmann::json& object, std::string_view key);

  /// `<path>: key '<key>' expects <expected>, but got <found>`.
  absl::Status error(std::string_view key, std::string_view expected,
                     const std::string& found) const;
  absl::Status error(std::string_view key, std::string_view expected,
                     const nlohmann::json& found) const;

  /// Members of `object`, itself at `place` in messages (`rope_scaling.`; the root's is empty);
  /// `otherwise` where there is none.
  absl::StatusOr<double> number(const nlohmann::json& object, std::string_view place,
                                std::string_view key, double otherwise) const;
  absl::StatusOr<bool> flag(const nlohmann::json& object, std::string_view place,
                            std::string_view key, bool otherwise) const;
  absl::StatusOr<std::string> text(const nlohmann::json& object, std::string_view place,
                                   std::string_view key, std::string_view otherwise) const;

private:
  JsonFile(std::string name, nlohmann::json value)
      : name(std::move(name)), value(std::move(value)) {}

  std::string name;
  nlohmann::json value;
  std::string place;                        ///< of the root in the file: `text_config.`
  std::set<std::string, std::less<>> outer; ///< members that have another place, the file's root
};

/// A value for messages: at most about 100 bytes of it.
std::string describeJson(const nlohmann::json& value);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_JSONFILE_H
