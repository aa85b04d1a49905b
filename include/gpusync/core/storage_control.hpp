// What a launch asks the storages behind its kernel's arguments.
#pragma once

#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gpusync/core/error.hpp>
#include <gpusync/core/handle.hpp>
#include <gpusync/core/missing_block.hpp>

namespace gpusync::detail {

/// A launch, as storages see it.
struct launch_request {
  uint64_t blocks;
  uint64_t threads;        ///< of a block
  int device;              ///< the CUDA device's number; host_launch for host threads
  void* stream = nullptr;  ///< cudaStream_t
  bool captured = false;   ///< into a graph
  bool at_once = true;     ///< all its blocks run at the same time

  static constexpr int host_launch = -1;
};

/// A storage's side of its handles: knows what its memory can take. One for each storage, which owns it; found by the
/// number that its handles carry. Thread-safe as far as its storage is.
class storage_control {
 public:
  virtual ~storage_control() = default;
  storage_control(const storage_control&) = delete;
  storage_control& operator=(const storage_control&) = delete;

  uint64_t number() const { return number_; }

  /// Throws if this handle cannot take part in the launch: invalid_argument, broken_barrier or storage_in_use.
  virtual void check(const handle_header& handle, const launch_request& launch) = 0;
  /// Fills in what is known only now, in the copy of the handle that the kernel gets. `handle` is the copy's head.
  virtual void complete(handle_header&, const launch_request&) {}
  /// Queues what must be done to the storage's memory before the launch.
  virtual void prepare(const handle_header&, const launch_request&) {}
  /// The launch for which prepare() was called last could not be started. What that has queued stays queued.
  virtual void withdraw() {}
  /// The launch ended before all its blocks did.
  virtual void abandon() {}
  /// The launch has ended; called for each prepare() where the launch waits for its end.
  virtual void release() {}
  /// What the last launches have left behind, in words; empty if nothing.
  virtual std::string report() const { return {}; }
  /// The device that it is for.
  virtual int device() const = 0;

  /// As long as one of these lives, no storage is destroyed.
  class hold {
   public:
    hold() : lock_(everyone().mutex) {}
    /// The storage that made a handle. Throws invalid_argument if it has been destroyed.
    storage_control& of(const handle_header& handle) const {
      if (storage_control* const found = find(handle)) return *found;
      throw invalid_argument(
          "A barrier among the kernel's arguments belongs to a storage that has been destroyed. Keep the storage as "
          "long as its barriers are used.");
    }

    /// The same; null if it has been destroyed.
    storage_control* find(const handle_header& handle) const {
      const living& all = everyone();
      const auto found = all.storages.find(handle.owner);
      return found == all.storages.end() ? nullptr : found->second;
    }

   private:
    std::shared_lock<std::shared_mutex> lock_;
  };

  /// What the storages of a device have to report, one sentence after the other.
  static std::string reports_of(int device) {
    living& all = everyone();
    const std::shared_lock<std::shared_mutex> lock(all.mutex);
    std::string words;
    for (const auto& [number, storage] : all.storages) {
      if (storage->device() != device) continue;
      const std::string one = storage->report();
      if (!one.empty()) words += (words.empty() ? "" : " ") + one;
    }
    return words;
  }

 protected:
  storage_control() {
    living& all = everyone();
    const std::unique_lock<std::shared_mutex> lock(all.mutex);
    number_ = ++all.last;
  }
  /// From now on launches and reports_of() find it: the last thing that the constructor of the final class does.
  void enlist() {
    living& all = everyone();
    const std::unique_lock<std::shared_mutex> lock(all.mutex);
    all.storages.emplace(number_, this);
  }
  /// They find it no more, and none is at it: the first thing that the destructor of the final class does.
  void retire() {
    living& all = everyone();
    const std::unique_lock<std::shared_mutex> lock(all.mutex);
    all.storages.erase(number_);
  }

 private:
  struct living {
    std::shared_mutex mutex;
    std::unordered_map<uint64_t, storage_control*> storages;
    uint64_t last = 0;
  };
  /// One for a process, also where its parts are compiled with hidden symbols: numbers must not come twice.
  __attribute__((visibility("default"))) static living& everyone() {
    static living* const all = new living;  // outlives storages with static lifetime
    return *all;
  }

  uint64_t number_ = 0;
};

/// Throws invalid_argument unless a launch is on the device that a storage is for; `what` was made for it.
inline void require_device(int launched_on, int made_for, const char* what) {
  if (launched_on == made_for) return;
  const auto name = [](int device) {
    return device == launch_request::host_launch ? std::string("host threads")
                                                 : "CUDA device " + std::to_string(device);
  };
  throw invalid_argument(what + std::string(" was made for ") + name(made_for) + ", but the launch is on " +
                         name(launched_on) + ". Make a storage there.");
}

/// What the storages of all grid barriers check: sizes, and that no phase was given up.
class barrier_control : public storage_control {
 public:
  /// `report`: lives as long as this, and is of that.
  barrier_control(int device, uint32_t capacity, timeout_report* report, const reported_thing& of = {})
      : device_(device), capacity_(capacity), of_(of), report_(report) {}

  handle_header header(handle_kind kind, uint32_t first = 0, uint32_t count = 0) const {
    return {handle_header::magic, number(), kind, first, count};
  }

  int device() const override { return device_; }

  /// Another part of the same barrier, which is another GPU's.
  struct other_part {
    const timeout_report* report;
    uint32_t* claimed;  ///< of its arrival log, where the host may add to it; else nullptr
  };
  /// From now on a launch is refused also for what these have to report. They live as long as this.
  void stand_beside(std::vector<other_part> others) { others_ = std::move(others); }

  /// From now on a phase that is reported is one of what the barrier is a part of, which calls it so often in each.
  void count_phases_of(uint32_t calls) { of_.calls = calls; }
  std::vector<missing_block> missing() const { return missing_blocks(*report_, of_.calls); }

  void check(const handle_header& handle, const launch_request& launch) override {
    require_device(launch.device, device_, "A barrier's storage");
    if (handle.kind == handle_kind::part) {
      if (uint64_t{handle.first} + handle.count > launch.blocks) {
        throw invalid_argument("The grid has " + std::to_string(launch.blocks) +
                               " blocks, but a barrier among its arguments joins " + std::to_string(handle.count) +
                               " blocks from block " + std::to_string(handle.first) + " on.");
      }
    } else if (handle.kind == handle_kind::at_most_grid && launch.blocks > handle.count) {
      throw invalid_argument("The grid has " + std::to_string(launch.blocks) +
                             " blocks, but a phased grid among its arguments has no more than " +
                             std::to_string(handle.count) +
                             " virtual ones to share out. Launch it with launch_phased(), or with fewer blocks.");
    } else if (handle.kind == handle_kind::exact_grid) {
      if (launch.blocks != capacity_) {
        throw invalid_argument("The grid has " + std::to_string(launch.blocks) +
                               " blocks, but a handle among its arguments says who waits for whom in a grid of " +
                               std::to_string(capacity_) + ". Make its storage for this grid.");
      }
    } else if (handle.kind == handle_kind::at_least_grid) {
      if (launch.blocks < capacity_) {
        throw invalid_argument("The grid has " + std::to_string(launch.blocks) +
                               " blocks, but a handle among its arguments is for blocks up to number " +
                               std::to_string(capacity_ - 1) + ", which would be waited for.");
      }
    } else if (launch.blocks > capacity_) {
      throw invalid_argument("The grid has " + std::to_string(launch.blocks) +
                             " blocks, but the barrier's storage was made for " + std::to_string(capacity_) +
                             ". Make a larger storage.");
    }
    const timeout_report* first = is_clean(*report_) ? nullptr : report_;
    for (const other_part& other : others_) {
      if (!is_clean(*other.report) && (first == nullptr || is_told(*first))) first = other.report;
    }
    if (first != nullptr) throw broken_barrier(report_in_words(*first, of_));
  }
  /// What a time-out has left behind stays. The blocks of other GPUs learn that they wait in vain.
  void abandon() override {
    uint32_t nothing = 0;
    (void)__atomic_compare_exchange_n(&report_->written, &nothing, +timeout_report::abandoned, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
    for (const other_part& other : others_) {
      if (other.claimed != nullptr) __atomic_fetch_add(other.claimed, +arrival_log::one_elsewhere, __ATOMIC_RELAXED);
    }
  }
  std::string report() const override { return report_in_words(*report_, of_); }

 protected:
  uint32_t capacity() const { return capacity_; }

 private:
  int device_;
  uint32_t capacity_;
  reported_thing of_;
  timeout_report* report_;
  std::vector<other_part> others_;
};

/// The handles among a kernel's arguments, where they lie.
class handle_list {
 public:
  static constexpr uint32_t most = 32;

  /// Throws invalid_argument if there are too many.
  void add(handle_header& handle) {
    if (count_ == most) {
      throw invalid_argument("A kernel takes at most " + std::to_string(most) +
                             " barriers and other handles; this one was given more.");
    }
    handles_[count_++] = &handle;
  }

  bool empty() const { return count_ == 0; }
  /// Whether all there is are windows that do not need their blocks to run at once.
  bool best_effort() const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (handles_[i]->kind != handle_kind::best_effort_window) return false;
    }
    return count_ != 0;
  }

  /// Each handle by itself, and each with each, for a storage counts for one handle of a launch. Throws what the
  /// storages throw.
  void check(const storage_control::hold& storages, const launch_request& launch) const {
    for (uint32_t i = 0; i < count_; ++i) {
      const handle_header& handle = *handles_[i];
      if (handle.kind == handle_kind::evidence) {
        if (handle.first == static_cast<uint32_t>(launch.device)) continue;
        throw invalid_argument("A permit among the kernel's arguments is for CUDA device " +
                               std::to_string(handle.first) + ", but the launch is on device " +
                               std::to_string(launch.device) + ". Ask rmw::require_evidence() for that.");
      }
      for (uint32_t j = 0; j < i; ++j) {
        if (handle.owner != handles_[j]->owner) continue;
        throw invalid_argument(
            handle.kind == handle_kind::part && handles_[j]->kind == handle_kind::part
                ? "Two barriers of parts of the grid share one storage: give each part a storage of its own."
                : "Two barriers among the kernel's arguments share one storage, and would count in the same words. "
                  "Pass one of them and refer to it, or make a storage for each.");
      }
      storages.of(handle).check(handle, launch);
    }
  }

  /// The launch that the storages prepare for has not been started.
  void withdraw() const {
    for_first(count_, [](storage_control& storage) { storage.withdraw(); });
  }

  /// Calls `use(storage)` for the storages of the first so many handles that have one, and of which it still lives: a
  /// kernel may have destroyed it.
  template <class Use>
  void for_first(uint32_t count, Use&& use) const {
    const storage_control::hold storages;
    for (uint32_t i = 0; i < count_ && count != 0; ++i) {
      if (handles_[i]->kind == handle_kind::evidence) continue;
      --count;
      if (storage_control* const found = storages.find(*handles_[i])) use(*found);
    }
  }

  /// Calls `use(storage, handle)` for each that has a storage.
  template <class Use>
  void for_each(const storage_control::hold& storages, Use&& use) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (handles_[i]->kind != handle_kind::evidence) use(storages.of(*handles_[i]), *handles_[i]);
    }
  }

 private:
  handle_header* handles_[most];
  uint32_t count_ = 0;
};

}  // namespace gpusync::detail
