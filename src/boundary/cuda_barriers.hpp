// Grid barriers of CUDA devices by name: what launches kernels that were compiled with them needs no nvcc.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gpusync/core/missing_block.hpp>
#include <gpusync/grid/members.hpp>
#include <gpusync/launch/shape.hpp>

#include "boundary/cuda_kernels.hpp"
#include "boundary/cuda_target.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// A method for each grid barrier of the library, in the registry's order.
std::vector<step_method> cuda_barrier_methods();

/// Those that kernels were compiled with, without clusters.
std::vector<step_method> cuda_barrier_methods_in(const kernel_table& kernels);

/// What blocks of a kernel wait by: the storage of a handle that is the kernel's last parameter.
class cuda_waiting {
 public:
  virtual ~cuda_waiting() = default;
  /// Queues a kernel that takes the handle as its last parameter, see gpusync::launch_by_address().
  virtual void launch(const cuda_target& where, const launch_shape& shape, const void* kernel,
                      std::vector<void*> arguments) = 0;
  /// Takes other device memory, unless it chooses where its words lie. Precondition: no launch is under way.
  virtual void place_anew() = 0;
};

/// A barrier's storage, whatever its algorithm.
class cuda_barrier : public cuda_waiting {
 public:
  /// One that takes a barrier which blocks may leave early. Throws invalid_argument if there is no such.
  virtual void launch_dropping(const cuda_target& where, const launch_shape& shape, const void* kernel,
                               std::vector<void*> arguments) = 0;
  /// One that takes three barriers of parts of the grid: this and two others of the same algorithm. Throws
  /// invalid_argument if there are no such.
  virtual void launch_parts(const cuda_target& where, const launch_shape& shape, const void* kernel,
                            std::vector<void*> arguments, cuda_barrier& second, cuda_barrier& third,
                            const std::array<block_range, 3>& parts) = 0;
  /// The blocks that a timed-out wait missed.
  virtual std::vector<missing_block> missing() const = 0;
};

/// Makes the storage of the barrier called `name` for `blocks` blocks, with placed counters as `plan` says if there is
/// one. Throws invalid_argument if there is no such barrier, and what its storage throws.
std::unique_ptr<cuda_barrier> make_cuda_barrier(const std::string& name, const cuda_target& where, uint32_t blocks,
                                                const std::optional<grid::counter_plan>& plan);

}  // namespace gpusync::tool
