#include <limits>

#include "tests/codegen/cuda/AttentionCases.h"

using tenon::frontends::AttentionOptions;
using tenon::frontends::GraphBuilder;
using tenon::frontends::Value;

namespace tenon::testing {

using Values = std::vector<Value>;

void addAttentionWeights(std::vector<CudaCase>& cases) {
  struct Weighed {
    const char* name;
    int64_t rows, queryHeads, keyHeads, size, capacity;
    bool hasBias, hasSinks;
    AttentionOptions options;
  };
  for (const Weighed& c : std::vector<Weighed>{
           {"decode", 1, 8, 2, 64, 300, false, false, {.scale = 0.125}},
           {"odd", 3, 3, 3, 5, 140, false, false, {.scale = 0.4, .softcap = 3}},
           {"window", 4, 6, 2, 32, 260, false, true, {.scale = 0.2, .window = 50}},
           {"prefill", 40, 4, 4, 64, 150, true, false, {.scale = 0.125}},
           {"cross", 5, 8, 8, 32, 129, true, true, {.scale = 0.2, .causal = false}}})
    for (const char* type : {"f32", "f16"}) {
      std::vector<double> positions, bias;
      for (int64_t row = 0; row < c.rows; ++row)
        positions.push_back(row % 17 == 16 ? -1 : c.capacity - 1 - row);
      // Some keys are hidden, and of the second row all.
      for (int64_t i = 0; i < c.rows * c.capacity && c.hasBias; ++i) {
        bool isHidden = i / c.capacity == 1 || i % 3 == 1;
        bias.push_back(isHidden ? -std::numeric_limits<double>::infinity() : 0.25 * (i % 5));
      }
      std::vector<CaseInput> inputs = {{{c.rows, c.queryHeads, c.size}, type},
                                       {{2, c.capacity, c.keyHeads, c.size}, type},
                                       {{2, c.capacity, c.keyHeads, c.size}, type},
                                       {{1}, "i32", Fill::Listed, 0, 0, {1}},
                                       {{c.rows}, "i32", Fill::Listed, 0, 0, positions}};
      if (c.hasBias)
        inputs.push_back({{1, c.rows, c.capacity}, "f32", Fill::Listed, 0, 0, bias});
      if (c.hasSinks)
        inputs.push_back({{c.queryHeads}, "f32"});
      cases.push_back({std::string("attention_weights_") + c.name + "_" + type, inputs, type,
                       [c](GraphBuilder& b, const Values& x) {
                         AttentionOptions options = c.options;
                         if (c.hasBias)
                           options.bias = x[5];
                         if (c.hasSinks)
                           options.sinks = x.back();
                         GraphBuilder::Attended attended =
                             b.attentionWithWeights(x[0], x[1], x[2], x[3], x[4], options);
                         b.output("y", attended.result);
                         b.output("weights", attended.weights);
                       },
                       1e-5});
    }
}

} // namespace tenon::testing
