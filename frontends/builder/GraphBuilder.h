#ifndef TENON_FRONTENDS_BUILDER_GRAPHBUILDER_H
#define TENON_FRONTENDS_BUILDER_GRAPHBUILDER_H

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace tenon::frontends {

/// A tensor in the function that is being built. Empty after an error; operations on an empty
/// value do nothing and give an empty value.
class Value {
public:
  Value() = default;
  /// `value` must be a ranked tensor of static shape, or null.
  explicit Value(mlir::TypedValue<mlir::RankedTensorType> value) : value(value) {}

  explicit operator bool() const { return static_cast<bool>(value); }
  mlir::TypedValue<mlir::RankedTensorType> get() const { return value; }
  /// Lengths of the axes, outermost first; empty for an empty value.
  llvm::ArrayRef<int64_t> getShape() const;
  /// Null for an empty value.
  mlir::Type getElementType() const;

private:
  mlir::TypedValue<mlir::RankedTensorType> value;
};

/// The contents of a `tenon.state` at one point of the function that is being built.
class StateValue {
public:
  StateValue() = default;
  explicit StateValue(mlir::TypedValue<StateType> value) : value(value) {}

  explicit operator bool() const { return static_cast<bool>(value); }
  mlir::TypedValue<StateType> get() const { return value; }

private:
  mlir::TypedValue<StateType> value;
};

/// Bytes [offset, offset + bytes) of a declared file.
struct WeightRange {
  std::string file; ///< the symbol given to `declareFile`
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// What a text loop needs to know of the model: becomes `tenon.model`.
struct ModelDescription {
  std::string architecture;
  std::string name;
  std::string file; ///< the symbol of the file that holds the tokeniser
  int64_t vocabulary = 0;
  int64_t contextLength = 0; ///< positions that the states hold
  int64_t sequences = 0;     ///< sequences that the states hold
};

/// How the result of an operation is named and rounded.
struct OpOptions {
  /// Location of the operation, after the open scopes: `attn_q` in `blk.0` is `blk.0.attn_q`.
  std::string_view name = {};
  /// Element type of the result, its rounding point. Null: the builder's activation type.
  mlir::Type elementType = {};
};

/// A cache of a stream without end; the fields are those of `tenon.ring_places`.
struct RingShape {
  int64_t kept = 0;
  int64_t ring = 0;
  int64_t window = 0;
};

/// Mask and scale of `GraphBuilder::attention`; the fields are those of `tenon.attention`, of which
/// empty values are absent.
struct AttentionOptions {
  double scale = 1.0;
  bool causal = true;
  double softcap = 0.0;
  int64_t window = 0;
  Value bias = {};
  Value slopes = {};
  Value sinks = {};
  bool areChunks = false; ///< whether rows beside each other are mostly of one sequence
};

/// Builds a module of the dialect, operation by operation; what the file frontends, tests and
/// examples use.
///
///     GraphBuilder builder(context, mlir::Float32Type::get(&context));
///     builder.beginFunction("f");
///     Value x = builder.input("x", {2, 64});
///     builder.output("y", builder.silu(x));
///     builder.endFunction();
///     absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> module = builder.finish();
///
/// The first error stays: every later call does nothing, and `finish` returns it with the
/// location of the operation. So code that builds a graph needs no checks in between.
class GraphBuilder {
public:
  /// Loads the dialects. `activationType` is f32, f16 or bf16: the element type of results that
  /// do not state their own.
  GraphBuilder(mlir::MLIRContext& context, mlir::Type activationType);
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  mlir::Type getActivationType() const { return activationType; }

  /// The first error so far.
  const absl::Status& getStatus() const { return status; }
  /// Records an error of the caller's own, unless there is one already.
  void fail(absl::Status error);

  /// Verifies and hands over the module, in phase `input`; or the first error.
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> finish();

  // Module level. Symbols are unique over files, weights, states and functions.

  void setModel(const ModelDescription& model);
  void declareFile(std::string_view name, std::string_view path, uint64_t bytes,
                   uint64_t fingerprint);
  /// A weight whose bytes are `ranges`, one after the other, in the encoding of `elementType`.
  void declareWeight(std::string_view name, llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                     llvm::ArrayRef<WeightRange> ranges);
  /// In the layout `layout`, dense where it is null.
  void declareState(std::string_view name, llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                    StateLayoutAttr layout = {});
  /// True if a file, weight, state or function of that name is there.
  bool hasSymbol(std::string_view name) const;

  // Functions. One is open at a time; inputs and outputs keep their order.

  void beginFunction(std::string_view name, Role role = Role::Other, int64_t rows = 0);
  /// Where a `role` is given, a text loop finds the argument or result by it.
  Value input(std::string_view name, llvm::ArrayRef<int64_t> shape, mlir::Type elementType = {},
              std::optional<PortRole> role = {});
  void output(std::string_view name, Value value, std::optional<PortRole> role = {});
  void endFunction();

  /// While it lives, locations start with its name; scopes nest.
  class Scope {
  public:
    Scope(GraphBuilder& builder, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    GraphBuilder& builder;
    size_t outerLength; ///< bytes of the path outside this scope
  };
  [[nodiscard]] Scope scope(std::string_view name) { return Scope(*this, name); }

  // Values from the module. A second call in a function gives the same value.

  Value weight(std::string_view name);
  StateValue state(std::string_view name);
  Value constant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> elements,
                 OpOptions options = {});
  Value intConstant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> elements,
                    OpOptions options = {});

  // One method an operation; `ir/ops` holds shapes and meaning.

  Value embedding(Value table, Value ids, OpOptions options = {});
  Value matmul(Value input, Value weight, OpOptions options = {});
  Value expertMatmul(Value input, Value weight, Value ids, OpOptions options = {});
  Value weightedSum(Value input, Value weights, OpOptions options = {});
  Value dequantize(Value input, OpOptions options = {});

  Value rmsNorm(Value input, Value weight, double epsilon, OpOptions options = {});
  Value rmsNorm(Value input, double epsilon, OpOptions options = {});
  Value layerNorm(Value input, Value weight, Value bias, double epsilon, OpOptions options = {});
  Value layerNorm(Value input, Value weight, double epsilon, OpOptions options = {});
  Value layerNorm(Value input, double epsilon, OpOptions options = {});
  Value softmax(Value input, OpOptions options = {});

  Value rope(RopePairing pairing, Value input, Value positions, Value inverseFrequencies,
             double magnitude = 1.0, OpOptions options = {});
  /// `views` is 1 or 3.
  Value ringPlaces(Value positions, const RingShape& ring, int64_t views, OpOptions options = {});
  /// What `tenon.accept` says of guesses, each i32: [M], and [1] or, with drafts, [2].
  struct Accepted {
    Value ids;
    Value nextIds;
    Value nextPositions;
  };
  Accepted accept(Value chosen, Value ids, Value positions, Value drafts = {},
                  OpOptions options = {});
  StateValue kvWrite(Value values, Value sequences, Value positions, StateValue state,
                     OpOptions options = {});
  Value attention(Value query, StateValue key, StateValue value, Value sequences, Value positions,
                  const AttentionOptions& how, OpOptions options = {});
  Value attention(Value query, Value key, Value value, Value sequences, Value positions,
                  const AttentionOptions& how, OpOptions options = {});
  /// The result and the weights, [heads, rows, keys] of the result's element type.
  struct Attended {
    Value result;
    Value weights;
  };
  Attended attentionWithWeights(Value query, Value key, Value value, Value sequences,
                                Value positions, const AttentionOptions& how,
                                OpOptions options = {});

  Value add(Value lhs, Value rhs, OpOptions options = {});
  Value sub(Value lhs, Value rhs, OpOptions options = {});
  Value mul(Value lhs, Value rhs, OpOptions options = {});
  Value div(Value lhs, Value rhs, OpOptions options = {});
  Value max(Value lhs, Value rhs, OpOptions options = {});
  Value min(Value lhs, Value rhs, OpOptions options = {});

  Value mod(Value lhs, Value rhs, OpOptions options = {});
  Value pow(Value lhs, Value rhs, OpOptions options = {});
  Value compare(Predicate predicate, Value lhs, Value rhs, OpOptions options = {});
  Value select(Value condition, Value lhs, Value rhs, OpOptions options = {});

  Value neg(Value input, OpOptions options = {});
  Value abs(Value input, OpOptions options = {});
  Value sign(Value input, OpOptions options = {});
  Value floor(Value input, OpOptions options = {});
  Value ceil(Value input, OpOptions options = {});
  Value round(Value input, OpOptions options = {});
  Value trunc(Value input, OpOptions options = {});
  Value square(Value input, OpOptions options = {});
  Value sqrt(Value input, OpOptions options = {});
  Value rsqrt(Value input, OpOptions options = {});
  Value exp(Value input, OpOptions options = {});
  Value log(Value input, OpOptions options = {});
  Value sin(Value input, OpOptions options = {});
  Value cos(Value input, OpOptions options = {});
  Value tanh(Value input, OpOptions options = {});
  Value erf(Value input, OpOptions options = {});
  Value sigmoid(Value input, OpOptions options = {});
  Value silu(Value input, OpOptions options = {});
  Value relu(Value input, OpOptions options = {});
  Value gelu(Value input, OpOptions options = {});
  Value geluTanh(Value input, OpOptions options = {});
  Value cast(Value input, OpOptions options = {});
  Value scale(Value input, double factor, OpOptions options = {});
  Value clamp(Value input, double low, double high, OpOptions options = {});
  Value glu(Activation activation, Value gate, Value up, OpOptions options = {});

  Value reduce(ReduceKind kind, Value input, OpOptions options = {});
  Value cumulativeSum(Value input, OpOptions options = {});
  Value hadamard(Value input, OpOptions options = {});
  /// Indices are i32, unless the options state i64.
  Value argmax(Value input, OpOptions options = {});
  struct TopK {
    Value values;
    Value indices;
  };
  TopK topK(Value input, int64_t k, OpOptions options = {});

  // These keep the input's element type unless the options state another.

  Value reshape(Value input, llvm::ArrayRef<int64_t> shape, OpOptions options = {});
  Value transpose(Value input, llvm::ArrayRef<int64_t> permutation, OpOptions options = {});
  Value slice(Value input, llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> strides, OpOptions options = {});
  Value concat(llvm::ArrayRef<Value> inputs, int64_t axis, OpOptions options = {});
  Value gather(Value input, Value indices, int64_t axis, OpOptions options = {});
  Value scatter(Value input, Value indices, Value updates, int64_t axis, bool accumulate,
                OpOptions options = {});
  /// `low` and `high` are zeros in front of and after each axis.
  Value patches(Value input, llvm::ArrayRef<int64_t> window, llvm::ArrayRef<int64_t> strides,
                llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high, OpOptions options = {});

private:
  /// Infers the shapes of the results, creates the operation and gives its results; none after an
  /// error, an empty operand included. `elementTypes` has one entry a result; optional ones that it has
  /// none for are absent.
  template <typename OpT>
  mlir::ValueRange emit(mlir::ValueRange operands, typename OpT::Properties properties,
                        llvm::ArrayRef<mlir::Type> elementTypes, const OpOptions& options);
  /// The same for one result of the options' or the activation type.
  template <typename OpT>
  Value emitOne(mlir::ValueRange operands, typename OpT::Properties properties,
                const OpOptions& options);
  template <typename OpT> Value emitOne(mlir::ValueRange operands, const OpOptions& options);

  /// True where calls at all, declarations of that name, or calls inside a function may go on;
  /// records misuse.
  bool isOpen();
  bool canDeclare(std::string_view name);
  bool canEmit();
  mlir::Location locate(const OpOptions& options);
  /// A tensor type, or null and an error that starts with `what`.
  mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                                    const std::string& what);
  /// The type of a constant of that many elements, or null and an error.
  mlir::RankedTensorType constantType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                                      size_t elements, const OpOptions& options);
  Value constant(mlir::DenseElementsAttr value, const OpOptions& options);
  void insertSymbol(mlir::Operation* op);
  mlir::FloatAttr f64(double value) { return builder.getF64FloatAttr(value); }

  mlir::OpBuilder builder;
  mlir::Type activationType;
  absl::Status status;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::StringMap<mlir::Operation*> symbols;
  mlir::Operation* firstFunction = nullptr;
  std::string scopePath;

  /// The open function, or null; and what belongs to it.
  mlir::func::FuncOp function;
  llvm::StringMap<mlir::Value> symbolValues;
  llvm::SmallVector<mlir::Value> outputs;
  llvm::SmallVector<mlir::Attribute> outputAttributes;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_BUILDER_GRAPHBUILDER_H
