#ifndef TENON_FRONTENDS_HF_HFKEYS_H
#define TENON_FRONTENDS_HF_HFKEYS_H

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "frontends/hf/JsonFile.h"
#include "frontends/models/ModelSource.h"

namespace tenon::frontends {

/// The canonical keys of a model, made from its config.json, and the tensors that stand for lists
/// of numbers in it (divisors of rope frequencies).
class HfKeys {
public:
  explicit HfKeys(JsonFile config) : file(std::move(config)) {}

  const JsonFile& config() const { return file; }
  /// The member of config.json, or null; counts as known either way.
  const nlohmann::json* use(std::string_view key);
  /// The positive integer that config.json has as `key`, which other keys follow from.
  absl::StatusOr<int64_t> size(std::string_view key);
  /// `canonical` is what config.json has as `stored`, where it has that. Nothing is checked yet.
  void map(std::string_view canonical, std::string_view stored);
  /// `canonical` is `value`, which follows from `stored`.
  void set(std::string_view canonical, std::string_view stored, nlohmann::json value);
  /// A tensor f32 [values] that config.json has as numbers.
  void addTensor(std::string_view canonical, std::vector<float> values) {
    vectors.emplace_back(canonical, std::move(values));
  }
  /// Lets the object of rope parameters have the member `name`, or be of that type, which says nothing of
  /// texts: it stands for no scaling.
  void passRope(std::string_view name) { passed.emplace(name); }
  bool passesRope(std::string_view name) const { return passed.contains(name); }
  /// Refuses another value of config.json's `key` than `expected`; it may be missing.
  absl::Status expect(std::string_view key, const nlohmann::json& expected);

  struct Entry {
    std::string stored;
    nlohmann::json value;
  };
  /// By canonical key.
  const std::map<std::string, Entry, std::less<>>& entries() const { return table; }
  const std::vector<std::pair<std::string, std::vector<float>>>& tensors() const { return vectors; }
  /// Members of config.json that nothing has asked for and that may change what is computed.
  std::vector<std::string> unknown() const;

private:
  JsonFile file;
  std::map<std::string, Entry, std::less<>> table;
  std::vector<std::pair<std::string, std::vector<float>>> vectors;
  std::set<std::string, std::less<>> used;
  std::set<std::string, std::less<>> passed; ///< of rope parameters
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_HFKEYS_H
