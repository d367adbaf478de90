// Kernels with the ABI of CPU programs, for the tests of the executor and the linker.
#include <stdint.h>

float expf(float);

static const float table[4] = {1.0f, 10.0f, 100.0f, 1000.0f};
const int notCode = 7;
static long calls;

// y[i] = x[i] + a[i] · table[i % 4]; buffers: x, a, y.
void addScaled(void* const* buffers, int64_t first, int64_t end) {
  const float* x = buffers[0];
  const float* a = buffers[1];
  float* y = buffers[2];
  for (int64_t i = first; i < end; ++i)
    y[i] = x[i] + a[i] * table[i % 4];
}

// state[i] += x[i]; y[i] = state[i]; buffers: x, state, y.
void accumulate(void* const* buffers, int64_t first, int64_t end) {
  const float* x = buffers[0];
  float* state = buffers[1];
  float* y = buffers[2];
  for (int64_t i = first; i < end; ++i)
    y[i] = state[i] += x[i];
}

// y[i] = exp(x[i]); buffers: x, y.
void exponential(void* const* buffers, int64_t first, int64_t end) {
  const float* x = buffers[0];
  float* y = buffers[1];
  for (int64_t i = first; i < end; ++i)
    y[i] = expf(x[i]);
}

// y[i] = the first tile of the range that tile i ran in; buffers: y (i64).
void rangeStart(void* const* buffers, int64_t first, int64_t end) {
  int64_t* y = buffers[0];
  for (int64_t i = first; i < end; ++i)
    y[i] = first;
}

// y[0] = how often this was called; uses writable data; buffers: y (i64).
void countCalls(void* const* buffers, int64_t first, int64_t end) {
  *(int64_t*)buffers[0] = ++calls;
}
