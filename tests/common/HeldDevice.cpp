// Linked into tests of GPUs: holds the device's primary context from the first test to the last.
// Making one takes longer than most tests, and processes wait for each other while they do.
#include <gtest/gtest.h>

#include <optional>

#include "runtime/cuda/internal/Device.h"

namespace tenon::tests {
namespace {

class HeldDevice : public testing::Environment {
public:
  void SetUp() override {
    absl::StatusOr<const runtime::internal::Driver*> driver = runtime::internal::Driver::get();
    if (!driver.ok()) // the tests say so
      return;
    absl::StatusOr<runtime::internal::Device> opened = runtime::internal::Device::open(**driver, 0);
    if (opened.ok())
      device = *std::move(opened);
  }

  void TearDown() override { device.reset(); }

private:
  std::optional<runtime::internal::Device> device;
};

[[maybe_unused]] testing::Environment* const held =
    testing::AddGlobalTestEnvironment(new HeldDevice);

} // namespace
} // namespace tenon::tests
