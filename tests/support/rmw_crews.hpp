// Participants of wait-free objects as threads, and what their answers must look like.
#pragma once

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "support/rmw_machines.hpp"

namespace gpusync::test {

/// Runs body(0) to body(count - 1), each in a thread of its own, and lets them go at the same time.
template <class Body>
void in_threads(uint32_t count, Body&& body) {
  std::atomic<uint32_t> missing{count};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      missing.fetch_sub(1);
      while (missing.load() != 0) std::this_thread::yield();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The answers of participants that all added 1 to a counter that began with 0: each number once and none missing, and
/// increasing for each participant.
inline void expect_a_chain(const std::vector<std::vector<uint32_t>>& answers) {
  size_t count = 0;
  for (const auto& of_one : answers) count += of_one.size();
  std::vector<bool> seen(count);
  for (const auto& of_one : answers) {
    for (size_t i = 0; i < of_one.size(); ++i) {
      ASSERT_LT(of_one[i], count);
      ASSERT_FALSE(seen[of_one[i]]) << "two calls got " << of_one[i];
      seen[of_one[i]] = true;
      ASSERT_TRUE(i == 0 || of_one[i - 1] < of_one[i]) << "a later call got an earlier answer";
    }
  }
}

/// Calls for tests of so many threads; fewer where a sanitizer or a single core makes them slow.
inline uint32_t scaled(uint32_t calls) {
#if defined(GPUSYNC_THREAD_SANITIZER) || defined(__SANITIZE_ADDRESS__)
  return calls / 10 + 1;
#else
  return calls;
#endif
}

}  // namespace gpusync::test
