#include "workloads/thesis_average/thesis_average_opencl.hpp"

#include <map>

#include "boundary/steps_opencl.hpp"
#include "embedded/thesis_average_cl.hpp"
#include "workloads/thesis_average/thesis_expectation.hpp"

namespace gpusync::tool {

namespace {

/// The expected results on one shape, which programs share. Only those of the last shape are kept: they are as large as
/// the buffers.
class expectations {
 public:
  thesis_expectation& of(uint32_t groups, uint32_t items, bool crosses) {
    if (groups != groups_ || items != items_) all_.clear();
    groups_ = groups;
    items_ = items;
    return all_.try_emplace(crosses, groups, items, crosses).first->second;
  }

 private:
  uint32_t groups_ = 0, items_ = 0;
  std::map<bool, thesis_expectation> all_;
};

/// Values and traces, and the comparison.
class thesis_data : public run_data {
 public:
  /// `crosses`: work-groups read each other's values. `takes_last`: also those of the last iteration.
  thesis_data(const opencl_target& where, expectations& expected, const step_shape& shape, bool crosses,
              bool takes_last)
      : expected_(expected),
        shape_(shape),
        crosses_(crosses),
        takes_last_(takes_last),
        elements_(elements_of(shape)),
        memory_(where, {array_content::filled(2 * elements_, poison), array_content::filled(elements_, poison)}) {}

  void set_arguments(cl::Kernel& kernel, cl_uint first) const {
    const cl_uint next = memory_.set_arguments(kernel, first);
    opencl::checked([&] { kernel.setArg(next, cl_uint{crosses_}); });
  }

  const thesis_result& expected(uint32_t iterations) const {
    return expected_.of(shape_.blocks, shape_.threads, crosses_).after(iterations);
  }

  void reset() override { memory_.reset(); }
  check_result check(uint64_t iterations) override {
    const thesis_result& wanted = expected(static_cast<uint32_t>(iterations));
    std::vector<uint32_t> values(2 * elements_), traces(elements_);
    memory_.read(0, values.data());
    memory_.read(1, traces.data());
    const uint32_t* const last = values.data() + (iterations - 1) % 2 * elements_;
    const std::vector<uint32_t>& right = takes_last_ ? wanted.traces : wanted.traces_before_last;
    check_result result{2 * elements_, 0};
    for (size_t i = 0; i < elements_; ++i) {
      result.wrong += (last[i] != wanted.values[i] ? 1 : 0) + (traces[i] != right[i] ? 1 : 0);
    }
    return result;
  }
  std::string how() const override {
    return std::string("of every work-item the last mean and the trace of ") +
           (crosses_ ? "all means that other groups handed to it" : "its own") +
           ", compared with the host's recomputation after each run that was timed";
  }

  /// Of the buffers, by our own count and as OpenCL says.
  uint64_t needed() const { return 3 * elements_ * sizeof(cl_uint); }
  uint64_t allocated() const { return memory_.allocated(); }

 private:
  /// What a run before this one has left must not pass for this one's: a NaN.
  static constexpr uint32_t poison = 0xffffffff;

  expectations& expected_;
  const step_shape shape_;
  const bool crosses_, takes_last_;
  const size_t elements_;
  opencl_arrays memory_;
};

class opencl_thesis_program : public thesis_program {
 public:
  opencl_thesis_program(std::unique_ptr<program> steps, std::shared_ptr<thesis_data> data)
      : steps_(std::move(steps)), data_(std::move(data)) {}

  void expect(uint32_t iterations) override { (void)data_->expected(iterations); }
  run_times run(uint32_t iterations) override {
    (void)steps_->run(iterations);
    return steps_->times();
  }
  verification verify() const override { return steps_->verify(); }
  thesis_memory memory() const override {
    const program_memory barrier = steps_->memory();
    return {barrier.algorithm, barrier.barrier, data_->needed() + barrier.barrier,
            data_->allocated() + barrier.allocated};
  }

 private:
  const std::unique_ptr<program> steps_;
  const std::shared_ptr<thesis_data> data_;
};

class opencl_thesis : public thesis_device {
 public:
  opencl_thesis(const device_description& description, std::vector<opencl::barrier_method> barriers)
      : target_(description),
        kernels_(std::make_shared<opencl_kernels>(target_, embedded::thesis_average_cl, "", std::move(barriers))) {}

  /// The thesis waits on the host, or at a barrier.
  std::vector<step_method> methods() const override {
    std::vector<step_method> all = methods_on_opencl(*kernels_, true);
    std::erase_if(all, [](const step_method& method) { return method.name == method_names::relaunch; });
    for (step_method& method : all) {
      if (method.name == method_names::none) method.items.clear();
      if (method.name == method_names::host_wait) {
        method.title = "NDRange and clFinish for each iteration";
        method.items = {"S1"};
      }
      if (method.needs_co_residency) method.items.insert(method.items.begin(), "S2");
    }
    return all;
  }

  std::unique_ptr<thesis_program> prepare(const step_method& method, uint32_t groups, uint32_t items,
                                          bool tight) override {
    const step_shape shape{groups, items};
    const auto data = std::make_shared<thesis_data>(target_, expectations_, shape, method.name != method_names::none,
                                                    method.name != method_names::host_wait);
    auto steps = prepare_program(
        method, shape,
        {kernels_, [data](cl::Kernel& kernel, cl_uint first) { data->set_arguments(kernel, first); }, {}, data, tight});
    return std::make_unique<opencl_thesis_program>(std::move(steps), data);
  }

  uint32_t resident(const std::vector<step_method>& methods, uint32_t items) override {
    const thesis_data untouched(target_, expectations_, {1, 1}, true, true);
    const auto set_arguments = [&](cl::Kernel& kernel, cl_uint first) { untouched.set_arguments(kernel, first); };
    const uint64_t least = max_co_resident_on_opencl(*kernels_, set_arguments, methods, items);
    if (least != UINT64_MAX) return static_cast<uint32_t>(least);
    // Without barriers anything may run; as many as with one, to be comparable.
    opencl_kernels usual(target_, embedded::thesis_average_cl, "", {{&opencl::lock_based}});
    return static_cast<uint32_t>(
        max_co_resident_on_opencl(usual, set_arguments, methods_on_opencl(usual, false), items));
  }

  uint32_t default_items() const override { return target_.is_cpu() ? 8 : 256; }

 private:
  const opencl_target target_;
  const std::shared_ptr<opencl_kernels> kernels_;
  expectations expectations_;
};

const register_side<thesis_device> thesis_average_registered(device_kind::opencl, [](const device_description& device) {
  return open_thesis_average(device, opencl::barrier_methods());
});

}  // namespace

std::unique_ptr<thesis_device> open_thesis_average(const device_description& device,
                                                   std::vector<opencl::barrier_method> barriers) {
  return std::make_unique<opencl_thesis>(device, std::move(barriers));
}

}  // namespace gpusync::tool
