// What the storages of barriers across GPUs have in common, whatever memory is behind them.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gpusync/grid/barrier_storage.hpp>
#include <gpusync/multi_gpu/across_gpus.hpp>
#include <gpusync/multi_gpu/two_level.hpp>

namespace gpusync::detail {

/// One GPU's part of a barrier across GPUs.
template <class Algorithm, class Grid, class Backend, class Placement>
class gpu_part : public barrier_storage<Algorithm, Grid, Backend, Placement> {
 public:
  gpu_part(const typename Backend::place& where, block_count blocks, uint32_t first_phase, Placement&& placement,
           uint32_t gpus)
      : gpu_part::barrier_storage(where, blocks, first_phase, std::move(placement), gpus) {}

  /// Its words, as a thread on this GPU has them.
  multi_gpu::peer as_peer() {
    const arrival_log log = this->log();
    const multi_gpu::exchange_places& places = this->places();
    return {{places.line[0], places.line[1]}, log.claimed, log.arrived, log.entered};
  }
  /// Tells it of all GPUs, of which it is the one with this rank.
  void connect(uint32_t gpu, const std::vector<multi_gpu::peer>& peers) {
    std::vector<uint32_t> words(peers.size() * sizeof(multi_gpu::peer) / sizeof(uint32_t));
    std::memcpy(words.data(), peers.data(), words.size() * sizeof(uint32_t));
    this->write(words, Algorithm::layout::peers);
    this->places().gpu = gpu;
    this->places().gpus = static_cast<uint32_t>(peers.size());
    this->places().across_hosts =
        std::any_of(peers.begin(), peers.end(), [](const multi_gpu::peer& one) { return !one.reachable(); });
  }
  template <class Members>
  basic_grid_barrier<Algorithm, Grid, Members> barrier(const Members& who) {
    return this->handle(who);
  }
  /// As a grid elsewhere does that has lost a phase.
  void give_up() { this->set_while_running(this->log().claimed, +arrival_log::one_elsewhere); }
  std::vector<missing_gpu_block> missing() const { return multi_gpu::missing_blocks(this->raw_report()); }
  /// Whether its report only says what followed from another GPU's.
  bool is_told() const { return detail::is_told(this->raw_report()); }
  /// What the parts of other GPUs know of it.
  barrier_control::other_part as_other_part() {
    return {&this->raw_report(), Backend::host_may_add ? this->log().claimed : nullptr};
  }
  using gpu_part::barrier_storage::forget_order;
  /// Where the allocation begins that the lines lie in; null if that is the words'.
  uint32_t* lines_base() const { return this->placement().lines_base(); }
  /// The arrival log of a part like this one whose words are there.
  arrival_log log_at(uint32_t* words) const { return this->layout().log(words, nullptr); }
  using gpu_part::barrier_storage::raw_report;
  using gpu_part::barrier_storage::stand_beside;
  using gpu_part::barrier_storage::write;
};

/// The base of what holds a process's part of a barrier across GPUs, where each has one.
template <class Algorithm, class Grid, class Backend, class Placement>
class part_of_process {
 public:
  /// How the blocks wait for each other.
  using algorithm = Algorithm;

  part_of_process(const part_of_process&) = delete;
  part_of_process& operator=(const part_of_process&) = delete;

  /// This GPU's rank in the barrier.
  uint32_t gpu() const { return gpu_; }
  /// How many GPUs it joins.
  uint32_t gpus() const { return gpus_; }
  /// The most blocks on each.
  uint32_t capacity() const { return blocks_; }

  /// The blocks that a timed-out wait on this GPU missed, on any.
  std::vector<missing_gpu_block> missing() const { return part_.missing(); }
  /// What went wrong in a launch on this GPU, in a sentence or two; empty if nothing did.
  std::string report() const { return part_.report(); }
  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { part_.forget_order(); }

 protected:
  /// Throws invalid_argument if there is no such rank or block.
  part_of_process(const typename Backend::place& where, uint32_t gpu, uint32_t gpus, block_count blocks,
                  uint32_t first_phase, Placement&& placement)
      : gpu_(gpu),
        gpus_(require_rank(gpu, gpus)),
        blocks_(require_servable<Algorithm>(blocks)),
        part_(where, blocks, first_phase, std::move(placement), gpus) {}

  static uint32_t require_rank(uint32_t gpu, uint32_t gpus) {
    constexpr uint32_t most = Algorithm::layout::most_gpus;
    if (gpus != 0 && gpus <= most && gpu < gpus) return gpus;
    throw invalid_argument("A barrier across GPUs joins 1 to " + std::to_string(most) + " GPUs, counted from 0; GPU " +
                           std::to_string(gpu) + " of " + std::to_string(gpus) + " was asked for.");
  }

  uint32_t gpu_, gpus_, blocks_;
  gpu_part<Algorithm, Grid, Backend, Placement> part_;
  std::vector<multi_gpu::peer> peers_;  ///< all parts, once they are known
};

/// The base of the storages of barriers across GPUs.
template <class Algorithm, class Grid, class Backend, class Placement>
class multi_gpu_storage {
  using part = gpu_part<Algorithm, Grid, Backend, Placement>;

 public:
  /// How its blocks wait for each other.
  using algorithm = Algorithm;
  /// What kernels take: by value as a parameter, and by reference in what they call.
  using barrier_type = basic_grid_barrier<Algorithm, Grid, multi_gpu::across_gpus>;

  /// How many GPUs it joins.
  uint32_t gpus() const { return static_cast<uint32_t>(parts_.size()); }
  /// The most blocks on each.
  uint32_t capacity() const { return capacity_; }

  /// The barrier to hand to the kernel on the GPU with this rank. Throws invalid_argument if there is none.
  barrier_type barrier(uint32_t gpu) {
    require_gpu(gpu);
    multi_gpu::across_gpus who(parts_[gpu]->places().peers, gpu, gpus(), capacity_);
    for (uint32_t i = 0; i < gpus(); ++i) who.blocks_of(i, blocks_[i]);
    return parts_[gpu]->barrier(who);
  }
  /// Says how many blocks the next launches have on the GPU with this rank, capacity() if it is not said: who is to be
  /// looked for when a wait times out. multi_gpu::launch() does it. Throws invalid_argument.
  void expect_blocks(uint32_t gpu, block_count blocks) {
    require_gpu(gpu);
    if (blocks == 0 || blocks > capacity_) {
      throw invalid_argument("A grid of " + std::to_string(blocks) +
                             " blocks was announced, but the storage serves 1 to " + std::to_string(capacity_) +
                             " on each GPU.");
    }
    blocks_[gpu] = static_cast<uint32_t>(blocks);
  }

  /// The blocks that timed-out waits missed on any GPU, but for those that timed out because others had, in order;
  /// empty if none timed out, or if all had arrived. Synchronizes with nothing: call it after the kernels, or at any
  /// time while they run.
  std::vector<missing_gpu_block> missing() const {
    std::vector<missing_gpu_block> all;
    for (const auto& one : parts_) {
      if (one->is_told()) continue;
      const std::vector<missing_gpu_block> its = one->missing();
      all.insert(all.end(), its.begin(), its.end());
    }
    std::sort(all.begin(), all.end(), [](const missing_gpu_block& a, const missing_gpu_block& b) {
      return std::tie(a.gpu, a.block, a.phase) < std::tie(b.gpu, b.block, b.phase);
    });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  /// What went wrong first in a launch on any GPU, in a sentence or two; empty if nothing did.
  std::string report() const {
    std::string first;
    for (const auto& one : parts_) {
      const std::string words = one->report();
      if (!words.empty() && !one->is_told()) return words;
      if (first.empty()) first = words;
    }
    return first;
  }
  /// The same of the launch on the GPU with this rank alone. Throws invalid_argument if there is none.
  std::string report(uint32_t gpu) const {
    require_gpu(gpu);
    return parts_[gpu]->report();
  }
  /// Back to the first state, on all GPUs. Needed after a wait timed out. Precondition: no kernel uses the storage, and
  /// no launch on it is queued. Blocking.
  void reset() {
    for (const auto& one : parts_) one->reset();
    connect();
  }
  /// Gives the phase up on all GPUs, from outside: running kernels leave their waits, those with a deadline by timing
  /// out, others by ending their launch. Blocks.
  void give_up() {
    for (const auto& one : parts_) one->give_up();
  }
  /// Where a GPU's part lies and how it is used. Its members may be changed for tests.
  multi_gpu::exchange_places& places(uint32_t gpu) { return parts_[gpu]->places(); }
  /// A GPU's words, for tests.
  uint32_t* state(uint32_t gpu) { return parts_[gpu]->state(); }

 protected:
  multi_gpu_storage(const std::vector<typename Backend::place>& gpus, block_count blocks, uint32_t first_phase,
                    std::vector<Placement>&& placements)
      : capacity_(require_servable<Algorithm>(blocks)) {
    if (gpus.empty() || gpus.size() > Algorithm::layout::most_gpus) {
      throw invalid_argument("A barrier across GPUs joins 1 to " + std::to_string(Algorithm::layout::most_gpus) +
                             " GPUs; it was given " + std::to_string(gpus.size()) + ".");
    }
    for (size_t i = 0; i < gpus.size(); ++i) {
      parts_.push_back(std::make_unique<part>(gpus[i], blocks, first_phase, std::move(placements[i]),
                                              static_cast<uint32_t>(gpus.size())));
    }
    blocks_.assign(gpus.size(), capacity_);
    connect();
  }
  void forget_order() {
    for (const auto& one : parts_) one->forget_order();
  }

 private:
  void require_gpu(uint32_t gpu) const {
    if (gpu < parts_.size()) return;
    throw invalid_argument("There is no GPU " + std::to_string(gpu) + " in this barrier: it joins " +
                           std::to_string(parts_.size()) + ", counted from 0.");
  }
  /// Addresses are the same on all GPUs of a process.
  void connect() {
    std::vector<multi_gpu::peer> peers;
    for (const auto& one : parts_) peers.push_back(one->as_peer());
    for (uint32_t i = 0; i < gpus(); ++i) {
      parts_[i]->connect(i, peers);
      std::vector<barrier_control::other_part> others;
      for (uint32_t j = 0; j < gpus(); ++j) {
        if (j != i) others.push_back(parts_[j]->as_other_part());
      }
      parts_[i]->stand_beside(std::move(others));
    }
  }

  uint32_t capacity_;
  std::vector<std::unique_ptr<part>> parts_;
  std::vector<uint32_t> blocks_;
};

}  // namespace gpusync::detail
