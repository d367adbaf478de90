// An object that calls what kernels may not call.
#include <stdint.h>

int system(const char*);
int open(const char*, int, ...);

void escape(void* const* buffers, int64_t first, int64_t end) { open("x", system("true")); }
