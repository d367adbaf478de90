// The functions of cuBLASLt that Tenon calls, for what it asks of them: y = xᵀ-ordered products of
// column-major matrices without gaps, added up in double, with one way to compute each. An epilogue that
// it does not know has no algorithm.
#include <cmath>
#include <cstring>
#include <numbers>

#include "Streams.h"
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

/// A description, as opaque to the caller as cuBLASLt's own.
struct Matmul {
  cublasOperation_t transposeA = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  int32_t biasType = -1;
};

struct Matrix {
  cudaDataType type;
  int64_t rows, columns, pitch;

  float get(const void* elements, int64_t row, int64_t column) const {
    return read(type, elements, column * pitch + row);
  }
  void set(void* elements, int64_t row, int64_t column, float value) const {
    int64_t index = column * pitch + row;
    if (type == CUDA_R_16F)
      static_cast<__half*>(elements)[index] = __float2half(value);
    else if (type == CUDA_R_16BF)
      static_cast<__nv_bfloat16*>(elements)[index] = __float2bfloat16(value);
    else
      static_cast<float*>(elements)[index] = value;
  }
  static float read(cudaDataType type, const void* elements, int64_t index) {
    return type == CUDA_R_16F ? __half2float(static_cast<const __half*>(elements)[index])
           : type == CUDA_R_16BF
               ? __bfloat162float(static_cast<const __nv_bfloat16*>(elements)[index])
               : static_cast<const float*>(elements)[index];
  }
};

bool hasBias(const Matmul& matmul) {
  return (matmul.epilogue & CUBLASLT_EPILOGUE_BIAS) == CUBLASLT_EPILOGUE_BIAS;
}
bool hasGelu(const Matmul& matmul) {
  return (matmul.epilogue & CUBLASLT_EPILOGUE_GELU) == CUBLASLT_EPILOGUE_GELU;
}

float gelu(float x) {
  constexpr double rootTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  double argument = rootTwoOverPi * (x + 0.044715 * x * x * x);
  return static_cast<float>(x / (1 + std::exp(-2 * argument)));
}

/// What a call was given.
struct Call {
  Matmul matmul;
  Matrix a, b, d;
  const void *aData, *bData, *cData;
  void* dData;
  float beta;

  float element(int64_t row, int64_t column) const {
    double sum = 0;
    for (int64_t i = 0; i < a.rows; ++i)
      sum += static_cast<double>(a.get(aData, i, row)) * b.get(bData, i, column);
    auto value = static_cast<float>(sum);
    if (beta != 0)
      value += beta * d.get(cData, row, column);
    if (hasBias(matmul))
      value += Matrix::read(static_cast<cudaDataType>(matmul.biasType), matmul.bias, row);
    return hasGelu(matmul) ? gelu(value) : value;
  }
  void run() const {
    for (int64_t column = 0; column < d.columns; ++column)
      for (int64_t row = 0; row < d.rows; ++row)
        d.set(dData, row, column, element(row, column));
  }
};

template <typename T> const T& as(const void* handle) { return *static_cast<const T*>(handle); }

bool isKnown(const Matmul& matmul) {
  int known = CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_GELU;
  return matmul.transposeA == CUBLAS_OP_T && (matmul.epilogue & ~known) == 0;
}

} // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasLtGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS_EMULATED"; }
size_t cublasLtGetVersion() { return 130'000; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t,
                                        cudaDataType_t) {
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(new Matmul());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete reinterpret_cast<Matmul*>(description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  auto& matmul = *reinterpret_cast<Matmul*>(description);
  auto set = [&](auto& member) {
    if (bytes != sizeof(member))
      return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return set(matmul.transposeA);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return set(matmul.epilogue);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return set(matmul.bias);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return set(matmul.biasType);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t pitch) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Matrix{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), pitch});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Matrix*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t*) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* returned) {
  const auto& matmul = as<Matmul>(description);
  bool fitsBias = !hasBias(matmul) || (matmul.bias && matmul.biasType == as<Matrix>(d).type);
  *returned = isKnown(matmul) && fitsBias ? 1 : 0;
  results[0] = {};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void*,
                              const void* aData, cublasLtMatrixLayout_t a, const void* bData,
                              cublasLtMatrixLayout_t b, const void* beta, const void* cData,
                              cublasLtMatrixLayout_t, void* dData, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
  Call call = {as<Matmul>(description),
               as<Matrix>(a),
               as<Matrix>(b),
               as<Matrix>(d),
               aData,
               bData,
               cData,
               dData,
               *static_cast<const float*>(beta)};
  tenon::emulator::runOrCapture(stream, [call] { call.run(); });
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
