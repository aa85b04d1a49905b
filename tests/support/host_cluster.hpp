// Barriers across GPUs of several hosts, on host threads: GPUs of other "hosts" are reached by messages alone.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gpusync/core/host_backend.hpp>
#include <gpusync/core/host_grid.hpp>
#include <gpusync/multi_gpu/registry.hpp>
#include <gpusync/multi_gpu/signalled.hpp>
#include <gpusync/multi_gpu/storage.hpp>

namespace gpusync::test {

/// A communication library of host threads: finds a peer's counterpart of a word by where the parts' words lie. One
/// cluster at a time.
struct host_signals {
  static constexpr const char* family = "multi-gpu-signals";
  static constexpr memory_order order_of_stores = memory_order::release;

  static inline std::vector<uint32_t*> words;      ///< of each part
  static inline size_t size = 0;                   ///< of each
  static inline std::atomic<uint32_t> sent{0};     ///< messages
  static inline std::atomic<uint32_t> visible{0};  ///< calls of see()
  static inline std::atomic<uint32_t> early{0};    ///< those for a word that nobody has set

  template <class Grid>
  static void complete(Grid) {}
  template <class Grid, class Word>
  static void set(Grid, Word* word, Word value, const multi_gpu::peer& to) {
    ++sent;
    Grid::memory::template store<memory_order::release, scope::system>(counterpart(word, to), value);
  }
  template <class Grid>
  static void add(Grid, uint32_t* word, uint32_t value, const multi_gpu::peer& to) {
    Grid::memory::template add<memory_order::relaxed, scope::system>(counterpart(word, to), value);
  }
  static void see(const uint64_t* word, uint64_t before) {
    ++visible;
    early += __atomic_load_n(word, __ATOMIC_RELAXED) == before;
  }

 private:
  template <class Word>
  static Word* counterpart(Word* word, const multi_gpu::peer& to) {
    auto* const at = reinterpret_cast<uint32_t*>(word);
    for (uint32_t* const one : words) {
      if (at >= one && at < one + size)
        return reinterpret_cast<Word*>(words[static_cast<size_t>(to.number)] + (at - one));
    }
    std::abort();
  }
};

using signalled_algorithm = multi_gpu::two_level<multi_gpu::signalled<host_signals>>;

/// A GPU's part. Grid: host_grid, or a stand-in for it.
template <class Grid = host_grid>
class cluster_part : public detail::part_of_process<signalled_algorithm, Grid, detail::host_backend,
                                                    detail::plain_placement<signalled_algorithm>> {
  using base = detail::part_of_process<signalled_algorithm, Grid, detail::host_backend,
                                       detail::plain_placement<signalled_algorithm>>;
  using members = multi_gpu::across_hosts<multi_gpu::signalled<host_signals>>;

 public:
  using barrier_type = basic_grid_barrier<signalled_algorithm, Grid, members>;

  cluster_part(uint32_t gpu, uint32_t gpus, block_count blocks, uint32_t first_phase)
      : base({}, gpu, gpus, blocks, first_phase, {}) {}
  barrier_type barrier() { return this->part_.barrier(members(this->part_.places().peers, this->gpu_, this->gpus_)); }
  void connect(const std::vector<multi_gpu::peer>& peers) { this->part_.connect(this->gpu_, peers); }
  multi_gpu::peer as_peer() { return this->part_.as_peer(); }
  uint32_t* words() { return this->part_.state(); }
  size_t bytes() const { return this->part_.bytes(); }
};

/// GPUs on hosts: `hosts[gpu]` is a GPU's host. In the way of a storage across GPUs.
template <class Grid = host_grid>
class basic_host_cluster {
 public:
  using barrier_type = typename cluster_part<Grid>::barrier_type;

  basic_host_cluster(const std::vector<int>& hosts, block_count blocks, uint32_t first_phase = 0) {
    const auto gpus = static_cast<uint32_t>(hosts.size());
    host_signals::words.clear();
    for (uint32_t i = 0; i < gpus; ++i) {
      parts_.push_back(std::make_unique<cluster_part<Grid>>(i, gpus, blocks, first_phase));
      host_signals::words.push_back(parts_[i]->words());
    }
    host_signals::size = parts_[0]->bytes() / sizeof(uint32_t);
    host_signals::sent = host_signals::visible = host_signals::early = 0;
    for (uint32_t i = 0; i < gpus; ++i) {
      std::vector<multi_gpu::peer> peers;
      for (uint32_t j = 0; j < gpus; ++j) {
        peers.push_back(hosts[i] == hosts[j] ? parts_[j]->as_peer() : multi_gpu::peer{});
        peers[j].number = static_cast<int32_t>(j);
      }
      parts_[i]->connect(peers);
    }
  }

  uint32_t gpus() const { return static_cast<uint32_t>(parts_.size()); }
  barrier_type barrier(uint32_t gpu) { return parts_[gpu]->barrier(); }
  cluster_part<Grid>& part(uint32_t gpu) { return *parts_[gpu]; }

 private:
  std::vector<std::unique_ptr<cluster_part<Grid>>> parts_;
};
using host_cluster = basic_host_cluster<>;

}  // namespace gpusync::test
