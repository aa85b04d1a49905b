// Memory of a CUDA device that the runs of a computation work on. Needs the CUDA runtime's headers, not nvcc.
#pragma once

#include "boundary/arrays.hpp"
#include "boundary/cuda_target.hpp"

namespace gpusync::tool {

/// Arrays in device memory; what they hold at first and must hold at last is there too.
class cuda_arrays : public arrays {
 public:
  cuda_arrays(const cuda_target& where, const std::vector<array_content>& content);

  template <class T>
  T* address(size_t array) const {
    return static_cast<T*>(all_[array].memory.address());
  }

  void reset() override;
  void read(size_t array, void* to) override;
  uint64_t different(size_t array) override;

 private:
  struct one {
    size_t bytes;
    cuda_buffer memory;
    cuda_buffer first, expected;  ///< empty where there is nothing to keep
    uint64_t pattern;
    bool anew;
  };
  void fill(const one& array) const;

  const cuda_target& where_;
  std::vector<one> all_;
  const cuda_buffer different_;
};

}  // namespace gpusync::tool
