#include "runtime/cpu/ExternalSymbols.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace tenon::runtime {

namespace {

/// C signatures, which tell the overloads of <cmath> and <cstring> apart.
template <typename T> using Unary = T (*)(T);
template <typename T> using Binary = T (*)(T, T);
template <typename T> using Ternary = T (*)(T, T, T);
template <typename T> using Scale = T (*)(T, int);
template <typename T> using SinCos = void (*)(T, T*, T*);
using Copy = void* (*)(void*, const void*, size_t);

template <typename Signature> constexpr ExternalSymbol entry(std::string_view name, Signature f) {
  return {name, reinterpret_cast<void*>(f)};
}

} // namespace

std::span<const ExternalSymbol> externalSymbols() {
  static const std::array symbols = {
      entry<Unary<double>>("acos", ::acos),
      entry<Unary<float>>("acosf", ::acosf),
      entry<Unary<double>>("acosh", ::acosh),
      entry<Unary<float>>("acoshf", ::acoshf),
      entry<Unary<double>>("asin", ::asin),
      entry<Unary<float>>("asinf", ::asinf),
      entry<Unary<double>>("asinh", ::asinh),
      entry<Unary<float>>("asinhf", ::asinhf),
      entry<Unary<double>>("atan", ::atan),
      entry<Binary<double>>("atan2", ::atan2),
      entry<Binary<float>>("atan2f", ::atan2f),
      entry<Unary<float>>("atanf", ::atanf),
      entry<Unary<double>>("atanh", ::atanh),
      entry<Unary<float>>("atanhf", ::atanhf),
      entry<Unary<double>>("cbrt", ::cbrt),
      entry<Unary<float>>("cbrtf", ::cbrtf),
      entry<Unary<double>>("ceil", ::ceil),
      entry<Unary<float>>("ceilf", ::ceilf),
      entry<Binary<double>>("copysign", ::copysign),
      entry<Binary<float>>("copysignf", ::copysignf),
      entry<Unary<double>>("cos", ::cos),
      entry<Unary<float>>("cosf", ::cosf),
      entry<Unary<double>>("cosh", ::cosh),
      entry<Unary<float>>("coshf", ::coshf),
      entry<Unary<double>>("erf", ::erf),
      entry<Unary<double>>("erfc", ::erfc),
      entry<Unary<float>>("erfcf", ::erfcf),
      entry<Unary<float>>("erff", ::erff),
      entry<Unary<double>>("exp", ::exp),
      entry<Unary<double>>("exp2", ::exp2),
      entry<Unary<float>>("exp2f", ::exp2f),
      entry<Unary<float>>("expf", ::expf),
      entry<Unary<double>>("expm1", ::expm1),
      entry<Unary<float>>("expm1f", ::expm1f),
      entry<Unary<double>>("fabs", ::fabs),
      entry<Unary<float>>("fabsf", ::fabsf),
      entry<Unary<double>>("floor", ::floor),
      entry<Unary<float>>("floorf", ::floorf),
      entry<Ternary<double>>("fma", ::fma),
      entry<Ternary<float>>("fmaf", ::fmaf),
      entry<Binary<double>>("fmax", ::fmax),
      entry<Binary<float>>("fmaxf", ::fmaxf),
      entry<Binary<double>>("fmin", ::fmin),
      entry<Binary<float>>("fminf", ::fminf),
      entry<Binary<double>>("fmod", ::fmod),
      entry<Binary<float>>("fmodf", ::fmodf),
      entry<Scale<double>>("ldexp", ::ldexp),
      entry<Scale<float>>("ldexpf", ::ldexpf),
      entry<Unary<double>>("log", ::log),
      entry<Unary<double>>("log10", ::log10),
      entry<Unary<float>>("log10f", ::log10f),
      entry<Unary<double>>("log1p", ::log1p),
      entry<Unary<float>>("log1pf", ::log1pf),
      entry<Unary<double>>("log2", ::log2),
      entry<Unary<float>>("log2f", ::log2f),
      entry<Unary<float>>("logf", ::logf),
      entry<int (*)(const void*, const void*, size_t)>("memcmp", ::memcmp),
      entry<Copy>("memcpy", ::memcpy),
      entry<Copy>("memmove", ::memmove),
      entry<void* (*)(void*, int, size_t)>("memset", ::memset),
      entry<Unary<double>>("nearbyint", ::nearbyint),
      entry<Unary<float>>("nearbyintf", ::nearbyintf),
      entry<Binary<double>>("pow", ::pow),
      entry<Binary<float>>("powf", ::powf),
      entry<Unary<double>>("rint", ::rint),
      entry<Unary<float>>("rintf", ::rintf),
      entry<Unary<double>>("round", ::round),
      entry<Unary<double>>("roundeven", ::roundeven),
      entry<Unary<float>>("roundevenf", ::roundevenf),
      entry<Unary<float>>("roundf", ::roundf),
      entry<Unary<double>>("sin", ::sin),
      entry<SinCos<double>>("sincos", ::sincos),
      entry<SinCos<float>>("sincosf", ::sincosf),
      entry<Unary<float>>("sinf", ::sinf),
      entry<Unary<double>>("sinh", ::sinh),
      entry<Unary<float>>("sinhf", ::sinhf),
      entry<Unary<double>>("sqrt", ::sqrt),
      entry<Unary<float>>("sqrtf", ::sqrtf),
      entry<Unary<double>>("tan", ::tan),
      entry<Unary<float>>("tanf", ::tanf),
      entry<Unary<double>>("tanh", ::tanh),
      entry<Unary<float>>("tanhf", ::tanhf),
      entry<Unary<double>>("trunc", ::trunc),
      entry<Unary<float>>("truncf", ::truncf),
  };
  return symbols;
}

void* findExternalSymbol(std::string_view name) {
  std::span<const ExternalSymbol> symbols = externalSymbols();
  auto found = std::ranges::lower_bound(symbols, name, {}, &ExternalSymbol::name);
  return found != symbols.end() && found->name == name ? found->address : nullptr;
}

} // namespace tenon::runtime
