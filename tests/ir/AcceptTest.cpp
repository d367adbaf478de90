// Guesses of a sequence's next tokens, and which of them are right.

#include <limits>

#include "absl/strings/str_format.h"
#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using Values = std::vector<double>;

struct Call {
  Values chosen, ids, positions, drafts;
};

class AcceptTest : public IrTest {
protected:
  /// What is accepted, then the ids and the positions of the next call.
  std::vector<Values> accept(const Call& call) {
    std::string rows = absl::StrFormat("tensor<%uxi32>", call.ids.size());
    std::string next = call.drafts.empty() ? "tensor<1xi32>" : "tensor<2xi32>";
    std::vector<ReferenceTensor> inputs = {tensor(rows, call.chosen), tensor(rows, call.ids),
                                           tensor(rows, call.positions)};
    if (!call.drafts.empty())
      inputs.push_back(tensor(rows, call.drafts));
    return run(absl::StrFormat(
                   "func.func @f(%%c: %1$s, %%i: %1$s, %%p: %1$s%3$s) -> (%1$s, %2$s, %2$s) {\n"
                   "%%r:3 = tenon.accept %%c, %%i, %%p %4$s : (%1$s, %1$s, %1$s%5$s) -> "
                   "(%1$s, %2$s, %2$s)\nreturn %%r#0, %%r#1, %%r#2 : %1$s, %2$s, %2$s }",
                   rows, next, call.drafts.empty() ? "" : ", %d: " + rows,
                   call.drafts.empty() ? "" : "drafts %d", call.drafts.empty() ? "" : ", " + rows),
               inputs);
  }
};

TEST_F(AcceptTest, GuessesUpToTheFirstThatIsWrong) {
  EXPECT_EQ(accept({{7}, {3}, {40}, {}}), (std::vector<Values>{{7}, {7}, {41}}));
  EXPECT_EQ(accept({{5, 9}, {2, 5}, {11, 12}, {}}), (std::vector<Values>{{5, 9}, {9}, {13}}));
  EXPECT_EQ(accept({{5, 9}, {2, 6}, {11, 12}, {}}), (std::vector<Values>{{5, -2}, {5}, {12}}));
  // A guess behind a wrong one counts as little, even if it is what would be chosen there.
  EXPECT_EQ(accept({{5, 9, 4, 8}, {2, 6, 9, 4}, {0, 1, 2, 3}, {}}),
            (std::vector<Values>{{5, -2, -2, -2}, {5}, {1}}));
}

TEST_F(AcceptTest, DraftsGoOnBehindTheLastOne) {
  EXPECT_EQ(accept({{5, 9}, {2, 5}, {11, 12}, {70, 71}}),
            (std::vector<Values>{{5, 9}, {9, 71}, {13, 14}}));
  EXPECT_EQ(accept({{5, 9}, {2, 6}, {11, 12}, {70, 71}}),
            (std::vector<Values>{{5, -2}, {5, 70}, {12, 13}}));
}

TEST_F(AcceptTest, RowsWithoutATokenEndThem) {
  EXPECT_EQ(accept({{5, 9}, {2, 5}, {-1, 0}, {70, 71}}),
            (std::vector<Values>{{-2, -2}, {-1, -1}, {-1, -1}}));
  EXPECT_EQ(accept({{5, 0}, {2, 5}, {3, -1}, {}}), (std::vector<Values>{{5, -2}, {5}, {4}}));
  EXPECT_EQ(accept({{5, 9}, {2, 5}, {3, 5}, {}}), (std::vector<Values>{{5, -2}, {5}, {4}}));
}

TEST_F(AcceptTest, NothingIsChosenOfNan) {
  EXPECT_EQ(accept({{5, -1}, {2, 5}, {8, 9}, {}}), (std::vector<Values>{{5, -1}, {-1}, {10}}));
}

TEST_F(AcceptTest, PositionsThatI32DoesNotHold) {
  const double last = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(accept({{5}, {2}, {last}, {70}}), (std::vector<Values>{{5}, {5, 70}, {-1, -1}}));
  EXPECT_EQ(accept({{5}, {2}, {last - 1}, {70}}), (std::vector<Values>{{5}, {5, 70}, {last, -1}}));
}

} // namespace
} // namespace tenon::tests
