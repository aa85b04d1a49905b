// A CUDA device for a test, or a skip.
#pragma once

#include <gtest/gtest.h>

#include <gpusync/gpusync.cuh>

#include <optional>

namespace gpusync::test {

class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      (void)cudaGetLastError();
      GTEST_SKIP() << "there is no CUDA device";
    }
    device_.emplace(0);
  }
  void TearDown() override {
    if (device_) EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
  }
  const cuda_device& device() const { return *device_; }
  uint32_t sms() const { return static_cast<uint32_t>(device_->sm_count()); }

  /// Words of device memory, zeroed.
  cuda_buffer words(size_t count) const { return cuda_buffer(device(), count * sizeof(uint32_t)); }
  static uint32_t* address(const cuda_buffer& buffer) { return static_cast<uint32_t*>(buffer.address()); }
  static std::vector<uint32_t> contents(const cuda_buffer& buffer) {
    std::vector<uint32_t> values(buffer.bytes() / sizeof(uint32_t));
    check_cuda(cudaMemcpy(values.data(), buffer.address(), buffer.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  std::optional<cuda_device> device_;
};

}  // namespace gpusync::test
