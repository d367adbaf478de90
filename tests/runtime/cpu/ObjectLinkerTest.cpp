#include "runtime/cpu/ObjectLinker.h"

#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cpu/TestObjects.h"

namespace tenon::runtime {
namespace {

using test::testObject;
using testing::HasSubstr;
using KernelFunction = void (*)(void* const* buffers, int64_t firstTile, int64_t endTile);

class ObjectLinkerTest : public testing::Test {
protected:
  std::unique_ptr<ObjectLinker> linker = *ObjectLinker::create();

  std::string refusal(const std::vector<std::byte>& object) {
    absl::Status status = linker->link(object).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }
};

TEST_F(ObjectLinkerTest, LinksCodeConstantsAndWritableData) {
  absl::StatusOr<size_t> object = linker->link(testObject("kernels"));
  ASSERT_EQ(object.status(), absl::OkStatus());
  auto addScaled = reinterpret_cast<KernelFunction>(*linker->lookup(*object, "addScaled"));
  float x[4] = {1, 2, 3, 4}, a[4] = {1, 1, 1, 2}, y[4] = {};
  void* buffers[] = {x, a, y};
  addScaled(buffers, 1, 4);
  EXPECT_THAT(y, testing::ElementsAre(0, 12, 103, 2004));

  auto countCalls = reinterpret_cast<KernelFunction>(*linker->lookup(*object, "countCalls"));
  int64_t count = 0;
  void* countBuffer[] = {&count};
  countCalls(countBuffer, 0, 1);
  countCalls(countBuffer, 0, 1);
  EXPECT_EQ(count, 2);
}

TEST_F(ObjectLinkerTest, KeepsObjectsApart) {
  size_t first = *linker->link(testObject("kernels"));
  size_t second = *linker->link(testObject("kernels"));
  EXPECT_NE(*linker->lookup(first, "countCalls"), *linker->lookup(second, "countCalls"));
}

TEST_F(ObjectLinkerTest, NoPageIsWritableAndExecutable) {
  size_t object = *linker->link(testObject("kernels"));
  auto code = reinterpret_cast<uintptr_t>(*linker->lookup(object, "addScaled"));
  std::ifstream maps("/proc/self/maps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0, end = 0;
    char dash = 0;
    std::string protection;
    std::istringstream(line) >> std::hex >> first >> dash >> end >> protection;
    EXPECT_FALSE(protection[1] == 'w' && protection[2] == 'x') << line;
    if (first <= code && code < end) {
      found = true;
      EXPECT_EQ(protection.substr(0, 3), "r-x");
    }
  }
  EXPECT_TRUE(found);
}

TEST_F(ObjectLinkerTest, RefusesUnknownExternalSymbols) {
  EXPECT_THAT(refusal(testObject("forbidden")),
              HasSubstr("it uses symbols that kernels may not call: open, system"));
}

TEST_F(ObjectLinkerTest, RefusesWhatIsNoObject) {
  EXPECT_THAT(refusal({}), HasSubstr("expects an ELF object, but "));
  EXPECT_THAT(refusal(std::vector<std::byte>(1000, std::byte{0x7f})),
              HasSubstr("expects an ELF object, but "));
  std::vector<std::byte> object = testObject("kernels");
  object.resize(object.size() / 2);
  EXPECT_THAT(refusal(object), HasSubstr("expects an ELF object, but "));
}

TEST_F(ObjectLinkerTest, RefusesAnotherMachine) {
  std::vector<std::byte> object = testObject("plain");
  object[18] = std::byte{243}; // e_machine: RISC-V
  EXPECT_THAT(refusal(object), testing::AllOf(HasSubstr("expects an object for "),
                                              HasSubstr("but found one for riscv64")));
}

TEST_F(ObjectLinkerTest, FindsOnlyFunctions) {
  size_t object = *linker->link(testObject("kernels"));
  for (const char* name : {"missing", "notCode", "expf", ""}) {
    absl::Status status = linker->lookup(object, name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(std::string(status.message()),
              "expects a function named \"" + std::string(name) + "\"");
  }
}

TEST_F(ObjectLinkerTest, GoesOnAfterARefusal) {
  EXPECT_FALSE(linker->link(testObject("forbidden")).ok());
  absl::StatusOr<size_t> object = linker->link(testObject("kernels"));
  ASSERT_EQ(object.status(), absl::OkStatus());
  EXPECT_TRUE(linker->lookup(*object, "exponential").ok());
}

} // namespace
} // namespace tenon::runtime
