#include "devices/nvidia_smi.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gpusync::tool {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

/// A program of that name in a folder of its own, before all others.
class NvidiaSmi : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gpusync-smi-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_ = std::getenv("PATH");
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  /// What it answers to queries of clocks, of settings and of processes; nothing: it fails.
  void answers(const std::string& clocks, const std::string& settings, const std::string& processes) {
    const auto answer = [](const std::string& text) { return text.empty() ? "exit 6" : "echo '" + text + "'"; };
    std::ofstream file(folder_ / "nvidia-smi");
    file << "#!/bin/sh\n[ \"$1\" = --id=GPU-12ab ] || exit 5\ncase \"$2\" in\n*clocks.sm*) " << answer(clocks)
         << ";;\n*mig.mode*) " << answer(settings) << ";;\n*compute-apps*) " << answer(processes) << ";;\nesac\n";
    file.close();
    fs::permissions(folder_ / "nvidia-smi", fs::perms::owner_all);
  }

 private:
  fs::path folder_;
  std::string path_;
};

TEST_F(NvidiaSmi, TellsClocksProcessesAndWhatHoldsTheGpuBack) {
  answers("1980, 3201, 61", "0x0000000000000044, Enabled, Exclusive_Process, 3", "77, python3");
  const device_state state = nvidia_smi_state("GPU-12ab");
  EXPECT_EQ(state.sm_clock_mhz, 1980);
  EXPECT_EQ(state.memory_clock_mhz, 3201);
  EXPECT_EQ(state.temperature_celsius, 61);
  EXPECT_EQ(state.slowed_by, (words{"its power limit", "its temperature, by the hardware"}));
  EXPECT_TRUE(state.clock_set_by.empty());
  EXPECT_TRUE(state.is_partitioned);
  EXPECT_EQ(state.compute_mode, "Exclusive_Process");
  EXPECT_EQ(state.uncorrected_errors, 3);
  EXPECT_TRUE(state.other_processes_known);
  EXPECT_EQ(state.other_processes, words{"77, python3"});
}

TEST_F(NvidiaSmi, OfAnIdleGpuThereIsNothingToSay) {
  answers("345, 2619, 30", "0x0000000000000001, [N/A], Default, [N/A]", "");
  const device_state state = nvidia_smi_state("GPU-12ab");
  EXPECT_TRUE(state.slowed_by.empty());
  EXPECT_TRUE(state.clock_set_by.empty());
  EXPECT_FALSE(state.is_partitioned);
  EXPECT_EQ(state.uncorrected_errors, 0);
  EXPECT_TRUE(state.other_processes.empty());
}

TEST_F(NvidiaSmi, AnOlderProgramThatKnowsFewerFieldsTellsTheOthers) {
  answers("1980, 3201, 61", "", std::to_string(getpid()) + ", this program");
  const device_state state = nvidia_smi_state("GPU-12ab");
  EXPECT_EQ(state.sm_clock_mhz, 1980);
  EXPECT_TRUE(state.compute_mode.empty());
  EXPECT_TRUE(state.slowed_by.empty());
  EXPECT_TRUE(state.other_processes.empty());
}

TEST_F(NvidiaSmi, WithoutAnAnswerNothingIsKnown) {
  answers("", "0x4, Enabled, Default, 1", "77, python3");
  EXPECT_FALSE(nvidia_smi_state("GPU-12ab").other_processes_known);
  EXPECT_FALSE(nvidia_smi_state("GPU-ffff").other_processes_known) << "another GPU";
  EXPECT_FALSE(nvidia_smi_state("").other_processes_known);
  EXPECT_FALSE(nvidia_smi_state("GPU-12ab; touch /").other_processes_known) << "no part of a command line";
}

TEST(ClockReasons, EachBitHasItsWords) {
  for (uint64_t bit = 1; bit != 0; bit <<= 1) {
    device_state state;
    add_clock_reasons(bit, state);
    const bool slows = (bit & 0xec) != 0, set = (bit & 0x112) != 0;
    EXPECT_EQ(state.slowed_by.size(), slows ? 1u : 0u) << bit;
    EXPECT_EQ(state.clock_set_by.size(), set ? 1u : 0u) << bit;
  }
}

}  // namespace
}  // namespace gpusync::tool
