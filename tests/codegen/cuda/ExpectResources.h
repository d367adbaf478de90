#ifndef TENON_TESTS_CODEGEN_CUDA_EXPECTRESOURCES_H
#define TENON_TESTS_CODEGEN_CUDA_EXPECTRESOURCES_H

#include <gtest/gtest.h>

#include "codegen/cuda/CompileForCuda.h"

namespace tenon::codegen {

/// Expects what ptxas reports of a kernel to be what its schedule states: shared memory to the byte,
/// no more registers, and not so few that more than `slack` times the blocks stated would run on a
/// multiprocessor.
inline void expectResources(const CudaKernel& kernel, TargetAttr target, int64_t slack) {
  kernels::BlockResources reported = kernel.stated;
  reported.registers = kernel.registers;
  EXPECT_GT(kernel.registers, 0) << kernel.name;
  EXPECT_LE(kernel.registers, kernel.stated.registers) << kernel.name;
  EXPECT_EQ(kernel.staticSmemBytes, kernel.stated.staticSmemBytes) << kernel.name;
  EXPECT_GE(residentBlocks(kernel.stated, target), 1) << kernel.name;
  EXPECT_GE(slack * residentBlocks(kernel.stated, target), residentBlocks(reported, target))
      << kernel.name << ": " << kernel.registers << " registers, stated "
      << kernel.stated.registers;
}

} // namespace tenon::codegen

#endif // TENON_TESTS_CODEGEN_CUDA_EXPECTRESOURCES_H
