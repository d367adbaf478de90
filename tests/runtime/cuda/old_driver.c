// A driver library that knows every function but one.
#include <string.h>

int cuGetProcAddress_v2(const char* symbol, void** function, int version, unsigned long long flags,
                        int* found) {
  (void)version;
  (void)flags;
  int known = strcmp(symbol, "cuFuncLoad") != 0;
  *function = known ? (void*)&cuGetProcAddress_v2 : 0;
  *found = known ? 0 : 1;
  return 0;
}
