#include "runtime/cuda/internal/RandomFill.h"

#include <vector>

#include "runtime/program/RandomValues.h"
#include "tests/runtime/cuda/GpuTest.h"

namespace tenon::runtime::internal {
namespace {

class RandomFillGpuTest : public test::GpuTest {};

/// Every bit as on the host; nothing is written after the last value.
TEST_F(RandomFillGpuTest, MakesTheValuesOfTheHost) {
  const Driver& driver = **Driver::get();
  Device device = *Device::open(driver, 0);
  absl::StatusOr<RandomFill> fill = RandomFill::create(device);
  ASSERT_EQ(fill.status(), absl::OkStatus());
  Stream stream = *device.createStream();
  for (const char* encoding :
       {"f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl", "q2_k", "q3_k",
        "q4_k", "q5_k", "q6_k", "mxfp4", "nvfp4", "nvfp4_f32", "int4_g128_f16_zero"})
    for (uint64_t count : {1u, 255u, 256u, 1'000'003u}) {
      RandomRange range{count * randomUnitBytes(encoding), 0xfedcba9876543210 + count, 0.125f,
                        0.75f};
      std::vector<std::byte> expected(range.bytes), found(range.bytes + 16);
      fillRandomValues(range, encoding, expected);
      expected.resize(range.bytes + 16, std::byte{0x5a});
      DeviceMemory memory = *device.allocate(found.size(), "a test");
      driver.memsetD8Async(memory.get(), 0x5a, found.size(), stream.get());
      ASSERT_EQ(fill->enqueue(range, encoding, memory.get(), stream.get()), absl::OkStatus());
      driver.memcpyDtoHAsync(found.data(), memory.get(), found.size(), stream.get());
      ASSERT_EQ(driver.streamSynchronize(stream.get()), CUDA_SUCCESS);
      EXPECT_TRUE(found == expected) << count << " values of " << encoding;
    }
}

} // namespace
} // namespace tenon::runtime::internal
