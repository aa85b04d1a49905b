// What storages are made of when blocks are host threads. core/cuda_backend.hpp has the same for CUDA devices.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include <gpusync/core/storage_control.hpp>

namespace gpusync::detail {

/// The one place where memory of host threads lies.
struct on_host {};

/// Words that threads share, on lines of their own; zero when made. At a fixed address, also when it is moved.
template <class Word>
class host_words {
 public:
  host_words(on_host, size_t count)
      : count_(count), lines_(std::make_unique<line[]>((count + words_of_line - 1) / words_of_line)) {}

  Word* data() const { return lines_[0].words; }
  size_t bytes() const { return count_ * sizeof(Word); }

  /// All zero.
  void clear() { std::fill(data(), data() + count_, Word{0}); }
  /// The same for some of them, before a launch.
  void clear(size_t first, size_t count, const launch_request&) {
    std::fill(data() + first, data() + first + count, Word{0});
  }
  /// Sets the words from the `first` on.
  void write(const std::vector<Word>& from, size_t first = 0) { std::copy(from.begin(), from.end(), data() + first); }
  /// Sets a word that threads may be polling.
  void set_while_running(size_t at, Word value) { __atomic_store_n(data() + at, value, __ATOMIC_RELAXED); }
  /// A copy of all.
  std::vector<Word> read() const { return std::vector<Word>(data(), data() + count_); }

 private:
  static constexpr size_t line_bytes = line_words * sizeof(uint32_t);
  static constexpr size_t words_of_line = line_bytes / sizeof(Word);
  struct alignas(line_bytes) line {
    Word words[words_of_line] = {};
  };

  size_t count_;
  std::unique_ptr<line[]> lines_;
};

/// A report, which the host can read while a launch runs.
class host_report {
 public:
  host_report(on_host, uint32_t capacity) : memory_(timeout_report::bytes(capacity) / sizeof(uint32_t)) {}
  timeout_report* get() { return reinterpret_cast<timeout_report*>(memory_.data()); }

 private:
  std::vector<uint32_t> memory_;
};

/// Sees to it that launches on a storage follow each other.
class host_order {
 public:
  explicit host_order(on_host) {}
  /// Throws storage_in_use if a launch on another stream came before.
  void check(const launch_request&) {}
  /// The launch that was checked takes place. Throws storage_in_use if another one has not ended.
  void follow() {
    if (running_.exchange(true)) {
      throw storage_in_use(
          "This storage is in use by a launch that has not ended: the two would count in the same words. Give each "
          "launch a storage of its own, or start one after the other.");
    }
  }
  /// It does not.
  void withdraw() { running_ = false; }
  /// It has ended.
  void release() { running_ = false; }
  /// The next launch may come on any stream.
  void forget() {}

 private:
  std::atomic<bool> running_{false};
};

/// Where memory comes from, for the storages.
struct host_backend {
  using place = on_host;
  template <class Word>
  using words = host_words<Word>;
  using report = host_report;
  using order = host_order;
  /// Whether the host may add to words while a launch runs.
  static constexpr bool host_may_add = true;

  /// As in a launch_request.
  static int device(place) { return launch_request::host_launch; }
};

}  // namespace gpusync::detail
