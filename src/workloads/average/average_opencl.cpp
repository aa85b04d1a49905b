// Workload "average" on OpenCL devices.
#include <fmt/format.h>

#include <map>

#include <gpusync/opencl/opencl.hpp>
#include "embedded/average_cl.hpp"
#include "measure/host_timer.hpp"
#include "workloads/average/average_result.hpp"
#include "workloads/device_side/opencl_side.hpp"

namespace gpusync::tool {

namespace {

/// Of the kernel without a barrier between its steps.
constexpr const char* no_barrier = "no-barrier";

/// What lies between the steps of a kernel that runs them all; no algorithm: nothing.
struct boundary {
  std::string method;
  const opencl::barrier_algorithm* algorithm;
  ordering order;
};

const std::vector<boundary>& boundaries() {
  static const std::vector<boundary> all = [] {
    std::vector<boundary> list{{no_barrier, nullptr, ordering::none}};
    for (const opencl::barrier_method& each : opencl::barrier_methods()) {
      list.push_back({each.name(), each.algorithm, each.order});
    }
    return list;
  }();
  return all;
}

const boundary* find_boundary(const std::string& method) {
  for (const boundary& b : boundaries()) {
    if (method == b.method) return &b;
  }
  return nullptr;
}

/// What all programs of a device share: they run one after the other, so one queue and a barrier storage for
/// each algorithm serve them all, and what the storages have learnt about residency stays known.
class engine : public opencl_target {
 public:
  using opencl_target::opencl_target;

  /// The kernel that runs all steps with `between` after each; compiled once.
  cl::Kernel& persistent(const boundary& between) { return kernel(between.method, "average_persistent", between); }
  /// The storage of its barrier; of the default algorithm where there is none, for the kernel asks it for trials.
  opencl::barrier_storage& storage(const boundary& between) {
    const opencl::barrier_algorithm& algorithm = between.algorithm == nullptr ? opencl::lock_based : *between.algorithm;
    auto& made = storages_[&algorithm];
    if (made == nullptr) made = std::make_unique<opencl::barrier_storage>(queue, algorithm.max_groups, algorithm);
    return *made;
  }
  /// The kernel that runs one data step.
  cl::Kernel& single() { return kernel("single", "average_single", boundaries().front()); }
  /// The kernel that runs one idle step.
  cl::Kernel& idle() { return kernel("idle", "average_idle", boundaries().front()); }

 private:
  cl::Kernel& kernel(const std::string& key, const char* name, const boundary& between) {
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
    const bool barrier = between.algorithm != nullptr;
    const std::string text =
        opencl::barrier_source(barrier ? *between.algorithm : opencl::lock_based, between.order) + embedded::average_cl;
    const cl::Program program =
        opencl::build(context, device, text, barrier ? "-DAVERAGE_BARRIER=1" : "-DAVERAGE_BARRIER=0");
    return opencl::checked([&]() -> cl::Kernel& { return kernels_[key] = cl::Kernel(program, name); });
  }

  std::map<std::string, cl::Kernel> kernels_;
  std::map<const opencl::barrier_algorithm*, std::unique_ptr<opencl::barrier_storage>> storages_;
};

/// Memory and counting; what differs is how the steps of a run are carried out.
class opencl_program : public step_program {
 public:
  opencl_program(std::shared_ptr<engine> engine, const step_shape& shape, bool synchronizes)
      : engine_(std::move(engine)), shape_(shape), result_(shape, synchronizes) {
    require_whole_grid();
    std::vector<float> first = result_.first_values();
    opencl::checked([&] {
      values_ = cl::Buffer(engine_->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, first.size() * sizeof(float),
                           first.data());
      wrong_ = cl::Buffer(engine_->context, CL_MEM_READ_WRITE, sizeof(cl_uint));
    });
  }

  double run(uint64_t steps) override {
    require_steps(steps);
    return opencl::checked([&] {
      engine_->queue.enqueueFillBuffer(wrong_, cl_uint{0}, 0, sizeof(cl_uint));
      engine_->queue.finish();
      const double elapsed = timed(static_cast<uint32_t>(steps));
      cl_uint wrong = 0;
      engine_->queue.enqueueReadBuffer(wrong_, CL_TRUE, 0, sizeof(wrong), &wrong);
      result_.add_run(steps, wrong);
      return elapsed;
    });
  }

  uint64_t steps_unit() const override { return average_period; }

  verification verify() override {
    std::vector<float> values(2 * size_t{result_.elements()});
    opencl::checked(
        [&] { engine_->queue.enqueueReadBuffer(values_, CL_TRUE, 0, values.size() * sizeof(float), values.data()); });
    return result_.verify(values);
  }

 protected:
  /// Runs all steps and returns their nanoseconds.
  virtual double timed(uint32_t steps) = 0;

  cl::NDRange global() const { return cl::NDRange(result_.elements()); }
  cl::NDRange local() const { return cl::NDRange(shape_.threads); }

  const std::shared_ptr<engine> engine_;
  const step_shape shape_;
  cl::Buffer values_;
  cl::Buffer wrong_;

 private:
  void require_whole_grid() const {
    const uint64_t elements = uint64_t{shape_.blocks} * shape_.threads;
    if (elements != 0 && elements <= UINT32_MAX / 2) return;
    throw invalid_argument(fmt::format("{} work-groups of {} work-items are {} elements; 1 to {} can be computed.",
                                       shape_.blocks, shape_.threads, elements, UINT32_MAX / 2));
  }
  static void require_steps(uint64_t steps) {
    if (steps % average_period == 0 && steps >= 2 * average_checked && steps <= UINT32_MAX) return;
    throw invalid_argument(fmt::format("A run has a multiple of {} steps, from {} to {}, not {}.", average_period,
                                       2 * average_checked, UINT32_MAX / average_period * average_period, steps));
  }

  average_result result_;
};

/// One kernel for all steps.
class persistent_program : public opencl_program {
 public:
  persistent_program(std::shared_ptr<engine> engine, const boundary& between, const step_shape& shape)
      : opencl_program(std::move(engine), shape, between.algorithm != nullptr), between_(between) {
    cl::Kernel& kernel = engine_->persistent(between_);
    engine_->require_size(kernel, shape.threads);
    if (between_.algorithm != nullptr) {
      set_arguments(kernel, 0);
      opencl::require_co_resident(engine_->queue, kernel, engine_->storage(between_), shape.blocks, local());
    }
  }

 private:
  void set_arguments(cl::Kernel& kernel, uint32_t steps) const {
    opencl::checked([&] {
      kernel.setArg(0, engine_->storage(between_).buffer());
      kernel.setArg(1, values_);
      kernel.setArg(2, wrong_);
      kernel.setArg(3, cl_uint{shape_.stores});
      kernel.setArg(4, cl_uint{steps});
    });
  }

  double timed(uint32_t steps) override {
    cl::Kernel& kernel = engine_->persistent(between_);
    set_arguments(kernel, steps);
    cl::Event event;
    if (between_.algorithm != nullptr) {
      event = opencl::launch(engine_->queue, kernel, engine_->storage(between_), global(), local());
    } else {
      engine_->queue.enqueueNDRangeKernel(kernel, cl::NullRange, global(), local(), nullptr, &event);
    }
    engine_->queue.finish();
    return profiled(event, event);
  }

  const boundary between_;
};

/// A kernel for each step; the end of one is the boundary.
class relaunch_program : public opencl_program {
 public:
  relaunch_program(std::shared_ptr<engine> engine, const step_shape& shape, bool waited_for)
      : opencl_program(std::move(engine), shape, true), waited_for_(waited_for) {
    engine_->require_size(engine_->single(), shape.threads);
  }

 private:
  double timed(uint32_t steps) override {
    cl::Kernel& data_kernel = engine_->single();
    cl::Kernel& idle_kernel = engine_->idle();
    data_kernel.setArg(0, values_);
    data_kernel.setArg(1, wrong_);
    const host_timer timer;
    cl::Event first, last;
    uint32_t s = 0;
    average_each_step(shape_.stores, steps, [&](uint32_t step, bool data_step, bool check) {
      if (data_step) {
        data_kernel.setArg(2, cl_uint{step});
        data_kernel.setArg(3, cl_uint{check});
      }
      cl::Event* const event = waited_for_ ? nullptr : s == 0 ? &first : s + 1 == steps ? &last : nullptr;
      engine_->queue.enqueueNDRangeKernel(data_step ? data_kernel : idle_kernel, cl::NullRange, global(), local(),
                                          nullptr, event);
      if (waited_for_) {
        engine_->queue.finish();
      } else if (s % enqueued_per_flush == 0) {
        engine_->queue.flush();
      }
      ++s;
    });
    if (waited_for_) return timer.nanoseconds();
    engine_->queue.finish();
    return profiled(first, last);
  }

  /// Often enough that the device never runs dry, seldom enough that flushing costs nothing.
  static constexpr uint32_t enqueued_per_flush = 64;

  const bool waited_for_;
};

class opencl_average : public step_workload {
 public:
  explicit opencl_average(const device_description& description)
      : engine_(std::make_shared<engine>(description)),
        compute_units_(static_cast<uint32_t>(std::max(1, description.compute_units))) {
    is_cpu_ = opencl::checked([&] { return (engine_->device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0; });
  }

  std::vector<step_method> methods() const override {
    std::vector<step_method> methods{
        {no_barrier, "no barrier (the work alone)", {"F12"}, method_kind::floor, true, false},
        {"launch-wait", "NDRange and clFinish for each step", {"S1", "F1"}, method_kind::host_wait, true, false},
        {"relaunch", "NDRange for each step, queued in order", {"F1"}, method_kind::launch, true, false},
    };
    for (const opencl::barrier_method& each : opencl::barrier_methods()) {
      std::vector<std::string> items;
      if (*each.paper_item() != '\0') items.emplace_back(each.paper_item());
      methods.push_back(
          {each.name(), each.name() + " barrier", items, method_kind::barrier, orders_data(each.order), true});
    }
    return methods;
  }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    if (method.name == "launch-wait") return std::make_unique<relaunch_program>(engine_, shape, true);
    if (method.name == "relaunch") return std::make_unique<relaunch_program>(engine_, shape, false);
    const boundary* between = find_boundary(method.name);
    if (between == nullptr) throw invalid_argument("There is no method " + method.name + " on OpenCL devices.");
    return std::make_unique<persistent_program>(engine_, *between, shape);
  }

  uint64_t max_co_resident(uint32_t threads) override {
    uint32_t least = UINT32_MAX;
    for (const boundary& between : boundaries()) {
      if (between.algorithm == nullptr) continue;
      cl::Kernel& kernel = engine_->persistent(between);
      engine_->require_size(kernel, threads);
      least = std::min(least, opencl::checked([&] {
                         const cl::Buffer untouched(engine_->context, CL_MEM_READ_WRITE, sizeof(cl_uint));
                         kernel.setArg(0, engine_->storage(between).buffer());
                         kernel.setArg(1, untouched);
                         kernel.setArg(2, untouched);
                         kernel.setArg(3, cl_uint{0});
                         kernel.setArg(4, cl_uint{0});
                         return opencl::resident_groups(engine_->queue, kernel, engine_->storage(between),
                                                        cl::NDRange(threads));
                       }));
    }
    return least;
  }

  std::vector<uint32_t> default_blocks(bool quick) override {
    const auto resident = static_cast<uint32_t>(max_co_resident(default_threads(quick).front()));
    std::vector<uint32_t> blocks;
    if (is_cpu_) {
      if (quick) return {resident};
      for (uint32_t b = 1; b <= resident; ++b) blocks.push_back(b);
      return blocks;
    }
    if (quick) return {std::min(compute_units_, resident)};
    for (const uint32_t b :
         {1u, compute_units_ / 4, compute_units_ / 2, compute_units_, 2 * compute_units_, resident}) {
      if (b >= 1 && b <= resident && (blocks.empty() || b > blocks.back())) blocks.push_back(b);
    }
    return blocks;
  }

  std::vector<uint32_t> default_threads(bool quick) override {
    if (quick) return {is_cpu_ ? 64u : 256u};
    return {64, 256};
  }

 private:
  const std::shared_ptr<engine> engine_;
  const uint32_t compute_units_;
  bool is_cpu_;
};

const register_workload registered("average", device_kind::opencl, [](const device_description& device) {
  return std::make_unique<opencl_average>(device);
});

}  // namespace

}  // namespace gpusync::tool
