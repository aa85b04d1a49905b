// Levels of synchronization on CUDA devices: launches of chains and what they leave.
#include "workloads/levels/levels_cuda.cuh"

#include <algorithm>

#include <gpusync/core/cuda_code.cuh>

#include "measure/cuda_function.hpp"
#include "measure/cuda_timer.cuh"
#include "measure/host_timer.hpp"

namespace gpusync::tool {

namespace {

constexpr unsigned int exchange_steps = 256;

/// In device memory.
struct chain_memory {
  unsigned long long wrong;
  meeting_point meeting;
};

/// Queues a kernel whose blocks are in clusters, or all run at once, or neither.
void start(const cuda_target& where, const launch_shape& shape, bool together, const void* kernel, void** arguments) {
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};
  config.gridDim = to_dim3(shape.blocks);
  config.blockDim = to_dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = where.stream();
  config.attrs = attributes;
  if (shape.cluster > 1) {
    cudaLaunchAttribute& clusters = attributes[config.numAttrs++];
    clusters.id = cudaLaunchAttributeClusterDimension;
    clusters.val.clusterDim.x = shape.cluster;
    clusters.val.clusterDim.y = clusters.val.clusterDim.z = 1;
  }
  if (together) {
    cudaLaunchAttribute& cooperative = attributes[config.numAttrs++];
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
  }
  check_cuda(cudaLaunchKernelExC(&config, kernel, arguments), "cudaLaunchKernelExC");
}

launch_shape launched(const cuda_device& device, const level_shape& shape) {
  const auto sms = static_cast<uint32_t>(device.sm_count());
  return {shape.blocks_per_sm == 0 ? shape.cluster : shape.blocks_per_sm * sms, shape.threads, 0, shape.cluster};
}

class chain_program : public level_program {
 public:
  chain_program(const cuda_target& where, const level_entry& entry, const level_shape& shape)
      : where_(where),
        entry_(entry),
        shape_(launched(where.device(), shape)),
        together_(shape.blocks_per_sm != 0),
        memory_(where.device(), sizeof(chain_memory)),
        stamps_(where.device(), warps() * sizeof(warp_stamp)) {
    for (const auto& [length, kernel] : entry.chains) require_co_resident(where.device(), kernel, shape_);
  }

  std::vector<warp_stamp> run(uint32_t length) override {
    const cuda_device_scope scope(where_.device().ordinal());
    chain_setting setting = this->setting();
    if (together_) {
      arrived_ += static_cast<uint32_t>(shape_.blocks.count());
      setting.meeting = &memory()->meeting;
      setting.arrived_by_then = arrived_;
    }
    auto* stamps = static_cast<warp_stamp*>(stamps_.address());
    void* arguments[] = {&setting, &stamps};
    start(where_, shape_, together_, entry_.chains.at(length), arguments);
    where_.await();
    std::vector<warp_stamp> found(warps());
    where_.download(found.data(), stamps_, stamps_.bytes());
    if (entry_.leaves_value) values_ += taking_part();
    return found;
  }

  verification verify() override {
    const cuda_device_scope scope(where_.device().ordinal());
    uint64_t words = 0;
    if (entry_.exchange != nullptr) {
      chain_setting setting = this->setting();
      unsigned int steps = exchange_steps;
      void* arguments[] = {&setting, &steps};
      launch_shape shape = shape_;
      shape.shared_bytes = 2 * shape.threads.count() * sizeof(unsigned int);
      if (shape.cluster > 1) require_co_resident(where_.device(), entry_.exchange, shape);  // allows large clusters
      start(where_, shape, false, entry_.exchange, arguments);
      where_.await();
      words = steps * taking_part();
    }
    chain_memory found{};
    where_.download(&found, memory_, sizeof(found));
    verification all;
    all.performed = values_ + words != 0;
    all.checked = values_ + words;
    all.wrong = found.wrong;
    if (values_ != 0) all.how = "the value of every thread behind every chain that was timed";
    if (words != 0) {
      if (values_ != 0) all.how += "; ";
      all.how += "every thread's word, handed over through shared memory by the same operation in a launch of its own";
    }
    return all;
  }

 private:
  chain_memory* memory() const { return static_cast<chain_memory*>(memory_.address()); }
  size_t warps() const { return shape_.blocks.count() * ((shape_.threads.count() + 31) / 32); }
  /// Threads: of a coalesced group the others of its warp do nothing.
  uint64_t taking_part() const {
    const bool some = entry_.what.group != 0 && entry_.what.method.rfind("coalesced", 0) == 0;
    return some ? warps() * entry_.what.group : shape_.blocks.count() * shape_.threads.count();
  }
  chain_setting setting() {
    seed_ = seed_ * 1664525u + 1013904223u;
    return {entry_.what.group, seed_, &memory()->wrong, nullptr, 0};
  }

  const cuda_target& where_;
  const level_entry& entry_;
  const launch_shape shape_;
  const bool together_;
  const cuda_buffer memory_, stamps_;
  uint32_t arrived_ = 0, seed_ = 12345;
  uint64_t values_ = 0;
};

constexpr unsigned int adding_lanes = 32;

/// `more` and `less` cancel, so that the sums are exact however long the chain. Each lane has another sum, so that none
/// is added by a uniform datapath.
__global__ void add_repeatedly(unsigned long long steps, float more, float less, float* sum) {
  float value = sum[threadIdx.x];
#pragma unroll 1
  for (unsigned long long step = 0; step < steps; ++step) {
#pragma unroll
    for (unsigned int i = 0; i < repeated_adds::adds_per_step / 2; ++i) {
      asm volatile("add.f32 %0, %0, %1;" : "+f"(value) : "f"(more));
      asm volatile("add.f32 %0, %0, %1;" : "+f"(value) : "f"(less));
    }
  }
  sum[threadIdx.x] = value;
}

class adds_program : public repeated_adds {
 public:
  explicit adds_program(const cuda_target& where)
      : where_(where), sums_(where.device(), adding_lanes * sizeof(float)) {}

  double run(uint64_t steps, bool by_events) override {
    const cuda_device_scope scope(where_.device().ordinal());
    adds_ += steps * adds_per_step;
    if (by_events) {
      timer_.start(where_.stream());
      launch(steps);
      return timer_.stop(where_.stream());
    }
    const host_timer clock;
    launch(steps);
    check_cuda(cudaStreamSynchronize(where_.stream()), "a launch of additions");
    return clock.nanoseconds();
  }

  verification verify() override {
    std::vector<float> sums(adding_lanes, 1.0f);
    where_.download(sums.data(), sums_, sums_.bytes());
    const bool right = std::all_of(sums.begin(), sums.end(), [](float sum) { return sum == 0; });
    return {true, adds_, right ? 0 : adds_, "additions to floats, whose sums over all launches are known"};
  }

 private:
  void launch(unsigned long long steps) const {
    add_repeatedly<<<1, adding_lanes, 0, where_.stream()>>>(steps, 3.0f, -3.0f, static_cast<float*>(sums_.address()));
    check_cuda(cudaGetLastError(), "launch of additions");
  }

  const cuda_target& where_;
  const cuda_buffer sums_;
  cuda_timer timer_;
  uint64_t adds_ = 0;
};

}  // namespace

cuda_levels::cuda_levels(const device_description& description, std::vector<level_entry> entries)
    : where_(description.index), entries_(std::move(entries)) {}

std::vector<level_variant> cuda_levels::variants() const {
  std::vector<level_variant> all;
  for (const level_entry& entry : entries_) {
    all.push_back(entry.what);
    for (const auto& [length, kernel] : entry.chains) all.back().lengths.push_back(length);
  }
  return all;
}

std::unique_ptr<level_program> cuda_levels::prepare(const level_variant& variant, const level_shape& shape) {
  const level_entry& entry = find(variant);
  const int code = code_for(where_.device());
  if (code < entry.needs_code) {
    throw invalid_argument(variant.method + " needs code for compute capability " +
                           std::to_string(entry.needs_code / 10) + ".0 or later, and " + where_.device().name() +
                           " runs code for " + std::to_string(code / 10) + "." + std::to_string(code % 10) + " here.");
  }
  return std::make_unique<chain_program>(where_, entry, shape);
}

std::unique_ptr<repeated_adds> cuda_levels::prepare_adds() {
  const cuda_device_scope scope(where_.device().ordinal());
  return std::make_unique<adds_program>(where_);
}

std::string cuda_levels::function_of(const level_variant& variant, uint32_t length) const {
  return name_in_machine_code(where_.device(), find(variant).chains.at(length));
}

int cuda_levels::architecture() const {
  return architecture_of(where_.device(), entries_.front().chains.begin()->second);
}

uint32_t cuda_levels::threads_per_sm() const {
  return static_cast<uint32_t>(where_.device().properties().maxThreadsPerMultiProcessor);
}

const level_entry& cuda_levels::find(const level_variant& variant) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const level_entry& entry) { return name_of(entry.what) == name_of(variant); });
  if (found == entries_.end()) throw invalid_argument("There is no way to synchronize " + name_of(variant) + ".");
  return *found;
}

}  // namespace gpusync::tool
