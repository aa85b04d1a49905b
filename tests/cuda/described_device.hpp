// The first CUDA device as the tool describes it, for a test, or a skip.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "devices/device.hpp"

namespace gpusync::test {

class DescribedDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto& devices = tool::all_devices();
    const auto found = std::find_if(devices.begin(), devices.end(), [](const auto& d) { return d.id == "cuda:0"; });
    if (found == devices.end()) GTEST_SKIP() << "there is no CUDA device";
    device_ = *found;
  }
  tool::device_description device_;
};

}  // namespace gpusync::test
