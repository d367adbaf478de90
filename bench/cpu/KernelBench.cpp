// Single kernels on the CPU beside the machine's read bandwidth, alternated in one run: products of
// one row and of 64 rows in the encodings of models, of groups one of each number of bits, and
// attention.
//
// Products of block-quantised weights also with 1 to 64 rows, on floats and on quants (with the
// quantisation of x). `--target=` names another target than this machine's.
//
// The weights of a product are passed as an input, another copy in each call, so that they come
// from memory and not from a cache. Medians.

#include <algorithm>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "absl/strings/str_format.h"
#include "bench/cpu/Median.h"
#include "bench/cpu/ReadBandwidth.h"
#include "frontends/text/TextFrontend.h"
#include "ir/encoding/Encoding.h"
#include "runtime/cpu/CpuExecutor.h"
#include "runtime/cpu/UsableCores.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace tenon::bench {

namespace {

/// Weights of one product, all copies together: several times the third-level cache.
constexpr int64_t ringBytes = int64_t(384) << 20;
constexpr int64_t readBytes = int64_t(512) << 20;

using Bytes = runtime::AnonymousMemory;

/// `elements` random values in [-1, 1), encoded; a block of them repeats.
absl::StatusOr<Bytes> makeValues(const std::string& encodingName, int64_t elements) {
  constexpr int64_t distinct = 1 << 16;
  const Encoding& encoding = *findEncoding(encodingName);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(distinct);
  for (float& value : values)
    value = uniform(random);
  std::vector<std::byte> encoded(encoding.bytesFor(distinct));
  encoding.encodeF32(values, encoded);
  TENON_ASSIGN_OR_RETURN(Bytes bytes, Bytes::create(encoding.bytesFor(elements), "values"));
  for (size_t at = 0; at < bytes.bytes().size(); at += encoded.size())
    std::copy_n(encoded.begin(), std::min(encoded.size(), bytes.bytes().size() - at),
                bytes.bytes().begin() + at);
  return bytes;
}

/// What every benchmark runs on: the machine's read bandwidth, and the target compiled for.
struct Machine {
  ReadBandwidth& bandwidth;
  std::string target;
};

absl::StatusOr<std::unique_ptr<runtime::CpuExecutor>> load(const std::string& text,
                                                           const Machine& machine) {
  auto context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(auto module, frontends::parseModuleText(*context, text, "benchmark"));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, machine.target));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*module, target));
  return runtime::CpuExecutor::create(std::move(program), {.threads = machine.bandwidth.threads()});
}

void report(benchmark::State& state, const std::vector<double>& seconds, double bytes,
            const std::vector<double>& reads) {
  double rate = bytes / median(seconds) / 1e9, read = readBytes / median(reads) / 1e9;
  state.counters["median_us"] = median(seconds) * 1e6;
  state.counters["least_us"] = *std::min_element(seconds.begin(), seconds.end()) * 1e6;
  state.counters["GBps"] = rate;
  state.counters["read_GBps"] = read;
  state.counters["percent_of_read"] = 100 * rate / read;
}

/// Times `run(call)` and, between calls, reads of memory.
void measure(benchmark::State& state, ReadBandwidth& bandwidth, double bytes,
             const std::function<absl::Status(int call)>& run) {
  constexpr int callsPerRead = 16;
  std::vector<double> seconds, reads;
  int call = 0;
  for (auto _ : state) {
    absl::Status status;
    seconds.push_back(measureSeconds([&] { status = run(call); }));
    if (!status.ok())
      return state.SkipWithError(std::string(status.message()).c_str());
    state.SetIterationTime(seconds.back());
    if (call++ % callsPerRead == 0)
      reads.push_back(bandwidth.measureSeconds());
  }
  report(state, seconds, bytes, reads);
}

struct Product {
  std::string encoding;
  int64_t rows, columns, depth;
  bool isQuantized = false; ///< x is quantised first, and quants are multiplied as integers
};

/// `@product(x, w)`, x of f32.
std::string productText(const Product& product) {
  const Encoding& encoding = *findEncoding(product.encoding);
  auto tensor = [](int64_t rows, int64_t columns, const Encoding& stored) {
    std::string element(stored.name);
    if (stored.isBlockQuantized())
      element = "!tenon.block<" + element + ">";
    return absl::StrFormat("tensor<%dx%dx%s>", rows, columns, element);
  };
  const Encoding& f32 = *findEncoding("f32");
  std::string x = tensor(product.rows, product.depth, f32);
  std::string w = tensor(product.columns, product.depth, encoding);
  std::string y = tensor(product.rows, product.columns, f32);
  std::string input = "%x", inputType = x, quantize;
  if (product.isQuantized) {
    input = "%q",
    inputType = tensor(product.rows, product.depth, *findActivationEncoding(encoding));
    quantize = absl::StrFormat("  %%q = tenon.quantize %%x : (%s) -> %s\n", x, inputType);
  }
  return absl::StrFormat("func.func @product(%%x: %s, %%w: %s) -> %s {\n%s"
                         "  %%y = tenon.matmul %s, %%w : (%s, %s) -> %s\n  return %%y : %s\n}\n",
                         x, w, y, quantize, input, inputType, w, y, y);
}

std::string nameOf(const Product& product) {
  return absl::StrFormat("product/%s/rows:%d/%dx%d", product.encoding, product.rows,
                         product.columns, product.depth);
}

absl::Status benchProduct(benchmark::State& state, const Product& product, const Machine& machine) {
  const Encoding& encoding = *findEncoding(product.encoding);
  TENON_ASSIGN_OR_RETURN(auto executor, load(productText(product), machine));
  int64_t weights = product.columns * product.depth, weightBytes = encoding.bytesFor(weights);
  int64_t copies = ringBytes / weightBytes + 1;
  TENON_ASSIGN_OR_RETURN(Bytes x, makeValues("f32", product.rows * product.depth));
  TENON_ASSIGN_OR_RETURN(Bytes ring, makeValues(product.encoding, copies * weights));
  std::vector<std::byte> y(product.rows * product.columns * 4);
  measure(state, machine.bandwidth, weightBytes, [&](int call) {
    const std::span<const std::byte> inputs[] = {
        x.bytes(), ring.bytes().subspan(call % copies * weightBytes, weightBytes)};
    const std::span<std::byte> outputs[] = {y};
    return executor->run(0, inputs, outputs);
  });
  state.counters["GFLOPs"] = 2.0 * product.rows * weights / (state.counters["median_us"] * 1e3);
  return absl::OkStatus();
}

/// `rows` queries of Llama-3.2-1B's heads, the last one at position `keys` − 1.
struct Attention {
  int64_t rows, keys;
};

absl::Status benchAttention(benchmark::State& state, const Attention& attention,
                            const Machine& machine) {
  constexpr int64_t queryHeads = 32, keyHeads = 8, headSize = 64;
  std::string query = absl::StrFormat("tensor<%dx%dx%dxf32>", attention.rows, queryHeads, headSize);
  std::string cache = absl::StrFormat("tensor<1x%dx%dx%dxf32>", attention.keys, keyHeads, headSize);
  std::string positions = absl::StrFormat("tensor<%dxi32>", attention.rows);
  std::string text = absl::StrFormat(
      "func.func @attention(%%q: %1$s, %%k: %2$s, %%v: %2$s, %%s: tensor<1xi32>, %%p: %3$s) -> "
      "%1$s {\n  %%y = tenon.attention %%q, %%k, %%v, %%s, %%p scale 0.125 : (%1$s, %2$s, %2$s, "
      "tensor<1xi32>, %3$s) -> %1$s\n  return %%y : %1$s\n}\n",
      query, cache, positions);
  TENON_ASSIGN_OR_RETURN(auto executor, load(text, machine));
  int64_t queryElements = attention.rows * queryHeads * headSize;
  int64_t cacheElements = attention.keys * keyHeads * headSize;
  TENON_ASSIGN_OR_RETURN(Bytes q, makeValues("f32", queryElements));
  TENON_ASSIGN_OR_RETURN(Bytes k, makeValues("f32", cacheElements));
  TENON_ASSIGN_OR_RETURN(Bytes v, makeValues("f32", cacheElements));
  std::vector<int32_t> rowPositions;
  for (int64_t row = 0; row < attention.rows; ++row)
    rowPositions.push_back(attention.keys - attention.rows + row);
  int32_t sequence = 0;
  std::vector<std::byte> y(queryElements * 4);
  measure(state, machine.bandwidth, 2.0 * cacheElements * 4, [&](int) {
    const std::span<const std::byte> inputs[] = {q.bytes(), k.bytes(), v.bytes(),
                                                 std::as_bytes(std::span(&sequence, 1)),
                                                 std::as_bytes(std::span(rowPositions))};
    const std::span<std::byte> outputs[] = {y};
    return executor->run(0, inputs, outputs);
  });
  double pairs = 0;
  for (int32_t position : rowPositions)
    pairs += position + 1;
  state.counters["GFLOPs"] =
      4 * pairs * queryHeads * headSize / (state.counters["median_us"] * 1e3);
  return absl::OkStatus();
}

/// Registers `bench(state, what, machine)` under `name`.
template <typename What, typename Bench>
void add(const std::string& name, const What& what, const Machine& machine, Bench bench) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 absl::Status status = bench(state, what, machine);
                                 if (!status.ok())
                                   state.SkipWithError(std::string(status.message()).c_str());
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(96);
}

absl::Status runBenchmarks(const std::string& target) {
  TENON_ASSIGN_OR_RETURN(auto pool, runtime::ThreadPool::create(runtime::usableCores()));
  TENON_ASSIGN_OR_RETURN(ReadBandwidth bandwidth,
                         ReadBandwidth::create(readBytes, std::move(pool)));
  Machine machine{bandwidth, target};
  for (const char* encoding :
       {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_k", "q6_k", "q2_k", "q3_k", "mxfp4", "nvfp4",
        "e4m3_g128_f32", "int4_g128_f16", "int3_g128_f16", "int2_g128_f16"})
    for (const Product& product : {Product{encoding, 1, 4096, 4096},
                                   {encoding, 1, 14336, 4096},
                                   {encoding, 64, 8192, 2048},
                                   {encoding, 64, 2048, 8192}})
      add(nameOf(product), product, machine, benchProduct);
  for (const char* encoding : {"q8_0", "q4_0", "q4_k", "q6_k"})
    for (int64_t rows : {1, 2, 3, 4, 6, 16, 64})
      for (bool isQuantized : {false, true})
        for (Product product : {Product{encoding, rows, 8192, 2048, isQuantized},
                                {encoding, rows, 2048, 8192, isQuantized}})
          add(nameOf(product) + (isQuantized ? "/quantized" : "/floats"), product, machine,
              benchProduct);
  for (const Attention& attention : {Attention{1, 512}, {1, 4096}, {64, 64}, {64, 512}})
    add(absl::StrFormat("attention/rows:%d/keys:%d", attention.rows, attention.keys), attention,
        machine, benchAttention);
  benchmark::RunSpecifiedBenchmarks();
  return absl::OkStatus();
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::string target = "native";
  if (argc == 2 && std::string_view(argv[1]).starts_with("--target=")) {
    target = argv[1] + std::string_view("--target=").size();
    --argc;
  }
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  absl::Status status = tenon::bench::runBenchmarks(target);
  if (!status.ok())
    std::cerr << "bench_cpu_kernels: error: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
