// Workload "oversubscription" on OpenCL devices.
#include <map>

#include <gpusync/opencl/opencl.hpp>
#include "boundary/steps_opencl.hpp"
#include "embedded/relay_text_h.hpp"
#include "embedded/step_text_h.hpp"
#include "workloads/oversubscription/oversubscription.hpp"

namespace gpusync::tool {

namespace {

/// The kernels of phased grids on one device.
class phased_kernels {
 public:
  explicit phased_kernels(const opencl_target& target) : target_(target) {}

  /// The thesis's form takes the thesis's barrier.
  static const opencl::barrier_algorithm& barrier_of(opencl::phased_schedule schedule) {
    return schedule == opencl::phased_schedule::flag_claiming ? opencl::centralized : opencl::lock_based;
  }

  cl::Kernel& of(opencl::phased_schedule schedule) {
    cl::Kernel& made = kernels_[schedule];
    if (made() == nullptr) {
      const cl::Program built = opencl::build(
          target_.context, target_.device,
          opencl::phased_source(schedule, barrier_of(schedule)) + embedded::step_text_h + embedded::relay_text_h);
      opencl::checked([&] { made = cl::Kernel(built, "relay_phased"); });
    }
    return made;
  }

 private:
  const opencl_target& target_;
  std::map<opencl::phased_schedule, cl::Kernel> kernels_;
};

/// One kernel for all phases.
class phased_program : public opencl_program {
 public:
  phased_program(const opencl_target& where, phased_kernels& kernels, opencl::phased_schedule schedule,
                 const step_shape& shape, std::shared_ptr<opencl_arrays> memory, std::shared_ptr<relay_result> result)
      : opencl_program(where, shape, result, relay_steps(result)),
        memory_(std::move(memory)),
        result_(*result),
        kernel_(kernels.of(schedule)),
        storage_(where.queue, shape.blocks, phased_kernels::barrier_of(schedule)) {
    where.require_size(kernel_, shape.threads);
  }

 private:
  void carry_out(uint32_t phases, cl::Event& first, cl::Event& last) override {
    memory_->set_arguments(kernel_, 2);
    kernel_.setArg(4, cl_uint{result_.next_phase()});
    kernel_.setArg(5, cl_uint{phases});
    first = last = opencl::launch_phased(queue(), kernel_, storage_, shape_.blocks, local());
  }

  const std::shared_ptr<opencl_arrays> memory_;
  const relay_result& result_;
  cl::Kernel& kernel_;
  opencl::phased_storage storage_;
};

class opencl_oversubscription : public workload {
 public:
  explicit opencl_oversubscription(const device_description& description) : target_(description) {}

  std::vector<step_method> methods() const override { return relay_methods(); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto memory = std::make_shared<opencl_arrays>(target_, relay_arrays(shape));
    const auto result = std::make_shared<relay_result>(shape, memory);
    for (const opencl::phased_schedule schedule : opencl::phased_schedules) {
      if (method.name == std::string("phased-") + to_string(schedule)) {
        return std::make_unique<phased_program>(target_, phased_, schedule, shape, memory, result);
      }
    }
    return prepare_program(
        method, shape,
        {steps_, [memory](cl::Kernel& kernel, cl_uint first) { memory->set_arguments(kernel, first); },
         relay_steps(result), result});
  }

  /// Under every schedule.
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    uint32_t least = UINT32_MAX;
    for (const opencl::phased_schedule schedule : opencl::phased_schedules) {
      cl::Kernel& kernel = phased_.of(schedule);
      target_.require_size(kernel, threads);
      opencl::barrier_storage storage(target_.queue, 1, phased_kernels::barrier_of(schedule));
      least = std::min(least, opencl::checked([&] {
                         const cl::Buffer untouched(target_.context, CL_MEM_READ_WRITE, sizeof(cl_uint));
                         kernel.setArg(0, storage.buffer());
                         for (cl_uint i = 1; i < 4; ++i) kernel.setArg(i, untouched);
                         for (cl_uint i = 4; i < 6; ++i) kernel.setArg(i, cl_uint{0});
                         return opencl::resident_groups(target_.queue, kernel, storage, cl::NDRange(threads));
                       }));
    }
    return least;
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    return {static_cast<uint32_t>(workload::max_co_resident(default_threads(quick).front()))};
  }
  std::vector<uint32_t> default_threads(bool) override { return {target_.is_cpu() ? 64u : 256u}; }

 private:
  const opencl_target target_;
  const std::shared_ptr<opencl_kernels> steps_ = std::make_shared<opencl_kernels>(target_, embedded::relay_text_h);
  phased_kernels phased_{target_};
};

const register_side<workload> registered(device_kind::opencl, make_side<opencl_oversubscription>, "oversubscription");

}  // namespace

}  // namespace gpusync::tool
