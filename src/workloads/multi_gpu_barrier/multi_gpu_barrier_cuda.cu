// Workload "multi-GPU barrier" on CUDA devices: which GPUs there are, and messages between two.
#include "workloads/multi_gpu_barrier/across_program.cuh"

namespace gpusync::tool {

namespace {

/// One multiprocessor of a GPU sends and receives; all others of its grid leave.
struct across_pair {
  uint32_t sm;    ///< of this GPU
  bool begins;    ///< sends first
  uint32_t base;  ///< messages of earlier launches on the same flags
  uint32_t *flag, *word, *to_flag, *to_word;
  uint32_t* met;         ///< counts blocks that have started, in all launches
  uint32_t met_by_then;  ///< its value once all blocks of this launch have
  unsigned long long *nanoseconds, *right;
};

constexpr uint32_t message_across_warm_up = 20, message_round_trips = 200;
constexpr uint32_t messages_of_pair = 2 * (message_across_warm_up + message_round_trips);

template <bool Payload>
__global__ void ping_pong_across(across_pair pair) {
  const cuda_grid grid;
  if (grid.thread() != 0) return;
  cuda_memory::add<memory_order::relaxed, scope::device>(pair.met, 1u);
  while (!phase_reached(cuda_memory::load<memory_order::relaxed, scope::device>(pair.met), pair.met_by_then)) {
  }
  if (grid.sm_id() != pair.sm) return;
  const uint64_t arrived = grid.now();
  while (grid.now() - arrived < 3000) {  // until the others are gone
  }
  uint64_t begin = 0;
  uint32_t right = 0;
  bool lost = false;
  const auto send = [&](uint32_t message) {
    if constexpr (Payload) *pair.to_word = message * 0x9e3779b9u;
    cuda_memory::store<memory_order::release, scope::system>(pair.to_flag, message);
  };
  const auto receive = [&](uint32_t message) {
    const uint64_t since = grid.now();
    uint32_t polls = 0;
    uint32_t flag = cuda_memory::load<memory_order::relaxed, scope::system>(pair.flag);
    while (!lost && !phase_reached(flag, message)) {
      if (++polls % 1024 == 0) lost = grid.now() - since > 2000000000;
      flag = cuda_memory::load<memory_order::relaxed, scope::system>(pair.flag);
    }
    cuda_memory::acquire<scope::system>(pair.flag);
    bool as_sent = flag == message;
    if constexpr (Payload) as_sent = as_sent && *pair.word == message * 0x9e3779b9u;
    right += as_sent ? 1 : 0;
  };
  for (uint32_t i = 0; i < message_across_warm_up + message_round_trips; ++i) {
    if (i == message_across_warm_up) begin = grid.now();
    const uint32_t message = pair.base + 2 * i;
    if (pair.begins) {
      send(message + 1);
      receive(message + 2);
    } else {
      receive(message + 1);
      send(message + 2);
    }
  }
  *pair.nanoseconds = grid.now() - begin;
  *pair.right = right;
}

class cuda_multi_gpu : public multi_gpu_device {
 public:
  explicit cuda_multi_gpu(const device_description& description) : gpus_(description.index) {}

  uint32_t gpus() const override { return gpus_.size(); }

  std::vector<step_method> methods() const override {
    std::vector<step_method> all;
    for (const across_method& one : across_methods()) all.push_back(one.method);
    // In the same order in every build: the library's own first.
    std::stable_sort(all.begin(), all.end(), [](const step_method& one, const step_method& other) {
      return std::make_pair(one.rival, one.kind) < std::make_pair(other.rival, other.kind);
    });
    return all;
  }

  std::unique_ptr<across_program> prepare(const std::string& method, const across_setting& setting) override {
    const cuda_device_group& group = gpus_.group(setting.gpus);
    for (const across_method& one : across_methods()) {
      if (one.method.name == method) return one.make(gpus_.targets(), group, setting);
    }
    throw invalid_argument("There is no way to join GPUs named " + method + ".");
  }

  std::vector<across_message> messages(uint32_t one, uint32_t other, bool payload, bool quick) override {
    const uint32_t gpus[2] = {one, other};
    const uint32_t choices = quick ? 3 : 6;
    const launch_shape shapes[2] = {alone_on_each(one), alone_on_each(other)};
    std::vector<cuda_buffer> memory;
    std::vector<grid::cuda_line_lease> leases;
    for (const uint32_t gpu : gpus) {
      memory.emplace_back(gpus_.targets()[gpu].device(), 1024);
      leases.push_back(lease_lines(gpus_.targets()[gpu], 1));
    }
    std::vector<across_message> found;
    uint32_t met[2] = {0, 0}, base = 0;
    for (uint32_t i = 0; i < choices * choices; ++i, base += messages_of_pair) {
      const uint32_t chosen[2] = {i / choices, i % choices};
      across_pair pairs[2];
      for (uint32_t side = 0; side < 2; ++side) {
        auto* const words = static_cast<uint32_t*>(memory[side].address());
        const auto sms = static_cast<uint32_t>(gpus_.targets()[gpus[side]].device().sm_count());
        pairs[side].sm = chosen[side] * (sms - 1) / (choices - 1);
        pairs[side].begins = side == 0;
        pairs[side].base = base;
        pairs[side].word = words;
        pairs[side].flag = near_line(leases[side], pairs[side].sm, words + 32);
        pairs[side].met = words + 64;
        pairs[side].met_by_then = met[side] += static_cast<uint32_t>(shapes[side].blocks.count());
        pairs[side].nanoseconds = reinterpret_cast<unsigned long long*>(words + 96);
        pairs[side].right = pairs[side].nanoseconds + 1;
        reset(gpus_.targets()[gpus[side]], pairs[side].flag, base);
      }
      for (uint32_t side = 0; side < 2; ++side) {
        pairs[side].to_flag = pairs[1 - side].flag;
        pairs[side].to_word = pairs[1 - side].word;
      }
      for (uint32_t side = 0; side < 2; ++side) {
        launch(gpus_.targets()[gpus[side]].device(), gpus_.targets()[gpus[side]].stream(), shapes[side],
               payload ? ping_pong_across<true> : ping_pong_across<false>, pairs[side]);
      }
      uint64_t right = 0, nanoseconds = 0;
      for (uint32_t side = 0; side < 2; ++side) {
        gpus_.targets()[gpus[side]].await();
        uint64_t counts[2];
        const cuda_device_scope scope(gpus_.targets()[gpus[side]].device().ordinal());
        check_cuda(cudaMemcpy(counts, pairs[side].nanoseconds, sizeof(counts), cudaMemcpyDeviceToHost), "cudaMemcpy");
        if (side == 0) nanoseconds = counts[0];
        right += counts[1];
      }
      found.push_back({static_cast<double>(nanoseconds) / (2.0 * message_round_trips), messages_of_pair,
                       messages_of_pair - std::min<uint64_t>(messages_of_pair, right)});
    }
    return found;
  }

 private:
  /// So much shared memory that a multiprocessor takes one block.
  launch_shape alone_on_each(uint32_t gpu) const {
    const cuda_device& device = gpus_.targets()[gpu].device();
    return {device.sm_count(), 32, device.properties().sharedMemPerBlockOptin - 1024};
  }
  /// A line of the multiprocessor's partition; `anywhere` if there are no partitions.
  static uint32_t* near_line(const grid::cuda_line_lease& lease, uint32_t sm, uint32_t* anywhere) {
    if (lease.empty()) return anywhere;
    return lease.line(lease.survey().figures().partitions()[sm], 0);
  }
  static void reset(const cuda_target& where, uint32_t* flag, uint32_t value) {
    const cuda_device_scope scope(where.device().ordinal());
    check_cuda(cudaMemcpy(flag, &value, sizeof(value), cudaMemcpyHostToDevice), "cudaMemcpy");
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  const cuda_gpus gpus_;
};

const register_side<multi_gpu_device> multi_gpu_registered(device_kind::cuda, make_side<cuda_multi_gpu>);

}  // namespace

}  // namespace gpusync::tool
