// Kernels of CUDA devices, as those see them who launch them. Needs no nvcc; boundary/cuda_text.cuh makes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gpusync/core/config.hpp>

namespace gpusync::tool {

/// How a kernel is started. Dependent: with programmatic stream serialization; the kernel itself waits for the one
/// before (cudaGridDependencySynchronize()), and lets in the one behind (cudaTriggerProgrammaticLaunchCompletion())
/// before that wait, or late: behind it.
enum class kernel_start { plain, cooperative, dependent, dependent_late };

GPUSYNC_HD constexpr bool is_dependent(kernel_start how) {
  return how == kernel_start::dependent || how == kernel_start::dependent_late;
}

/// Kernels that differ in one template argument, by its name, e.g. that of a barrier.
class kernel_table {
 public:
  template <class... Parameters>
  void add(std::string name, void (*kernel)(Parameters...)) {
    kernels_.emplace_back(std::move(name), reinterpret_cast<const void*>(kernel));
  }
  /// As the CUDA runtime takes it; null if there is none of that name.
  const void* find(const std::string& name) const {
    for (const auto& [known, kernel] : kernels_) {
      if (name == known) return kernel;
    }
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, const void*>> kernels_;
};

/// What a computation's text was compiled to. All take the text first.
struct cuda_kernels {
  const void* alone;            ///< (text, steps): all steps, waiting for nothing between them
  const void* single;           ///< (text, number): one step
  const void* dependent;        ///< the same, for programmatic dependent launch: waits for the step before
  const void* dependent_late;   ///< and lets in the step behind only then
  kernel_table with_barrier;    ///< (text, steps, barrier): all steps, with the barrier of that name between them
  kernel_table with_part = {};  ///< like `alone`, by the name of what it has between the steps

  /// The kernel of one step that is started so.
  const void* step(kernel_start how) const {
    return how == kernel_start::dependent ? dependent : how == kernel_start::dependent_late ? dependent_late : single;
  }
};

/// What a text was compiled to that keeps its data on the chip, and so has no single steps. All take (text, steps,
/// barrier), by the barrier's name.
struct cuda_on_chip_kernels {
  kernel_table with_barrier;  ///< a barrier behind each step
  kernel_table split;         ///< arrives behind a step's first half, waits behind the rest
};

}  // namespace gpusync::tool
