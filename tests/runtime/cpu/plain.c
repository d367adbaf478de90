// An object without relocations: its machine number can be changed in its header.
#include <stdint.h>

void plain(void* const* buffers, int64_t first, int64_t end) {}
