#ifndef TENON_CODEGEN_CUDA_SCALARPRINTER_H
#define TENON_CODEGEN_CUDA_SCALARPRINTER_H

#include <string>

#include "codegen/cuda/CodeWriter.h"
#include "ir/Dialect.h"

namespace tenon::codegen::cuda {

/// Prints `op` on one element, from its `buildScalarBody`, as statements on f32 variables, of
/// integers and bools `Int64` ones, and returns the expression of the result, not yet rounded.
/// `operands` are expressions without side effects; `prefix` starts the names of the variables declared. Emits an error where the body has
/// an operation that CUDA C++ has no exact word for.
mlir::FailureOr<std::string> printScalarBody(ElementwiseOpInterface op,
                                             llvm::ArrayRef<std::string> operands,
                                             const std::string& prefix, CodeWriter& code);

/// An f32 literal that reads back as exactly `value`.
std::string floatLiteral(float value);
/// An `Int64` literal.
std::string integerLiteral(int64_t value);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_SCALARPRINTER_H
