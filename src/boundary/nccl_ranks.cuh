// GPUs that NCCL joins, where CMake has found NCCL; elsewhere there is only the sentence that says so. A source that
// includes it is named in src/CMakeLists.txt, which tells it where NCCL is.
#pragma once

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
#include <vector>
#endif

#include "boundary/cuda_target.hpp"
#include "boundary/nccl_version.hpp"

namespace gpusync::tool {

#ifdef GPUSYNC_WITH_NCCL

inline constexpr int nccl_headers = NCCL_VERSION_CODE;
inline constexpr double nccl_limit_s = 120;  ///< for communicators, which take seconds

inline int nccl_library() {
  int version = 0;
  return ncclGetVersion(&version) == ncclSuccess ? version : 0;
}

inline void check_nccl(ncclResult_t result, const std::string& call) {
  if (result == ncclSuccess) return;
  throw runtime_failure(call + ": " + ncclGetErrorString(result) + " (" + ncclGetLastError(nullptr) + ")", result);
}

/// A rank in a group of GPUs: one object for each GPU, each made by a thread of its own.
struct nccl_rank {
  ncclComm_t communicator = nullptr;
  ncclDevComm in_kernels{};
};

/// Blocks of a GPU call barrier 0, or none: those enter barrier 1, and leave it as it was.
inline constexpr int nccl_barriers = 2;

inline nccl_rank join_nccl(const ncclUniqueId& id, int ordinal, int rank, int ranks) {
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

inline std::vector<nccl_rank> make_nccl_ranks(const std::vector<int>& ordinals) {
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
inline const std::vector<nccl_rank>& nccl_ranks_of(const std::vector<cuda_target>& targets) {
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

#else

inline constexpr int nccl_headers = 0;
inline int nccl_library() {
  return 0;
}

#endif

/// Throws invalid_argument, with the reason, if this program cannot use NCCL.
inline void require_nccl() {
  const std::string why = why_no_nccl(nccl_headers, nccl_library());
  if (!why.empty()) throw invalid_argument(why);
}

}  // namespace gpusync::tool
