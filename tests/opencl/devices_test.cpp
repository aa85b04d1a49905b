// OpenCL devices as the tool knows them.
#include <gtest/gtest.h>

#include <gpusync/opencl/device.hpp>
#include "devices/device.hpp"

namespace gpusync::tool {

namespace {

TEST(opencl_devices, are_all_listed_in_order_with_their_facts) {
  const auto expected = opencl::all_devices();
  size_t found = 0;
  for (const device_description& device : all_devices()) {
    if (device.kind != device_kind::opencl) continue;
    EXPECT_EQ(device.id, "opencl:" + std::to_string(found));
    EXPECT_EQ(device.index, static_cast<int>(found));
    ASSERT_LT(found, expected.size());
    EXPECT_EQ(device.name, opencl::name_of(expected[found]));
    EXPECT_GT(device.compute_units, 0);
    EXPECT_EQ(device.runtime.rfind("OpenCL ", 0), 0u) << device.runtime;
    EXPECT_FALSE(device.driver.empty());
    EXPECT_FALSE(device.facts.empty());
    ++found;
  }
  EXPECT_EQ(found, expected.size());
  if (expected.empty()) GTEST_SKIP() << "there is no OpenCL device here";
}

}  // namespace

}  // namespace gpusync::tool
