// Workload "oversubscription" on OpenCL devices.
#include <fmt/format.h>

#include <map>

#include <gpusync/opencl/opencl.hpp>
#include "embedded/oversubscription_cl.hpp"
#include "workloads/device_side/opencl_side.hpp"
#include "workloads/oversubscription/relay_result.hpp"

namespace gpusync::tool {

namespace {

/// What all programs of a device share.
class engine : public opencl_target {
 public:
  using opencl_target::opencl_target;

  /// The thesis's form takes the thesis's barrier.
  static const opencl::barrier_algorithm& barrier_of(opencl::phased_schedule schedule) {
    return schedule == opencl::phased_schedule::flag_claiming ? opencl::centralized : opencl::lock_based;
  }

  cl::Kernel& kernel(opencl::phased_schedule schedule, const char* name) {
    cl::Kernel& made = kernels_[{schedule, name}];
    if (made() == nullptr) {
      const std::string text = opencl::phased_source(schedule, barrier_of(schedule)) + embedded::oversubscription_cl;
      const cl::Program program = opencl::build(context, device, text);
      opencl::checked([&] { made = cl::Kernel(program, name); });
    }
    return made;
  }

 private:
  std::map<std::pair<opencl::phased_schedule, std::string>, cl::Kernel> kernels_;
};

/// Memory and counting; what differs is how the phases of a run are carried out.
class opencl_relay : public step_program {
 public:
  opencl_relay(std::shared_ptr<engine> engine, const step_shape& shape)
      : engine_(std::move(engine)), shape_(shape), result_(shape) {
    std::vector<uint32_t> first = result_.first_words();
    opencl::checked([&] {
      words_ = cl::Buffer(engine_->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, first.size() * sizeof(cl_uint),
                          first.data());
      wrong_ = cl::Buffer(engine_->context, CL_MEM_READ_WRITE, sizeof(cl_uint));
    });
  }

  double run(uint64_t phases) override {
    return opencl::checked([&] {
      engine_->queue.enqueueFillBuffer(wrong_, cl_uint{0}, 0, sizeof(cl_uint));
      engine_->queue.finish();
      const double elapsed = timed(result_.next_phase(), static_cast<uint32_t>(phases));
      cl_uint wrong = 0;
      engine_->queue.enqueueReadBuffer(wrong_, CL_TRUE, 0, sizeof(wrong), &wrong);
      result_.add_run(phases, wrong);
      return elapsed;
    });
  }

  uint64_t steps_unit() const override { return 2; }

  verification verify() override {
    std::vector<uint32_t> words(2 * size_t{result_.elements()});
    opencl::checked(
        [&] { engine_->queue.enqueueReadBuffer(words_, CL_TRUE, 0, words.size() * sizeof(cl_uint), words.data()); });
    return result_.verify(words);
  }

 protected:
  /// Runs the phases and returns their nanoseconds.
  virtual double timed(uint32_t first, uint32_t phases) = 0;

  const std::shared_ptr<engine> engine_;
  const step_shape shape_;
  cl::Buffer words_;
  cl::Buffer wrong_;

 private:
  relay_result result_;
};

/// One kernel for all phases.
class phased_program : public opencl_relay {
 public:
  phased_program(std::shared_ptr<engine> engine, opencl::phased_schedule schedule, const step_shape& shape)
      : opencl_relay(std::move(engine), shape),
        kernel_(engine_->kernel(schedule, "relay_phased")),
        storage_(engine_->queue, shape.blocks, engine::barrier_of(schedule)) {
    engine_->require_size(kernel_, shape.threads);
  }

 private:
  double timed(uint32_t first, uint32_t phases) override {
    kernel_.setArg(2, words_);
    kernel_.setArg(3, wrong_);
    kernel_.setArg(4, cl_uint{first});
    kernel_.setArg(5, cl_uint{phases});
    const cl::Event event =
        opencl::launch_phased(engine_->queue, kernel_, storage_, shape_.blocks, cl::NDRange(shape_.threads));
    engine_->queue.finish();
    return profiled(event, event);
  }

  cl::Kernel& kernel_;
  opencl::phased_storage storage_;
};

/// An NDRange of all work-groups for each phase; the end of one is the boundary.
class relaunch_program : public opencl_relay {
 public:
  relaunch_program(std::shared_ptr<engine> engine, const step_shape& shape)
      : opencl_relay(std::move(engine), shape),
        kernel_(engine_->kernel(opencl::phased_schedule::striding, "relay_single")) {
    engine_->require_size(kernel_, shape.threads);
  }

 private:
  double timed(uint32_t first, uint32_t phases) override {
    kernel_.setArg(0, words_);
    kernel_.setArg(1, wrong_);
    cl::Event begin, end;
    for (uint32_t i = 0; i < phases; ++i) {
      kernel_.setArg(2, cl_uint{first + i});
      cl::Event* const event = i == 0 ? &begin : i + 1 == phases ? &end : nullptr;
      engine_->queue.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(size_t{shape_.blocks} * shape_.threads),
                                          cl::NDRange(shape_.threads), nullptr, event);
      if (i % enqueued_per_flush == 0) engine_->queue.flush();
    }
    engine_->queue.finish();
    return profiled(begin, phases == 1 ? begin : end);
  }

  static constexpr uint32_t enqueued_per_flush = 64;
  cl::Kernel& kernel_;
};

class opencl_oversubscription : public step_workload {
 public:
  explicit opencl_oversubscription(const device_description& description)
      : engine_(std::make_shared<engine>(description)),
        is_cpu_(
            opencl::checked([&] { return (engine_->device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0; })) {}

  std::vector<step_method> methods() const override { return relay_methods(); }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    if (method.name == "relaunch") return std::make_unique<relaunch_program>(engine_, shape);
    for (const opencl::phased_schedule schedule : opencl::phased_schedules) {
      if (method.name == std::string("phased-") + to_string(schedule)) {
        return std::make_unique<phased_program>(engine_, schedule, shape);
      }
    }
    throw invalid_argument("There is no method " + method.name + " on OpenCL devices.");
  }

  /// Under every schedule.
  uint64_t max_co_resident(uint32_t threads) override {
    uint32_t least = UINT32_MAX;
    for (const opencl::phased_schedule schedule : opencl::phased_schedules) {
      cl::Kernel& kernel = engine_->kernel(schedule, "relay_phased");
      engine_->require_size(kernel, threads);
      opencl::barrier_storage storage(engine_->queue, 1, engine::barrier_of(schedule));
      least = std::min(least, opencl::checked([&] {
                         const cl::Buffer untouched(engine_->context, CL_MEM_READ_WRITE, sizeof(cl_uint));
                         kernel.setArg(0, storage.buffer());
                         for (cl_uint i = 1; i < 4; ++i) kernel.setArg(i, untouched);
                         for (cl_uint i = 4; i < 6; ++i) kernel.setArg(i, cl_uint{0});
                         return opencl::resident_groups(engine_->queue, kernel, storage, cl::NDRange(threads));
                       }));
    }
    return least;
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    return {static_cast<uint32_t>(max_co_resident(default_threads(quick).front()))};
  }
  std::vector<uint32_t> default_threads(bool) override { return {is_cpu_ ? 64u : 256u}; }

 private:
  const std::shared_ptr<engine> engine_;
  const bool is_cpu_;
};

const register_workload registered("oversubscription", device_kind::opencl, [](const device_description& device) {
  return std::make_unique<opencl_oversubscription>(device);
});

}  // namespace

}  // namespace gpusync::tool
