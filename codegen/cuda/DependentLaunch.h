#ifndef TENON_CODEGEN_CUDA_DEPENDENTLAUNCH_H
#define TENON_CODEGEN_CUDA_DEPENDENTLAUNCH_H

#include "codegen/cuda/PhaseStructure.h"

namespace tenon::codegen::cuda {

/// Programmatic dependent launch: a kernel starts while the one before still runs, as soon as all
/// of that one's blocks have said so at their entry, or have ended, and waits (griddepcontrol.wait)
/// until it has ended and its stores are visible (PTX ISA, griddepcontrol).
///
/// Sets where a kernel with `pdl` waits: in front of the first phase that touches global memory
/// that other kernels, or another launch of this one, touch too.
void placeWait(PhaseStructure& structure);

/// Whether a kernel with `pdl` is safe in a chain of such kernels.
///
/// Each kernel waits before it ends, so when kernel n passes its wait, kernels up to n − 1 have
/// ended. Before its wait a kernel may then
///
/// * read only what no kernel of the call writes: a value of kernel n − 1 may not be there yet;
/// * store nothing in global memory: kernels up to n − 1 may still read what lay there, such as a
///   buffer of the workspace that n takes over.
///
/// A kernel that never waits breaks this for all after it.
Verdict verifyWait(const PhaseStructure& structure);

/// Sets where the kernel waits. Refuses phases that no kernel can have, or not in such a chain.
Verdict finishPhases(PhaseStructure& structure);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_DEPENDENTLAUNCH_H
