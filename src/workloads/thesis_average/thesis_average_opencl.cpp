#include "workloads/thesis_average/thesis_average_opencl.hpp"

#include <fmt/format.h>

#include <map>

#include <gpusync/opencl/opencl.hpp>
#include "embedded/thesis_average_cl.hpp"
#include "measure/host_timer.hpp"
#include "workloads/device_side/opencl_side.hpp"
#include "workloads/thesis_average/thesis_expectation.hpp"

namespace gpusync::tool {

namespace {

constexpr const char* no_barrier = "no-barrier";
constexpr const char* launch_wait = "launch-wait";

/// What all programs of a device share. They run one after the other.
class engine : public opencl_target {
 public:
  using opencl_target::opencl_target;

  /// The kernel of all iterations; without a barrier if there is none. Compiled once.
  cl::Kernel& persistent(const opencl::barrier_method* barrier) {
    return kernel(barrier == nullptr ? no_barrier : barrier->name(), "thesis_persistent", barrier, barrier != nullptr);
  }
  /// The kernel of one iteration.
  cl::Kernel& single() { return kernel(launch_wait, "thesis_single", nullptr, true); }

  /// A storage that serves all shapes, which remembers what trials of residency have found.
  std::shared_ptr<opencl::barrier_storage> storage(const opencl::barrier_algorithm& algorithm) {
    auto& made = storages_[&algorithm];
    if (made == nullptr) made = std::make_shared<opencl::barrier_storage>(queue, algorithm.max_groups, algorithm);
    return made;
  }

  /// The expected results on one shape. Only those of the last shape are kept: they are as large as the buffers.
  thesis_expectation& expectation(uint32_t groups, uint32_t items, bool crosses) {
    if (groups != expected_groups_ || items != expected_items_) expectations_.clear();
    expected_groups_ = groups;
    expected_items_ = items;
    return expectations_.try_emplace(crosses, groups, items, crosses).first->second;
  }

 private:
  cl::Kernel& kernel(const std::string& key, const char* name, const opencl::barrier_method* barrier, bool crosses) {
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
    const std::string text =
        (barrier == nullptr ? opencl::barrier_source() : opencl::barrier_source(*barrier->algorithm, barrier->order)) +
        embedded::thesis_average_cl;
    const cl::Program program = opencl::build(
        context, device, text, fmt::format("-DTHESIS_BARRIER={:d} -DTHESIS_CROSSES={:d}", barrier != nullptr, crosses));
    return opencl::checked([&]() -> cl::Kernel& { return kernels_[key] = cl::Kernel(program, name); });
  }

  std::map<std::string, cl::Kernel> kernels_;
  std::map<const opencl::barrier_algorithm*, std::shared_ptr<opencl::barrier_storage>> storages_;
  uint32_t expected_groups_ = 0, expected_items_ = 0;
  std::map<bool, thesis_expectation> expectations_;
};

/// Buffers, and the comparison; what differs is how the iterations are carried out.
class opencl_program : public thesis_program {
 public:
  opencl_program(std::shared_ptr<engine> where, uint32_t groups, uint32_t items)
      : engine_(std::move(where)), groups_(groups), items_(items) {
    const uint64_t elements = uint64_t{groups} * items;
    if (elements == 0 || elements > UINT32_MAX / 2) {
      throw invalid_argument(fmt::format("{} work-groups of {} work-items are {} elements; 1 to {} can be computed.",
                                         groups, items, elements, UINT32_MAX / 2));
    }
    opencl::checked([&] {
      values_ = cl::Buffer(engine_->context, CL_MEM_READ_WRITE, 2 * words());
      traces_ = cl::Buffer(engine_->context, CL_MEM_READ_WRITE, words());
    });
  }

  void expect(uint32_t iterations) override { (void)expected(iterations); }

  thesis_times run(uint32_t iterations) override {
    return opencl::checked([&] {
      // What a run before this one has left must not pass for this one's.
      engine_->queue.enqueueFillBuffer(values_, poison, 0, 2 * words());
      engine_->queue.enqueueFillBuffer(traces_, poison, 0, words());
      engine_->queue.finish();
      const thesis_times times = timed(iterations);
      compare(iterations);
      return times;
    });
  }

  verification verify() const override {
    return {checked_ > 0, checked_, wrong_,
            crosses() ? "of every work-item the last mean and the trace of all means that other groups handed to it, "
                        "compared with the host's recomputation after each run that was timed"
                      : "of every work-item the last mean and the trace of its own, compared with the host's "
                        "recomputation after each run that was timed"};
  }

  thesis_memory memory() const override {
    thesis_memory memory;
    memory.needed = 3 * words();
    opencl::checked([&] { memory.allocated = values_.getInfo<CL_MEM_SIZE>() + traces_.getInfo<CL_MEM_SIZE>(); });
    return memory;
  }

 protected:
  virtual thesis_times timed(uint32_t iterations) = 0;
  virtual bool crosses() const { return true; }
  /// What the traces must be.
  virtual const std::vector<uint32_t>& traces_of(const thesis_result& expected) const { return expected.traces; }

  cl::NDRange global() const { return cl::NDRange(size_t{groups_} * items_); }
  cl::NDRange local() const { return cl::NDRange(items_); }

  const std::shared_ptr<engine> engine_;
  const uint32_t groups_, items_;
  cl::Buffer values_, traces_;

 private:
  static constexpr cl_uint poison = 0xffffffff;  // a NaN

  size_t words() const { return size_t{groups_} * items_ * sizeof(cl_uint); }

  const thesis_result& expected(uint32_t iterations) const {
    return engine_->expectation(groups_, items_, crosses()).after(iterations);
  }

  void compare(uint32_t iterations) {
    const thesis_result& wanted_result = expected(iterations);
    found_.resize(wanted_result.values.size());
    const auto look = [&](const cl::Buffer& buffer, size_t from, const std::vector<uint32_t>& wanted) {
      engine_->queue.enqueueReadBuffer(buffer, CL_TRUE, from, words(), found_.data());
      for (size_t i = 0; i < wanted.size(); ++i) wrong_ += found_[i] != wanted[i] ? 1 : 0;
      checked_ += wanted.size();
    };
    look(values_, (iterations - 1) % 2 * words(), wanted_result.values);
    look(traces_, 0, traces_of(wanted_result));
  }

  std::vector<uint32_t> found_;
  uint64_t checked_ = 0, wrong_ = 0;
};

/// One launch for all iterations.
class persistent_program : public opencl_program {
 public:
  persistent_program(std::shared_ptr<engine> where, const opencl::barrier_method* barrier, uint32_t groups,
                     uint32_t items, bool tight)
      : opencl_program(std::move(where), groups, items), barrier_(barrier) {
    const opencl::barrier_algorithm& algorithm = barrier == nullptr ? opencl::lock_based : *barrier->algorithm;
    cl::Kernel& kernel = engine_->persistent(barrier);
    engine_->require_size(kernel, items);
    storage_ = barrier != nullptr && tight
                   ? std::make_shared<opencl::barrier_storage>(engine_->queue, groups, algorithm)
                   : engine_->storage(algorithm);
    if (barrier == nullptr) return;
    set_arguments(kernel, 0);
    opencl::require_co_resident(engine_->queue, kernel, *storage_, groups, local());
  }

  thesis_memory memory() const override {
    thesis_memory memory = opencl_program::memory();
    if (barrier_ == nullptr) return memory;
    memory.algorithm = storage_->algorithm_bytes();
    memory.barrier = storage_->bytes();
    memory.needed += memory.barrier;
    memory.allocated += opencl::checked([&] { return storage_->buffer().getInfo<CL_MEM_SIZE>(); });
    return memory;
  }

 private:
  void set_arguments(cl::Kernel& kernel, uint32_t iterations) const {
    opencl::checked([&] {
      kernel.setArg(0, storage_->buffer());
      kernel.setArg(1, values_);
      kernel.setArg(2, traces_);
      kernel.setArg(3, cl_uint{iterations});
    });
  }

  bool crosses() const override { return barrier_ != nullptr; }

  thesis_times timed(uint32_t iterations) override {
    cl::Kernel& kernel = engine_->persistent(barrier_);
    storage_->require_sound();  // else the launch asks the device, and the host's clock would see that
    const host_timer timer;
    set_arguments(kernel, iterations);
    cl::Event event;
    if (barrier_ != nullptr) {
      event = opencl::launch(engine_->queue, kernel, *storage_, global(), local());
    } else {
      engine_->queue.enqueueNDRangeKernel(kernel, cl::NullRange, global(), local(), nullptr, &event);
    }
    engine_->queue.finish();
    const double host = timer.nanoseconds();
    return {host, profiled(event, event)};
  }

  const opencl::barrier_method* const barrier_;
  std::shared_ptr<opencl::barrier_storage> storage_;
};

/// A launch for each iteration, and the host waits for its end.
class launch_wait_program : public opencl_program {
 public:
  launch_wait_program(std::shared_ptr<engine> where, uint32_t groups, uint32_t items)
      : opencl_program(std::move(where), groups, items) {
    engine_->require_size(engine_->single(), items);
  }

 private:
  const std::vector<uint32_t>& traces_of(const thesis_result& expected) const override {
    return expected.traces_before_last;
  }

  thesis_times timed(uint32_t iterations) override {
    cl::Kernel& kernel = engine_->single();
    cl::Event first, last;
    const host_timer timer;
    kernel.setArg(0, values_);
    kernel.setArg(1, traces_);
    for (uint32_t s = 0; s < iterations; ++s) {
      kernel.setArg(2, cl_uint{s});
      cl::Event* const event = s == 0 ? &first : s + 1 == iterations ? &last : nullptr;
      engine_->queue.enqueueNDRangeKernel(kernel, cl::NullRange, global(), local(), nullptr, event);
      engine_->queue.finish();
    }
    const double host = timer.nanoseconds();
    return {host, profiled(first, iterations == 1 ? first : last)};
  }
};

class opencl_thesis : public thesis_device {
 public:
  opencl_thesis(const device_description& description, std::vector<opencl::barrier_method> barriers)
      : engine_(std::make_shared<engine>(description)), barriers_(std::move(barriers)) {
    is_cpu_ = opencl::checked([&] { return (engine_->device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0; });
  }

  std::vector<step_method> methods() const override {
    std::vector<step_method> all{
        {no_barrier, "no barrier (the work alone)", {}, method_kind::floor, true, false},
        {launch_wait, "NDRange and clFinish for each iteration", {"S1"}, method_kind::host_wait, true, false}};
    for (const opencl::barrier_method& each : barriers_) {
      std::vector<std::string> items{"S2"};
      if (*each.paper_item() != '\0') items.emplace_back(each.paper_item());
      all.push_back(
          {each.name(), each.name() + " barrier", items, method_kind::barrier, orders_data(each.order), true});
      all.back().by_default = each.order == ordering::acquire_release;
    }
    return all;
  }

  std::unique_ptr<thesis_program> prepare(const step_method& method, uint32_t groups, uint32_t items,
                                          bool tight) override {
    if (method.name == launch_wait) return std::make_unique<launch_wait_program>(engine_, groups, items);
    return std::make_unique<persistent_program>(engine_, barrier_of(method), groups, items, tight);
  }

  uint32_t resident(const std::vector<step_method>& methods, uint32_t items) override {
    uint32_t least = UINT32_MAX;
    for (const step_method& method : methods) {
      if (method.needs_co_residency) least = std::min(least, resident(*barrier_of(method), items));
    }
    // Without barriers anything may run; as many as with one, to be comparable.
    return least != UINT32_MAX ? least : resident(opencl::barrier_method{&opencl::lock_based}, items);
  }

  uint32_t default_items() const override { return is_cpu_ ? 8 : 256; }

 private:
  uint32_t resident(const opencl::barrier_method& barrier, uint32_t items) const {
    cl::Kernel& kernel = engine_->persistent(&barrier);
    engine_->require_size(kernel, items);
    return opencl::checked([&] {
      opencl::barrier_storage& storage = *engine_->storage(*barrier.algorithm);
      const cl::Buffer untouched(engine_->context, CL_MEM_READ_WRITE, sizeof(cl_uint));
      kernel.setArg(0, storage.buffer());
      kernel.setArg(1, untouched);
      kernel.setArg(2, untouched);
      kernel.setArg(3, cl_uint{0});
      return opencl::resident_groups(engine_->queue, kernel, storage, cl::NDRange(items));
    });
  }

  /// Null for the work alone.
  const opencl::barrier_method* barrier_of(const step_method& method) const {
    if (method.name == no_barrier) return nullptr;
    for (const opencl::barrier_method& each : barriers_) {
      if (each.name() == method.name) return &each;
    }
    throw invalid_argument("There is no method " + method.name + " on OpenCL devices.");
  }

  const std::shared_ptr<engine> engine_;
  const std::vector<opencl::barrier_method> barriers_;
  bool is_cpu_;
};

const register_side<thesis_device> registered(device_kind::opencl, [](const device_description& device) {
  return open_thesis_average(device, opencl::barrier_methods());
});

}  // namespace

std::unique_ptr<thesis_device> open_thesis_average(const device_description& device,
                                                   std::vector<opencl::barrier_method> barriers) {
  return std::make_unique<opencl_thesis>(device, std::move(barriers));
}

}  // namespace gpusync::tool
