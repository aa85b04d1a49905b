// Workload "rmw faults" on CUDA devices. The objects' text is the shipped one; it runs on a machine whose functions
// count, and at a chosen access end the warp, or make it wait.
#include <algorithm>

#include <gpusync/rmw/cuda.cuh>

#include "workloads/device_side/cuda_side.cuh"
#include "workloads/rmw_calls/policy_method.hpp"
#include "workloads/rmw_faults/rmw_faults.hpp"

namespace gpusync::tool {

namespace {

constexpr uint64_t limit_ns = 5'000'000'000;  // of a wait in a kernel, so that nothing hangs that is not meant to

/// What a warp's accesses go by; in shared memory, written by one lane at a time.
struct fault_probe {
  uint32_t kind;     // fault_kind
  uint32_t in_call;  // calls to begin before the one in which it happens
  uint32_t at_step;
  uint32_t calls;  // begun
  uint32_t steps;  // of this call
  uint32_t words;
  uint32_t passes;
  uint32_t stopped;
  uint32_t struck;
};

struct fault_task {
  uint64_t* words;     // of the object, or where to leave one that lay in shared memory
  fault_call* calls;   // by participant and call
  uint32_t* clock;     // numbers that order begins and ends
  uint32_t* started;   // participants that are there
  uint32_t* finished;  // participants that have made all their calls and were to
  uint32_t* struck;
  uint32_t participants;
  uint32_t victims;
  uint32_t kind;
  uint32_t in_call;
  uint32_t at_step;
  uint32_t calls_each;
  uint32_t seed;
  uint32_t first_state;
  rmw::device_permit permit;  // for objects in shared memory
};

/// A warp that counts what it accesses, and stops or waits where its probe says so. It stops with all its lanes: where
/// some of them make an access by themselves, these leave it out from there on, and all end together at the next vote.
template <rmw::space Where>
class faulty_warp : public rmw::cuda_warp<Where> {
 public:
  using base = rmw::cuda_warp<Where>;

  __device__ faulty_warp(volatile fault_probe* probe, const fault_task* task) : probe_(probe), task_(task) {}

  __device__ bool any(bool value) const { return live(), base::any(value); }
  __device__ bool all(bool value) const { return live(), base::all(value); }
  __device__ uint32_t ballot(bool value) const { return live(), base::ballot(value); }
  __device__ uint32_t broadcast(uint32_t word, uint32_t from) const { return live(), base::broadcast(word, from); }
  __device__ uint32_t merge(uint32_t bits) const { return live(), base::merge(bits); }
  template <class Word>
  __device__ Word most(Word word) const {
    return live(), base::most(word);
  }
  template <uint32_t Used, class T>
  __device__ T sum_before(T amount, T& total) const {
    return live(), base::template sum_before<Used>(amount, total);
  }
  __device__ void sync_lanes() const { live(), base::sync_lanes(); }

  template <memory_order Order, class Word>
  __device__ Word load(const Word* address) const {
    return goes_on(address) ? base::template load<Order>(address) : Word{};
  }
  template <memory_order Order>
  __device__ void store(uint64_t* address, uint64_t word) const {
    if (goes_on(address)) base::template store<Order>(address, word);
  }
  template <memory_order Order, class Cell>
  __device__ Cell load_cell(const Cell* address) const {
    return goes_on(address) ? base::template load_cell<Order>(address) : Cell{};
  }
  template <memory_order Order, class Word>
  __device__ Word load_one(const Word* address) const {
    one_access();
    return base::template load_one<Order>(address);
  }
  template <memory_order Order, class Word>
  __device__ Word compare_exchange(Word* address, Word expected, Word desired) const {
    one_access();
    return base::template compare_exchange<Order>(address, expected, desired);
  }
  template <memory_order Order>
  __device__ rmw::wide load_wide(const rmw::wide* address) const {
    one_access();
    return base::template load_wide<Order>(address);
  }
  template <memory_order Order>
  __device__ rmw::wide compare_exchange_wide(rmw::wide* address, rmw::wide expected, rmw::wide desired) const {
    one_access();
    return base::template compare_exchange_wide<Order>(address, expected, desired);
  }
  template <class AddressOf, class WordOf>
  __device__ void assign(uint32_t count, AddressOf&& address_of, WordOf&& word_of) const {
    one_access();
    base::assign(count, address_of, word_of);
  }
  __device__ void fence() const {
    one_access();
    base::fence();
  }

  template <class Participant>
  __device__ void milestone(uint32_t pass, const Participant&) const {
    live();
    if (base::lane() != 0) return;
    if (pass == 0) {
      probe_->calls = probe_->calls + 1;
      probe_->steps = 0;
      probe_->words = 0;
    }
    probe_->passes = pass;
  }

 private:
  /// Ends the warp if it has stopped. All lanes.
  __device__ void live() const {
    __syncwarp();
    if (probe_->stopped != 0) asm volatile("exit;");
  }

  /// Whether the lanes that are here may make their access. One word that several of them load counts once.
  __device__ bool goes_on(const void* address) const {
    const unsigned here = __activemask();
    const unsigned same = __match_any_sync(here, reinterpret_cast<unsigned long long>(address));
    const bool first = base::lane() == static_cast<uint32_t>(__ffs(static_cast<int>(same)) - 1);
    return count(here, static_cast<uint32_t>(__popc(__ballot_sync(here, first))));
  }
  __device__ void one_access() const {
    live();
    (void)count(~0u, 1);
    live();
  }

  __device__ bool count(unsigned here, uint32_t words) const {
    const auto first = static_cast<uint32_t>(__ffs(static_cast<int>(here)) - 1);
    bool goes = true;
    if (base::lane() == first) goes = count_alone(words);
    return __shfl_sync(here, goes ? 1 : 0, static_cast<int>(first)) != 0;
  }
  __device__ bool count_alone(uint32_t words) const {
    if (probe_->stopped != 0) return false;
    probe_->steps = probe_->steps + 1;
    const bool here = probe_->calls == probe_->in_call + 1 && probe_->steps == probe_->at_step;
    if (here && probe_->kind == static_cast<uint32_t>(fault_kind::crash)) {
      probe_->stopped = 1;
      (void)atomicAdd(task_->struck, 1u);
      return false;
    }
    if (here && probe_->kind == static_cast<uint32_t>(fault_kind::stall)) {
      (void)atomicAdd(task_->struck, 1u);
      const cuda_grid grid;
      const uint64_t begin = grid.now();
      while (cuda_memory::load<memory_order::relaxed, scope::device>(task_->finished) <
                 task_->participants - task_->victims &&
             grid.now() - begin < limit_ns) {
      }
    }
    probe_->words = probe_->words + words;
    return true;
  }

  volatile fault_probe* probe_;
  const fault_task* task_;
};

/// A number that tells of the order of events: what came before this one is before it for all who draw later ones.
__device__ uint32_t draw(uint32_t* clock) {
  uint32_t number = 0;
  __threadfence();
  if (threadIdx.x % 32 == 0) number = atomicAdd(clock, 1u);
  number = __shfl_sync(~0u, number, 0);
  __threadfence();
  return number;
}

/// All participants are there: so that calls meet.
__device__ void await_start(const fault_task& task) {
  if (threadIdx.x % 32 == 0) {
    const cuda_grid grid;
    const uint64_t begin = grid.now();
    (void)atomicAdd(task.started, 1u);
    while (cuda_memory::load<memory_order::relaxed, scope::device>(task.started) < task.participants &&
           grid.now() - begin < limit_ns) {
    }
  }
  __syncwarp();
}

template <class Object>
__device__ void take_part(const fault_task& task, Object object, uint32_t self, fault_probe* probe) {
  using machine = typename Object::machine_type;
  const bool victim = self < task.victims;
  const uint32_t lane = threadIdx.x % 32;
  if (lane == 0) {
    *probe = {};
    probe->kind = victim ? task.kind : 0;
    probe->in_call = task.in_call;
    probe->at_step = task.at_step;
    probe->calls = 0;
    probe->stopped = 0;
  }
  __syncwarp();
  const machine warp(probe, &task);
  auto participant = object.join(self, warp);
  await_start(task);
  for (uint32_t i = 0; i < task.calls_each; ++i) {
    fault_call* const call = task.calls + self * task.calls_each + i;
    const auto operation = fault_operation(task.seed, self, i);
    const uint32_t begin = draw(task.clock);
    if (lane == 0) {
      call->operation = operation;
      call->begin = begin;
      call->begun = true;
    }
    __syncwarp();
    const uint32_t answer = participant.apply(operation);
    const uint32_t end = draw(task.clock);
    if (lane == 0) {
      call->answer = answer;
      call->end = end;
      call->passes = probe->passes;
      call->accesses = probe->words;
      call->ended = true;
    }
    __syncwarp();
  }
  __threadfence();
  if (lane == 0 && !victim) (void)atomicAdd(task.finished, 1u);
  __syncwarp();
}

template <class Object>
__global__ void __launch_bounds__(32) fail_in_global(fault_task task) {
  __shared__ fault_probe probe;
  take_part(task, Object(task.words), blockIdx.x, &probe);
}

/// Nobody waits in the end: warps that have stopped would not come. Whoever is last copies the object.
template <class Object, uint32_t N>
__global__ void __launch_bounds__(32 * N) fail_in_shared(fault_task task) {
  __shared__ shared_rmw_storage<Object> memory;
  __shared__ fault_probe probes[N];
  __shared__ uint32_t done;
  if (threadIdx.x == 0) done = 0;
  const Object object = memory.start(task.first_state, rmw::evidence_permit<typename Object::consensus>(task.permit));
  const uint32_t warp = threadIdx.x / 32;
  take_part(task, object, warp, &probes[warp]);
  const uint32_t all =
      task.kind == static_cast<uint32_t>(fault_kind::crash) ? task.participants - task.victims : task.participants;
  uint32_t before = 0;
  __threadfence_block();
  if (threadIdx.x % 32 == 0) before = atomicAdd(&done, 1u);
  before = __shfl_sync(~0u, before, 0);
  // Of victims that were to crash and did not come to that step, some may be on their way still; no call of theirs is.
  if (before + 1 < all) return;
  for (uint32_t i = threadIdx.x % 32; i < Object::words; i += 32) task.words[i] = memory.words[i];
}

template <class Consensus, uint32_t N, rmw::space Where>
using faulty_object = basic_rmw_object<uint32_t, N, Consensus, rmw::named_operation<uint32_t>, faulty_warp<Where>>;

/// An object's code.
struct fault_form {
  fault_object object;
  uint32_t words;
  void (*start)(uint64_t* words, uint32_t first);
  uint32_t (*state)(const uint64_t* words);
  void (*kernel)(fault_task);
  rmw::device_permit (*require)(const cuda_device&);
};

template <class Consensus, uint32_t N, rmw::space Where>
fault_form form_of() {
  using object = faulty_object<Consensus, N, Where>;
  fault_form form{};
  form.object = {policy_name<Consensus>(), Where, N, object::max_passes, object::max_steps};
  form.words = object::words;
  form.start = [](uint64_t* words, uint32_t first) { object::start(words, first); };
  form.state = [](const uint64_t* words) { return object::settled_state(words); };
  if constexpr (Where == rmw::space::global) {
    form.kernel = fail_in_global<object>;
  } else {
    form.kernel = fail_in_shared<object, N>;
  }
  form.require = [](const cuda_device& device) { return rmw::device_permit(rmw::require_evidence<Consensus>(device)); };
  return form;
}

const std::vector<fault_form>& all_forms() {
  constexpr auto global = rmw::space::global, shared = rmw::space::shared;
  using evidence = rmw::litmus::nvidia_h200;
  using apart = rmw::litmus::nvidia_h200_apart;
  static const std::vector<fault_form> all = {
      form_of<rmw::cas<>, 5, global>(),    form_of<rmw::cas<rmw::publication::tagged, 16>, 5, global>(),
      form_of<rmw::cas128<>, 5, global>(), form_of<rmw::coalesced_store<apart, global>, 5, global>(),
      form_of<rmw::cas<>, 5, shared>(),    form_of<rmw::coalesced_store<evidence, shared>, 5, shared>(),
      form_of<rmw::cas<>, 16, shared>(),   form_of<rmw::coalesced_store<evidence, shared>, 16, shared>(),
  };
  return all;
}

class cuda_rmw_faults : public rmw_faults_device {
 public:
  explicit cuda_rmw_faults(const device_description& description)
      : where_(description.index), counters_(where_.device(), 4 * sizeof(uint32_t), where_.stream()) {
    size_t words = 0;
    for (const fault_form& form : all_forms()) words = std::max<size_t>(words, form.words);
    words_ = cuda_buffer(where_.device(), words * sizeof(uint64_t), where_.stream());
    calls_ = cuda_buffer(where_.device(), most_calls * sizeof(fault_call), where_.stream());
  }

  std::vector<fault_object> objects() const override {
    std::vector<fault_object> all;
    for (const fault_form& form : all_forms()) all.push_back(form.object);
    return all;
  }

  fault_result run(const fault_case& what) override {
    const fault_form& form = find(what.object);
    const uint32_t participants = what.object.participants, calls = participants * what.calls;
    if (what.victims >= participants || calls > most_calls) {
      throw invalid_argument("There are 0 to N - 1 victims, and at most " + std::to_string(most_calls) + " calls.");
    }
    const rmw::device_permit permit = form.require(where_.device());
    fault_result result;
    result.first_state = what.seed % 3;
    std::vector<uint64_t> words(form.words);
    form.start(words.data(), result.first_state);
    where_.upload(words_, words.data(), form.words * sizeof(uint64_t));
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemsetAsync(calls_.address(), 0, calls * sizeof(fault_call), where_.stream()), "cudaMemsetAsync");
    check_cuda(cudaMemsetAsync(counters_.address(), 0, counters_.bytes(), where_.stream()), "cudaMemsetAsync");
    auto* const counters = static_cast<uint32_t*>(counters_.address());
    const fault_task task{static_cast<uint64_t*>(words_.address()),
                          static_cast<fault_call*>(calls_.address()),
                          counters,
                          counters + 1,
                          counters + 2,
                          counters + 3,
                          participants,
                          what.victims,
                          static_cast<uint32_t>(what.kind),
                          what.in_call,
                          what.at_step,
                          what.calls,
                          what.seed,
                          result.first_state,
                          permit};
    const bool shared = what.object.where == rmw::space::shared;
    form.kernel<<<shared ? 1 : participants, shared ? 32 * participants : 32, 0, where_.stream()>>>(task);
    check_cuda(cudaGetLastError(), "the launch of calls with faults");
    where_.await();
    std::vector<fault_call> seen(calls);
    uint32_t counts[4];
    where_.download(seen.data(), calls_, calls * sizeof(fault_call));
    where_.download(counts, counters_, sizeof(counts));
    where_.download(words.data(), words_, form.words * sizeof(uint64_t));
    result.struck = counts[3];
    result.last_state = form.state(words.data());
    for (uint32_t i = 0; i < participants; ++i) {
      result.calls.emplace_back(seen.begin() + i * what.calls, seen.begin() + (i + 1) * what.calls);
    }
    return result;
  }

 private:
  static constexpr uint32_t most_calls = 1024;

  static const fault_form& find(const fault_object& one) {
    for (const fault_form& form : all_forms()) {
      const fault_object& here = form.object;
      if (here.where == one.where && here.participants == one.participants && here.method == one.method) return form;
    }
    throw invalid_argument("There is no object " + one.method + " for " + std::to_string(one.participants) +
                           " participants.");
  }

  const cuda_target where_;
  cuda_buffer counters_, words_, calls_;
};

const register_side<rmw_faults_device> rmw_faults_registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_rmw_faults>(device);
});

}  // namespace

}  // namespace gpusync::tool
