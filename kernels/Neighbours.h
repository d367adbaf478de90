#ifndef TENON_KERNELS_NEIGHBOURS_H
#define TENON_KERNELS_NEIGHBOURS_H

#include "ir/Dialect.h"

namespace tenon::kernels {

/// What runs beside a kernel in its function and changes how it is best scheduled: an input of the
/// choice that the region itself does not hold.
struct Neighbours {
  /// Attention reads the kernel's results, or the kernel attention's, so that blocks of both share
  /// multiprocessors.
  bool attention = false;
  /// Attention that reads the kernel's results; null where there is none.
  AttentionOp reader;
};

/// The neighbours of a kernel where it stands; none of one without operands and users.
Neighbours neighboursOf(KernelOp kernel);

} // namespace tenon::kernels

#endif // TENON_KERNELS_NEIGHBOURS_H
