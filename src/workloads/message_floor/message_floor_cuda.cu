// Workload "message floor" on CUDA devices.
#include <algorithm>

#include <gpusync/core/phase.hpp>
#include <gpusync/grid/l2_survey.cuh>

#include "boundary/cuda_survey.cuh"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/message_floor/message_floor.hpp"

namespace gpusync::tool {

namespace {

constexpr uint32_t message_warm_up = 20;
constexpr uint32_t round_trips = 200;
constexpr uint32_t messages = 2 * (message_warm_up + round_trips);  ///< of a pair
constexpr uint32_t line_words = grid::line_survey::line_words;

/// What the two of a pair listen to: each a flag and the word that comes with it, on lines of their own.
struct mailbox {
  uint32_t* flag;
  uint32_t* word;
};

/// One pair, named by the numbers of their multiprocessors.
struct pair_task {
  uint32_t first, second;
  mailbox of_first, of_second;
  uint32_t base;         ///< messages of earlier launches on the same flags: flags only grow
  uint32_t* met;         ///< counts blocks that have started, in all launches
  uint32_t met_by_then;  ///< its value once all blocks of this launch have
};

/// What a pair reports.
struct pair_result {
  unsigned long long nanoseconds;  ///< of `round_trips` round trips
  uint32_t right[2];               ///< messages that each received as they were sent
};

__device__ __forceinline__ uint32_t message_word(uint32_t message) {
  return message * 0x9e3779b9u ^ 0x5bd1e995u;
}

/// A sender or receiver of messages.
template <bool Ordered, bool Payload>
struct messenger {
  static constexpr memory_order store_order = Ordered ? memory_order::release : memory_order::relaxed;
  static constexpr uint32_t most_polls = 1u << 22;  ///< a second or two: the other one is not there

  bool lost = false;  ///< a message did not come: nothing is waited for any more
  uint32_t right = 0;

  __device__ __forceinline__ void send(const mailbox& to, uint32_t message) {
    if constexpr (Payload) *to.word = message_word(message);
    cuda_memory::store<store_order, scope::device>(to.flag, message);
  }

  __device__ __forceinline__ void receive(const mailbox& own, uint32_t message) {
    uint32_t flag = cuda_memory::load<memory_order::relaxed, scope::device>(own.flag);
    for (uint32_t polls = 0; !phase_reached(flag, message) && !lost; ++polls) {
      lost = polls == most_polls;
      flag = cuda_memory::load<memory_order::relaxed, scope::device>(own.flag);
    }
    if constexpr (Ordered) cuda_memory::acquire<scope::device>(own.flag);
    bool as_sent = flag == message;
    if constexpr (Payload) as_sent = as_sent && *own.word == message_word(message);
    right += as_sent ? 1 : 0;
  }
};

/// One block per multiprocessor. All wait until all are there, so that each is on a multiprocessor of its own; then the
/// two of the pair go on alone.
template <bool Ordered, bool Payload>
__global__ void ping_pong(pair_task task, pair_result* result) {
  const cuda_grid grid;
  if (grid.thread() != 0) return;
  cuda_memory::add<memory_order::relaxed, scope::device>(task.met, 1u);
  while (!phase_reached(cuda_memory::load<memory_order::relaxed, scope::device>(task.met), task.met_by_then)) {
  }
  const uint32_t self = grid.sm_id();
  if (self != task.first && self != task.second) return;
  const uint64_t arrived = grid.now();
  while (grid.now() - arrived < 3000) {  // until the others are gone
  }
  messenger<Ordered, Payload> me;
  uint64_t begin = 0;
  if (self == task.first) {
    for (uint32_t i = 0; i < message_warm_up + round_trips; ++i) {
      if (i == message_warm_up) begin = grid.now();
      me.send(task.of_second, task.base + 2 * i + 1);
      me.receive(task.of_first, task.base + 2 * i + 2);
    }
    result->nanoseconds = grid.now() - begin;
    result->right[0] = me.right;
  } else {
    for (uint32_t i = 0; i < message_warm_up + round_trips; ++i) {
      me.receive(task.of_second, task.base + 2 * i + 1);
      me.send(task.of_first, task.base + 2 * i + 2);
    }
    result->right[1] = me.right;
  }
}

/// The multiprocessor of each block, all running at once.
__global__ void where_am_i(uint32_t* met, uint32_t* sms) {
  const cuda_grid grid;
  if (grid.thread() != 0) return;
  cuda_memory::add<memory_order::relaxed, scope::device>(met, 1u);
  while (!phase_reached(cuda_memory::load<memory_order::relaxed, scope::device>(met), grid.blocks())) {
  }
  sms[grid.block()] = grid.sm_id();
}

class cuda_message_floor : public message_floor_device {
 public:
  explicit cuda_message_floor(const device_description& description)
      : where_(description.index),
        blocks_(static_cast<uint32_t>(where_.device().sm_count())),
        // So much shared memory that a multiprocessor takes one block.
        shape_{blocks_, 32, where_.device().properties().sharedMemPerBlockOptin - 1024},
        met_(where_.device(), sizeof(uint32_t), where_.stream()) {}

  std::string why_not_near() override {
    find_lines();
    return lease_.empty()
               ? "The survey of the L2 cache found no two partitions, so that no line is nearer than another."
               : "";
  }

  message_times measure(const message_variant& variant, uint32_t stride,
                        const std::function<bool(double)>& progress) override {
    if (variant.payload && !variant.ordered) throw invalid_argument("A payload needs ordered messages.");
    if (!variant.ordered) return measure(ping_pong<false, false>, variant.near, stride, progress);
    if (variant.payload) return measure(ping_pong<true, true>, variant.near, stride, progress);
    return measure(ping_pong<true, false>, variant.near, stride, progress);
  }

 private:
  static constexpr uint32_t lines_per_partition = 4;
  static constexpr uint32_t lines_anywhere = 1u << 16;  // 8 MiB
  static constexpr size_t batch = 256;                  // launches between reports of progress

  using kernel_type = void (*)(pair_task, pair_result*);

  message_times measure(kernel_type kernel, bool near, uint32_t stride, const std::function<bool(double)>& progress) {
    const cuda_device_scope scope(where_.device().ordinal());
    if (near) find_lines();
    if (near && lease_.empty()) throw invalid_argument(why_not_near());
    const std::vector<uint32_t> sms = sms_of_blocks();
    std::vector<pair_task> tasks;
    uint32_t number = 0;
    for (size_t a = 0; a < sms.size(); ++a) {
      for (size_t b = a + 1; b < sms.size(); ++b) {
        if (number++ % stride == 0) tasks.push_back(task_of(sms[a], sms[b]));
      }
    }
    // Flags only grow while they are in use, so they start anew.
    const cuda_buffer anywhere(where_.device(), size_t{lines_anywhere} * line_words * sizeof(uint32_t),
                               where_.stream());
    if (near) clear_lines();
    uint32_t met = 0;
    check_cuda(cudaMemsetAsync(met_.address(), 0, met_.bytes(), where_.stream()), "cudaMemsetAsync");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const cuda_buffer results(where_.device(), tasks.size() * sizeof(pair_result), where_.stream());
    size_t done = 0;
    for (; done < tasks.size(); ++done) {
      if (done % batch == 0 || done == 1) {
        check_cuda(cudaStreamSynchronize(where_.stream()), "ping_pong");
        // A pair that has lost a message has spent seconds on it; one is enough to fail.
        if (done != 0 && times_of(results, done - 1, 1).wrong != 0) break;
        if (!progress(static_cast<double>(done) / static_cast<double>(tasks.size()))) break;
      }
      pair_task task = tasks[done];
      const auto i = static_cast<uint32_t>(done);
      task.of_first = near ? near_box(task.first, 0) : far_box(anywhere, 2 * i);
      task.of_second = near ? near_box(task.second, 1) : far_box(anywhere, 2 * i + 1);
      task.base = i * messages;
      met += blocks_;
      task.met_by_then = met;
      launch(where_.device(), where_.stream(), shape_, kernel, task,
             static_cast<pair_result*>(results.address()) + done);
    }
    check_cuda(cudaStreamSynchronize(where_.stream()), "ping_pong");
    return times_of(results, 0, done);
  }

  /// The results from `first` on.
  static message_times times_of(const cuda_buffer& results, size_t first, size_t count) {
    std::vector<pair_result> found(count);
    check_cuda(cudaMemcpy(found.data(), static_cast<const pair_result*>(results.address()) + first,
                          count * sizeof(pair_result), cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    message_times times;
    for (const pair_result& pair : found) {
      times.one_way_ns.push_back(static_cast<double>(pair.nanoseconds) / (2.0 * round_trips));
      times.sent += messages;
      times.wrong += messages - std::min(messages, pair.right[0] + pair.right[1]);
    }
    return times;
  }

  pair_task task_of(uint32_t first, uint32_t second) const {
    pair_task task{};
    task.first = first;
    task.second = second;
    task.met = static_cast<uint32_t*>(met_.address());
    return task;
  }

  /// Lines of the poller's partition. `which`: 0 or 1, for both of a pair may be on one partition.
  mailbox near_box(uint32_t sm, uint32_t which) const {
    const uint32_t partition = lease_.survey().figures().partitions()[sm];
    return {lease_.line(partition, which), lease_.line(partition, 2 + which)};
  }

  /// Two lines that nothing is known of. They may come back after 2^15 mailboxes: flags grow from pair to pair.
  static mailbox far_box(const cuda_buffer& memory, uint32_t number) {
    const uint32_t line = number * 2 * 0x9e3779b1u % lines_anywhere;  // odd times even: all even lines in turn
    uint32_t* const words = static_cast<uint32_t*>(memory.address());
    return {words + size_t{line} * line_words, words + size_t{line + 1} * line_words};
  }

  void find_lines() {
    if (surveyed_) return;
    lease_ = lease_lines(where_, lines_per_partition);
    surveyed_ = true;
  }

  void clear_lines() const {
    for (uint32_t partition = 0; partition < 2; ++partition) {
      for (uint32_t i = 0; i < lines_per_partition; ++i) {
        check_cuda(cudaMemsetAsync(lease_.line(partition, i), 0, line_words * sizeof(uint32_t), where_.stream()),
                   "cudaMemsetAsync");
      }
    }
  }

  std::vector<uint32_t> sms_of_blocks() {
    check_cuda(cudaMemsetAsync(met_.address(), 0, met_.bytes(), where_.stream()), "cudaMemsetAsync");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const cuda_buffer found(where_.device(), blocks_ * sizeof(uint32_t), where_.stream());
    launch(where_.device(), where_.stream(), shape_, where_am_i, static_cast<uint32_t*>(met_.address()),
           static_cast<uint32_t*>(found.address()));
    check_cuda(cudaStreamSynchronize(where_.stream()), "where_am_i");
    std::vector<uint32_t> sms(blocks_);
    check_cuda(cudaMemcpy(sms.data(), found.address(), found.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::sort(sms.begin(), sms.end());
    sms.erase(std::unique(sms.begin(), sms.end()), sms.end());
    return sms;
  }

  const cuda_target where_;
  const uint32_t blocks_;
  const launch_shape shape_;
  const cuda_buffer met_;
  grid::cuda_line_lease lease_;
  bool surveyed_ = false;
};

const register_side<message_floor_device> message_floor_registered(device_kind::cuda, make_side<cuda_message_floor>);

}  // namespace

}  // namespace gpusync::tool
