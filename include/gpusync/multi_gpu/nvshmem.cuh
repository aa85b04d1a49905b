// The barrier across GPUs of several hosts: its messages are NVSHMEM's. Needs NVSHMEM (its headers, and to be linked
// with it, -rdc=true and libnvshmem_device); nothing else of the library includes this.
#pragma once

#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <string>
#include <vector>

#include <gpusync/multi_gpu/cuda.cuh>
#include <gpusync/multi_gpu/signalled.hpp>

namespace gpusync {

namespace multi_gpu {

/// NVSHMEM, by its documented calls alone. nvshmem_quiet() orders stores, and completes what this PE has put anywhere;
/// the thread that calls it has acquired what its GPU's blocks released. Fulfils @ref Signals.
struct nvshmem_signals {
  static constexpr const char* family = "multi-gpu-nvshmem";
  static constexpr memory_order order_of_stores = memory_order::relaxed;

  template <class Grid>
  static __device__ __forceinline__ void complete(Grid) {
    nvshmem_quiet();
  }
  template <class Grid>
  static __device__ void set(Grid, uint64_t* word, uint64_t value, const peer& to) {
    nvshmemx_signal_op(word, value, NVSHMEM_SIGNAL_SET, to.number);
  }
  template <class Grid>
  static __device__ void add(Grid, uint32_t* word, uint32_t value, const peer& to) {
    nvshmem_uint32_atomic_add(word, value, to.number);
  }
  /// NVSHMEM's waits make what a network has delivered visible; this one returns at once.
  static __device__ void see(const uint64_t* word, uint64_t before) {
    nvshmem_uint64_wait_until(const_cast<uint64_t*>(word), NVSHMEM_CMP_NE, before);
  }
};

/// The barrier across GPUs over NVSHMEM.
using nvshmem_algorithm = two_level<signalled<nvshmem_signals>>;

}  // namespace multi_gpu

namespace detail {

/// Where memory of NVSHMEM's symmetric heap lies, and whether it may be given back.
struct nvshmem_place : cuda_device {
  nvshmem_place(const cuda_device& device, const bool& released) : cuda_device(device), is_released(&released) {}
  const bool* is_released;  ///< lives longer than the memory
};

/// Memory of NVSHMEM's symmetric heap, zero when made. All PEs must make it together, and, if it is given back, destroy
/// it so.
class nvshmem_memory {
 public:
  nvshmem_memory(const nvshmem_place& where, size_t bytes)
      : ordinal_(where.ordinal()),
        bytes_(bytes),
        is_released_(where.is_released),
        address_(nvshmem_align(alignment, bytes)) {
    if (address_ == nullptr) {
      throw error("NVSHMEM's symmetric heap has no " + std::to_string(bytes) +
                  " bytes left. NVSHMEM_SYMMETRIC_SIZE says how large it is.");
    }
    clear();
  }
  ~nvshmem_memory() {
    if (*is_released_) nvshmem_free(address_);
  }
  nvshmem_memory(const nvshmem_memory&) = delete;
  nvshmem_memory& operator=(const nvshmem_memory&) = delete;

  void clear() const { clear_by_copies(ordinal_, address_, bytes_); }
  void* address() const { return address_; }
  size_t bytes() const { return bytes_; }
  int ordinal() const { return ordinal_; }

 private:
  static constexpr size_t alignment = line_words * sizeof(uint32_t);
  int ordinal_;
  size_t bytes_;
  const bool* is_released_;
  void* address_;
};

/// Words in the symmetric heap, all else as on any CUDA device.
struct nvshmem_backend : cuda_backend {
  using place = nvshmem_place;
  template <class Word>
  using words = cuda_words<Word, nvshmem_memory>;
  static int device(const place& on) { return on.ordinal(); }
};

/// What is known before any memory is there. Base of nvshmem_gpu_part, so that it is made first.
class nvshmem_membership {
 protected:
  nvshmem_membership(const cuda_device& device, uint64_t blocks, nvshmem_team_t team) : team_(team) {
    if (nvshmemx_init_status() < NVSHMEM_STATUS_IS_INITIALIZED) {
      throw invalid_argument("NVSHMEM has not been initialized: call nvshmem_init() or nvshmemx_init_attr() before.");
    }
    agree(blocks);
    if (nvshmem_team_my_pe(team) < 0) {
      throw invalid_argument("PE " + std::to_string(nvshmem_my_pe()) +
                             " is not in the team whose GPUs the barrier is to join.");
    }
    int ordinal = -1;
    check_cuda(cudaGetDevice(&ordinal), "cudaGetDevice");
    if (ordinal != device.ordinal()) {
      throw invalid_argument("The barrier was asked for on CUDA device " + std::to_string(device.ordinal()) +
                             ", but NVSHMEM's PE " + std::to_string(nvshmem_my_pe()) + " is on the current device " +
                             std::to_string(ordinal) + ".");
    }
  }

  uint32_t rank() const { return static_cast<uint32_t>(nvshmem_team_my_pe(team_)); }
  uint32_t size() const { return static_cast<uint32_t>(nvshmem_team_n_pes(team_)); }

  nvshmem_team_t team_;
  bool is_released_ = false;

 private:
  /// The symmetric heap wants all PEs to ask for as much: throws invalid_argument on all of them if they do not.
  static void agree(uint64_t blocks) {
    const int pes = nvshmem_n_pes(), self = nvshmem_my_pe();
    auto* const asked = static_cast<uint64_t*>(nvshmem_calloc(static_cast<size_t>(pes), sizeof(uint64_t)));
    if (asked == nullptr) throw error("NVSHMEM's symmetric heap has no memory left.");
    for (int i = 0; i < pes; ++i) nvshmem_uint64_p(asked + self, blocks, i);
    nvshmem_barrier_all();
    std::vector<uint64_t> all(static_cast<size_t>(pes));
    const cudaError_t code = cudaMemcpy(all.data(), asked, all.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost);
    nvshmem_free(asked);
    check_cuda(code, "cudaMemcpy");
    const auto other = std::find_if(all.begin(), all.end(), [blocks](uint64_t one) { return one != blocks; });
    if (other == all.end()) return;
    throw invalid_argument("PE " + std::to_string(self) + " asked for a barrier of up to " + std::to_string(blocks) +
                           " blocks on each GPU, PE " + std::to_string(other - all.begin()) + " for " +
                           std::to_string(*other) + ": all must ask for as many.");
  }
};

}  // namespace detail

/// One process's part of a barrier of all blocks of all GPUs of an NVSHMEM program, or of a team of them, on one host
/// or on several.
///   nvshmem_init();                                                     // and cudaSetDevice() before it, as ever
///   gpusync::nvshmem_gpu_part part(gpusync::cuda_device(own), blocks);  // all PEs
///   gpusync::launch(device, stream, {blocks, threads}, kernel, part.barrier(), …);
/// The kernel is the one that takes a multi_gpu_barrier, with another type for its parameter. Of the barrier only the
/// message from GPU to GPU is NVSHMEM's: nvshmem_quiet(), and a signal, or a store where the GPU reaches the other's
/// memory. So sync() also completes what any thread of any block has put by NVSHMEM before, as nvshmem_barrier_all()
/// does, and no kernel needs NVSHMEM's own launch.
///
/// All PEs make their parts together, each with its team (split the world so that each is in one); see release() for
/// their end. At most 128 GPUs. All launch grids of one size, if blocks are to be named after a time-out; blocks of a
/// GPU out of reach are not named here but by that GPU's own report.
///
/// Deadlines hold for what the barrier waits for, not for what NVSHMEM waits for by itself: should a PE die whose
/// memory is reached by a network, nvshmem_quiet() may last.
class nvshmem_gpu_part
    : private detail::nvshmem_membership,
      public detail::part_of_process<multi_gpu::nvshmem_algorithm, cuda_grid, detail::nvshmem_backend,
                                     detail::exchange_placement<multi_gpu::nvshmem_algorithm>> {
  using members = multi_gpu::across_hosts<multi_gpu::signalled<multi_gpu::nvshmem_signals>>;
  using placement = detail::exchange_placement<algorithm>;

 public:
  /// What kernels take: by value as a parameter, and by reference in what they call.
  using barrier_type = basic_grid_barrier<algorithm, cuda_grid, members>;

  /// The part of the calling PE, for up to `blocks` blocks on each GPU, on the device on which NVSHMEM was initialized.
  /// Collective: all PEs of the program, each with its team. Makes a survey as cuda_barrier_storage. Returns when the
  /// other PEs may be waited for. Throws invalid_argument if NVSHMEM is not initialized, the PE is not in the team or
  /// on another device, the team is too large, or PEs ask for different numbers of blocks; error if the symmetric heap
  /// is full; cuda_failure.
  nvshmem_gpu_part(const cuda_device& device, block_count blocks, nvshmem_team_t team = NVSHMEM_TEAM_WORLD)
      : nvshmem_membership(device, blocks, team),
        part_of_process(detail::nvshmem_place(device, is_released_), rank(), size(), blocks, 0, placement(device)) {
    connect();
    nvshmem_barrier_all();
  }

  /// The barrier to hand to the kernel.
  barrier_type barrier() { return part_.barrier(members(part_.places().peers, gpu_, gpus_)); }
  /// Whether a GPU's memory is reached by loads and stores: its blocks are named after a time-out. Throws
  /// invalid_argument if there is no such rank.
  bool reaches(uint32_t gpu) const {
    (void)require_rank(gpu, gpus_);
    return peers_[gpu].reachable();
  }
  /// Back to the first state, on all PEs. Collective; each calls it when its own launches on the barrier have ended.
  void reset() {
    nvshmem_barrier_all();  // until then others' launches may still tell this GPU that they have given up
    part_.reset();
    part_.connect(gpu_, peers_);
    nvshmem_barrier_all();
  }
  /// Gives the memory back to NVSHMEM when the part is destroyed, which is to be done at once. Collective: all PEs call
  /// it when their launches on the barrier have ended, and destroy their parts in the same order. Without it the memory
  /// stays with NVSHMEM until nvshmem_finalize(), so that no destructor waits for a PE that may be gone.
  void release() {
    nvshmem_barrier_all();
    is_released_ = true;
  }

 private:
  void connect() {
    using layout = algorithm::layout;
    for (uint32_t i = 0; i < gpus_; ++i) {
      multi_gpu::peer one{};
      one.number = nvshmem_team_translate_pe(team_, static_cast<int>(i), NVSHMEM_TEAM_WORLD);
      auto* const words = static_cast<uint32_t*>(nvshmem_ptr(part_.state(), one.number));
      if (words != nullptr) {
        for (uint32_t line = 0; line < 2; ++line) one.line[line] = words + layout::line + line * layout::line_words;
        const arrival_log log = part_.log_at(words);
        one.claimed = log.claimed;
        one.arrived = log.arrived;
        one.entered = log.entered;
      }
      peers_.push_back(one);
    }
    part_.connect(gpu_, peers_);
  }
};

}  // namespace gpusync
