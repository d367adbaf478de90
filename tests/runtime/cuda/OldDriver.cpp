// A driver library that knows every function but one.
#include <cstring>

#include <cuda.h>

extern "C" CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                        cuuint64_t flags, CUdriverProcAddressQueryResult* found) {
  bool isKnown = std::strcmp(symbol, "cuFuncLoad") != 0;
  *function = isKnown ? reinterpret_cast<void*>(&cuGetProcAddress_v2) : nullptr;
  *found = isKnown ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}
