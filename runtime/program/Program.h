#ifndef TENON_RUNTIME_PROGRAM_PROGRAM_H
#define TENON_RUNTIME_PROGRAM_PROGRAM_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/program/SharedBytes.h"
#include "runtime/program/TokenizerSpec.h"

namespace tenon::runtime {

/// The memory that a step's argument lies in.
enum class Space : uint8_t {
  Constant = 0,  ///< `Program::constants[index]`
  State = 1,     ///< `Program::states[index]`
  Workspace = 2, ///< the one workspace; `index` is 0
  Input = 3,     ///< input `index` of the function
  Output = 4,    ///< output `index` of the function
};

/// A byte range that a kernel reads or writes.
struct BufferRef {
  Space space = Space::Workspace;
  uint32_t index = 0;
  uint64_t offset = 0; ///< bytes from the start of that memory
  uint64_t bytes = 0;

  bool operator==(const BufferRef&) const = default;
};

/// How the values of an encoding lie in bytes. A program describes the encodings that it uses, so
/// that the runtime can check sizes without knowing any of them.
struct EncodingInfo {
  std::string name;           ///< `f32`, `q8_0`, …
  uint32_t blockElements = 1; ///< consecutive elements of the innermost axis in a block
  uint32_t blockBytes = 0;    ///< bytes in a block

  bool operator==(const EncodingInfo&) const = default;
};

/// A file whose ranges constants refer to: the model file, mapped at load.
struct SourceFile {
  /// As given to the compiler. In memory a relative path starts at the working folder; in a `.tnn`
  /// file it starts at that file's folder (`writeProgram` and `readProgram` convert).
  std::string path;
  uint64_t bytes = 0;       ///< size, checked at load
  uint64_t fingerprint = 0; ///< `fingerprintFile`'s hash, checked at load

  bool operator==(const SourceFile&) const = default;
};

/// Bytes [offset, offset + bytes) of `Program::files[file]`.
struct FileRange {
  uint32_t file = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;

  bool operator==(const FileRange&) const = default;
};

/// `bytes` bytes of random values in the constant's encoding (plain types and ggml's blocks): weights
/// for measurements, without a file. `RandomValues.h` defines value i, counted from 0 in each range.
struct RandomRange {
  uint64_t bytes = 0;
  uint64_t seed = 0;
  float mean = 0; ///< values are spread evenly over [mean - scale, mean + scale)
  float scale = 0;

  bool operator==(const RandomRange&) const = default;
};

/// A weight or folded constant. Several ranges are placed one after the other.
struct Constant {
  std::string name;
  std::string encoding; ///< names one of `Program::encodings`
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  /// Where the bytes come from: ranges of files, bytes embedded in the program (after reading a
  /// `.tnn`, a view into the mapped file), or random values made at load.
  std::variant<std::vector<FileRange>, SharedBytes, std::vector<RandomRange>> source;
  /// Of a constant [..., N, K] of plain elements: the ranges of files hold [..., K, N], and loading
  /// lays it out anew.
  bool transposed = false;

  bool operator==(const Constant&) const = default;
};

/// Lasting storage shared by the functions, zero at load: a KV cache.
struct State {
  std::string name;
  std::string encoding;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;

  bool operator==(const State&) const = default;
};

/// One launch: `tiles` independent pieces of work of one kernel.
struct Step {
  uint32_t kernel = 0; ///< index into `Program::kernels`
  int64_t tiles = 1;
  std::vector<BufferRef> args;
  std::string name; ///< the operations it runs, for errors, profiles and traces

  bool operator==(const Step&) const = default;
};

/// The element types of a matrix that a tensor map or a library's matmul reads.
enum class MatmulType : uint8_t { F32 = 0, F16 = 1, Bf16 = 2 };

/// A tensor map (CUDA driver API, cuTensorMapEncodeTiled) of a step's argument that holds a row-major
/// matrix of 16-bit elements without gaps. One copy brings 64 columns of `boxRows` rows, swizzled in
/// runs of 128 bytes, with zeros outside the matrix.
struct TensorMap {
  uint32_t argument = 0; ///< index into `Step::args`
  uint32_t boxRows = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  MatmulType type = MatmulType::F16; ///< F16 or Bf16

  bool operator==(const TensorMap&) const = default;
};

/// How a kernel in a cubin is launched: the grid is one block a tile, along x. The kernel's
/// parameters are the addresses of the step's arguments, in order, each a `void*`; positions,
/// tokens and counters reach it in those buffers.
struct CudaLaunch {
  uint32_t threads = 0;     ///< in a block, along x
  uint32_t sharedBytes = 0; ///< dynamic shared memory of a block
  /// Programmatic dependent launch: blocks may start before the step before has ended. The kernel
  /// itself waits (griddepcontrol.wait) before it touches what other steps write or read.
  bool pdl = false;
  /// The kernel takes one more parameter, the address of a `BlockStamps` for each block.
  bool stamps = false;
  /// Of arguments of the step; the kernel takes them by value, 128 bytes each, after all addresses.
  std::vector<TensorMap> tensorMaps = {};

  bool operator==(const CudaLaunch&) const = default;
};

/// y = x·Wᵀ by cuBLASLt, or y = gelu(x·Wᵀ + residual + bias) with each part left out that is not
/// asked for, in f32 up to y; the implementation is chosen at load. A step has one tile and the
/// arguments x [m, k], W [n, k], residual [m, n] and bias [n] of y's type, those asked for, and
/// y [m, n], each without gaps.
struct LibraryMatmul {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatmulType input = MatmulType::F32;  ///< of x and W
  MatmulType output = MatmulType::F32; ///< of y: as the input, or f32
  bool tf32 = false;                   ///< may round f32 factors to TF32
  uint64_t workspaceBytes = 0;         ///< what the implementation may use beside its arguments
  bool residual = false;
  bool bias = false;
  bool gelu = false; ///< x · ½(1 + tanh(√(2/π) · (x + 0.044715 x³)))

  bool operator==(const LibraryMatmul&) const = default;
};

/// What a kernel does with an argument.
enum class Access : uint8_t { Read = 0, Write = 1, ReadWrite = 2 };

/// An argument of a kernel: the code reads or writes so many bytes, whatever a step says.
struct KernelArgument {
  uint64_t bytes = 0;
  Access access = Access::Read;

  bool operator==(const KernelArgument&) const = default;
};

/// A compiled kernel: a symbol in one of the code sections, or a library's routine, for which
/// `symbol` is a name for messages. CPU kernels have the C signature
/// `void(void* const* buffers, int64_t firstTile, int64_t endTile)`.
struct Kernel {
  std::string symbol;
  uint32_t code = 0; ///< index into `Program::code`; 0 for a library's routine
  /// What starting it takes on the program's device: nothing on the CPU.
  std::variant<std::monostate, CudaLaunch, LibraryMatmul> launch = {};
  /// The tiles and the arguments that its code was made for: every step of it has them.
  int64_t tiles = 0;
  std::vector<KernelArgument> args = {};

  bool operator==(const Kernel&) const = default;
};

/// What a port of a Decode, Prefill or Mixed function holds; a generation loop finds ports by it alone.
enum class PortRole : uint8_t {
  Other = 0,         ///< any values
  Ids = 1,           ///< input: the tokens
  Sequences = 2,     ///< input: the sequence of each token
  Positions = 3,     ///< input: where each token stands in its sequence
  OutputRows = 4,    ///< input: the rows of chunks that have logits
  Logits = 5,        ///< output
  NextIds = 6,       ///< output: the most likely token after each row of logits
  BlockTable = 7,    ///< input, where caches are paged: the pages of each sequence
  AcceptedIds = 8,   ///< output: the most likely token after each row, −2 behind a wrong guess
  DraftIds = 9,      ///< output: what may follow after each row's most likely token
  StepIds = 10,      ///< output: the tokens of the next call of a sequence, chosen and guessed
  StepPositions = 11 ///< output: their positions
};

/// A value that enters or leaves a function.
struct Port {
  std::string name;
  std::string encoding;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  PortRole role = PortRole::Other;

  bool operator==(const Port&) const = default;
};

/// What a function is for, so that a generation loop finds it.
enum class Role : uint8_t {
  Other = 0,   ///< any graph
  Decode = 1,  ///< `rows` tokens, each of any sequence, no two at one place
  Prefill = 2, ///< a chunk of `rows` tokens of one sequence
  Mixed = 3, ///< chunks of several sequences, `rows` tokens together, those of a sequence in a row
};

/// One entry shape. Functions of a role but Other have the ports of `ModelPorts.h`, in any
/// order. A row with position −1 is inactive.
struct Function {
  std::string name;
  Role role = Role::Other;
  int64_t rows = 0;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Step> steps;
  /// What a call takes on the target by the compiler's cost model; 0 where that cannot tell.
  int64_t predictedNs = 0;
  /// Of what a multiprocessor divides between shared memory and first-level cache, the most percent
  /// that the function's kernels prefer as shared memory, all of them alike, so that it divides in one
  /// way while they run; 0: each gets what the driver chooses for it.
  int64_t sharedPercent = 0;

  bool operator==(const Function&) const = default;
};

/// What a text loop needs to know of the model.
struct ModelInfo {
  std::string architecture;
  std::string name;
  int64_t vocabulary = 0;
  int64_t context = 0;   ///< positions that the states hold; `endlessContext` where they are rings
  int64_t sequences = 0; ///< sequences that the states hold
  /// Of paged caches the pages of the pool, which the sequences share, and the positions of each; 0 of
  /// others.
  int64_t pages = 0;
  int64_t pagePositions = 0;

  bool isPaged() const { return pages > 0; }
  /// Pages that a sequence of the whole context takes: the columns of the block table.
  int64_t blocks() const { return isPaged() ? (context - 1) / pagePositions + 1 : 0; }
  /// `context` of a stream without end: every position that an i32 counts.
  static constexpr int64_t endlessContext = std::numeric_limits<int32_t>::max();
  bool isStream() const { return context == endlessContext; }

  bool operator==(const ModelInfo&) const = default;
};

/// The compiler's artifact, in memory. See `ProgramFile.h` for the `.tnn` file.
struct Program {
  std::string target;                  ///< name of the target, `x86-64-v4`
  std::string device;                  ///< `cpu` or `cuda`
  std::vector<std::string> features;   ///< CPU features the code needs, as LLVM names them
  std::vector<EncodingInfo> encodings; ///< every encoding that a constant, state or port names
  std::vector<SourceFile> files;
  std::vector<Constant> constants;
  std::vector<State> states;
  std::vector<SharedBytes> code; ///< relocatable ELF objects, or cubins
  std::vector<Kernel> kernels;
  std::vector<Function> functions;
  uint64_t workspaceBytes = 0; ///< the largest need of any function
  std::optional<ModelInfo> model;
  std::optional<TokenizerSpec> tokenizer;
  std::string report; ///< the fusion decisions, JSON

  bool operator==(const Program&) const = default;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_PROGRAM_H
