// Code generation and execution: edited dumps of any phase, taken on to code for a CPU and to CUDA
// sources (not to NVRTC). What compiles for a CPU and is small runs in a child process on buffers that
// end at pages nobody may touch, and is compared with the reference interpreter.
// Most changes are to numbers in schedules, orders and plans, in the text; others to the parsed module.

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "codegen/cpu/CompileForCpu.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/NestingCheck.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "runtime/cpu/CpuExecutor.h"
#include "tests/codegen/cpu/GuardedBuffer.h"
#include "tests/fuzz/Fuzz.h"
#include "tests/fuzz/ModuleMutator.h"

using namespace tenon;

/// Bytes of a call's arguments, and elements that the interpreter holds.
constexpr int64_t mostBytes = 1 << 20, mostElements = 1 << 18;

static std::string_view textOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

namespace {

/// A call of one function: its inputs, and what the interpreter makes of them.
struct Call {
  std::vector<ReferenceTensor> inputs, expected;
};

} // namespace

/// Numbers between -1 and 3 that indices, too, may take; nothing where they would be many.
static std::optional<std::vector<ReferenceTensor>> makeInputs(mlir::func::FuncOp function) {
  std::vector<ReferenceTensor> inputs;
  int64_t bytes = 0;
  for (mlir::Type type : function.getArgumentTypes()) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    std::optional<int64_t> size = tensor ? getStorageBytes(tensor) : std::nullopt;
    if (!size || *size > mostBytes - bytes || tensor.getNumElements() > mostElements)
      return std::nullopt;
    bytes += *size;
    ReferenceTensor values(tensor);
    for (auto [index, value] : llvm::enumerate(values.getValues()))
      value = static_cast<double>(index % 5) - 1;
    auto encoded = std::make_shared<std::vector<std::byte>>(values.encode());
    inputs.emplace_back(tensor, *encoded, encoded);
  }
  return inputs;
}

/// A call of `function` that the interpreter can make; nothing otherwise.
static std::optional<Call> makeCall(mlir::ModuleOp module, mlir::func::FuncOp function) {
  auto inputs = makeInputs(function);
  InterpreterOptions options;
  options.maxElements = mostElements;
  auto interpreter = Interpreter::create(module, options);
  if (!inputs || !interpreter.ok())
    return std::nullopt;
  auto expected = (*interpreter)->run(function.getSymName().str(), *inputs);
  if (!expected.ok())
    return std::nullopt;
  return Call{*std::move(inputs), *std::move(expected)};
}

/// True where `bytes` are near `expected`: another order of additions moves a result little, unless
/// numbers are so large that an f32 between them overflows where the reference's double does not.
static bool isNear(const ReferenceTensor& expected, std::span<const std::byte> bytes) {
  constexpr double relative = 0.05, absolute = 1e-2, mostLargest = 1e6;
  mlir::Type element = expected.getType().getElementType();
  std::vector<double> values(expected.getNumElements()), wanted = expected.toVector();
  getEncoding(element)->decode(bytes, values);
  double largest = 0;
  for (double value : wanted)
    largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : INFINITY;
  if (element.isInteger() || !(largest <= mostLargest))
    return true;
  for (size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(values[i] - wanted[i]) <= relative * largest + absolute))
      return false;
  return true;
}

/// Calls function `index` on guarded buffers; the exit status of the child that does.
static int runGuarded(const runtime::Program& program, size_t index, const Call& call) {
  enum { Right = 0, Wrong = 1, WroteOutside = 2 };
  auto executor = runtime::CpuExecutor::create(program, {.threads = 1});
  if (!executor.ok())
    return Right; // a file that is not there, a size that memory does not hold
  std::vector<std::unique_ptr<tests::GuardedBuffer>> buffers;
  std::vector<std::span<const std::byte>> inputs;
  std::vector<std::span<std::byte>> outputs;
  for (const ReferenceTensor& input : call.inputs) {
    std::vector<std::byte> bytes = input.encode();
    buffers.push_back(std::make_unique<tests::GuardedBuffer>(bytes.size()));
    std::ranges::copy(bytes, buffers.back()->bytes().begin());
    inputs.push_back(buffers.back()->bytes());
  }
  for (const runtime::Port& port : program.functions[index].outputs) {
    buffers.push_back(std::make_unique<tests::GuardedBuffer>(port.bytes));
    std::ranges::fill(buffers.back()->bytes(), std::byte{0x7b}); // about 1e36
    outputs.push_back(buffers.back()->bytes());
  }
  if (!(*executor)->run(index, inputs, outputs).ok())
    return Right;
  for (const auto& buffer : buffers)
    if (!buffer->isIntact())
      return WroteOutside;
  for (auto [expected, output] : llvm::zip_equal(call.expected, outputs))
    if (!isNear(expected, output))
      return Wrong;
  return Right;
}

/// Waits for `child`; the status that it ends with. libFuzzer's timer interrupts a long wait.
static int waitFor(pid_t child) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  fuzz::require(ended == child, "cannot wait for a child");
  return status;
}

/// Runs what is small in a child, whose faults are findings.
static void execute(mlir::ModuleOp module, const runtime::Program& program) {
  constexpr unsigned mostSeconds = 20;
  for (auto [index, function] : llvm::enumerate(module.getOps<mlir::func::FuncOp>())) {
    std::optional<Call> call = makeCall(module, function);
    if (!call)
      continue;
    pid_t child = ::fork();
    fuzz::require(child >= 0, "cannot fork");
    if (child == 0) {
      ::signal(SIGALRM, SIG_DFL); // libFuzzer's handler would not end the child
      ::alarm(mostSeconds);
      ::_exit(runGuarded(program, index, *call));
    }
    int status = waitFor(child);
    fuzz::require(WIFEXITED(status), "a compiled function ends by a signal");
    fuzz::require(WEXITSTATUS(status) != 2, "a compiled function writes outside its buffers");
    fuzz::require(WEXITSTATUS(status) == 0, "a compiled function's result is not the reference's");
  }
}

/// Takes the module on to code for the target that it names, or for `otherwise`.
static void compile(mlir::ModuleOp module, TargetAttr otherwise) {
  passes::PipelineOptions options;
  options.target = otherwise;
  if (!passes::runPipeline(module, options).ok())
    return;
  auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  if (target.getDevice() == DeviceKind::Cuda)
    return codegen::printCudaKernels(module).status().IgnoreError();
  auto program = codegen::compileForCpu(module, {});
  if (program.ok())
    execute(module, *program);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const char* target : {"x86-64-v3", "h200"}) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = frontends::parseModuleText(context, textOf(data, size), "input");
    if (!module.ok())
      return 0;
    bool isDecided = module->get()->hasAttr(TenonDialect::targetAttrName);
    compile(**module, findTarget(&context, target));
    if (isDecided)
      return 0;
  }
  return 0;
}

/// Where the numbers that text assigns stand: `tiles = 4`, `chunk = 64`, `rows_per_tile = 2 : i64`.
static std::vector<std::pair<size_t, size_t>> findNumbers(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t at = text.find("= "); at != std::string_view::npos; at = text.find("= ", at)) {
    size_t begin = at += 2;
    if (at < text.size() && text[at] == '-')
      ++at;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
      ++at;
    if (at > begin && std::isdigit(static_cast<unsigned char>(text[at - 1])))
      found.emplace_back(begin, at - begin);
  }
  return found;
}

/// Sets one of the numbers to a power of two or beside one, or to another of them.
static std::string changeNumber(std::string_view text, std::mt19937& random) {
  auto numbers = findNumbers(text);
  if (numbers.empty())
    return std::string(text);
  auto [at, length] = numbers[random() % numbers.size()];
  std::string number;
  if (random() % 3 == 0) {
    auto [other, otherLength] = numbers[random() % numbers.size()];
    number = text.substr(other, otherLength);
  } else {
    constexpr int bits = 63;
    uint64_t power = uint64_t{1} << random() % (bits + 1);
    number = std::to_string(static_cast<int64_t>(power + random() % 3 - 1));
  }
  return std::string(text).replace(at, length, number);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::mt19937 random(seed);
  std::string text(textOf(data, size));
  if (!frontends::checkNesting(text, "input", frontends::maxTextNesting).ok())
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
    std::string changed =
        random() % 4 == 0 ? fuzz::changeModule(text, random) : changeNumber(text, random);
    if (!changed.empty())
      text = std::move(changed);
  }
  if (text.size() > maxSize)
    return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
