#include "tests/conformance/GgmlRow.h"

#include <bit>
#include <fstream>

#include "absl/strings/ascii.h"
#include "nlohmann/json.hpp"

#include "tests/common/TempFolder.h"

namespace tenon::conformance {

float GgmlRow::floatParam(size_t index) const { return std::bit_cast<float>(params[index]); }

static GgmlTensor readTensor(const nlohmann::json& json, std::span<const std::byte> data) {
  GgmlTensor tensor;
  tensor.type = absl::AsciiStrToLower(json.at("type").get<std::string>());
  tensor.ne = json.at("ne");
  if (json.contains("off"))
    tensor.bytes = data.subspan(json.at("off"), json.at("bytes"));
  return tensor;
}

static GgmlRow readRow(const nlohmann::json& json, std::span<const std::byte> data) {
  GgmlRow row;
  row.op = json.at("op");
  row.vars = json.at("vars");
  row.maxNmse = json.at("max_nmse");
  row.params = json.at("op_params_i32");
  for (const nlohmann::json& source : json.at("src"))
    row.sources.at(source.at("i")) = readTensor(source, data);
  row.result = readTensor(json.at("dst"), data);
  return row;
}

std::span<const GgmlRow> ggmlRows() {
  static const std::string data = tests::readFile(TENON_GGML_OPS "/ops.bin");
  static const std::vector<GgmlRow> rows = [] {
    std::vector<GgmlRow> read;
    std::ifstream lines(TENON_GGML_OPS "/ops.jsonl");
    for (std::string line; std::getline(lines, line);) {
      read.push_back(readRow(nlohmann::json::parse(line), std::as_bytes(std::span(data))));
      read.back().number = static_cast<int>(read.size()) - 1;
    }
    EXPECT_FALSE(read.empty()) << TENON_GGML_OPS;
    return read;
  }();
  return rows;
}

} // namespace tenon::conformance
