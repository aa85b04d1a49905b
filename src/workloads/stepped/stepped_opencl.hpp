// Computations in steps on OpenCL devices, under every way to pass from step to step.
#pragma once

#include <functional>
#include <string>

#include "workloads/device_side/opencl_side.hpp"
#include "workloads/whole_program.hpp"

namespace gpusync::tool {

/// The kernels of one computation on one device, compiled when they are first asked for, and the storages of their
/// barriers, which learn how many work-groups of them run at once.
class opencl_stepper;

/// `text` is what stepped.cl wants to stand before it, `options` are for the compiler. `target` must outlive it.
std::shared_ptr<opencl_stepper> make_stepper(const opencl_target& target, std::string text, std::string options);

/// What one workload does with them.
struct opencl_steps {
  uint32_t count = 0;
  /// Sets the arguments that STEP_PARAMETERS declare, the first of them as number `first`.
  std::function<void(cl::Kernel&, cl_uint first)> set_arguments;
};

/// The workload of these steps, which compute on `data`.
std::unique_ptr<whole_workload> stepped_on_opencl(std::shared_ptr<opencl_stepper> stepper, opencl_steps steps,
                                                  std::shared_ptr<run_data> data);

}  // namespace gpusync::tool
