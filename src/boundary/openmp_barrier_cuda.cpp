#include "boundary/openmp_barrier.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <sched.h>

#include <exception>
#include <mutex>

#include <gpusync/core/error.hpp>

#include "measure/host_timer.hpp"

namespace gpusync::tool {

#ifdef _OPENMP

namespace {

/// Keeps the calling thread on the `i`-th of the processors that the process may use; where that cannot be, anywhere.
void stay_on_processor(uint32_t i) {
  cpu_set_t allowed;
  if (pthread_getaffinity_np(pthread_self(), sizeof(allowed), &allowed) != 0) return;
  const auto count = static_cast<uint32_t>(CPU_COUNT(&allowed));
  uint32_t before = count == 0 ? 0 : i % count;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || before-- != 0) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(own), &own);
    return;
  }
}

}  // namespace

double steps_with_openmp_barrier(uint32_t gpus, uint32_t steps, uint32_t warm_up,
                                 const std::function<void(uint32_t, uint32_t)>& step) {
  cpu_set_t before;
  const bool known = pthread_getaffinity_np(pthread_self(), sizeof(before), &before) == 0;
  std::exception_ptr failure;
  std::mutex mutex;
  double nanoseconds = 0;
  uint32_t threads = 0;
#pragma omp parallel num_threads(static_cast <int>(gpus)) default(shared)
  {
    const auto self = static_cast<uint32_t>(omp_get_thread_num());
    if (self == 0) threads = static_cast<uint32_t>(omp_get_num_threads());
    stay_on_processor(self);
#pragma omp barrier
    host_timer clock;
    for (uint32_t i = 0; i < steps && threads == gpus; ++i) {
      if (i == warm_up) clock = host_timer();
      try {
        step(self, i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
      }
#pragma omp barrier
    }
    if (self == 0) nanoseconds = clock.nanoseconds();
  }
  if (known) (void)pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
  if (threads != gpus) throw invalid_argument("OpenMP has not given a thread to each GPU.");
  if (failure) std::rethrow_exception(failure);
  return nanoseconds / (steps - warm_up);
}

#else

double steps_with_openmp_barrier(uint32_t, uint32_t, uint32_t, const std::function<void(uint32_t, uint32_t)>&) {
  throw invalid_argument("This build has no OpenMP, by whose barrier the host's threads would meet.");
}

#endif

}  // namespace gpusync::tool
