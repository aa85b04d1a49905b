// Workload "warp timers" on CUDA devices.
#include <cooperative_groups.h>

#include <algorithm>

#include "boundary/cuda_target.hpp"
#include "workloads/warp_timers/warp_timers.hpp"

namespace gpusync::tool {

namespace {

namespace cg = cooperative_groups;

constexpr unsigned all_lanes = 0xffffffffu;

/// What a lane notes.
struct lane_times {
  long long start;
  long long end;
  uint32_t way;     ///< drawn from the branch that it took
  uint32_t handed;  ///< the word that a shuffle handed it; its own without one
};

__device__ __forceinline__ long long time_now() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

/// The barriers. Made where all lanes are together; called by each in its own branch. Shuffles hand over the word of
/// the next lane.
struct no_warp_barrier {
  __device__ __forceinline__ uint32_t pass(uint32_t word) const { return word; }
};
struct syncwarp_barrier {
  __device__ __forceinline__ uint32_t pass(uint32_t word) const {
    __syncwarp();
    return word;
  }
};
struct tile_barrier {
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
  __device__ __forceinline__ uint32_t pass(uint32_t word) const {
    tile.sync();
    return word;
  }
};
struct coalesced_barrier {
  cg::coalesced_group group = cg::coalesced_threads();
  __device__ __forceinline__ uint32_t pass(uint32_t word) const {
    group.sync();
    return word;
  }
};
struct shuffle_barrier {
  __device__ __forceinline__ uint32_t pass(uint32_t word) const {
    return __shfl_sync(all_lanes, word, static_cast<int>(threadIdx.x + 1) % 32);
  }
};
struct tile_shuffle_barrier {
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
  __device__ __forceinline__ uint32_t pass(uint32_t word) const { return tile.shfl(word, (threadIdx.x + 1) % 32); }
};
struct coalesced_shuffle_barrier {
  cg::coalesced_group group = cg::coalesced_threads();
  __device__ __forceinline__ uint32_t pass(uint32_t word) const { return group.shfl(word, (threadIdx.x + 1) % 32); }
};

/// Multiplied by the number of a branch: an instruction of each branch's own before its barrier and one behind it, so
/// that no compiler makes one branch of several.
constexpr uint32_t before = 0x9e3779b9u, behind = 0x85ebca6bu;

/// What is drawn from a lane's branch, and the word that it brings to a shuffle.
inline uint32_t lane_word(uint32_t lane) {
  return (lane + 1) * before + lane;
}
inline uint32_t way_of(uint32_t lane) {
  return lane_word(lane) + (lane + 1) * behind;
}

template <uint32_t Branch, class Barrier>
__device__ __forceinline__ void take_branch(const Barrier& barrier, uint32_t lane, lane_times& noted) {
  uint32_t word = lane;
  asm volatile("add.u32 %0, %0, %1;" : "+r"(word) : "n"((Branch + 1) * before));
  const long long start = time_now();
  const uint32_t handed = barrier.pass(word);
  const long long end = time_now();
  asm volatile("add.u32 %0, %0, %1;" : "+r"(word) : "n"((Branch + 1) * behind));
  noted = {start, end, word, handed};
}

/// The paper's figure 17: 32 branches, one for each lane.
template <uint32_t Branch, class Barrier>
__device__ __forceinline__ void take_own_branch(const Barrier& barrier, uint32_t lane, lane_times& noted) {
  if constexpr (Branch + 1 < timed_lanes) {
    if (lane == Branch) {
      take_branch<Branch>(barrier, lane, noted);
    } else {
      take_own_branch<Branch + 1>(barrier, lane, noted);
    }
  } else {
    take_branch<Branch>(barrier, lane, noted);
  }
}

/// Twice: the first pass loads the instructions.
template <class Barrier>
__global__ void time_lanes(lane_times* times) {
  const uint32_t lane = threadIdx.x;
  lane_times noted{};
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncwarp();
    const Barrier barrier;
    take_own_branch<0>(barrier, lane, noted);
    __syncwarp();
  }
  times[lane] = noted;
}

struct named_kernel {
  const char* name;
  void (*kernel)(lane_times*);
  bool hands_over;
};

constexpr named_kernel kernels[] = {
    {name_of_floor, &time_lanes<no_warp_barrier>, false},
    {"syncwarp", &time_lanes<syncwarp_barrier>, false},
    {"tile", &time_lanes<tile_barrier>, false},
    {"coalesced", &time_lanes<coalesced_barrier>, false},
    {"shuffle", &time_lanes<shuffle_barrier>, true},
    {"shuffle-tile", &time_lanes<tile_shuffle_barrier>, true},
    {"shuffle-coalesced", &time_lanes<coalesced_shuffle_barrier>, true},
};

class cuda_warp_timers : public warp_timers_device {
 public:
  explicit cuda_warp_timers(const device_description& description)
      : where_(description.index), times_(where_.device(), timed_lanes * sizeof(lane_times)) {}

  warp_passage run(const std::string& barrier) override {
    const named_kernel& which = find(barrier);
    const cuda_device_scope scope(where_.device().ordinal());
    which.kernel<<<1, timed_lanes, 0, where_.stream()>>>(static_cast<lane_times*>(times_.address()));
    check_cuda(cudaGetLastError(), "launch of the warp");
    where_.await(5);
    std::array<lane_times, timed_lanes> found{};
    where_.download(found.data(), times_, sizeof(found));
    return passage_of(found, which.hands_over);
  }

 private:
  static const named_kernel& find(const std::string& barrier) {
    for (const named_kernel& each : kernels) {
      if (barrier == each.name) return each;
    }
    throw invalid_argument("There is no barrier of a warp that is called " + barrier + ".");
  }

  static warp_passage passage_of(const std::array<lane_times, timed_lanes>& found, bool hands_over) {
    long long first = found[0].start;
    for (const lane_times& each : found) first = std::min(first, each.start);
    warp_passage passage;
    for (uint32_t lane = 0; lane < timed_lanes; ++lane) {
      passage.start[lane] = static_cast<double>(found[lane].start - first);
      passage.end[lane] = static_cast<double>(found[lane].end - first);
      const uint32_t word = lane_word(hands_over ? (lane + 1) % timed_lanes : lane);
      if (found[lane].way != way_of(lane) || found[lane].handed != word) ++passage.wrong;
    }
    return passage;
  }

  const cuda_target where_;
  const cuda_buffer times_;
};

const register_side<warp_timers_device> warp_timers_registered(device_kind::cuda, make_side<cuda_warp_timers>);

}  // namespace

}  // namespace gpusync::tool
