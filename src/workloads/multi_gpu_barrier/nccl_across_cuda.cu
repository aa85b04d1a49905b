// Other libraries' ways to join GPUs: NCCL's barrier for kernels and its smallest all-reduce, where CMake has found
// NCCL; elsewhere they are listed and refused.
#include "boundary/nccl_ranks.cuh"
#include "workloads/multi_gpu_barrier/across_launches.cuh"
#include "workloads/multi_gpu_barrier/across_three_steps.cuh"

namespace gpusync::tool {

namespace {

class nccl_exchange;
class by_all_reduce;

#ifdef GPUSYNC_WITH_NCCL

/// NCCL's barrier of the GPUs that reach each other's memory, by plain stores and loads.
struct nccl_gate {
  /// What NCCL keeps for the threads of a block until the kernel ends.
  struct session {
    ncclLsaBarrierSession<ncclCoopCta> barrier;
    __device__ __forceinline__ void pass() { barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel); }
  };

  ncclDevComm communicator;

  __device__ __forceinline__ session enter() const {
    return {{ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x == 0 ? 0u : 1u, /*multimem=*/false}};
  }
};

class nccl_exchange {
 public:
  using gate_type = nccl_gate;

  explicit nccl_exchange(const std::vector<cuda_target>& targets) : ranks_(nccl_ranks_of(targets)) {}
  nccl_gate of(uint32_t gpu) const { return {ranks_[gpu].in_kernels}; }
  void passed(uint32_t) {}

 private:
  const std::vector<nccl_rank>& ranks_;
};

/// Behind each step's launches a sum of 8 bytes over all GPUs, which none can have before all have come.
class by_all_reduce : public by_queues {
 public:
  by_all_reduce(const std::vector<cuda_target>& all, const cuda_device_group& group, const across_setting& setting)
      : by_queues(all, group, setting), ranks_(nccl_ranks_of(targets_)) {
    for (const cuda_target& one : targets_) {
      sums_.emplace_back(one.device(), 2 * sizeof(uint64_t));
      const uint64_t of_one[2] = {1, 0};
      one.upload(sums_.back(), of_one, sizeof(of_one));
    }
  }

  uint64_t wrong() override {
    uint64_t all = by_queues::wrong();
    for (uint32_t i = 0; i < gpus(); ++i) all += read<uint64_t>(i, terms(i) + 1) == gpus() ? 0 : 1;
    return all;
  }

 private:
  /// What the GPU adds, and behind it the sum.
  uint64_t* terms(uint32_t gpu) const { return static_cast<uint64_t*>(sums_[gpu].address()); }
  void meet() override {
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    for (uint32_t i = 0; i < gpus(); ++i) {
      check_nccl(ncclAllReduce(terms(i), terms(i) + 1, 1, ncclUint64, ncclSum, ranks_[i].communicator, streams_[i]),
                 "ncclAllReduce");
    }
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
  }

  const std::vector<nccl_rank>& ranks_;
  std::vector<cuda_buffer> sums_;
};

#endif

step_method rival(const std::string& name, const std::string& title, method_kind kind) {
  step_method method;
  method.name = name;
  method.title = title;
  method.kind = kind;
  method.rival = true;
  return method;
}

/// Program: one that needs NCCL.
template <class Program>
void add_nccl(const std::string& name, const std::string& title, method_kind kind) {
  across_methods().push_back({rival(name, title, kind), [](const auto&... of) -> std::unique_ptr<across_program> {
                                require_nccl();
                                if constexpr (nccl_headers != 0) return std::make_unique<Program>(of...);
                                return nullptr;
                              }});
}

const bool added = [] {
  add_nccl<three_steps<true, nccl_exchange>>(
      "nccl-lsa-cg", "cg's grid barrier, NCCL's barrier of the leading blocks, cg's again", method_kind::barrier);
  add_nccl<three_steps<false, nccl_exchange>>("nccl-lsa-grid-barrier",
                                              "our grid barrier, NCCL's of the leading blocks, our grid barrier",
                                              method_kind::barrier);
  add_nccl<by_all_reduce>("nccl-all-reduce", "launches, and NCCL's all-reduce of 8 bytes", method_kind::launch);
  across_methods().push_back(
      {rival("nvshmem-barrier", "nvshmem_barrier_all() by one thread of each GPU", method_kind::barrier),
       [](const auto&...) -> std::unique_ptr<across_program> {
         throw invalid_argument(
             "NVSHMEM wants a process for each GPU, and this program is one: scripts/nvshmem-barrier measures it.");
       }});
  return true;
}();

}  // namespace

}  // namespace gpusync::tool
