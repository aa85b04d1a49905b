// Computations in steps on OpenCL devices, under every way to pass from step to step: the engine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <gpusync/opencl/registry.hpp>

#include "boundary/arrays.hpp"
#include "boundary/opencl_target.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// The kernels of one text on one device, compiled when they are first asked for, and the storages of their barriers,
/// which learn how many work-groups of them run at once.
class opencl_kernels {
 public:
  /// `text` is what steps.cl wants to stand before it, behind step_text.h; `options` are for the compiler. `target`
  /// must outlive this. `barriers`: those that it may be run with.
  opencl_kernels(const opencl_target& target, std::string text, std::string options = "",
                 std::vector<opencl::barrier_method> barriers = opencl::barrier_methods())
      : target_(target), text_(std::move(text)), options_(std::move(options)), barriers_(std::move(barriers)) {}

  const opencl_target& target() const { return target_; }
  const std::vector<opencl::barrier_method>& barriers() const { return barriers_; }
  /// Null if there is none of that name.
  const opencl::barrier_method* barrier(const std::string& name) const;

  cl::Kernel& single() { return kernel(nullptr, "run_one_step"); }
  cl::Kernel& idle() { return kernel(nullptr, "run_idle_step"); }
  /// With a barrier between the steps; null: none.
  cl::Kernel& all(const opencl::barrier_method* between) { return kernel(between, "run_all_steps"); }
  /// One that serves all programs. Of the default algorithm if `between` is null: kernels take one for trials.
  std::shared_ptr<opencl::barrier_storage> storage(const opencl::barrier_method* between);

 private:
  cl::Kernel& kernel(const opencl::barrier_method* between, const char* name);

  const opencl_target& target_;
  const std::string text_, options_;
  const std::vector<opencl::barrier_method> barriers_;
  std::map<std::pair<std::string, std::string>, cl::Kernel> kernels_;  ///< by barrier and name
  std::map<std::string, cl::Program> programs_;                        ///< by barrier
  std::map<const opencl::barrier_algorithm*, std::shared_ptr<opencl::barrier_storage>> storages_;
};

/// Arrays in buffers.
class opencl_arrays : public arrays {
 public:
  opencl_arrays(const opencl_target& where, std::vector<array_content> content);

  /// Sets all of them as arguments, the first as number `next`; returns the number behind the last.
  cl_uint set_arguments(cl::Kernel& kernel, cl_uint next) const;
  /// Bytes of the buffers, as OpenCL says.
  uint64_t allocated() const;

  void read(size_t array, void* to) override;

 private:
  void fill(size_t array) override;
  void finish() override;

  const opencl_target& where_;
  std::vector<cl::Buffer> buffers_;
};

/// What differs between programs is how the steps of a run are carried out.
class opencl_program : public checked_program {
 public:
  opencl_program(const opencl_target& where, const step_shape& shape, std::shared_ptr<run_data> data,
                 step_sequence steps)
      : checked_program(std::move(data), std::move(steps)), where_(where), shape_(shape) {}

  run_times times() const override { return times_; }

 protected:
  /// Runs the steps; the events are of the first and of the last command.
  virtual void carry_out(uint32_t count, cl::Event& first, cl::Event& last) = 0;
  /// Whether the host waits within carry_out(), so that its clock says what the steps take.
  virtual bool by_host_clock() const { return false; }
  /// Makes ready what a run needs; not in the figure.
  virtual void arrange() {}

  const cl::CommandQueue& queue() const { return where_.queue; }
  cl::NDRange global() const { return cl::NDRange(size_t{shape_.blocks} * shape_.threads); }
  cl::NDRange local() const { return cl::NDRange(shape_.threads); }

  const opencl_target& where_;
  const step_shape shape_;

 private:
  double compute(uint32_t count) override;

  run_times times_;
};

/// One computation.
struct opencl_computation {
  std::shared_ptr<opencl_kernels> kernels;
  /// Sets the arguments that STEP_PARAMETERS declares, the first of them as number `first`.
  std::function<void(cl::Kernel&, cl_uint first)> set_arguments;
  step_sequence steps;
  std::shared_ptr<run_data> data;
  bool own_storage = false;  ///< its barrier has a storage for just its shape, not one for all
};

/// Every method that a computation has; the floor, one kernel that waits for nothing, only if `floor`.
std::vector<step_method> methods_on_opencl(const opencl_kernels& kernels, bool floor);

/// The program of one of these methods; see workload::prepare().
std::unique_ptr<program> prepare_program(const step_method& method, const step_shape& shape,
                                         opencl_computation computation);

/// The most work-groups of `items` work-items that run at once under all of these methods, found by trials; UINT64_MAX
/// if none needs that. `set_arguments` as above; what they point to is not touched.
uint64_t max_co_resident_on_opencl(opencl_kernels& kernels,
                                   const std::function<void(cl::Kernel&, cl_uint first)>& set_arguments,
                                   const std::vector<step_method>& methods, uint32_t items);

// What workload_of() asks of a computation.
inline std::vector<step_method> methods_of(const opencl_computation& what) {
  return methods_on_opencl(*what.kernels, false);
}
inline uint64_t max_co_resident_of(const opencl_computation& what, const std::vector<step_method>& methods,
                                   uint32_t items) {
  return max_co_resident_on_opencl(*what.kernels, what.set_arguments, methods, items);
}

}  // namespace gpusync::tool
