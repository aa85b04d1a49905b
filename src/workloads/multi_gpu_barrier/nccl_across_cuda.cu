// Other libraries' ways to join GPUs: NCCL's barrier for kernels and its smallest all-reduce, where CMake has found
// NCCL; elsewhere they are listed and refused.
#ifdef GPUSYNC_WITH_NCCL
// NCCL's headers do not compile without warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wextra"
#include <nccl.h>
#include <nccl_device.h>
#pragma GCC diagnostic pop

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#endif

#include "workloads/multi_gpu_barrier/across_launches.cuh"
#include "workloads/multi_gpu_barrier/across_three_steps.cuh"
#include "workloads/multi_gpu_barrier/nccl_version.hpp"

namespace gpusync::tool {

namespace {

class nccl_exchange;
class by_all_reduce;

#ifdef GPUSYNC_WITH_NCCL

constexpr int nccl_headers = NCCL_VERSION_CODE;
constexpr double nccl_limit_s = 120;  ///< for communicators, which take seconds

int nccl_library() {
  int version = 0;
  return ncclGetVersion(&version) == ncclSuccess ? version : 0;
}

void check_nccl(ncclResult_t result, const std::string& call) {
  if (result == ncclSuccess) return;
  throw runtime_failure(call + ": " + ncclGetErrorString(result) + " (" + ncclGetLastError(nullptr) + ")", result);
}

/// A rank in a group of GPUs: one object for each GPU, each made by a thread of its own.
struct nccl_rank {
  ncclComm_t communicator = nullptr;
  ncclDevComm in_kernels{};
};

/// Blocks of a GPU call barrier 0, or none: those enter barrier 1, and leave it as it was.
constexpr int nccl_barriers = 2;

nccl_rank join_nccl(const ncclUniqueId& id, int ordinal, int rank, int ranks) {
  check_cuda(cudaSetDevice(ordinal), "cudaSetDevice");
  nccl_rank made;
  check_nccl(ncclCommInitRank(&made.communicator, ranks, id, rank), "ncclCommInitRank");
#ifdef NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER
  ncclDevCommRequirements needs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
#else
  ncclDevCommRequirements needs{};
#endif
  needs.lsaBarrierCount = nccl_barriers;
  needs.lsaMultimem = false;
  check_nccl(ncclDevCommCreate(made.communicator, &needs, &made.in_kernels), "ncclDevCommCreate");
  if (made.in_kernels.lsaSize != ranks) {
    throw invalid_argument("NCCL's barrier for kernels joins only " + std::to_string(made.in_kernels.lsaSize) +
                           " of these " + std::to_string(ranks) + " GPUs.");
  }
  return made;
}

/// Ranks that are being made. Threads may never come back if one of them has failed: they own it too.
struct nccl_making {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<nccl_rank> ranks;
  size_t done = 0;
  std::exception_ptr failure;
};

std::vector<nccl_rank> make_nccl_ranks(const std::vector<int>& ordinals) {
  // Multicast is never used, whatever the environment says; the rest is what it takes on one host.
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  setenv("NCCL_CUMEM_ENABLE", "1", 0);
  setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  ncclUniqueId id;
  check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  const auto making = std::make_shared<nccl_making>();
  const auto count = static_cast<int>(ordinals.size());
  making->ranks.resize(ordinals.size());
  for (int rank = 0; rank < count; ++rank) {
    std::thread([making, id, ordinal = ordinals[rank], rank, count] {
      nccl_rank made;
      std::exception_ptr failure;
      try {
        made = join_nccl(id, ordinal, rank, count);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard<std::mutex> lock(making->mutex);
      making->ranks[rank] = made;
      if (!making->failure) making->failure = failure;
      ++making->done;
      making->changed.notify_all();
    }).detach();
  }
  std::unique_lock<std::mutex> lock(making->mutex);
  const bool in_time = making->changed.wait_for(lock, std::chrono::duration<double>(nccl_limit_s), [&] {
    return making->failure != nullptr || making->done == making->ranks.size();
  });
  if (making->failure) std::rethrow_exception(making->failure);
  if (!in_time) {
    throw error("NCCL has not joined " + std::to_string(count) + " GPUs in " +
                std::to_string(static_cast<int>(nccl_limit_s)) + " s.");
  }
  return making->ranks;
}

/// The ranks of these GPUs, made once. Never destroyed: that would wait for kernels that may be stuck. A failure is
/// kept, too.
const std::vector<nccl_rank>& nccl_ranks_of(const std::vector<cuda_target>& targets) {
  struct outcome {
    std::vector<nccl_rank> ranks;
    std::exception_ptr failure;
  };
  static auto* const known = new std::map<std::vector<int>, outcome>;
  std::vector<int> ordinals;
  for (const cuda_target& one : targets) ordinals.push_back(one.device().ordinal());
  const auto [entry, is_new] = known->try_emplace(ordinals);
  if (is_new) {
    try {
      entry->second.ranks = make_nccl_ranks(ordinals);
    } catch (...) {
      entry->second.failure = std::current_exception();
    }
  }
  if (entry->second.failure) std::rethrow_exception(entry->second.failure);
  return entry->second.ranks;
}

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

#else

constexpr int nccl_headers = 0;
int nccl_library() {
  return 0;
}

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
                                const std::string why = why_no_nccl(nccl_headers, nccl_library());
                                if (!why.empty()) throw invalid_argument(why);
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
