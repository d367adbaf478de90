/* An NVRTC that fails at FAILING: `nvrtcCreateProgram` or `nvrtcGetCUBINSize`. */
#include <stddef.h>
#include <string.h>

static int resultOf(const char* function) { return strcmp(function, FAILING) == 0 ? 5 : 0; }

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
int nvrtcCreateProgram(void** program) {
  *program = NULL;
  return resultOf(__func__);
}
int nvrtcDestroyProgram(void** program) { return program == NULL; }
int nvrtcCompileProgram(void* program) { return program != NULL; }
int nvrtcGetCUBINSize(void* program, size_t* bytes) {
  *bytes = program != NULL;
  return resultOf(__func__);
}
int nvrtcGetCUBIN(void* program) { return program != NULL; }
int nvrtcGetPTXSize(void* program, size_t* bytes) { return nvrtcGetCUBINSize(program, bytes); }
int nvrtcGetPTX(void* program) { return program != NULL; }
int nvrtcGetProgramLogSize(void* program, size_t* bytes) {
  *bytes = program != NULL;
  return 0;
}
int nvrtcGetProgramLog(void* program) { return program != NULL; }
const char* nvrtcGetErrorString(int result) { return result == 5 ? "on purpose" : "no error"; }
