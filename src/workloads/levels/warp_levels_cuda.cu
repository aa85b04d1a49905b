// Synchronization within a warp on CUDA devices.
#include "workloads/levels/levels_cuda.cuh"
#include "workloads/levels/operations.cuh"

namespace gpusync::tool {

namespace {

/// The first lanes of each warp; the others are not there.
class in_coalesced {
 public:
  __device__ static bool takes_part(const chain_setting& setting) { return threadIdx.x % 32 < setting.group; }

 protected:
  __device__ unsigned int further(unsigned int steps) const {
    return threadIdx.x - lanes_.thread_rank() + (lanes_.thread_rank() + steps) % lanes_.size();
  }

  const cooperative_groups::coalesced_group lanes_ = cooperative_groups::coalesced_threads();
};

class coalesced_sync : public plain_operation, in_coalesced {
 public:
  using in_coalesced::takes_part;

  __device__ explicit coalesced_sync(const chain_setting&) {}
  __device__ __forceinline__ void once(unsigned int) { lanes_.sync(); }
  __device__ unsigned int partner() const { return further(1); }
};

class coalesced_shuffle : public counting_operation, in_coalesced {
 public:
  using in_coalesced::takes_part;

  __device__ explicit coalesced_shuffle(const chain_setting& setting)
      : counting_operation(setting), group_(setting.group), from_((lanes_.thread_rank() + 1) % lanes_.size()) {}
  __device__ __forceinline__ void once(unsigned int) { value_ = lanes_.shfl(value_, from_); }
  __device__ bool wrong(unsigned int operations) const {
    return lanes_.size() != group_ || value_ != first_ - threadIdx.x + further(operations);
  }

 private:
  const unsigned int group_, from_;
};

class warp_shuffle : public counting_operation {
 public:
  __device__ explicit warp_shuffle(const chain_setting& setting)
      : counting_operation(setting), from_((threadIdx.x + 1) % 32) {}
  __device__ __forceinline__ void once(unsigned int) { value_ = __shfl_sync(~0u, value_, from_); }
  __device__ bool wrong(unsigned int operations) const {
    return value_ != first_ - threadIdx.x % 32 + (threadIdx.x + operations) % 32;
  }

 private:
  const unsigned int from_;
};

/// A vote, whose outcome is added.
class warp_any : public counting_operation {
 public:
  __device__ explicit warp_any(const chain_setting& setting)
      : counting_operation(setting), never_(setting.seed + 0x40000000u) {}
  __device__ __forceinline__ void once(unsigned int) { value_ += __any_sync(~0u, value_ != never_) != 0 ? 1u : 0u; }
  __device__ bool wrong(unsigned int operations) const { return value_ != first_ + operations; }

 private:
  const unsigned int never_;
};

/// The largest value of the warp.
class warp_redux : public counting_operation {
 public:
  __device__ explicit warp_redux(const chain_setting& setting) : counting_operation(setting) {
    first_ = value_ = (first_ - threadIdx.x) % 0x10000u + threadIdx.x;  // so that the last lane has the largest
  }
  __device__ __forceinline__ void once(unsigned int) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    value_ = __reduce_max_sync(~0u, value_);
#endif
  }
  __device__ bool wrong(unsigned int) const {
    return value_ != first_ - threadIdx.x % 32 + 31;
  }
};

/// Odd and even lanes come from two branches, each with an instruction of its own; the differing comments keep the
/// compiler from making them one.
class diverging : public counting_operation {
 public:
  __device__ explicit diverging(const chain_setting& setting)
      : counting_operation(setting), odd_(threadIdx.x % 2 != 0) {}
  __device__ bool wrong(unsigned int operations) const { return value_ != first_ + operations * (odd_ ? 1 : 3); }

 protected:
  const bool odd_;
};

class diverging_sync : public diverging {
 public:
  using diverging::diverging;

  __device__ __forceinline__ void once(unsigned int) {
    if (odd_) {
      asm volatile("add.u32 %0, %0, 1; bar.warp.sync 0xffffffff; // odd" : "+r"(value_)::"memory");
    } else {
      asm volatile("add.u32 %0, %0, 3; bar.warp.sync 0xffffffff; // even" : "+r"(value_)::"memory");
    }
  }
  __device__ static unsigned int partner() { return threadIdx.x ^ 1u; }
};

/// Each branch synchronizes its own lanes only.
class diverging_halves : public diverging {
 public:
  using diverging::diverging;

  __device__ __forceinline__ void once(unsigned int) {
    if (odd_) {
      asm volatile("add.u32 %0, %0, 1; bar.warp.sync 0xaaaaaaaa; // odd" : "+r"(value_)::"memory");
    } else {
      asm volatile("add.u32 %0, %0, 3; bar.warp.sync 0x55555555; // even" : "+r"(value_)::"memory");
    }
  }
  __device__ static unsigned int partner() { return threadIdx.x ^ 2u; }
};

/// Neighbours swap their values.
class diverging_shuffle : public diverging {
 public:
  using diverging::diverging;

  __device__ __forceinline__ void once(unsigned int) {
    if (odd_) {
      asm volatile("add.u32 %0, %0, 1; shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff; // odd" : "+r"(value_)::"memory");
    } else {
      asm volatile("add.u32 %0, %0, 3; shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff; // even" : "+r"(value_)::"memory");
    }
  }
  /// Precondition: an even number, so that each has its own value again, changed as often by itself as by the other.
  __device__ bool wrong(unsigned int operations) const { return value_ != first_ + 2 * operations; }
};

const std::vector<std::string> warpsync{"WARPSYNC"}, shuffle{"SHFL"};

template <unsigned int Lanes>
void add_tile(std::vector<level_entry>& all) {
  all.push_back(handing_over<tile_sync<Lanes>>({"tile-sync", Lanes, false, warpsync}));
  all.push_back(by_value<tile_shuffle<Lanes>>({"tile-shuffle", Lanes, false, shuffle}));
}

std::vector<level_entry> warp_entries() {
  std::vector<level_entry> all;
  add_tile<1>(all);
  add_tile<2>(all);
  add_tile<4>(all);
  add_tile<8>(all);
  add_tile<16>(all);
  add_tile<32>(all);
  for (unsigned int lanes = 1; lanes <= 32; ++lanes) {
    all.push_back(handing_over<coalesced_sync>({"coalesced-sync", lanes, false, warpsync}));
    all.push_back(by_value<coalesced_shuffle, short_chains>({"coalesced-shuffle", lanes, false, shuffle}));
  }
  all.push_back(handing_over<warp_sync>({"syncwarp", 32, false, warpsync}));
  all.push_back(by_value<warp_shuffle>({"shuffle", 32, false, shuffle}));
  all.push_back(by_value<warp_any>({"any", 32, false, {"VOTE", "VOTEU"}}));
  all.push_back(by_value<warp_redux>({"redux-max", 32, false, {"REDUX", "CREDUX"}}, 80));
  all.push_back(handing_over<diverging_halves, short_chains>({"syncwarp", 16, true, warpsync}));
  all.push_back(handing_over<diverging_sync, short_chains>({"syncwarp", 32, true, warpsync}));
  all.push_back(by_value<diverging_shuffle, short_chains>({"shuffle", 32, true, shuffle}));
  return all;
}

class cuda_warp_levels : public cuda_levels {
 public:
  explicit cuda_warp_levels(const device_description& description) : cuda_levels(description, warp_entries()) {}
};

const register_side<levels_device> warp_levels_registered(device_kind::cuda, make_side<cuda_warp_levels>,
                                                          level_sides::warp);

}  // namespace

}  // namespace gpusync::tool
