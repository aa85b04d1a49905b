// Barriers across GPUs of which each belongs to another process of the host.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/multi_gpu/cuda.cuh>

namespace gpusync {

namespace multi_gpu {

/// Device memory as another process may open it: a cudaMalloc() of its own, or a place in one. Trivially copyable, so
/// that it can be sent by whatever means.
struct shared_memory {
  cudaIpcMemHandle_t handle;  ///< of the allocation
  size_t offset;              ///< bytes, of the place

  /// Of a place in the allocation that begins at `base`. Throws cuda_failure where the device cannot share memory.
  static shared_memory of(void* base, const void* place) {
    shared_memory made{};
    check_cuda(cudaIpcGetMemHandle(&made.handle, base), "cudaIpcGetMemHandle");
    made.offset = static_cast<size_t>(static_cast<const char*>(place) - static_cast<const char*>(base));
    return made;
  }
};

/// Memory of another process, open for a device of this one as long as this lives. What is there is kept by the other
/// process: it must not free it before.
class opened_memory {
 public:
  /// Throws cuda_failure, also for memory of this very process, which needs no opening.
  opened_memory(const cuda_device& device, const shared_memory& which) : ordinal_(device.ordinal()) {
    const cuda_device_scope scope(ordinal_);
    check_cuda(cudaIpcOpenMemHandle(&base_, which.handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
    place_ = static_cast<char*>(base_) + which.offset;
  }
  ~opened_memory() {
    if (base_ == nullptr) return;
    const cuda_device_scope scope(ordinal_);
    (void)cudaIpcCloseMemHandle(base_);
  }
  opened_memory(opened_memory&& other) noexcept
      : ordinal_(other.ordinal_), base_(std::exchange(other.base_, nullptr)), place_(other.place_) {}
  opened_memory(const opened_memory&) = delete;
  opened_memory& operator=(const opened_memory&) = delete;

  /// The place, as kernels of the device have it.
  void* address() const { return place_; }

 private:
  int ordinal_;
  void* base_ = nullptr;
  void* place_ = nullptr;
};

/// Where one process's part of a barrier lies, for the other processes. Trivially copyable.
struct part_address {
  uint32_t gpu;            ///< its rank
  uint32_t gpus;           ///< of the barrier
  uint32_t blocks;         ///< the most on each
  uint32_t seal;           ///< what stands in the part's memory: the opener looks whether it is there
  char algorithm[32];      ///< its name
  shared_memory words;     ///< of its words
  shared_memory lines[2];  ///< what peers write to
};

}  // namespace multi_gpu

/// One process's part of a barrier of all blocks of several GPUs, of which each belongs to another process of the host.
/// Each process makes its part, sends address() to all others, and calls connect() with those of all:
///   gpusync::cuda_gpu_part<> part(device, rank, gpus, blocks);
///   exchange(part.address(), all);          // by pipes, sockets, MPI: all ranks' addresses, in their order
///   part.connect(all);
///   gpusync::launch(device, stream, shape, kernel, part.barrier(), …);
///
/// Every process must keep its part until all have ended their launches. Should a process die, waits with a deadline in
/// the others time out and name its GPU; waits without one go on for ever, so use deadlines (or end the processes
/// together).
template <class Algorithm = multi_gpu::default_algorithm>
class cuda_gpu_part : public detail::part_of_process<Algorithm, cuda_grid, detail::cuda_backend,
                                                     detail::exchange_placement<Algorithm>> {
  using placement = detail::exchange_placement<Algorithm>;
  using base = detail::part_of_process<Algorithm, cuda_grid, detail::cuda_backend, placement>;
  using base::blocks_;
  using base::gpu_;
  using base::gpus_;
  using base::part_;
  using base::peers_;

 public:
  /// What kernels take: by value as a parameter, and by reference in what they call.
  using barrier_type = basic_grid_barrier<Algorithm, cuda_grid, multi_gpu::across_gpus>;

  /// The part of rank `gpu` of `gpus`, for up to `blocks` blocks on each, the same in all processes. Makes a survey as
  /// cuda_barrier_storage. Throws invalid_argument, cuda_failure.
  cuda_gpu_part(const cuda_device& device, uint32_t gpu, uint32_t gpus, block_count blocks)
      : base(device, gpu, gpus, blocks, 0, placement(device)),
        device_(device),
        counts_(gpus, blocks_),
        seal_(std::random_device()()) {
    write_seal();
  }

  /// What the other processes need.
  multi_gpu::part_address address() {
    const cuda_device_scope scope(device_.ordinal());
    multi_gpu::part_address made{};
    made.gpu = gpu_;
    made.gpus = gpus_;
    made.blocks = blocks_;
    made.seal = seal_;
    std::strncpy(made.algorithm, Algorithm::family, sizeof(made.algorithm) - 1);
    made.words = multi_gpu::shared_memory::of(part_.state(), part_.state());
    for (uint32_t i = 0; i < 2; ++i) {
      uint32_t* const line = part_.places().line[i];
      uint32_t* const base = part_.lines_base();
      made.lines[i] = base == nullptr ? multi_gpu::shared_memory::of(part_.state(), line)
                                      : multi_gpu::shared_memory::of(base, line);
    }
    return made;
  }

  /// Opens the other processes' parts: the addresses of all ranks, in their order. Returns when they can be written to;
  /// kernels may start once all processes have connected. Throws invalid_argument if they do not fit together;
  /// cuda_failure if the memory of one cannot be opened, as that of this very process.
  void connect(const std::vector<multi_gpu::part_address>& all) {
    if (all.size() != gpus_) {
      throw invalid_argument("A barrier of " + std::to_string(gpus_) + " GPUs was given " + std::to_string(all.size()) +
                             " addresses.");
    }
    opened_.clear();
    peers_.clear();
    for (uint32_t i = 0; i < gpus_; ++i) {
      require_fitting(all[i], i);
      peers_.push_back(i == gpu_ ? part_.as_peer() : opened(all[i]));
    }
    part_.connect(gpu_, peers_);
  }

  /// The barrier to hand to the kernel. Throws invalid_argument before connect().
  barrier_type barrier() {
    if (peers_.size() != gpus_) throw invalid_argument("A part of a barrier was used before it was connected.");
    multi_gpu::across_gpus who(part_.places().peers, gpu_, gpus_, blocks_);
    for (uint32_t i = 0; i < gpus_; ++i) who.blocks_of(i, counts_[i]);
    return part_.barrier(who);
  }
  /// As multi_gpu_storage::expect_blocks(): for launches of other processes, too.
  void expect_blocks(uint32_t gpu, block_count blocks) {
    if (gpu >= gpus_ || blocks == 0 || blocks > blocks_) {
      throw invalid_argument("There is no GPU " + std::to_string(gpu) + " with " + std::to_string(blocks) +
                             " blocks in this barrier of " + std::to_string(gpus_) + " GPUs with up to " +
                             std::to_string(blocks_) + " blocks.");
    }
    counts_[gpu] = static_cast<uint32_t>(blocks);
  }

  /// Back to the first state. All processes must call it, when no kernel uses the barrier in any of them, and none may
  /// start one before all have. Blocking.
  void reset() {
    part_.reset();
    write_seal();
    if (peers_.size() == gpus_) part_.connect(gpu_, peers_);
  }

 private:
  void require_fitting(const multi_gpu::part_address& one, uint32_t rank) const {
    if (one.gpu == rank && one.gpus == gpus_ && one.blocks == blocks_ &&
        std::strncmp(one.algorithm, Algorithm::family, sizeof(one.algorithm) - 1) == 0) {
      return;
    }
    throw invalid_argument(
        "The address in place " + std::to_string(rank) + " is of GPU " + std::to_string(one.gpu) + " of a barrier (" +
        std::string(one.algorithm, strnlen(one.algorithm, sizeof(one.algorithm))) + ") of " + std::to_string(one.gpus) +
        " GPUs with up to " + std::to_string(one.blocks) + " blocks, and not of this one.");
  }
  multi_gpu::peer opened(const multi_gpu::part_address& one) {
    opened_.emplace_back(device_, one.words);
    auto* const words = static_cast<uint32_t*>(opened_.back().address());
    uint32_t seal = 0;
    const cuda_device_scope scope(device_.ordinal());
    check_cuda(cudaMemcpy(&seal, words + Algorithm::layout::seal, sizeof(seal), cudaMemcpyDefault), "cudaMemcpy");
    if (seal != one.seal) {
      throw invalid_argument("What was opened as the memory of GPU " + std::to_string(one.gpu) +
                             " is not: its process has freed it, or the address is of another run.");
    }
    multi_gpu::peer made{};
    for (uint32_t i = 0; i < 2; ++i) {
      opened_.emplace_back(device_, one.lines[i]);
      made.line[i] = static_cast<uint32_t*>(opened_.back().address());
    }
    const arrival_log log = part_.log_at(words);
    made.claimed = log.claimed;
    made.arrived = log.arrived;
    made.entered = log.entered;
    return made;
  }
  void write_seal() { part_.write({seal_}, Algorithm::layout::seal); }

  cuda_device device_;
  std::vector<uint32_t> counts_;
  uint32_t seal_;
  std::vector<multi_gpu::opened_memory> opened_;
};

}  // namespace gpusync
