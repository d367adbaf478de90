#ifndef TENON_IR_TENONOPS_TD
#define TENON_IR_TENONOPS_TD

include "ir/ops/AttentionOps.td"
include "ir/ops/ElementwiseOps.td"
include "ir/ops/KernelOps.td"
include "ir/ops/LinearOps.td"
include "ir/ops/NormOps.td"
include "ir/ops/ReduceOps.td"
include "ir/ops/ShapeOps.td"
include "ir/ops/SymbolOps.td"

#endif // TENON_IR_TENONOPS_TD
