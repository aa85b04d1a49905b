#include "workloads/stepped/stepped_opencl.hpp"

#include <algorithm>
#include <map>

#include "embedded/stepped_cl.hpp"
#include "measure/host_timer.hpp"

namespace gpusync::tool {

class opencl_stepper {
 public:
  opencl_stepper(const opencl_target& target, std::string text, std::string options)
      : target_(target), text_(std::move(text)), options_(std::move(options)) {}

  const opencl_target& target() const { return target_; }

  cl::Kernel& single() { return kernel("", opencl::lock_based, ordering::none, "stepped_single"); }
  cl::Kernel& persistent(const opencl::barrier_method& between) {
    return kernel(between.name(), *between.algorithm, between.order, "stepped_persistent");
  }

  opencl::barrier_storage& storage(const opencl::barrier_algorithm& algorithm) {
    auto& made = storages_[&algorithm];
    if (!made) made = std::make_unique<opencl::barrier_storage>(target_.queue, algorithm.max_groups, algorithm);
    return *made;
  }

 private:
  cl::Kernel& kernel(const std::string& key, const opencl::barrier_algorithm& algorithm, ordering order,
                     const char* name) {
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
    const cl::Program program =
        opencl::build(target_.context, target_.device,
                      opencl::barrier_source(algorithm, order) + text_ + embedded::stepped_cl, options_);
    return opencl::checked([&]() -> cl::Kernel& { return kernels_[key] = cl::Kernel(program, name); });
  }

  const opencl_target& target_;
  const std::string text_, options_;
  std::map<std::string, cl::Kernel> kernels_;
  std::map<const opencl::barrier_algorithm*, std::unique_ptr<opencl::barrier_storage>> storages_;
};

namespace {

class program : public checked_program {
 public:
  program(std::shared_ptr<opencl_stepper> stepper, opencl_steps steps, const step_shape& shape,
          std::shared_ptr<run_data> data)
      : checked_program(std::move(data)), stepper_(std::move(stepper)), steps_(std::move(steps)), shape_(shape) {}

 protected:
  cl::NDRange global() const { return cl::NDRange(size_t{shape_.blocks} * shape_.threads); }
  cl::NDRange local() const { return cl::NDRange(shape_.threads); }
  const cl::CommandQueue& queue() const { return stepper_->target().queue; }

  const std::shared_ptr<opencl_stepper> stepper_;
  const opencl_steps steps_;
  const step_shape shape_;
};

/// A kernel for each step; the end of one is the boundary.
class relaunch_program : public program {
 public:
  relaunch_program(std::shared_ptr<opencl_stepper> stepper, opencl_steps steps, const step_shape& shape,
                   std::shared_ptr<run_data> data, bool waited_for)
      : program(std::move(stepper), std::move(steps), shape, std::move(data)), waited_for_(waited_for) {
    stepper_->target().require_size(stepper_->single(), shape.threads);
  }

 private:
  /// Often enough that the device never runs dry, seldom enough that flushing costs nothing.
  static constexpr uint32_t enqueued_per_flush = 64;

  double compute() override {
    return opencl::checked([&] {
      cl::Kernel& kernel = stepper_->single();
      steps_.set_arguments(kernel, 1);
      const host_timer timer;
      cl::Event first, last;
      const uint32_t steps = steps_.count;
      for (uint32_t step = 0; step < steps; ++step) {
        if (step % enqueued_per_flush == 0 && is_interrupted()) {
          queue().finish();
          throw run_interrupted();
        }
        kernel.setArg(0, cl_uint{step});
        cl::Event* const event = waited_for_ ? nullptr : step == 0 ? &first : step + 1 == steps ? &last : nullptr;
        queue().enqueueNDRangeKernel(kernel, cl::NullRange, global(), local(), nullptr, event);
        if (waited_for_) {
          queue().finish();
        } else if (step % enqueued_per_flush == 0) {
          queue().flush();
        }
      }
      if (waited_for_ || steps == 0) return timer.nanoseconds();
      queue().finish();
      return profiled(first, steps == 1 ? first : last);
    });
  }

  const bool waited_for_;
};

/// One kernel for all steps.
class persistent_program : public program {
 public:
  persistent_program(std::shared_ptr<opencl_stepper> stepper, opencl_steps steps, const opencl::barrier_method& between,
                     const step_shape& shape, std::shared_ptr<run_data> data)
      : program(std::move(stepper), std::move(steps), shape, std::move(data)), between_(between) {
    cl::Kernel& kernel = stepper_->persistent(between_);
    stepper_->target().require_size(kernel, shape.threads);
    set_arguments(kernel);
    opencl::require_co_resident(queue(), kernel, storage(), shape.blocks, local());
  }

 private:
  opencl::barrier_storage& storage() const { return stepper_->storage(*between_.algorithm); }

  void set_arguments(cl::Kernel& kernel) const {
    opencl::checked([&] {
      kernel.setArg(0, storage().buffer());
      steps_.set_arguments(kernel, 1);
    });
  }

  double compute() override {
    cl::Kernel& kernel = stepper_->persistent(between_);
    set_arguments(kernel);
    return opencl::checked([&] {
      const cl::Event event = opencl::launch(queue(), kernel, storage(), global(), local());
      queue().finish();
      return profiled(event, event);
    });
  }

  const opencl::barrier_method between_;
};

class workload : public whole_workload {
 public:
  workload(std::shared_ptr<opencl_stepper> stepper, opencl_steps steps, std::shared_ptr<run_data> data)
      : stepper_(std::move(stepper)), steps_(std::move(steps)), data_(std::move(data)) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all{
        {"launch-wait", "NDRange and clFinish for each step", {"F1"}, method_kind::host_wait, true, false},
        {"relaunch", "NDRange for each step, queued in order", {"F1"}, method_kind::launch, true, false},
    };
    for (const opencl::barrier_method& each : opencl::barrier_methods()) {
      std::vector<std::string> items;
      if (*each.paper_item() != '\0') items.emplace_back(each.paper_item());
      all.push_back(
          {each.name(), each.name() + " barrier", items, method_kind::barrier, orders_data(each.order), true});
    }
    return all;
  }

  std::unique_ptr<whole_program> prepare(const step_method& method, const step_shape& shape) override {
    if (method.name == "launch-wait") return std::make_unique<relaunch_program>(stepper_, steps_, shape, data_, true);
    if (method.name == "relaunch") return std::make_unique<relaunch_program>(stepper_, steps_, shape, data_, false);
    for (const opencl::barrier_method& each : opencl::barrier_methods()) {
      if (each.name() == method.name) return std::make_unique<persistent_program>(stepper_, steps_, each, shape, data_);
    }
    throw invalid_argument("There is no method " + method.name + " on OpenCL devices.");
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    uint64_t least = UINT64_MAX;
    for (const opencl::barrier_method& each : opencl::barrier_methods()) {
      if (std::none_of(methods.begin(), methods.end(),
                       [&](const step_method& method) { return method.name == each.name(); })) {
        continue;
      }
      cl::Kernel& kernel = stepper_->persistent(each);
      opencl::barrier_storage& storage = stepper_->storage(*each.algorithm);
      opencl::checked([&] { kernel.setArg(0, storage.buffer()); });
      steps_.set_arguments(kernel, 1);
      least = std::min<uint64_t>(
          least, opencl::resident_groups(stepper_->target().queue, kernel, storage, cl::NDRange(threads)));
    }
    return least;
  }

 private:
  const std::shared_ptr<opencl_stepper> stepper_;
  const opencl_steps steps_;
  const std::shared_ptr<run_data> data_;
};

}  // namespace

std::shared_ptr<opencl_stepper> make_stepper(const opencl_target& target, std::string text, std::string options) {
  return std::make_shared<opencl_stepper>(target, std::move(text), std::move(options));
}

std::unique_ptr<whole_workload> stepped_on_opencl(std::shared_ptr<opencl_stepper> stepper, opencl_steps steps,
                                                  std::shared_ptr<run_data> data) {
  return std::make_unique<workload>(std::move(stepper), std::move(steps), std::move(data));
}

}  // namespace gpusync::tool
