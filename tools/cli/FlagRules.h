#ifndef TENON_TOOLS_CLI_FLAGRULES_H
#define TENON_TOOLS_CLI_FLAGRULES_H

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"

namespace tenon::tools {

/// What a flag needs so that it means anything.
enum class Need : uint8_t {
  Model,       ///< a model or graph is read
  Import,      ///< functions are made from a model file
  NamedShape,  ///< MODEL is a shape, not a file
  Fusion,      ///< operations are fused now
  Code,        ///< code is compiled now
  Gpu,         ///< the target is a GPU
  Sampling,    ///< tokens are drawn
  Text,        ///< text is generated
  Decode,      ///< decode is measured
  Position,    ///< decode or mixed is measured, whose rows stand at a position
  OneFunction, ///< calls of one function are measured
  Language,    ///< the model is a language model
  Functions,   ///< the model's functions are in its file
  Measuring,   ///< kernels are measured
};

/// What the flags of a command apply to. Each flag states its needs where it is added; the command
/// states what its request lacks, as soon as it knows; a flag that was given and lacks something is
/// refused instead of ignored.
class FlagRules {
public:
  /// `option` applies where all of `needs` are met.
  void require(const CLI::Option* option, std::initializer_list<Need> needs);

  /// The same of one field of an option that `addFieldsFlag` made.
  void requireField(const CLI::Option* option, const std::string& field,
                    std::initializer_list<Need> needs);

  /// This request does not meet `need`, because of `reason`: `m.tnn is a compiled program`.
  void deny(Need need, const std::string& reason);

  /// A usage error that names the first flag that was given and lacks something.
  absl::Status check() const;

private:
  struct Rule {
    const CLI::Option* option;        ///< owned by the application
    std::optional<std::string> field; ///< absent: the whole option
    std::vector<Need> needs;

    bool isGiven() const;
    std::string name() const; ///< `--cache`, `--cache=page`
  };
  std::vector<Rule> rules;
  std::map<Need, std::string> denied; ///< with the reason
};

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_FLAGRULES_H
