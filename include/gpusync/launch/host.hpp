// Checked launches on host threads.
#pragma once

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include <gpusync/core/host_grid.hpp>
#include <gpusync/launch/arguments.hpp>

namespace gpusync {

/// The processor that this program runs on, as a device: a block is one or more threads of the operating system, and
/// all of them are scheduled independently, so any number that can be started is co-resident.
class host_device {
 public:
  /// Its name in results.
  std::string name() const { return "host"; }

  /// Threads that really run at once.
  uint32_t cores() const { return std::max(1u, std::thread::hardware_concurrency()); }

  /// The most threads that the system lets this process have, with its cause.
  struct thread_limit {
    uint64_t threads;   ///< at most
    std::string cause;  ///< what sets the limit: "ulimit -u"
  };
  /// The limit of this process, now.
  thread_limit max_threads() const {
    thread_limit least{UINT64_MAX, "the system"};
    const auto consider = [&least](uint64_t threads, const char* cause) {
      if (threads < least.threads) least = {threads, cause};
    };
    rlimit processes{};
    if (getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY) {
      consider(processes.rlim_cur, "ulimit -u");
    }
    const auto read = [](const char* path) {
      std::ifstream file(path);
      uint64_t value = 0;
      return file >> value ? value : UINT64_MAX;
    };
    consider(read("/proc/sys/kernel/threads-max"), "kernel.threads-max");
    consider(read("/sys/fs/cgroup/pids.max"), "the control group's pids.max");
    const uint64_t maps = read("/proc/sys/vm/max_map_count");
    if (maps != UINT64_MAX) consider(maps / 2, "vm.max_map_count");  // a stack and its guard page each
    return least;
  }
};

namespace host_detail {

/// What every thread of a launch does: one type for all kernels, or each would compile the launch anew.
struct thread_body {
  void (*call)(const void* context);
  const void* context;
};

/// Starts one thread for each thread of each block and waits for them all.
class crew {
 public:
  crew(const launch_shape& shape, uint32_t cores)
      : blocks_(static_cast<uint32_t>(shape.blocks.count())), threads_(static_cast<uint32_t>(shape.threads.count())) {
    launch_.oversubscribed = uint64_t{blocks_} * threads_ > cores;
    for (uint32_t block = 0; block < blocks_; ++block) barriers_.push_back(std::make_unique<block_barrier>(threads_));
  }

  /// Runs `body` in every thread; throws what the first of them threw, once all have ended.
  void run(const thread_body& body) {
    const uint64_t count = uint64_t{blocks_} * threads_;
    std::vector<std::thread> started;
    started.reserve(count);
    try {
      for (uint64_t i = 0; i < count; ++i) started.emplace_back([this, i, &body] { work(i, body); });
      began_ = true;
      open(gate::go);
    } catch (const std::system_error& failure) {
      const uint64_t reached = started.size();
      cancel(started);
      throw not_co_resident(std::to_string(blocks_) + " blocks of " + std::to_string(threads_) +
                                " threads cannot all run at once on the host: the system gave only " +
                                std::to_string(reached) + " threads (" + failure.what() + "). Use fewer blocks.",
                            blocks_, reached / threads_);
    } catch (...) {
      cancel(started);
      throw;
    }
    for (std::thread& thread : started) thread.join();
    if (thrown_) std::rethrow_exception(thrown_);
  }

  /// Whether the body has been started anywhere.
  bool began() const { return began_; }

 private:
  enum class gate : int { closed, go, cancelled };

  void cancel(std::vector<std::thread>& started) {
    open(gate::cancelled);
    for (std::thread& thread : started) thread.join();
  }

  void open(gate state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    gate_ = state;
    opened_.notify_all();
  }
  gate wait_at_gate() {
    std::unique_lock<std::mutex> lock(mutex_);
    opened_.wait(lock, [this] { return gate_ != gate::closed; });
    return gate_;
  }

  void work(uint64_t index, const thread_body& body) {
    if (wait_at_gate() == gate::cancelled) return;
    const auto block = static_cast<uint32_t>(index / threads_);
    place here{blocks_, block, threads_, static_cast<uint32_t>(index % threads_), barriers_[block].get(), &launch_};
    this_place = &here;
    try {
      body.call(body.context);
    } catch (const launch_stopped&) {  // another thread threw first
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      launch_.stopped.store(true, std::memory_order_relaxed);
    }
    this_place = nullptr;
  }

  uint32_t blocks_;
  uint32_t threads_;
  launch_state launch_;
  std::vector<std::unique_ptr<block_barrier>> barriers_;
  bool began_ = false;
  std::mutex mutex_;  // of the rest
  gate gate_ = gate::closed;
  std::condition_variable opened_;
  std::exception_ptr thrown_;
};

/// The storages of a launch's handles, from before it starts until it has ended.
class storages_in_use {
 public:
  /// Throws what the storages throw; then none is in use by it.
  storages_in_use(const detail::handle_list& handles, const detail::launch_request& request) : handles_(handles) {
    try {
      const detail::storage_control::hold storages;
      handles.check(storages, request);
      handles.for_each(storages, [&](detail::storage_control& storage, detail::handle_header& handle) {
        storage.complete(handle, request);
        storage.prepare(handle, request);
        ++prepared_;
      });
    } catch (...) {
      release();
      throw;
    }
  }
  ~storages_in_use() { release(); }
  storages_in_use(const storages_in_use&) = delete;
  storages_in_use& operator=(const storages_in_use&) = delete;

  void abandon() const {
    handles_.for_first(prepared_, [](detail::storage_control& storage) { storage.abandon(); });
  }

 private:
  void release() const {
    handles_.for_first(prepared_, [](detail::storage_control& storage) { storage.release(); });
  }

  const detail::handle_list& handles_;
  uint32_t prepared_ = 0;
};

}  // namespace host_detail

/// Throws what launch() would throw for this shape before it starts anything: invalid_argument for an empty grid,
/// not_co_resident, with the limit and its cause, for more threads than the system lets this process have.
inline void require_co_resident(const host_device& device, const launch_shape& shape) {
  const uint64_t blocks = shape.blocks.count(), threads = shape.threads.count();
  if (blocks == 0 || threads == 0) {
    throw invalid_argument("A launch needs at least one block of one thread; it was given " + std::to_string(blocks) +
                           " blocks of " + std::to_string(threads) + " threads.");
  }
  const host_device::thread_limit most = device.max_threads();
  if (blocks > most.threads / threads) {
    throw not_co_resident(std::to_string(blocks) + " blocks of " + std::to_string(threads) +
                              " threads cannot all run at once on the host: at most " +
                              std::to_string(most.threads / threads) + " (limited by " + most.cause + " = " +
                              std::to_string(most.threads) + " threads). Use fewer blocks.",
                          blocks, most.threads / threads);
  }
}

namespace host_detail {

/// A launch of what has been checked at compile time; see gpusync::launch().
inline void launch(const host_device& device, const launch_shape& shape, const detail::handle_list& handles,
                   const thread_body& body) {
  const detail::launch_request request{shape.blocks.count(), shape.threads.count(),
                                       detail::launch_request::host_launch};
  storages_in_use in_use(handles, request);
  crew crew(shape, device.cores());
  try {
    crew.run(body);
  } catch (...) {
    if (crew.began()) in_use.abandon();
    throw;
  }
}

}  // namespace host_detail

/// Runs `kernel(arguments...)` in every thread of every block and returns when all have ended. Each thread gets its own
/// copy of the arguments, as a CUDA thread does. Dimensions are counted as one row.
///
/// A barrier is an argument of its own: a struct that holds one cannot be copied for each thread.
///
/// Throws not_co_resident if the system does not give that many threads, invalid_argument or broken_barrier as the CUDA
/// launch does, and whatever the first throwing thread threw; the other threads are unwound from their waits then,
/// and barriers among the arguments must be reset before their next launch.
template <class Kernel, class... Arguments>
void launch(const host_device& device, const launch_shape& shape, Kernel&& kernel, const Arguments&... arguments) {
  static_assert(!((std::is_array_v<Arguments> || std::is_function_v<Arguments>) || ...),
                "each thread gets a copy of an argument, and an array or a function cannot be copied: pass a pointer");
  static_assert(std::is_invocable_v<std::decay_t<Kernel>&, std::decay_t<Arguments>...>,
                "the kernel cannot be called with these arguments: another number of them, or one that is not of its "
                "parameter's type");
  require_co_resident(device, shape);
  detail::launch_arguments<Arguments...> given(arguments...);
  detail::handle_list handles;
  given.each([&handles](auto& argument) { detail::add_handle(handles, argument); });
  const auto body = [&] {
    auto copy = kernel;
    given.call(copy);
  };
  host_detail::launch(device, shape, handles,
                      {[](const void* context) { (*static_cast<decltype(&body)>(context))(); }, &body});
}

}  // namespace gpusync
