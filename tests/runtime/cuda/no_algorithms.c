// A cuBLASLt that knows no way to compute any product. What is described is never looked at.
#include <stddef.h>

int cublasLtCreate(void** handle) {
  *handle = handle;
  return 0;
}
int cublasLtDestroy(void* handle) { return 0; }
const char* cublasLtGetStatusName(int status) { return "CUBLAS_STATUS_OF_TESTS"; }
int cublasLtMatmul(void) { return 1; }
int cublasLtMatmulDescCreate(void** description, int compute, int scale) { return 0; }
int cublasLtMatmulDescDestroy(void* description) { return 0; }
int cublasLtMatmulDescSetAttribute(void) { return 0; }
int cublasLtMatrixLayoutCreate(void** layout) { return 0; }
int cublasLtMatrixLayoutDestroy(void* layout) { return 0; }
int cublasLtMatmulPreferenceCreate(void** preference) { return 0; }
int cublasLtMatmulPreferenceDestroy(void* preference) { return 0; }
int cublasLtMatmulPreferenceSetAttribute(void) { return 0; }
int cublasLtMatmulAlgoGetHeuristic(void* handle, void* operation, void* a, void* b, void* c,
                                   void* d, void* preference, int requested, void* results,
                                   int* returned) {
  *returned = 0;
  return 0;
}
size_t cublasLtGetVersion(void) { return 130000; }
