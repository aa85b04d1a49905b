// How many blocks fill a multiprocessor.
#pragma once

namespace gpusync::tool {

/// Threads that a multiprocessor of the GPU holds for which this is being compiled.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
inline constexpr unsigned threads_of_multiprocessor = 1024;
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
inline constexpr unsigned threads_of_multiprocessor = 1536;
#else
inline constexpr unsigned threads_of_multiprocessor = 2048;
#endif

/// As many blocks of so many threads as it holds, or `Most`, for __launch_bounds__: the assembler warns of more.
template <unsigned Threads, unsigned Most = threads_of_multiprocessor>
inline constexpr unsigned full_blocks =
    threads_of_multiprocessor / Threads < Most ? threads_of_multiprocessor / Threads : Most;

}  // namespace gpusync::tool
