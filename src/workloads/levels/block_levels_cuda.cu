// Synchronization of a block and of a cluster on CUDA devices.
#include <cuda/barrier>

#include "workloads/levels/levels_cuda.cuh"
#include "workloads/levels/operations.cuh"

namespace gpusync::tool {

namespace {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr bool has_clusters = false;
#else
constexpr bool has_clusters = true;
#endif

/// The block's barrier, which votes besides.
class block_or : public counting_operation {
 public:
  __device__ explicit block_or(const chain_setting& setting)
      : counting_operation(setting), never_(setting.seed + 0x40000000u) {}
  __device__ __forceinline__ void once(unsigned int) { value_ += __syncthreads_or(value_ != never_) != 0 ? 1u : 0u; }
  __device__ bool wrong(unsigned int operations) const { return value_ != first_ + operations; }
  __device__ static unsigned int partner() { return far_in_block(); }

 private:
  const unsigned int never_;
};

class named_barrier : public plain_operation {
 public:
  __device__ explicit named_barrier(const chain_setting&) {}
  __device__ __forceinline__ void once(unsigned int) { asm volatile("bar.sync 3, %0;" ::"r"(blockDim.x) : "memory"); }
  __device__ static unsigned int partner() { return far_in_block(); }
};

class libcu_barrier : public plain_operation {
 public:
  __device__ explicit libcu_barrier(const chain_setting&) {
    __shared__ alignas(barrier_type) unsigned char memory[sizeof(barrier_type)];
    barrier_ = reinterpret_cast<barrier_type*>(memory);
    if (threadIdx.x == 0) init(barrier_, static_cast<ptrdiff_t>(blockDim.x));
    __syncthreads();
  }
  __device__ __forceinline__ void once(unsigned int) { barrier_->arrive_and_wait(); }
  __device__ static unsigned int partner() { return far_in_block(); }

 private:
  using barrier_type = cuda::barrier<cuda::thread_scope_block>;
  barrier_type* barrier_;
};

/// All threads arrive at a barrier in shared memory and wait for its phase.
class memory_barrier : public plain_operation {
 public:
  __device__ explicit memory_barrier(const chain_setting&) {
    __shared__ unsigned long long word;
    address_ = static_cast<unsigned int>(__cvta_generic_to_shared(&word));
    if constexpr (has_clusters) {
      if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_), "r"(blockDim.x) : "memory");
      }
    }
    __syncthreads();
  }
  __device__ __forceinline__ void once(unsigned int) {
    if constexpr (has_clusters) {
      asm volatile("{\n\t.reg .b64 token;\n\tmbarrier.arrive.shared::cta.b64 token, [%0];\n\t}" ::"r"(address_)
                   : "memory");
      unsigned int passed = 0;
      while (passed == 0) {
        asm volatile(
            "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
            : "=r"(passed)
            : "r"(address_), "r"(parity_)
            : "memory");
      }
      parity_ ^= 1;
    }
  }
  __device__ static unsigned int partner() { return far_in_block(); }

 private:
  unsigned int address_, parity_ = 0;
};

/// The next block of the cluster, whose words are read.
class cluster_operation : public plain_operation {
 public:
  __device__ static unsigned int partner() { return far_in_block(); }
  __device__ static unsigned int read(const unsigned int* word) {
    unsigned int value = 0;
    if constexpr (has_clusters) {
      unsigned int rank, blocks, there;
      asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
      asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
      const auto here = static_cast<unsigned int>(__cvta_generic_to_shared(word));
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"((rank + 1) % blocks));
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
    }
    return value;
  }
};

class cluster_acquire_release : public cluster_operation {
 public:
  __device__ explicit cluster_acquire_release(const chain_setting&) {}
  __device__ __forceinline__ void once(unsigned int) {
    if constexpr (has_clusters) {
      asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
  }
};

/// Lets nobody through early, and orders nothing.
class cluster_relaxed : public cluster_operation {
 public:
  __device__ explicit cluster_relaxed(const chain_setting&) {}
  __device__ __forceinline__ void once(unsigned int) {
    if constexpr (has_clusters) {
      asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    }
  }
};

std::vector<level_entry> block_entries() {
  const std::vector<std::string> bar{"BAR"}, memory{"SYNCS", "ATOMS"}, cluster{"UCGABAR_ARV", "UCGABAR_WAIT"};
  return {handing_over<block_sync>({"syncthreads", 0, false, bar}),
          handing_over<block_or>({"syncthreads-or", 0, false, bar}),
          handing_over<named_barrier>({"named-barrier", 0, false, bar}),
          handing_over<libcu_barrier, middle_chains>({"cuda-barrier", 0, false, memory}),
          handing_over<memory_barrier>({"mbarrier", 0, false, memory}, 90),
          by_value<cluster_relaxed>({"cluster-relaxed", 0, false, cluster, false, true}, 90),
          handing_over<cluster_acquire_release>({"cluster-acquire-release", 0, false, cluster, true, true}, 90)};
}

class cuda_block_levels : public cuda_levels {
 public:
  explicit cuda_block_levels(const device_description& description) : cuda_levels(description, block_entries()) {}
};

const register_side<levels_device> block_levels_registered(device_kind::cuda, make_side<cuda_block_levels>,
                                                           level_sides::block);

}  // namespace

}  // namespace gpusync::tool
