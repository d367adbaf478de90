#ifndef TENON_TOOLS_BENCH_FUNCTIONINPUTS_H
#define TENON_TOOLS_BENCH_FUNCTIONINPUTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::tools {

/// Values for the arguments of `function`, of any phase, as bytes of their encodings: normally
/// distributed ones of deviation 1 for activations; tokens of the table; sequence m for row m, where
/// there are several; positions at `position`, where a cache holds so many, consecutive ones from 0
/// where all rows are of one sequence; other integers zero. What an integer is, its readers say.
std::vector<std::vector<std::byte>> makeFunctionInputs(mlir::func::FuncOp function,
                                                       int64_t position);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_FUNCTIONINPUTS_H
