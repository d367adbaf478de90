// Kernels as a code generator would emit them: only pointers as parameters, a block a tile.

extern "C" __global__ void addScaled(const float* x, const float* c, float* y) {
  unsigned i = blockIdx.x * 4 + threadIdx.x;
  y[i] = x[i] + 10.0f * c[i];
}

// By way of dynamic shared memory, and as a dependent launch.
extern "C" __global__ void twice(const float* x, float* y) {
  extern __shared__ float shared[];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  shared[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = 2.0f * shared[threadIdx.x];
}

extern "C" __global__ void accumulate(const float* x, float* state, float* y) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[threadIdx.x] = state[threadIdx.x] += x[threadIdx.x];
}

// Needs launch bounds of 64 threads.
extern "C" __global__ void __launch_bounds__(64) bounded(float* y) { y[threadIdx.x] = 1.0f; }

// One parameter is no pointer.
extern "C" __global__ void scalar(float* y, int value) { y[threadIdx.x] = static_cast<float>(value); }

// Writes where nothing is.
extern "C" __global__ void fault(float* y) {
  *reinterpret_cast<volatile float*>(reinterpret_cast<unsigned long long>(y) ^ (1ull << 45)) = 1.0f;
}
