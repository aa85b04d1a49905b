// Computations in steps on host threads, under every way to pass from step to step.
#pragma once

#include <functional>

#include <gpusync/gpusync.hpp>

#include "workloads/whole_program.hpp"

namespace gpusync::tool {

/// A computation for host threads: how many steps it has, and the calling thread's part of each.
struct host_steps {
  uint32_t count = 0;
  std::function<void(host_grid, uint32_t step)> step;
};

/// The steps of a computation whose text is also CUDA's (see stepped_cuda.cuh), copied.
template <class Work>
host_steps steps_of(const Work& work) {
  return {work.steps(), [work](host_grid grid, uint32_t step) {
            typename Work::kept kept = work.load(grid, step);
            work.step(grid, step, kept);
            work.save(grid, kept);
          }};
}

/// The workload of these steps, which compute on `data`.
std::unique_ptr<whole_workload> stepped_on_host(host_steps steps, std::shared_ptr<run_data> data);

}  // namespace gpusync::tool
