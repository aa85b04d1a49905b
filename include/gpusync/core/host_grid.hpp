// The grid that a kernel sees when its blocks are host threads.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include <gpusync/core/concepts.hpp>
#include <gpusync/core/error.hpp>
#include <gpusync/core/host_memory.hpp>

namespace gpusync {

namespace host_detail {

/// Thrown through a kernel to unwind it after another block of its launch has thrown.
struct launch_stopped {};

/// State that all threads of one launch share.
struct launch_state {
  std::atomic<bool> stopped{false};
  bool oversubscribed = false;  ///< more threads than cores: give way at every poll

  void give_way(uint32_t& polls) const {
    if (stopped.load(std::memory_order_relaxed)) throw launch_stopped{};
    if (oversubscribed || ++polls % 64 == 0) std::this_thread::yield();
  }
};

/// The barrier of one block's threads, with the count that __syncthreads_count() gives, and words that they share.
/// Sense-reversing.
class block_barrier {
 public:
  explicit block_barrier(uint32_t threads) : threads_(threads) {}

  /// In how many threads `value` is true.
  uint32_t arrive_and_wait(bool value, const launch_state& launch) {
    return threads_ == 1 ? (value ? 1 : 0) : meet(value, launch);
  }

  uint32_t& shared(uint32_t index) { return shared_[index]; }

 private:
  /// Not inline: it takes far longer than a call, and stands wherever a kernel meets.
  [[gnu::noinline]] uint32_t meet(bool value, const launch_state& launch) {
    const uint32_t generation = generation_.load(std::memory_order_relaxed);
    std::atomic<uint32_t>& count = count_[generation % 2];
    if (value) count.fetch_add(1, std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads_ - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      count_[(generation + 1) % 2].store(0, std::memory_order_relaxed);
      generation_.store(generation + 1, std::memory_order_release);
    } else {
      uint32_t polls = 0;
      while (generation_.load(std::memory_order_acquire) == generation) launch.give_way(polls);
    }
    return count.load(std::memory_order_relaxed);
  }

  const uint32_t threads_;
  std::atomic<uint32_t> arrived_{0};
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint32_t> count_[2] = {0, 0};
  uint32_t shared_[9] = {};
};

/// Where the calling thread stands.
struct place {
  uint32_t blocks;
  uint32_t block;
  uint32_t threads;
  uint32_t thread;
  block_barrier* barrier;
  const launch_state* launch;
  uint32_t polls = 0;
};

inline thread_local place* this_place = nullptr;

}  // namespace host_detail

namespace detail {

/// For a Grid whose threads execute each on its own: the threads of the calling one's block, each a member as the
/// blocks of a grid are.
template <class Grid>
class threads_of_block {
 public:
  using memory = typename Grid::memory;
  static constexpr uint32_t polls_per_look = Grid::polls_per_look;

  uint32_t blocks() const { return Grid::current().threads(); }
  uint32_t block() const { return Grid::current().thread(); }
  uint32_t threads() const { return 1; }
  uint32_t thread() const { return 0; }
  void sync_block() const {}
  uint64_t now() const { return 0; }
  void pause() const { Grid::current().pause(); }
};

}  // namespace detail

/// The host's counterpart of cuda_grid: blocks of threads, each a thread of the operating system, started by
/// gpusync::launch(host_device, ...). Valid in those threads only. Fulfils @ref Grid.
class host_grid {
 public:
  using memory = host_memory;
  static constexpr bool has_named_barriers = false;
  using warps_of_block = detail::threads_of_block<host_grid>;
  /// Reading the clock is cheap here, and a poll may give the processor away for milliseconds.
  static constexpr uint32_t polls_per_look = 1;
  /// Threads that execute together: here, each is on its own.
  static constexpr uint32_t warp_size = 1;
  static constexpr bool whole_block = true;
  static constexpr bool may_lose_phases = true;
  static constexpr bool handle_per_thread = true;

  /// The grid of the calling thread. Precondition: called within a kernel that gpusync::launch started.
  static host_grid current() { return host_grid(host_detail::this_place); }

  uint32_t blocks() const { return place_->blocks; }
  uint32_t block() const { return place_->block; }
  uint32_t threads() const { return place_->threads; }
  uint32_t thread() const { return place_->thread; }

  void sync_block() const { (void)sync_block_or(false); }
  bool sync_block_or(bool value) const { return sync_block_count(value) != 0; }
  uint32_t sync_block_count(bool value) const { return place_->barrier->arrive_and_wait(value, *place_->launch); }

  /// See cuda_grid.
  uint32_t shared_words() const { return 0; }
  void share(uint32_t, uint32_t index, uint32_t value) const { place_->barrier->shared(index) = value; }
  uint32_t shared(uint32_t, uint32_t index) const { return place_->barrier->shared(index); }

  /// See cuda_grid: here a voting barrier does it, for which nothing need be prepared.
  uint32_t prepare_timeout_flag() const { return 1; }
  void separate_timeout_flags() const {}
  void raise_timeout_flag(uint32_t) const {}
  bool sync_block_any(bool value, uint32_t) const { return sync_block_or(value); }

  /// Stands for the number of the processor that runs this block.
  uint32_t sm_id() const { return place_->block; }
  uint32_t* opaque(uint32_t* pointer) const { return pointer; }
  uint32_t opaque(uint32_t value) const { return value; }
  /// For multiprocessors, whose polls cost others time; nothing here.
  void delay(uint32_t) const {}
  void delay_until(uint64_t) const {}
  uint64_t cycles() const { return 0; }

  /// For a call that breaks a barrier's contract: the launch throws.
  [[noreturn]] void fail(timeout_report*, misuse reason, uint32_t detail) const {
    detail::throw_misuse(reason, block(), detail);
  }

  template <uint32_t Count>
  uint32_t pick(const uint32_t (&values)[Count], uint32_t index) const {
    return values[index];
  }

  /// Nanoseconds of the steady clock.
  uint64_t now() const {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  }

  /// Between two polls: lets other threads run, and unwinds the kernel if another block of the launch has thrown.
  void pause() const { place_->launch->give_way(place_->polls); }

 private:
  explicit host_grid(host_detail::place* place) : place_(place) {}
  host_detail::place* place_;
};

static_assert(is_memory<host_memory> && is_grid<host_grid>, "see core/concepts.hpp");

}  // namespace gpusync
