// What the compiler at hand can do, and the words with which one text is marked for host and device.
#pragma once

#if defined(__CUDACC_RTC__)
// Not <cuda/std/cstdint>: some that compile at run time have no CUDA headers on their path.
namespace gpusync::detail::fixed_size {
using int32_t = int;
using int64_t = long;
using size_t = decltype(sizeof(0));
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;
}  // namespace gpusync::detail::fixed_size
namespace gpusync {
using detail::fixed_size::int32_t;
using detail::fixed_size::int64_t;
using detail::fixed_size::size_t;
using detail::fixed_size::uint16_t;
using detail::fixed_size::uint32_t;
using detail::fixed_size::uint64_t;
using detail::fixed_size::uintptr_t;
}  // namespace gpusync
#else
#include <cstddef>
#include <cstdint>
namespace gpusync {
using std::int32_t;
using std::int64_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uintptr_t;
}  // namespace gpusync
#endif

// GPUSYNC_API marks a function that is written once and instantiated for a GPU or for host threads. It may call
// what only one side has (through its Grid parameter), so the compiler's host/device call check is off for it.
// GPUSYNC_HD marks a function that really runs on both sides.
// GPUSYNC_API_TEMPLATE stands before a template of such a function, which then is GPUSYNC_HD.
// GPUSYNC_UNROLL(1) stands before a loop that is to stay one, GPUSYNC_UNROLL(4) before one that tests for its end every
// fourth time, GPUSYNC_UNROLL() before one that is to be unrolled whole, or what it keeps is not kept in registers; in
// device code, where alone they matter. GPUSYNC_COLD keeps a function that runs once, or hardly ever, out of the code
// that calls it.
#if defined(__CUDACC__)
#define GPUSYNC_COLD __noinline__
#else
#define GPUSYNC_COLD __attribute__((noinline))
#endif
#if defined(__CUDA_ARCH__)
#define GPUSYNC_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define GPUSYNC_UNROLL(...) GPUSYNC_PRAGMA(unroll __VA_ARGS__)
#else
#define GPUSYNC_UNROLL(...)
#endif
#if defined(__CUDACC__) && defined(__clang__)
#define GPUSYNC_HD __host__ __device__
#define GPUSYNC_API __host__ __device__
#define GPUSYNC_API_TEMPLATE
#elif defined(__CUDACC__)
#define GPUSYNC_HD __host__ __device__
#define GPUSYNC_API _Pragma("nv_exec_check_disable") __host__ __device__
#define GPUSYNC_API_TEMPLATE _Pragma("nv_exec_check_disable")
#else
#define GPUSYNC_HD
#define GPUSYNC_API
#define GPUSYNC_API_TEMPLATE
#endif

#if defined(__SANITIZE_THREAD__)
#define GPUSYNC_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GPUSYNC_THREAD_SANITIZER 1
#endif
#endif

namespace gpusync::detail {

/// Words of 32 bits in a line of NVIDIA's L2 cache: what lies on lines of its own is not disturbed by its neighbours.
inline constexpr uint32_t line_words = 32;
/// `words`, rounded up to whole lines.
GPUSYNC_HD constexpr size_t whole_lines(size_t words) {
  return (words + line_words - 1) / line_words * line_words;
}

}  // namespace gpusync::detail
