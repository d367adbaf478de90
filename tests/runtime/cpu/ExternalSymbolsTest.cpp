#include "runtime/cpu/ExternalSymbols.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(ExternalSymbols, AreSortedByName) {
  EXPECT_TRUE(std::ranges::is_sorted(externalSymbols(), {}, &ExternalSymbol::name));
}

TEST(ExternalSymbols, AreTheFunctionsOfThatName) {
  auto* exponential = reinterpret_cast<float (*)(float)>(findExternalSymbol("expf"));
  EXPECT_EQ(exponential(1.5f), std::exp(1.5f));
  auto* errorFunction = reinterpret_cast<double (*)(double)>(findExternalSymbol("erf"));
  EXPECT_EQ(errorFunction(0.25), std::erf(0.25));
  auto* power = reinterpret_cast<float (*)(float, float)>(findExternalSymbol("powf"));
  EXPECT_EQ(power(3.0f, 4.0f), 81.0f);
}

TEST(ExternalSymbols, AreNothingElse) {
  EXPECT_EQ(findExternalSymbol("system"), nullptr);
  EXPECT_EQ(findExternalSymbol("exp3"), nullptr);
  EXPECT_EQ(findExternalSymbol(""), nullptr);
  EXPECT_EQ(findExternalSymbol("zzz"), nullptr);
}

} // namespace
} // namespace tenon::runtime
