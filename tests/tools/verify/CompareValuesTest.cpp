#include "tools/verify/CompareValues.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/Dialect.h"
#include "mlir/IR/MLIRContext.h"

namespace tenon::tools {
namespace {

class CompareValues : public testing::Test {
protected:
  CompareValues() { context.loadDialect<TenonDialect>(); }

  ReferenceTensor tensor(mlir::Type type, std::vector<double> values) {
    ReferenceTensor result(
        mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, type));
    llvm::copy(values, result.getValues().begin());
    return result;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::Type f16 = mlir::Float16Type::get(&context);
  mlir::Type bf16 = mlir::BFloat16Type::get(&context);
  mlir::Type i32 = mlir::IntegerType::get(&context, 32);
};

TEST_F(CompareValues, CountsUnitsInTheLastPlace) {
  // f16 has 11 bits: neighbours of 1 are 2^-10 apart, of 0.5 half as far.
  std::vector<std::byte> device = tensor(f16, {1 + 0x1p-10, 0.5 - 0x1p-11, 3, -2}).encode();
  ReferenceError error = compareWithReference(tensor(f16, {1, 0.5, 3, -2}), device);
  EXPECT_EQ(error.elements, 4);
  EXPECT_EQ(error.maxUlp, 1);
  EXPECT_EQ(error.meanUlp(), 0.5);
  EXPECT_EQ(error.maxDifference, 0x1p-10);
  EXPECT_DOUBLE_EQ(error.relative(), 0x1p-10 / 3);
  EXPECT_EQ(error.notFinite, 0);
  // bf16 has 8 bits.
  EXPECT_EQ(compareWithReference(tensor(bf16, {1}), tensor(bf16, {1 + 0x1p-6}).encode()).maxUlp, 2);
}

TEST_F(CompareValues, NeighboursOfZeroAreThoseOfTheSmallestNormal) {
  ReferenceError error = compareWithReference(tensor(f16, {0}), tensor(f16, {0x1p-14}).encode());
  EXPECT_EQ(error.maxUlp, 1024); // 2^-14 over 2^-24
}

TEST_F(CompareValues, TellsWhatIsNotFiniteOnOneSide) {
  ReferenceError error =
      compareWithReference(tensor(f16, {NAN, 1, INFINITY}), tensor(f16, {NAN, NAN, 2}).encode());
  EXPECT_EQ(error.notFinite, 2);
  EXPECT_EQ(error.maxUlp, 1);
}

TEST_F(CompareValues, CountsWrongIntegers) {
  ReferenceError error =
      compareWithReference(tensor(i32, {5, 6, 7}), tensor(i32, {5, 900, 7}).encode());
  EXPECT_EQ(error.maxUlp, 1);
  EXPECT_DOUBLE_EQ(error.meanUlp(), 1.0 / 3);
}

TEST_F(CompareValues, LeavesOutWhatNeitherSideWrote) {
  std::vector<std::byte> before = tensor(f16, {1, 2, 3, 4}).encode();
  ReferenceError error =
      compareWithReference(tensor(f16, {1, 8, 3, 4}), tensor(f16, {1, 8, 3, 5}).encode(), before);
  EXPECT_EQ(error.elements, 2);
  EXPECT_EQ(error.maxDifference, 1);
}

TEST_F(CompareValues, CountsDifferingElements) {
  std::vector<std::byte> a = tensor(f16, {1, 2, 3}).encode(),
                         b = tensor(f16, {1, -2, 3.5}).encode();
  EXPECT_EQ(countDiffering(a, b, 2), 2);
  EXPECT_EQ(countDiffering(tensor(f16, {0.0}).encode(), tensor(f16, {-0.0}).encode(), 2), 1);
  EXPECT_EQ(countDiffering(a, a, 2), 0);
}

} // namespace
} // namespace tenon::tools
