#include "absl/strings/str_format.h"
#include "mlir/IR/BuiltinAttributes.h"

#include "frontends/builder/GraphBuilder.h"
#include "support/Diagnostics.h"

using namespace mlir;

namespace tenon::frontends {

//===-- Emission ----------------------------------------------------------------------------===//

template <typename OpT>
ValueRange GraphBuilder::emit(ValueRange operands, typename OpT::Properties properties,
                              llvm::ArrayRef<Type> elementTypes, const OpOptions& options) {
  if (!canEmit())
    return {};
  Location loc = locate(options);
  if (llvm::is_contained(operands, mlir::Value())) {
    fail(absl::InvalidArgumentError(absl::StrFormat("%s: '%s' expects values, but got an empty one",
                                                    formatLocation(loc),
                                                    OpT::getOperationName().str())));
    return {};
  }
  DiagnosticCollector diagnostics(builder.getContext());
  llvm::SmallVector<ShapedTypeComponents> shapes;
  if (failed(OpT::inferReturnTypeComponents(builder.getContext(), loc, operands, DictionaryAttr(),
                                            OpaqueProperties(&properties), {}, shapes))) {
    fail(diagnostics.takeStatus());
    return {};
  }
  llvm::SmallVector<Type> types;
  // Shapes are known of optional results, too.
  for (auto [elementType, shape] : llvm::zip_first(elementTypes, shapes)) {
    Type type = tensorType(shape.getDims(), elementType, formatLocation(loc));
    if (!type)
      return {};
    types.push_back(type);
  }
  return OpT::create(builder, loc, types, operands, properties)->getResults();
}

/// The handle of result `index`, or an empty one.
static Value handle(ValueRange results, unsigned index = 0) {
  if (index >= results.size())
    return {};
  return Value(llvm::cast<TypedValue<RankedTensorType>>(results[index]));
}

template <typename OpT>
Value GraphBuilder::emitOne(ValueRange operands, typename OpT::Properties properties,
                            const OpOptions& options) {
  Type elementType = options.elementType ? options.elementType : activationType;
  return handle(emit<OpT>(operands, properties, {elementType}, options));
}

template <typename OpT> Value GraphBuilder::emitOne(ValueRange operands, const OpOptions& options) {
  return emitOne<OpT>(operands, typename OpT::Properties(), options);
}

/// `options` with the element type of `input` where they state none.
static OpOptions keepElementType(OpOptions options, Value input) {
  if (!options.elementType)
    options.elementType = input.getElementType();
  return options;
}

//===-- Weights, states, constants ----------------------------------------------------------===//

Value GraphBuilder::weight(std::string_view name) {
  if (!canEmit())
    return {};
  auto weight = llvm::dyn_cast_or_null<WeightOp>(symbols.lookup(name));
  if (!weight) {
    fail(absl::NotFoundError(absl::StrFormat("%s: expects a weight '%s', but none is declared",
                                             formatLocation(locate({})), name)));
    return {};
  }
  mlir::Value& value = symbolValues[name];
  if (!value)
    value = GetWeightOp::create(builder, locate({}), weight.getType(), name);
  return Value(llvm::cast<TypedValue<RankedTensorType>>(value));
}

StateValue GraphBuilder::state(std::string_view name) {
  if (!canEmit())
    return {};
  auto state = llvm::dyn_cast_or_null<StateOp>(symbols.lookup(name));
  if (!state) {
    fail(absl::NotFoundError(absl::StrFormat("%s: expects a state '%s', but none is declared",
                                             formatLocation(locate({})), name)));
    return {};
  }
  mlir::Value& value = symbolValues[name];
  if (!value)
    value = GetStateOp::create(builder, locate({}), state.getType(), name);
  return StateValue(llvm::cast<TypedValue<StateType>>(value));
}

Value GraphBuilder::constant(DenseElementsAttr value, const OpOptions& options) {
  auto constant = ConstantOp::create(builder, locate(options), value.getType(), value);
  return Value(llvm::cast<TypedValue<RankedTensorType>>(constant.getResult()));
}

Value GraphBuilder::constant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> elements,
                             OpOptions options) {
  RankedTensorType type = constantType(shape, builder.getF32Type(), elements.size(), options);
  return type ? constant(DenseElementsAttr::get(type, elements), options) : Value();
}

Value GraphBuilder::intConstant(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> elements,
                                OpOptions options) {
  RankedTensorType type = constantType(shape, builder.getI32Type(), elements.size(), options);
  return type ? constant(DenseElementsAttr::get(type, elements), options) : Value();
}

RankedTensorType GraphBuilder::constantType(llvm::ArrayRef<int64_t> shape, Type elementType,
                                            size_t elements, const OpOptions& options) {
  if (!canEmit())
    return {};
  std::string what = formatLocation(locate(options));
  RankedTensorType type = tensorType(shape, elementType, what);
  std::optional<int64_t> bytes = type ? getStorageBytes(type) : std::nullopt;
  if (type && (!bytes || static_cast<uint64_t>(*bytes) != 4 * elements)) {
    fail(absl::InvalidArgumentError(absl::StrFormat("%s: expects the elements of %s, but got %d",
                                                    what, detail::formatType(type), elements)));
    return {};
  }
  return type;
}

//===-- Linear ------------------------------------------------------------------------------===//

Value GraphBuilder::embedding(Value table, Value ids, OpOptions options) {
  return emitOne<EmbeddingOp>({table.get(), ids.get()}, options);
}

Value GraphBuilder::matmul(Value input, Value weight, OpOptions options) {
  return emitOne<MatmulOp>({input.get(), weight.get()}, options);
}

Value GraphBuilder::expertMatmul(Value input, Value weight, Value ids, OpOptions options) {
  return emitOne<ExpertMatmulOp>({input.get(), weight.get(), ids.get()}, options);
}

Value GraphBuilder::weightedSum(Value input, Value weights, OpOptions options) {
  return emitOne<WeightedSumOp>({input.get(), weights.get()}, options);
}

Value GraphBuilder::dequantize(Value input, OpOptions options) {
  return emitOne<DequantizeOp>({input.get()}, options);
}

//===-- Norms -------------------------------------------------------------------------------===//

/// The attributes of a norm.
template <typename OpT> static typename OpT::Properties normProperties(FloatAttr epsilon) {
  typename OpT::Properties properties;
  properties.epsilon = epsilon;
  return properties;
}

Value GraphBuilder::rmsNorm(Value input, Value weight, double epsilon, OpOptions options) {
  return emitOne<RmsNormOp>({input.get(), weight.get()}, normProperties<RmsNormOp>(f64(epsilon)),
                            options);
}

Value GraphBuilder::rmsNorm(Value input, double epsilon, OpOptions options) {
  return emitOne<RmsNormOp>({input.get()}, normProperties<RmsNormOp>(f64(epsilon)), options);
}

Value GraphBuilder::layerNorm(Value input, Value weight, Value bias, double epsilon,
                              OpOptions options) {
  auto properties = normProperties<LayerNormOp>(f64(epsilon));
  properties.operandSegmentSizes = {1, 1, 1};
  return emitOne<LayerNormOp>({input.get(), weight.get(), bias.get()}, properties, options);
}

Value GraphBuilder::layerNorm(Value input, Value weight, double epsilon, OpOptions options) {
  auto properties = normProperties<LayerNormOp>(f64(epsilon));
  properties.operandSegmentSizes = {1, 1, 0};
  return emitOne<LayerNormOp>({input.get(), weight.get()}, properties, options);
}

Value GraphBuilder::layerNorm(Value input, double epsilon, OpOptions options) {
  auto properties = normProperties<LayerNormOp>(f64(epsilon));
  properties.operandSegmentSizes = {1, 0, 0};
  return emitOne<LayerNormOp>({input.get()}, properties, options);
}

Value GraphBuilder::softmax(Value input, OpOptions options) {
  return emitOne<SoftmaxOp>({input.get()}, options);
}

//===-- Attention ---------------------------------------------------------------------------===//

Value GraphBuilder::rope(RopePairing pairing, Value input, Value positions,
                         Value inverseFrequencies, double magnitude, OpOptions options) {
  return emitOne<RopeOp>(
      {input.get(), positions.get(), inverseFrequencies.get()},
      {.magnitude = f64(magnitude), .pairing = RopePairingAttr::get(builder.getContext(), pairing)},
      options);
}

Value GraphBuilder::ringPlaces(Value positions, const RingShape& ring, int64_t views,
                               OpOptions options) {
  options.elementType = builder.getI32Type();
  return emitOne<RingPlacesOp>({positions.get()},
                               {.kept = builder.getI64IntegerAttr(ring.kept),
                                .ring = builder.getI64IntegerAttr(ring.ring),
                                .views = builder.getI64IntegerAttr(views),
                                .window = builder.getI64IntegerAttr(ring.window)},
                               options);
}

StateValue GraphBuilder::kvWrite(Value values, Value sequences, Value positions, StateValue state,
                                 OpOptions options) {
  if (!canEmit())
    return {};
  if (!values || !sequences || !positions || !state) {
    fail(absl::InvalidArgumentError(
        absl::StrFormat("%s: 'tenon.kv_write' expects values, but got an empty one",
                        formatLocation(locate(options)))));
    return {};
  }
  auto write = KvWriteOp::create(builder, locate(options), state.get().getType(), values.get(),
                                 sequences.get(), positions.get(), state.get(),
                                 /*block_table=*/mlir::Value());
  return StateValue(llvm::cast<TypedValue<StateType>>(write.getResult()));
}

GraphBuilder::Accepted GraphBuilder::accept(Value chosen, Value ids, Value positions, Value drafts,
                                            OpOptions options) {
  llvm::SmallVector<mlir::Value> operands = {chosen.get(), ids.get(), positions.get()};
  if (drafts)
    operands.push_back(drafts.get());
  Type i32 = builder.getI32Type();
  ValueRange results = emit<AcceptOp>(operands, {}, {i32, i32, i32}, options);
  return {handle(results, 0), handle(results, 1), handle(results, 2)};
}

/// The operands of `tenon.attention` in their order: those that are there of the last three.
static llvm::SmallVector<mlir::Value> attentionOperands(llvm::ArrayRef<mlir::Value> operands,
                                                        const AttentionOptions& how) {
  llvm::SmallVector<mlir::Value> all(operands);
  for (const Value& operand : {how.bias, how.slopes, how.sinks})
    if (operand)
      all.push_back(operand.get());
  return all;
}

/// The attributes of `tenon.attention`.
static AttentionOp::Properties attentionProperties(Builder& builder, const AttentionOptions& how) {
  AttentionOp::Properties properties;
  properties.scale = builder.getF64FloatAttr(how.scale);
  properties.causal = builder.getBoolAttr(how.causal);
  properties.softcap = builder.getF64FloatAttr(how.softcap);
  properties.window = builder.getI64IntegerAttr(how.window);
  if (how.areChunks)
    properties.chunks = builder.getUnitAttr();
  properties.operandSegmentSizes = {
      1, 1, 1, 1, 1, how.bias ? 1 : 0, how.slopes ? 1 : 0, how.sinks ? 1 : 0};
  return properties;
}

Value GraphBuilder::attention(Value query, StateValue key, StateValue value, Value sequences,
                              Value positions, const AttentionOptions& how, OpOptions options) {
  return emitOne<AttentionOp>(
      attentionOperands({query.get(), key.get(), value.get(), sequences.get(), positions.get()},
                        how),
      attentionProperties(builder, how), options);
}

Value GraphBuilder::attention(Value query, Value key, Value value, Value sequences, Value positions,
                              const AttentionOptions& how, OpOptions options) {
  return emitOne<AttentionOp>(
      attentionOperands({query.get(), key.get(), value.get(), sequences.get(), positions.get()},
                        how),
      attentionProperties(builder, how), options);
}

GraphBuilder::Attended GraphBuilder::attentionWithWeights(Value query, Value key, Value value,
                                                          Value sequences, Value positions,
                                                          const AttentionOptions& how,
                                                          OpOptions options) {
  Type elementType = options.elementType ? options.elementType : activationType;
  ValueRange results = emit<AttentionOp>(
      attentionOperands({query.get(), key.get(), value.get(), sequences.get(), positions.get()},
                        how),
      attentionProperties(builder, how), {elementType, elementType}, options);
  return {handle(results, 0), handle(results, 1)};
}

//===-- Elementwise -------------------------------------------------------------------------===//

#define TENON_BINARY(method, OpT)                                                                  \
  Value GraphBuilder::method(Value lhs, Value rhs, OpOptions options) {                            \
    return emitOne<OpT>({lhs.get(), rhs.get()}, options);                                          \
  }
TENON_BINARY(add, AddOp)
TENON_BINARY(sub, SubOp)
TENON_BINARY(mul, MulOp)
TENON_BINARY(div, DivOp)
TENON_BINARY(max, MaxOp)
TENON_BINARY(min, MinOp)
TENON_BINARY(mod, ModOp)
TENON_BINARY(pow, PowOp)
#undef TENON_BINARY

#define TENON_UNARY(method, OpT)                                                                   \
  Value GraphBuilder::method(Value input, OpOptions options) {                                     \
    return emitOne<OpT>({input.get()}, options);                                                   \
  }
TENON_UNARY(neg, NegOp)
TENON_UNARY(abs, AbsOp)
TENON_UNARY(sign, SignOp)
TENON_UNARY(floor, FloorOp)
TENON_UNARY(ceil, CeilOp)
TENON_UNARY(round, RoundOp)
TENON_UNARY(trunc, TruncOp)
TENON_UNARY(square, SquareOp)
TENON_UNARY(sqrt, SqrtOp)
TENON_UNARY(rsqrt, RsqrtOp)
TENON_UNARY(exp, ExpOp)
TENON_UNARY(log, LogOp)
TENON_UNARY(sin, SinOp)
TENON_UNARY(cos, CosOp)
TENON_UNARY(tanh, TanhOp)
TENON_UNARY(erf, ErfOp)
TENON_UNARY(sigmoid, SigmoidOp)
TENON_UNARY(silu, SiluOp)
TENON_UNARY(relu, ReluOp)
TENON_UNARY(gelu, GeluOp)
TENON_UNARY(geluTanh, GeluTanhOp)
TENON_UNARY(cast, CastOp)
#undef TENON_UNARY

Value GraphBuilder::scale(Value input, double factor, OpOptions options) {
  return emitOne<ScaleOp>({input.get()}, {.factor = f64(factor)}, options);
}

Value GraphBuilder::clamp(Value input, double low, double high, OpOptions options) {
  return emitOne<ClampOp>({input.get()}, {.high = f64(high), .low = f64(low)}, options);
}

Value GraphBuilder::compare(Predicate predicate, Value lhs, Value rhs, OpOptions options) {
  return emitOne<CompareOp>({lhs.get(), rhs.get()},
                            {.predicate = PredicateAttr::get(builder.getContext(), predicate)},
                            options);
}

Value GraphBuilder::select(Value condition, Value lhs, Value rhs, OpOptions options) {
  return emitOne<SelectOp>({condition.get(), lhs.get(), rhs.get()}, options);
}

Value GraphBuilder::glu(Activation activation, Value gate, Value up, OpOptions options) {
  return emitOne<GluOp>({gate.get(), up.get()},
                        {.activation = ActivationAttr::get(builder.getContext(), activation)},
                        options);
}

//===-- Reductions --------------------------------------------------------------------------===//

Value GraphBuilder::reduce(ReduceKind kind, Value input, OpOptions options) {
  ReduceOp::Properties properties;
  properties.kind = ReduceKindAttr::get(builder.getContext(), kind);
  return emitOne<ReduceOp>({input.get()}, properties, options);
}

Value GraphBuilder::cumulativeSum(Value input, OpOptions options) {
  return emitOne<CumulativeSumOp>({input.get()}, options);
}

Value GraphBuilder::hadamard(Value input, OpOptions options) {
  return emitOne<HadamardOp>({input.get()}, options);
}

Value GraphBuilder::argmax(Value input, OpOptions options) {
  if (!options.elementType)
    options.elementType = builder.getI32Type();
  return emitOne<ArgmaxOp>({input.get()}, options);
}

GraphBuilder::TopK GraphBuilder::topK(Value input, int64_t k, OpOptions options) {
  Type elementType = options.elementType ? options.elementType : activationType;
  ValueRange results = emit<TopKOp>({input.get()}, {.k = builder.getI64IntegerAttr(k)},
                                    {elementType, builder.getI32Type()}, options);
  return {handle(results, 0), handle(results, 1)};
}

//===-- Shapes ------------------------------------------------------------------------------===//

Value GraphBuilder::reshape(Value input, llvm::ArrayRef<int64_t> shape, OpOptions options) {
  return emitOne<ReshapeOp>({input.get()}, {.shape = builder.getDenseI64ArrayAttr(shape)},
                            keepElementType(options, input));
}

Value GraphBuilder::transpose(Value input, llvm::ArrayRef<int64_t> permutation, OpOptions options) {
  return emitOne<TransposeOp>({input.get()},
                              {.permutation = builder.getDenseI64ArrayAttr(permutation)},
                              keepElementType(options, input));
}

Value GraphBuilder::slice(Value input, llvm::ArrayRef<int64_t> offsets,
                          llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
                          OpOptions options) {
  return emitOne<SliceOp>({input.get()},
                          {.offsets = builder.getDenseI64ArrayAttr(offsets),
                           .sizes = builder.getDenseI64ArrayAttr(sizes),
                           .strides = builder.getDenseI64ArrayAttr(strides)},
                          keepElementType(options, input));
}

Value GraphBuilder::concat(llvm::ArrayRef<Value> inputs, int64_t axis, OpOptions options) {
  llvm::SmallVector<mlir::Value> operands;
  for (Value input : inputs)
    operands.push_back(input.get());
  if (!inputs.empty())
    options = keepElementType(options, inputs.front());
  return emitOne<ConcatOp>(operands, {.axis = builder.getI64IntegerAttr(axis)}, options);
}

Value GraphBuilder::gather(Value input, Value indices, int64_t axis, OpOptions options) {
  return emitOne<GatherOp>({input.get(), indices.get()}, {.axis = builder.getI64IntegerAttr(axis)},
                           keepElementType(options, input));
}

Value GraphBuilder::scatter(Value input, Value indices, Value updates, int64_t axis,
                            bool accumulate, OpOptions options) {
  return emitOne<ScatterOp>({input.get(), indices.get(), updates.get()},
                            {.accumulate = accumulate ? builder.getUnitAttr() : nullptr,
                             .axis = builder.getI64IntegerAttr(axis)},
                            keepElementType(options, input));
}

Value GraphBuilder::patches(Value input, llvm::ArrayRef<int64_t> window,
                            llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> low,
                            llvm::ArrayRef<int64_t> high, OpOptions options) {
  return emitOne<PatchesOp>({input.get()},
                            {.high = builder.getDenseI64ArrayAttr(high),
                             .low = builder.getDenseI64ArrayAttr(low),
                             .strides = builder.getDenseI64ArrayAttr(strides),
                             .window = builder.getDenseI64ArrayAttr(window)},
                            keepElementType(options, input));
}

} // namespace tenon::frontends
