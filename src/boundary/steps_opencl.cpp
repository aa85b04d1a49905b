#include "boundary/steps_opencl.hpp"

#include <algorithm>

#include <gpusync/opencl/opencl.hpp>

#include "boundary/paper_items.hpp"
#include "embedded/step_text_h.hpp"
#include "embedded/steps_cl.hpp"
#include "measure/host_timer.hpp"

namespace gpusync::tool {

const opencl::barrier_method* opencl_kernels::barrier(const std::string& name) const {
  const auto found = std::find_if(barriers_.begin(), barriers_.end(),
                                  [&](const opencl::barrier_method& each) { return each.name() == name; });
  return found == barriers_.end() ? nullptr : &*found;
}

cl::Kernel& opencl_kernels::kernel(const opencl::barrier_method* between, const char* name) {
  const std::string barrier = between == nullptr ? "" : between->name();
  const auto found = kernels_.find({barrier, name});
  if (found != kernels_.end()) return found->second;
  auto built = programs_.find(barrier);
  if (built == programs_.end()) {
    const std::string text =
        between == nullptr ? opencl::barrier_source() : opencl::barrier_source(*between->algorithm, between->order);
    const std::string options =
        options_ + " -DSTEP_IDLE=0xffffffffu -DSTEP_BARRIER=" + (between == nullptr ? "0" : "1");
    built = programs_
                .emplace(barrier, opencl::build(target_.context, target_.device,
                                                text + embedded::step_text_h + text_ + embedded::steps_cl, options))
                .first;
  }
  return opencl::checked([&]() -> cl::Kernel& { return kernels_[{barrier, name}] = cl::Kernel(built->second, name); });
}

std::shared_ptr<opencl::barrier_storage> opencl_kernels::storage(const opencl::barrier_method* between) {
  const opencl::barrier_algorithm& algorithm = between == nullptr ? opencl::lock_based : *between->algorithm;
  auto& made = storages_[&algorithm];
  if (!made) made = std::make_shared<opencl::barrier_storage>(target_.queue, algorithm.max_groups, algorithm);
  return made;
}

namespace {

/// What the programs of one computation have in common.
class steps_program : public opencl_program {
 public:
  steps_program(const step_shape& shape, opencl_computation computation)
      : opencl_program(computation.kernels->target(), shape, computation.data, computation.steps),
        computation_(std::move(computation)) {}

 protected:
  opencl_kernels& kernels() const { return *computation_.kernels; }
  void set_arguments(cl::Kernel& kernel, cl_uint first) const { computation_.set_arguments(kernel, first); }
  bool has_own_storage() const { return computation_.own_storage; }

 private:
  const opencl_computation computation_;
};

/// A kernel for each step; the end of one is the boundary.
class relaunch_program : public steps_program {
 public:
  relaunch_program(const step_shape& shape, opencl_computation computation, bool waited_for)
      : steps_program(shape, std::move(computation)), waited_for_(waited_for) {
    kernels().target().require_size(kernels().single(), shape.threads);
  }

 private:
  /// Often enough that the device never runs dry, seldom enough that flushing costs nothing.
  static constexpr uint32_t enqueued_per_flush = 64;

  bool by_host_clock() const override { return waited_for_; }

  void carry_out(uint32_t count, cl::Event& first, cl::Event& last) override {
    cl::Kernel& step = kernels().single();
    set_arguments(step, 1);
    for (uint32_t s = 0; s < count; ++s) {
      if (s % enqueued_per_flush == 0 && is_interrupted()) {
        queue().finish();
        throw run_interrupted();
      }
      const uint32_t number = steps().number_of(s, count);
      if (number != step_sequence::idle) step.setArg(0, cl_uint{number});
      cl::Event* const event = s == 0 ? &first : s + 1 == count ? &last : nullptr;
      queue().enqueueNDRangeKernel(number == step_sequence::idle ? kernels().idle() : step, cl::NullRange, global(),
                                   local(), nullptr, event);
      if (waited_for_) {
        queue().finish();
      } else if (s % enqueued_per_flush == 0) {
        queue().flush();
      }
    }
    if (count == 1) last = first;
  }

  const bool waited_for_;
};

/// One kernel for all steps, with a barrier between them or without.
class persistent_program : public steps_program {
 public:
  persistent_program(const step_shape& shape, opencl_computation computation, const opencl::barrier_method* between)
      : steps_program(shape, std::move(computation)), between_(between) {
    cl::Kernel& kernel = kernels().all(between);
    kernels().target().require_size(kernel, shape.threads);
    storage_ = between != nullptr && has_own_storage()
                   ? std::make_shared<opencl::barrier_storage>(queue(), shape.blocks, *between->algorithm)
                   : kernels().storage(between);
    set_all(kernel, 0);
    if (between != nullptr) opencl::require_co_resident(queue(), kernel, *storage_, shape.blocks, local());
  }

  program_memory memory() const override {
    if (between_ == nullptr) return {};
    return {storage_->algorithm_bytes(), storage_->bytes(),
            opencl::checked([&] { return uint64_t{storage_->buffer().getInfo<CL_MEM_SIZE>()}; })};
  }

 private:
  void set_all(cl::Kernel& kernel, uint32_t count) const {
    opencl::checked([&] {
      kernel.setArg(0, storage_->buffer());
      kernel.setArg(1, cl_uint{count});
    });
    set_arguments(kernel, 2);
  }

  /// Else the launch asks the device, and the host's clock would see that.
  void arrange() override { storage_->require_sound(); }

  void carry_out(uint32_t count, cl::Event& first, cl::Event& last) override {
    cl::Kernel& kernel = kernels().all(between_);
    set_all(kernel, count);
    if (between_ != nullptr) {
      first = opencl::launch(queue(), kernel, *storage_, global(), local());
    } else {
      queue().enqueueNDRangeKernel(kernel, cl::NullRange, global(), local(), nullptr, &first);
    }
    last = first;
  }

  const opencl::barrier_method* const between_;
  std::shared_ptr<opencl::barrier_storage> storage_;
};

}  // namespace

opencl_arrays::opencl_arrays(const opencl_target& where, std::vector<array_content> content)
    : arrays(std::move(content)), where_(where) {
  opencl::checked([&] {
    for (const array_content& each : content_) {
      buffers_.emplace_back(where.context, CL_MEM_READ_WRITE, std::max<size_t>(1, each.bytes));  // none may be empty
    }
  });
  fill_all();
}

void opencl_arrays::fill(size_t array) {
  const array_content& what = content_[array];
  if (what.bytes == 0) return;
  opencl::checked([&] {
    if (what.first != nullptr) {
      where_.queue.enqueueWriteBuffer(buffers_[array], CL_TRUE, 0, what.bytes, what.first.get());
    } else if (what.bytes % sizeof(cl_ulong) == 0) {
      where_.queue.enqueueFillBuffer(buffers_[array], cl_ulong{what.pattern}, 0, what.bytes);
    } else {
      where_.queue.enqueueFillBuffer(buffers_[array], static_cast<cl_uint>(what.pattern), 0, what.bytes);
    }
  });
}

void opencl_arrays::finish() {
  opencl::checked([&] { where_.queue.finish(); });
}

cl_uint opencl_arrays::set_arguments(cl::Kernel& kernel, cl_uint next) const {
  return opencl::checked([&] {
    for (const cl::Buffer& each : buffers_) kernel.setArg(next++, each);
    return next;
  });
}

uint64_t opencl_arrays::allocated() const {
  return opencl::checked([&] {
    uint64_t bytes = 0;
    for (const cl::Buffer& each : buffers_) bytes += each.getInfo<CL_MEM_SIZE>();
    return bytes;
  });
}

void opencl_arrays::read(size_t array, void* to) {
  if (content_[array].bytes == 0) return;
  opencl::checked([&] { where_.queue.enqueueReadBuffer(buffers_[array], CL_TRUE, 0, content_[array].bytes, to); });
}

double opencl_program::compute(uint32_t count) {
  return opencl::checked([&] {
    arrange();
    cl::Event first, last;
    const host_timer timer;
    carry_out(count, first, last);
    queue().finish();
    times_.host = timer.nanoseconds();
    times_.device = count == 0 ? 0 : profiled(first, last);
    return by_host_clock() || count == 0 ? times_.host : times_.device;
  });
}

std::vector<step_method> methods_on_opencl(const opencl_kernels& kernels, bool floor) {
  std::vector<step_method> all;
  if (floor) all.push_back({method_names::none, "no barrier (the work alone)", {"F12"}, method_kind::floor});
  all.push_back({method_names::host_wait, "NDRange and clFinish for each step",
                 floor ? std::vector<std::string>{"S1", "F1"} : std::vector<std::string>{"F1"},
                 method_kind::host_wait});
  all.push_back({method_names::relaunch, "NDRange for each step, queued in order", {"F1"}, method_kind::launch});
  for (const opencl::barrier_method& each : kernels.barriers()) {
    all.push_back({each.name(), each.name() + " barrier", paper_items_of(each.name()), method_kind::barrier,
                   orders_data(each.order), true});
  }
  return all;
}

std::unique_ptr<program> prepare_program(const step_method& method, const step_shape& shape,
                                         opencl_computation computation) {
  if (method.name == method_names::none) {
    return std::make_unique<persistent_program>(shape, std::move(computation), nullptr);
  }
  if (method.name == method_names::host_wait || method.name == method_names::relaunch) {
    return std::make_unique<relaunch_program>(shape, std::move(computation), method.name == method_names::host_wait);
  }
  const opencl::barrier_method* const between = computation.kernels->barrier(method.name);
  if (between == nullptr) throw invalid_argument("There is no method " + method.name + " on OpenCL devices.");
  return std::make_unique<persistent_program>(shape, std::move(computation), between);
}

uint64_t max_co_resident_on_opencl(opencl_kernels& kernels,
                                   const std::function<void(cl::Kernel&, cl_uint first)>& set_arguments,
                                   const std::vector<step_method>& methods, uint32_t items) {
  uint64_t least = UINT64_MAX;
  for (const step_method& method : methods) {
    const opencl::barrier_method* const between = kernels.barrier(method.name);
    if (between == nullptr) continue;
    cl::Kernel& kernel = kernels.all(between);
    kernels.target().require_size(kernel, items);
    const auto storage = kernels.storage(between);
    opencl::checked([&] {
      kernel.setArg(0, storage->buffer());
      kernel.setArg(1, cl_uint{0});
      set_arguments(kernel, 2);
    });
    least = std::min<uint64_t>(least,
                               opencl::resident_groups(kernels.target().queue, kernel, *storage, cl::NDRange(items)));
  }
  return least;
}

}  // namespace gpusync::tool
