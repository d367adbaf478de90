#include "runtime/cuda/internal/CublasLt.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <cublasLt.h>

#include "absl/strings/str_format.h"
#include "support/SharedLibrary.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

#define TENON_CUBLASLT_FUNCTIONS(X)                                                                \
  X(create, cublasLtCreate)                                                                        \
  X(destroy, cublasLtDestroy)                                                                      \
  X(getStatusName, cublasLtGetStatusName)                                                          \
  X(matmul, cublasLtMatmul)                                                                        \
  X(descCreate, cublasLtMatmulDescCreate)                                                          \
  X(descDestroy, cublasLtMatmulDescDestroy)                                                        \
  X(descSetAttribute, cublasLtMatmulDescSetAttribute)                                              \
  X(layoutCreate, cublasLtMatrixLayoutCreate)                                                      \
  X(layoutDestroy, cublasLtMatrixLayoutDestroy)                                                    \
  X(preferenceCreate, cublasLtMatmulPreferenceCreate)                                              \
  X(preferenceDestroy, cublasLtMatmulPreferenceDestroy)                                            \
  X(preferenceSetAttribute, cublasLtMatmulPreferenceSetAttribute)                                  \
  X(getHeuristic, cublasLtMatmulAlgoGetHeuristic)                                                  \
  X(getVersion, cublasLtGetVersion)

struct CublasLt::Impl {
// A declarator takes no parentheses. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define TENON_DECLARE(member, symbol) std::add_pointer_t<decltype(::symbol)> member = nullptr;
  TENON_CUBLASLT_FUNCTIONS(TENON_DECLARE)
#undef TENON_DECLARE
  cublasLtHandle_t handle = nullptr;

  ~Impl() {
    if (handle)
      destroy(handle);
  }

  absl::Status check(cublasStatus_t status, const char* action) const {
    if (status == CUBLAS_STATUS_SUCCESS)
      return absl::OkStatus();
    std::string name = getStatusName(status);
    auto message = absl::StrFormat("cuBLASLt cannot %s: %s", action, name);
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? absl::UnimplementedError(message)
                                                 : absl::InternalError(message);
  }

  absl::Status resolve(const SharedLibrary& library);
};

absl::Status CublasLt::Impl::resolve(const SharedLibrary& library) {
#define TENON_FIND(member, symbol)                                                                 \
  TENON_RETURN_IF_ERROR(library.find(#symbol, member, "cuBLASLt 13"));
  TENON_CUBLASLT_FUNCTIONS(TENON_FIND)
#undef TENON_FIND
  return absl::OkStatus();
}

CublasLt::CublasLt(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CublasLt::CublasLt(CublasLt&&) noexcept = default;
CublasLt& CublasLt::operator=(CublasLt&&) noexcept = default;
CublasLt::~CublasLt() = default;

std::span<const std::string> CublasLt::defaultPaths() {
  static const std::string paths[] = {"libcublasLt.so.13",
                                      "/usr/local/cuda/lib64/libcublasLt.so.13"};
  return paths;
}

absl::StatusOr<CublasLt> CublasLt::open(std::span<const std::string> paths) {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::open(paths);
  if (!library.ok())
    return absl::NotFoundError(absl::StrFormat(
        "the program uses cuBLASLt, which this machine lacks; %s", library.status().message()));
  auto impl = std::make_unique<Impl>();
  TENON_RETURN_IF_ERROR(impl->resolve(*library));
  TENON_RETURN_IF_ERROR(impl->check(impl->create(&impl->handle), "create a handle"));
  return CublasLt(std::move(impl));
}

struct MatmulPlan::Impl {
  const CublasLt::Impl& library;
  LibraryMatmul matmul;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t x = nullptr, weight = nullptr, y = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulAlgo_t algorithm{};

  explicit Impl(const CublasLt::Impl& library, const LibraryMatmul& matmul)
      : library(library), matmul(matmul) {}
  ~Impl();

  /// What is added to the product; y itself, times zero, where there is no residual.
  CUdeviceptr addendOf(const MatmulOperands& operands) const {
    return matmul.residual ? operands.residual : operands.y;
  }
  absl::Status describe(const MatmulOperands& operands);
  absl::Status describeEpilogue(const MatmulOperands& operands);
  absl::Status prefer(const MatmulOperands& operands);
  /// What decides which implementation is best.
  std::string key(const MatmulOperands& operands, const Device& device) const;
  absl::Status enqueue(const cublasLtMatmulAlgo_t& with, const MatmulOperands& operands,
                       CUdeviceptr workspace, CUstream stream) const;
  /// The least of five times.
  absl::StatusOr<float> time(const cublasLtMatmulAlgo_t& candidate, const MatmulOperands& operands,
                             const MatmulTrial& trial) const;
  absl::Status choose(const MatmulOperands& operands, const MatmulTrial& trial);
  /// The implementations that the heuristics name, at most `most`.
  absl::StatusOr<std::vector<cublasLtMatmulAlgo_t>> find(size_t most) const;
};

MatmulPlan::Impl::~Impl() {
  for (cublasLtMatrixLayout_t layout : {x, weight, y})
    if (layout)
      library.layoutDestroy(layout);
  if (preference)
    library.preferenceDestroy(preference);
  if (description)
    library.descDestroy(description);
}

static cudaDataType dataType(MatmulType type) {
  switch (type) {
  case MatmulType::F16:
    return CUDA_R_16F;
  case MatmulType::Bf16:
    return CUDA_R_16BF;
  default:
    return CUDA_R_32F;
  }
}

/// cuBLASLt's matrices are column-major: our row-major y [m, n] is its [n, m], so that
/// yᵀ = W·xᵀ with W given as its transpose.
absl::Status MatmulPlan::Impl::describe(const MatmulOperands& operands) {
  auto m = static_cast<uint64_t>(matmul.m), n = static_cast<uint64_t>(matmul.n);
  auto k = static_cast<uint64_t>(matmul.k);
  cublasComputeType_t compute = matmul.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  TENON_RETURN_IF_ERROR(
      library.check(library.descCreate(&description, compute, CUDA_R_32F), "describe a matmul"));
  TENON_RETURN_IF_ERROR(describeEpilogue(operands));
  cudaDataType input = dataType(matmul.input), output = dataType(matmul.output);
  TENON_RETURN_IF_ERROR(
      library.check(library.layoutCreate(&weight, input, k, n, matmul.k), "describe a matrix"));
  TENON_RETURN_IF_ERROR(
      library.check(library.layoutCreate(&x, input, k, m, matmul.k), "describe a matrix"));
  return library.check(library.layoutCreate(&y, output, n, m, matmul.n), "describe a matrix");
}

/// A bias stands along the rows of yᵀ, as cuBLASLt wants it.
absl::Status MatmulPlan::Impl::describeEpilogue(const MatmulOperands& operands) {
  auto set = [this](cublasLtMatmulDescAttributes_t attribute, auto value) {
    return library.check(library.descSetAttribute(description, attribute, &value, sizeof(value)),
                         "describe a matmul");
  };
  TENON_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T));
  cublasLtEpilogue_t epilogue = matmul.gelu && matmul.bias ? CUBLASLT_EPILOGUE_GELU_BIAS
                                : matmul.gelu              ? CUBLASLT_EPILOGUE_GELU
                                : matmul.bias              ? CUBLASLT_EPILOGUE_BIAS
                                                           : CUBLASLT_EPILOGUE_DEFAULT;
  TENON_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  if (!matmul.bias)
    return absl::OkStatus();
  TENON_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<int32_t>(CUDA_R_32F)));
  return set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
}

/// The largest power of two up to 256 that divides `address`.
static uint32_t alignmentOf(CUdeviceptr address) {
  return static_cast<uint32_t>(std::min<CUdeviceptr>(address & -address, 256));
}

absl::Status MatmulPlan::Impl::prefer(const MatmulOperands& operands) {
  auto set = [this](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    return library.check(
        library.preferenceSetAttribute(preference, attribute, &value, sizeof(value)),
        "set a preference");
  };
  TENON_RETURN_IF_ERROR(
      library.check(library.preferenceCreate(&preference), "create a preference"));
  TENON_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, matmul.workspaceBytes));
  // Neither atomics (in place) nor partial sums rounded to the output's type.
  TENON_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                            uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}));
  TENON_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignmentOf(operands.weight)));
  TENON_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignmentOf(operands.x)));
  TENON_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignmentOf(addendOf(operands))));
  return set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignmentOf(operands.y));
}

std::string MatmulPlan::Impl::key(const MatmulOperands& operands, const Device& device) const {
  return absl::StrFormat(
      "cublaslt %u, %s: %d x %d x %d, types %d %d%s%s%s%s, workspace %u, alignment %u %u %u %u %u",
      library.getVersion(), device.name(), matmul.m, matmul.n, matmul.k,
      static_cast<int>(matmul.input), static_cast<int>(matmul.output), matmul.tf32 ? " tf32" : "",
      matmul.residual ? " residual" : "", matmul.bias ? " bias" : "", matmul.gelu ? " gelu" : "",
      matmul.workspaceBytes, alignmentOf(operands.x), alignmentOf(operands.weight),
      alignmentOf(operands.y), alignmentOf(addendOf(operands)), alignmentOf(operands.bias));
}

absl::Status MatmulPlan::Impl::enqueue(const cublasLtMatmulAlgo_t& with,
                                       const MatmulOperands& operands, CUdeviceptr workspace,
                                       CUstream stream) const {
  auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
  const float one = 1.0f, beta = matmul.residual ? 1.0f : 0.0f;
  return library.check(library.matmul(library.handle, description, &one, pointer(operands.weight),
                                      weight, pointer(operands.x), x, &beta,
                                      pointer(addendOf(operands)), y, pointer(operands.y), y, &with,
                                      pointer(workspace), matmul.workspaceBytes, stream),
                       "start");
}

absl::StatusOr<float> MatmulPlan::Impl::time(const cublasLtMatmulAlgo_t& candidate,
                                             const MatmulOperands& operands,
                                             const MatmulTrial& trial) const {
  constexpr int runs = 5;
  const Driver& driver = trial.device.driver();
  TENON_ASSIGN_OR_RETURN(Event begin, trial.device.createEvent(/*timed=*/true));
  TENON_ASSIGN_OR_RETURN(Event end, trial.device.createEvent(/*timed=*/true));
  float least = std::numeric_limits<float>::infinity();
  for (int run = 0; run <= runs; ++run) { // the first warms up
    TENON_RETURN_IF_ERROR(
        driver.check(driver.eventRecordWithFlags(begin.get(), trial.stream, 0), "time a matmul"));
    TENON_RETURN_IF_ERROR(enqueue(candidate, operands, trial.workspace, trial.stream));
    TENON_RETURN_IF_ERROR(
        driver.check(driver.eventRecordWithFlags(end.get(), trial.stream, 0), "time a matmul"));
    TENON_RETURN_IF_ERROR(driver.check(driver.eventSynchronize(end.get()), "time a matmul"));
    float ms = 0;
    TENON_RETURN_IF_ERROR(
        driver.check(driver.eventElapsedTime(&ms, begin.get(), end.get()), "time a matmul"));
    least = run == 0 ? least : std::min(least, ms);
  }
  return least;
}

absl::StatusOr<std::vector<cublasLtMatmulAlgo_t>> MatmulPlan::Impl::find(size_t most) const {
  std::vector<cublasLtMatmulHeuristicResult_t> results(most);
  int found = 0;
  TENON_RETURN_IF_ERROR(
      library.check(library.getHeuristic(library.handle, description, weight, x, y, y, preference,
                                         static_cast<int>(most), results.data(), &found),
                    "choose an implementation"));
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (const auto& result : std::span(results).first(found))
    if (result.state == CUBLAS_STATUS_SUCCESS)
      algorithms.push_back(result.algo);
  return algorithms;
}

absl::Status MatmulPlan::Impl::choose(const MatmulOperands& operands, const MatmulTrial& trial) {
  constexpr size_t most = 8;
  TENON_ASSIGN_OR_RETURN(std::vector<cublasLtMatmulAlgo_t> candidates, find(most));
  float best = std::numeric_limits<float>::infinity();
  for (const cublasLtMatmulAlgo_t& candidate : candidates) {
    TENON_ASSIGN_OR_RETURN(float ms, time(candidate, operands, trial));
    if (ms < best) {
      best = ms;
      algorithm = candidate;
    }
  }
  if (best == std::numeric_limits<float>::infinity())
    return absl::UnimplementedError("cuBLASLt has no implementation");
  return absl::OkStatus();
}

MatmulPlan::MatmulPlan(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
MatmulPlan::MatmulPlan(MatmulPlan&&) noexcept = default;
MatmulPlan& MatmulPlan::operator=(MatmulPlan&&) noexcept = default;
MatmulPlan::~MatmulPlan() = default;

absl::StatusOr<MatmulPlan> MatmulPlan::create(const CublasLt& library, const LibraryMatmul& matmul,
                                              const MatmulOperands& operands,
                                              const MatmulTrial& trial) {
  auto impl = std::make_unique<Impl>(*library.impl, matmul);
  TENON_RETURN_IF_ERROR(impl->describe(operands));
  TENON_RETURN_IF_ERROR(impl->prefer(operands));
  cublasLtMatmulAlgo_t& algorithm = impl->algorithm;
  std::string key = impl->key(operands, trial.device);
  if (auto stored = library.algorithms.find(key, sizeof(algorithm))) {
    std::memcpy(&algorithm, stored->data(), sizeof(algorithm));
    return MatmulPlan(std::move(impl));
  }
  TENON_RETURN_IF_ERROR(impl->choose(operands, trial));
  library.algorithms.store(key, std::as_bytes(std::span(&algorithm, 1)));
  return MatmulPlan(std::move(impl));
}

absl::StatusOr<std::vector<MatmulPlan>> MatmulPlan::candidates(const CublasLt& library,
                                                               const LibraryMatmul& matmul,
                                                               const MatmulOperands& operands,
                                                               size_t most) {
  auto describe = [&]() -> absl::StatusOr<std::unique_ptr<Impl>> {
    auto impl = std::make_unique<Impl>(*library.impl, matmul);
    TENON_RETURN_IF_ERROR(impl->describe(operands));
    TENON_RETURN_IF_ERROR(impl->prefer(operands));
    return impl;
  };
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Impl> first, describe());
  TENON_ASSIGN_OR_RETURN(std::vector<cublasLtMatmulAlgo_t> algorithms, first->find(most));
  std::vector<MatmulPlan> plans;
  for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, describe());
    impl->algorithm = algorithm;
    plans.push_back(MatmulPlan(std::move(impl)));
  }
  return plans;
}

absl::Status MatmulPlan::enqueue(const MatmulOperands& operands, CUdeviceptr workspace,
                                 CUstream stream) const {
  return impl->enqueue(impl->algorithm, operands, workspace, stream);
}

} // namespace tenon::runtime::internal
