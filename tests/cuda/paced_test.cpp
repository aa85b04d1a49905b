// Paced workloads on a CUDA device: every variant of every text computes the same, in shapes of whole and of partial
// warps, and all variants that are compared leave a multiprocessor the same.
#include <gtest/gtest.h>

#include <iostream>

#include <gpusync/core/error.hpp>

#include "cuda/described_device.hpp"
#include "support/paced_problems.hpp"

namespace gpusync::tool {
namespace {

using PacedWorkloadsCuda = test::DescribedDevice;

struct one_text {
  const char* name;
  std::vector<paced_problem> problems;
};

const std::vector<one_text>& texts() {
  static const std::vector<one_text> all{
      {"memory-test", {problem_of(30, 516, 1, 2049), problem_of(3, 33, 1, 1), problem_of(7, 1024, 1, 1024)}},
      {"vector-add", {problem_of(30, 256, 100003, 1), problem_of(5, 33, 1, 1), problem_of(2, 1024, 2048 * 17, 1)}},
      {"scalar-product set", {problem_of(9, 256, 20, 5000, 20), problem_of(2, 96, 3, 1023), problem_of(1, 1024, 2, 1)}},
      {"scalar-product element",
       {problem_of(9, 256, 20, 50000, 20), problem_of(2, 96, 3, 4100), problem_of(3, 1000, 3, 20480)}},
      {"sparse-product warp", {problem_of(9, 256, 10001, 64, 20, 512), problem_of(1, 32, 1, 1)}},
      {"sparse-product thread", {problem_of(9, 256, 10001, 64, 20), problem_of(2, 33, 100, 7, 50)}},
      {"column-walk", {problem_of(5, 1024, 100, 33000), problem_of(1, 32, 33, 5), problem_of(2, 256, 64, 8192)}},
      {"transpose", {problem_of(40, 256, 1001, 100), problem_of(1, 32, 33, 1), problem_of(9, 1024, 512, 512)}}};
  return all;
}

TEST_F(PacedWorkloadsCuda, EveryVariantComputesTheSame) {
  for (const one_text& text : texts()) {
    const auto device = open_side<paced_device>(device_, text.name);
    for (const paced_problem& problem : text.problems) {
      const auto program = device->program(problem);
      for (const paced_variant& one : program->variants()) {
        if (program->resources(one).resident_blocks == 0) continue;
        EXPECT_GT(program->run(one), 0);
        EXPECT_GT(program->run(one), 0);
        const verification found = program->verify(one, false);
        EXPECT_GT(found.checked, 0u);
        EXPECT_EQ(found.wrong, 0u) << text.name << ' ' << one.name << " in blocks of " << problem.shape.threads;
      }
      for (const paced_variant& one : program->clocked()) {
        const paced_clocks clocks = program->run_clocked(one);
        EXPECT_EQ(program->verify(one, true).wrong, 0u) << text.name << ' ' << one.name;
        EXPECT_LE(clocks.lifetime, 1) << text.name << ' ' << one.name;
        EXPECT_TRUE(clocks.visits <= 0 || clocks.memory > 0) << text.name << ' ' << one.name;
      }
    }
  }
}

TEST_F(PacedWorkloadsCuda, VariantsThatAreComparedLeaveAMultiprocessorTheSame) {
  const std::vector<std::pair<const char*, paced_problem>> full{
      {"memory-test", problem_of(30, 512, 1, 1024)},
      {"vector-add", problem_of(256, 256, 1 << 20, 1)},
      {"scalar-product set", problem_of(128, 256, 128, 4096)},
      {"column-walk", problem_of(32, 1024, 1024, 1024)},
      {"transpose", problem_of(64, 256, 512, 64)},
      {"sparse-product thread", problem_of(64, 256, 4096, 64)}};
  for (const auto& [name, problem] : full) {
    const auto device = open_side<paced_device>(device_, name);
    const auto program = device->program(problem);
    const std::vector<paced_variant> all = program->variants();
    for (const paced_variant& one : all) {
      if (one.role == paced_role::rival) continue;
      const std::string why = why_not_comparable(program->resources(one), program->resources(all.front()));
      if (device_.name.find("H100") != std::string::npos || device_.name.find("H200") != std::string::npos) {
        EXPECT_EQ(why, "") << name << ' ' << one.name;
      } else if (!why.empty()) {
        std::cout << name << ' ' << one.name << ": " << why << '\n';
      }
    }
  }
}

TEST_F(PacedWorkloadsCuda, WhatDoesNotFitIsRefusedInWords) {
  const auto device = open_side<paced_device>(device_, "vector-add");
  EXPECT_THROW((void)device->program(problem_of(1, 32, uint64_t{1} << 40, 1)), invalid_argument);
  EXPECT_THROW((void)device->program(problem_of(1, 4096, 1, 1)), invalid_argument);
  EXPECT_THROW((void)open_side<paced_device>(device_, "column-walk")->program(problem_of(1, 48, 1, 1)),
               invalid_argument);
}

}  // namespace
}  // namespace gpusync::tool
