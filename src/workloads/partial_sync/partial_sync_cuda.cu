// Workload "partial sync" on CUDA devices.
#include <algorithm>
#include <memory>
#include <optional>

#include "boundary/cuda_launch.hpp"
#include "boundary/cuda_target.hpp"
#include "workloads/partial_sync/partial_kernels.cuh"
#include "workloads/partial_sync/partial_sync.hpp"

namespace gpusync::tool {

namespace {

constexpr double partial_limit_s = 3;  ///< for what may hang
constexpr uint32_t block_warps = 8, cluster_blocks = 4, grid_threads = 64;

/// What the kernel writes and the host reads while it may hang.
class host_notes {
 public:
  explicit host_notes(uint32_t members) : members_(members) {
    check_cuda(
        cudaHostAlloc(reinterpret_cast<void**>(&words_), (size_t{members} + 1) * sizeof(uint32_t), cudaHostAllocMapped),
        "cudaHostAlloc");
    std::fill_n(words_, members + 1, 0u);
  }
  ~host_notes() { (void)cudaFreeHost(words_); }
  host_notes(const host_notes&) = delete;
  host_notes& operator=(const host_notes&) = delete;

  void put_into(partial_task& task) const {
    uint32_t* there = nullptr;
    check_cuda(cudaHostGetDevicePointer(reinterpret_cast<void**>(&there), words_, 0), "cudaHostGetDevicePointer");
    task.notes = there;
    task.wrong = there + members_;
  }
  void read(partial_outcome& outcome) const {
    const volatile uint32_t* const seen = words_;
    for (uint32_t member = 0; member < members_; ++member) {
      const uint32_t note = seen[member];
      outcome.called += note != note_none ? 1 : 0;
      outcome.passed += note == note_passed ? 1 : 0;
      outcome.late += note == note_late ? 1 : 0;
      outcome.timed_out += note == note_timed_out ? 1 : 0;
    }
    outcome.wrong = seen[members_];
  }

 private:
  const uint32_t members_;
  uint32_t* words_ = nullptr;
};

/// One launch, with all memory that it may still use when it hangs.
class partial_launch {
 public:
  partial_launch(const cuda_target& where, uint32_t members, const std::string& subset, the_rest rest)
      : where_(where),
        members_(members),
        notes_(members),
        words_(where.device(), (size_t{members} + 2) * sizeof(uint32_t)) {
    auto* const words = static_cast<uint32_t*>(words_.address());
    task_.callers = members_of(subset, members);
    task_.stays = rest == the_rest::stays ? 1 : 0;
    task_.words = words;
    task_.passed = words + members;
    task_.given_up = words + members + 1;
    notes_.put_into(task_);
  }

  void start(const void* kernel, const launch_shape& shape, kernel_start how) {
    void* arguments[] = {&task_};
    start_kernel(where_.stream(), shape, how, kernel, arguments);
  }
  void start_with_barrier(const std::string& barrier) {
    const launch_shape shape{members_, grid_threads};
    const auto launched = [&](auto* kernel, auto handle) {
      launch_by_address(where_.device(), where_.stream(), shape, reinterpret_cast<const void*>(kernel), {&task_},
                        std::move(handle));
    };
    storage_.emplace(where_.device(), members_);
    if (barrier == "grid-barrier") return launched(&partial::of_a_grid, storage_->barrier());
    if (barrier == "grid-barrier-deadline") return launched(&partial::of_a_grid_with_deadline, storage_->barrier());
    if (barrier == "grid-barrier-dropping") {
      return launched(&partial::of_those_that_stay, storage_->dropping_barrier());
    }
    if (task_.callers.stride != 1) throw invalid_argument("A part of a grid is a row of blocks, without gaps.");
    launched(&partial::of_a_part, storage_->barrier(block_range{task_.callers.first, task_.callers.count}));
  }

  partial_outcome outcome() const {
    partial_outcome found;
    found.members = members_;
    try {
      where_.await(partial_limit_s);
      found.ended = true;
    } catch (const stuck_launch&) {  // that is the finding
    }
    notes_.read(found);
    if (storage_ && found.ended && found.timed_out != 0) found.named_the_rest = names_the_rest();
    return found;
  }

 private:
  /// Whether the storage's report has exactly the blocks that did not call.
  bool names_the_rest() const {
    std::vector<uint32_t> named;
    for (const missing_block& each : storage_->missing()) named.push_back(static_cast<uint32_t>(each.block));
    std::sort(named.begin(), named.end());
    std::vector<uint32_t> absent;
    for (uint32_t block = 0; block < members_; ++block) {
      if (!task_.callers.has(block)) absent.push_back(block);
    }
    return named == absent;
  }

  const cuda_target& where_;
  const uint32_t members_;
  const host_notes notes_;
  const cuda_buffer words_;
  partial_task task_{};
  std::optional<grid_barrier_storage> storage_;
};

class cuda_partial_sync : public partial_sync_device {
 public:
  explicit cuda_partial_sync(const device_description& description) : where_(description.index) {}

  partial_outcome run(const std::string& barrier, const std::string& subset, the_rest rest) override {
    using partial::warp_form;
    const cuda_device_scope scope(where_.device().ordinal());
    const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
    const auto started = [&](uint32_t members, const void* kernel, const launch_shape& shape, kernel_start how) {
      if (how == kernel_start::cooperative || shape.cluster > 1) require_co_resident(where_.device(), kernel, shape);
      // Kept: behind a launch that hangs nothing can be freed.
      launch_ = std::make_unique<partial_launch>(where_, members, subset, rest);
      launch_->start(kernel, shape, how);
      return launch_->outcome();
    };
    const auto of_warp = [&](const void* kernel) { return started(32, kernel, {1, 32}, kernel_start::plain); };
    const auto of_block = [&](const void* kernel) {
      return started(block_warps, kernel, {1, 32 * block_warps}, kernel_start::plain);
    };
    const auto sms = static_cast<uint32_t>(where_.device().sm_count());
    if (barrier == "syncwarp") return of_warp(address(&partial::of_a_warp<warp_form::syncwarp>));
    if (barrier == "syncwarp-mask") return of_warp(address(&partial::of_a_warp<warp_form::mask>));
    if (barrier == "tile") return of_warp(address(&partial::of_a_warp<warp_form::tile>));
    if (barrier == "coalesced") return of_warp(address(&partial::of_a_warp<warp_form::coalesced>));
    if (barrier == "syncthreads") return of_block(address(&partial::of_a_block<false>));
    if (barrier == "named-barrier") return of_block(address(&partial::of_a_block<true>));
    if (barrier == "cluster") {
      return started(cluster_blocks, address(&partial::of_a_cluster), {cluster_blocks, grid_threads, 0, cluster_blocks},
                     kernel_start::plain);
    }
    if (barrier == "cg") {
      return started(sms, address(&partial::of_a_grid_by_cg), {sms, grid_threads}, kernel_start::cooperative);
    }
    if (barrier == "multi-grid") {
      throw invalid_argument("CUDA 13 has no launch over several devices any more, and so no barrier of their grids.");
    }
    launch_ = std::make_unique<partial_launch>(where_, sms, subset, rest);
    launch_->start_with_barrier(barrier);
    return launch_->outcome();
  }

 private:
  const cuda_target where_;
  std::unique_ptr<partial_launch> launch_;
};

const register_side<partial_sync_device> partial_sync_registered(device_kind::cuda, make_side<cuda_partial_sync>);

}  // namespace

}  // namespace gpusync::tool
