// Barriers by one address: gpusync/device.cuh and device_functions.cuh by nvcc and, the same text, by NVRTC; storages
// by address, and the C interface.
#include "cuda/addressed_kernels.cuh"
#include "cuda/device_fixture.cuh"
#include "pacing/run_time_compiler.hpp"

#include <gpusync/c.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include <gpusync/launch/cuda_function.cuh>

namespace gpusync {
namespace {

using namespace test;

constexpr uint32_t threads = 256;

class DeviceHeader : public CudaTest, public testing::WithParamInterface<const char*> {
 protected:
  /// The kernel of this name, as this program has it or as NVRTC makes it now.
  CUfunction function(const char* name) {
    if (std::strcmp(GetParam(), "nvcc") == 0) {
      const std::map<std::string, const void*> kernels{
          {"no_barrier", reinterpret_cast<const void*>(&no_barrier)},
          {"by_barrier", reinterpret_cast<const void*>(&by_barrier)},
          {"by_functions", reinterpret_cast<const void*>(&by_functions)},
          {"by_halves", reinterpret_cast<const void*>(&by_halves)},
          {"by_votes", reinterpret_cast<const void*>(&by_votes)},
          {"lose_a_block", reinterpret_cast<const void*>(&lose_a_block)},
          {"lose_a_block_by_functions", reinterpret_cast<const void*>(&lose_a_block_by_functions)},
          {"lose_a_block_behind_a_vote", reinterpret_cast<const void*>(&lose_a_block_behind_a_vote)}};
      cudaFunction_t found = nullptr;
      check_cuda(cudaGetFuncBySymbol(&found, kernels.at(name)), "cudaGetFuncBySymbol");
      return found;
    }
    static std::map<std::string, CUfunction> made_before;
    if (const auto found = made_before.find(name); found != made_before.end()) return found->second;
    std::ifstream file(GPUSYNC_ADDRESSED_KERNELS);
    std::ostringstream text;
    text << file.rdbuf();
    const cudaDeviceProp& properties = device().properties();
    const tool::compiled_kernel made = tool::run_time_compiler().compile({text.str(),
                                                                          "addressed_kernels.cuh",
                                                                          name,
                                                                          10 * properties.major + properties.minor,
                                                                          {},
                                                                          {GPUSYNC_INCLUDE_FOLDER}});
    check_cuda(cudaFree(nullptr), "cudaFree");
    CUmodule module = nullptr;
    CUfunction found = nullptr;
    detail::check_driver(
        detail::driver_function<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData")(&module, made.image.c_str()),
        "cuModuleLoadData");
    detail::check_driver(detail::driver_function<CUresult (*)(CUfunction*, CUmodule, const char*)>(
                             "cuModuleGetFunction")(&found, module, made.symbol.c_str()),
                         "cuModuleGetFunction");
    return made_before[name] = found;
  }

  /// How many words were wrong, of a kernel of addressed_kernels.cuh on a grid of so many blocks.
  uint32_t wrong_of(const char* kernel, addressed_barrier_storage& storage, uint32_t blocks, uint32_t phases) {
    const cuda_buffer halves = words(2 * blocks), wrong = words(1);
    uint64_t at = storage.address();
    uint32_t *data = address(halves), *count = address(wrong);
    launch_function(device(), nullptr, {blocks, threads}, function(kernel), {&at, &data, &count, &phases}, storage);
    synchronize(device());
    EXPECT_EQ(storage.report(), "");
    EXPECT_EQ(contents(halves)[(phases & 1) * blocks], phases * 31) << "the kernel ran to its end";
    return contents(wrong)[0];
  }
};

INSTANTIATE_TEST_SUITE_P(By, DeviceHeader, testing::Values("nvcc", "nvrtc"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(DeviceHeader, AMillionPhasesAreRightByTheBarrierAndByItsFunctions) {
  addressed_barrier_storage storage(device(), sms());
  EXPECT_GT(wrong_of("no_barrier", storage, sms(), 1000), 0u) << "without a barrier the check must fail";
  for (const char* kernel : {"by_barrier", "by_functions", "by_halves", "by_votes"}) {
    EXPECT_EQ(wrong_of(kernel, storage, sms(), 1'000'000), 0u) << kernel;
  }
}

TEST_P(DeviceHeader, GridsOfAllSizesShareOneStorageInTheCallersMemory) {
  const uint32_t most = 4 * sms();
  const cuda_buffer memory(device(), addressed_barrier_storage::bytes(most));
  addressed_barrier_storage storage(device(), most, memory.address(), memory.bytes());
  EXPECT_FALSE(storage.placed());
  EXPECT_EQ(storage.address(), reinterpret_cast<uint64_t>(memory.address()));
  for (const uint32_t blocks : {1u, 2u, 31u, sms(), 2 * sms(), most}) {
    for (const char* kernel : {"by_barrier", "by_functions", "by_votes"}) {
      EXPECT_EQ(wrong_of(kernel, storage, blocks, 20'000), 0u) << kernel << " of " << blocks;
    }
  }
}

/// What the C interface says when it fails.
std::string said(int code, int wanted) {
  EXPECT_EQ(code, wanted) << gpusync_last_error();
  return code == GPUSYNC_OK ? "" : gpusync_last_error();
}

using text = char[1024];

TEST_P(DeviceHeader, ADeadBlockIsNamedThroughTheCInterface) {
  for (const char* kernel : {"lose_a_block", "lose_a_block_by_functions", "lose_a_block_behind_a_vote"}) {
    gpusync_barrier* barrier = nullptr;
    uint64_t at = 0;
    ASSERT_EQ(gpusync_barrier_create(0, sms(), &barrier), GPUSYNC_OK) << gpusync_last_error();
    ASSERT_EQ(gpusync_barrier_address(barrier, &at), GPUSYNC_OK);
    const cuda_buffer counted = words(1);
    uint32_t* ended = address(counted);
    uint32_t dead = 7 % sms();
    uint64_t span = 20'000'000;
    void* arguments[] = {&at, &dead, &span, &ended};
    const CUfunction of = function(kernel);
    EXPECT_EQ(gpusync_launch(barrier, of, sms(), threads, 0, nullptr, arguments, 4), GPUSYNC_OK)
        << gpusync_last_error();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(contents(counted)[0], (sms() - 1) * threads) << "all others' waits timed out";
    uint32_t missing[4] = {};
    size_t count = 0;
    EXPECT_EQ(gpusync_barrier_missing(barrier, missing, 4, &count), GPUSYNC_OK);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(missing[0], dead);
    text words;
    EXPECT_EQ(gpusync_barrier_report(barrier, words, sizeof words), GPUSYNC_OK);
    EXPECT_NE(
        std::string(words).find("timed out in phase 1 of an earlier launch, missing block " + std::to_string(dead)),
        std::string::npos)
        << words;
    EXPECT_EQ(said(gpusync_check_launch(barrier, of, sms(), threads, 0, nullptr), GPUSYNC_BROKEN_BARRIER), words);
    EXPECT_EQ(gpusync_barrier_reset(barrier), GPUSYNC_OK) << gpusync_last_error();
    dead = sms();  // nobody
    EXPECT_EQ(gpusync_launch(barrier, of, sms(), threads, 0, nullptr, arguments, 4), GPUSYNC_OK)
        << gpusync_last_error();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(contents(counted)[0], (sms() - 1) * threads) << "none more";
    gpusync_barrier_destroy(barrier);
  }
}

TEST_P(DeviceHeader, ANegativeSpanIsOverAtOnce) {
  addressed_barrier_storage storage(device(), sms());
  const cuda_buffer counted = words(1);
  uint64_t at = storage.address(), span = static_cast<uint64_t>(-1);
  uint32_t dead = 0;
  uint32_t* ended = address(counted);
  launch_function(device(), nullptr, {sms(), threads}, function("lose_a_block_by_functions"),
                  {&at, &dead, &span, &ended}, storage);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(contents(counted)[0], (sms() - 1) * threads);
  EXPECT_EQ(storage.missing().size(), 1u);
}

TEST_P(DeviceHeader, WhatCannotRunIsRefusedWithTheNumbers) {
  gpusync_barrier* barrier = nullptr;
  ASSERT_EQ(gpusync_barrier_create(0, sms(), &barrier), GPUSYNC_OK) << gpusync_last_error();
  const CUfunction of = function("by_barrier");
  uint64_t most = 0;
  EXPECT_EQ(gpusync_resident_blocks(0, of, threads, 0, &most), GPUSYNC_OK) << gpusync_last_error();
  EXPECT_EQ(most, max_co_resident(device(), of, {1, threads}).blocks());
  EXPECT_GE(most, sms());
  const auto check = [&](uint64_t blocks, int wanted) {
    return said(gpusync_check_launch(barrier, of, blocks, threads, 0, nullptr), wanted);
  };
  EXPECT_NE(
      check(most + 1, GPUSYNC_NOT_CO_RESIDENT).find(std::to_string(most + 1) + " blocks of 256 threads cannot all run"),
      std::string::npos)
      << gpusync_last_error();
  EXPECT_NE(check(sms() + 1, GPUSYNC_INVALID_ARGUMENT)
                .find("The grid has " + std::to_string(sms() + 1) + " blocks, but the barrier's storage was made for " +
                      std::to_string(sms())),
            std::string::npos)
      << gpusync_last_error();
  EXPECT_NE(said(gpusync_check_launch(barrier, of, 1, 2048, 0, nullptr), GPUSYNC_INVALID_ARGUMENT).find("2048"),
            std::string::npos)
      << gpusync_last_error();
  EXPECT_EQ(check(sms(), GPUSYNC_OK), "");
  gpusync_barrier_destroy(barrier);
}

TEST_P(DeviceHeader, TheCallersMemoryMustBeLargeAlignedOfTheDeviceAndThere) {
  const uint64_t bytes = addressed_barrier_storage::bytes(sms());
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, bytes + 128), cudaSuccess);
  gpusync_barrier* barrier = nullptr;
  const auto make = [&](void* at, uint64_t size) { return gpusync_barrier_create_at(0, sms(), at, size, &barrier); };
  EXPECT_NE(
      said(make(memory, bytes - 1), GPUSYNC_INVALID_ARGUMENT).find(std::to_string(bytes) + " bytes; this buffer has "),
      std::string::npos);
  EXPECT_NE(said(make(static_cast<char*>(memory) + 4, bytes), GPUSYNC_INVALID_ARGUMENT).find("a multiple of 128 bytes"),
            std::string::npos);
  alignas(128) static unsigned char of_the_host[128];
  EXPECT_NE(said(make(of_the_host, bytes), GPUSYNC_INVALID_ARGUMENT).find("is no memory of a CUDA device"),
            std::string::npos);
  EXPECT_EQ(barrier, nullptr);
  ASSERT_EQ(make(memory, bytes), GPUSYNC_OK) << gpusync_last_error();
  text words;
  EXPECT_EQ(gpusync_barrier_describe(barrier, words, sizeof words), GPUSYNC_OK);
  EXPECT_NE(std::string(words).find(std::to_string(sms()) + " blocks on CUDA device 0 (" + device().name() + "), " +
                                    std::to_string(bytes) + " bytes at 0x"),
            std::string::npos)
      << words;
  const CUfunction of = function("by_barrier");
  EXPECT_EQ(said(gpusync_check_launch(barrier, of, sms(), threads, 0, nullptr), GPUSYNC_OK), "");
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_NE(said(gpusync_check_launch(barrier, of, sms(), threads, 0, nullptr), GPUSYNC_INVALID_ARGUMENT)
                .find("or it has been freed"),
            std::string::npos);
  EXPECT_NE(said(gpusync_barrier_reset(barrier), GPUSYNC_INVALID_ARGUMENT).find("or it has been freed"),
            std::string::npos);
  gpusync_barrier_destroy(barrier);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_P(DeviceHeader, ASecondStreamIsRefusedUntilItIsHandedOver) {
  addressed_barrier_storage storage(device(), sms());
  const CUfunction of = function("by_barrier");
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  check_launch_function(device(), nullptr, {sms(), threads}, of, storage);
  EXPECT_THROW(check_launch_function(device(), other, {sms(), threads}, of, storage), storage_in_use);
  storage.hand_over();
  EXPECT_NO_THROW(check_launch_function(device(), other, {sms(), threads}, of, storage));
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

}  // namespace
}  // namespace gpusync
