// Memory of a CUDA device that the runs of a computation work on. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include "boundary/arrays.hpp"
#include "boundary/cuda_target.hpp"

namespace gpusync::tool {

/// In how many 32-bit words `found` and `expected` differ, both in device memory; `counted`: eight bytes there.
/// Blocking.
uint64_t different_words(const cuda_target& where, const void* found, const void* expected, size_t words,
                         const cuda_buffer& counted);

/// Arrays in device memory; what they hold at first and must hold at last is there too, and no longer on the host.
class cuda_arrays : public arrays {
 public:
  cuda_arrays(const cuda_target& where, std::vector<array_content> content);

  template <class T>
  T* address(size_t array) const {
    return static_cast<T*>(all_[array].memory.address());
  }

  void read(size_t array, void* to) override;
  uint64_t different(size_t array) override;

 private:
  struct buffers {
    cuda_buffer memory, first, expected;  ///< the last two empty where there is nothing to keep
    bool is_first = false;                ///< the memory was made as it is found at first
  };
  void fill(size_t array) override;
  void finish() override;

  const cuda_target& where_;
  std::vector<buffers> all_;
  const cuda_buffer different_;
};

}  // namespace gpusync::tool
