// Work of the host that is dealt out to its processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace gpusync::tool {

/// Calls `body(first, end)` for pieces of at most `grain` of 0 to `count`, in `threads` threads, the caller's included;
/// 0: as many as the machine runs at once. Pieces are taken in order, by whoever is free. Where the system starts fewer
/// threads, the others do the work. What a call throws first is thrown when all threads have ended; no piece is taken
/// from then on.
template <class Body>
void in_parallel(size_t count, size_t grain, const Body& body, unsigned threads = 0) {
  if (threads == 0) threads = std::max(std::thread::hardware_concurrency(), 1u);
  const size_t pieces = (count + grain - 1) / grain;
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto work = [&] {
    for (size_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
      try {
        body(piece * grain, std::min(count, (piece + 1) * grain));
      } catch (...) {
        next.store(pieces, std::memory_order_relaxed);
        const std::lock_guard<std::mutex> lock(mutex);
        if (!thrown) thrown = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (size_t i = 1; i < std::min<size_t>(threads, pieces); ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads: those that run are enough
    }
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace gpusync::tool
