#ifndef TENON_TESTS_RUNTIME_CPU_TESTOBJECTS_H
#define TENON_TESTS_RUNTIME_CPU_TESTOBJECTS_H

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::runtime::test {

/// The object that the C compiler made of `name`.c in this folder.
inline std::vector<std::byte> testObject(const std::string& name) {
  std::ifstream stream(std::string(TENON_TEST_OBJECTS) + "/" + name + ".o", std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_FALSE(bytes.empty()) << name;
  auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

} // namespace tenon::runtime::test

#endif // TENON_TESTS_RUNTIME_CPU_TESTOBJECTS_H
