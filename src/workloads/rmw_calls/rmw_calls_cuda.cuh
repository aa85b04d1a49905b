// Workload "rmw calls" on CUDA devices: the kernel, and programs of one type of state and capacity.
#pragma once

#include <algorithm>
#include <vector>

#include <gpusync/rmw/cuda.cuh>

#include "boundary/cuda_launch.hpp"
#include "boundary/steps_cuda.hpp"
#include "workloads/device_side/cuda_side.cuh"
#include "workloads/rivals/atomic_word.cuh"
#include "workloads/rmw_calls/policy_method.hpp"
#include "workloads/rmw_calls/rmw_calls_program.hpp"

namespace gpusync::tool {

/// In the place of an operation: which one is said by the task.
inline constexpr int any_kind = -1;

template <int Kind, class State, class Participant>
__device__ __forceinline__ void make_calls(const call_task& task, uint32_t self, bool notes, Participant participant) {
  const auto kind = Kind == any_kind ? task.kind : static_cast<rmw::operation_kind>(Kind);
  call_script<State> script(kind, self, task.participants, task.calls);
  uint64_t longest = 0;
  const uint64_t begin = cuda_grid().now();
  uint64_t called = begin;
  for (uint32_t i = 0; i < task.calls;) {
    const State answer = participant.apply(script.operation(i));
    if (task.timed) {
      const uint64_t answered = cuda_grid().now();
      longest = answered - called > longest ? answered - called : longest;
      called = answered;
    }
    script.note(answer);
    // 1, for numbers are small; but the next call must wait for this answer, as calls do whose answers are used.
    uint32_t bits[rmw::words_of<State>];
    rmw::split(answer, bits);
    i += 1 + (bits[rmw::words_of<State> - 1] >> 31);
  }
  const uint64_t end = cuda_grid().now();
  if (notes) task.records[self] = {begin, end, longest, script.tally()};
}

/// One participant a block, in its first warp.
template <class Object, int Kind, class Barrier>
__global__ void __launch_bounds__(32) call_in_global(call_task task, Barrier barrier) {
  using machine = typename Object::machine_type;
  const bool acts = machine::lanes > 1 || threadIdx.x == 0;
  barrier.sync();
  if (!acts) return;
  make_calls<Kind, typename Object::state_type>(task, blockIdx.x, threadIdx.x == 0,
                                                Object(task.words).join(blockIdx.x));
}

/// One participant a warp, in a single block.
template <class Object, int Kind, uint32_t Threads>
__global__ void __launch_bounds__(Threads) call_in_shared(call_task task, typename Object::state_type first,
                                                          rmw::evidence_permit<typename Object::consensus> permit) {
  using machine = typename Object::machine_type;
  __shared__ shared_rmw_storage<Object> memory;
  const Object object = memory.start(first, permit);
  const uint32_t warp = threadIdx.x / 32;
  const bool acts = machine::lanes > 1 || threadIdx.x % 32 == 0;
  if (acts) {
    make_calls<Kind, typename Object::state_type>(task, warp, threadIdx.x % 32 == 0, object.join(warp));
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < Object::words; i += blockDim.x) task.words[i] = memory.words[i];
}

/// The same for a word in global memory: what warps of one block do without shared memory.
template <class Object, int Kind, uint32_t Threads>
__global__ void __launch_bounds__(Threads) call_from_one_block(call_task task) {
  using machine = typename Object::machine_type;
  const bool acts = machine::lanes > 1 || threadIdx.x % 32 == 0;
  __syncthreads();
  if (!acts) return;
  make_calls<Kind, typename Object::state_type>(task, threadIdx.x / 32, threadIdx.x % 32 == 0,
                                                Object(task.words).join(threadIdx.x / 32));
}

/// The policies for states of type State, and the objects that are made of them for N participants.
template <class State, uint32_t N, rmw::space Where>
class calls_workload : public workload {
 public:
  calls_workload(const cuda_target& where, const call_setup& setup) : where_(where), setup_(setup) {
    size_t bytes = 0;
    for_each_policy([&](auto policy) { bytes = std::max(bytes, object_of<decltype(policy)>::bytes); });
    places_ = std::make_unique<call_places>(where, bytes, N);
  }

  std::vector<step_method> methods() const override {
    std::vector<step_method> all;
    for_each_policy([&](auto policy) {
      using named = decltype(policy);
      if (named::adds_only && (setup_.kind != rmw::operation_kind::add || !all_policies)) return;
      all.push_back(
          policy_method<typename named::consensus>(named::name(), {is_shared ? "H5" : "H3", is_shared ? "H6" : "H4"}));
      all.back().needs_co_residency = true;
    });
    return all;
  }

  std::unique_ptr<tool::program> prepare(const step_method& method, const step_shape& shape) override {
    require_countable(shape.blocks, setup_);
    std::unique_ptr<tool::program> made;
    for_each_policy([&](auto policy) {
      if (!made && method.name == decltype(policy)::name()) made = make<decltype(policy)>(shape.blocks);
    });
    return made;
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return N; }

 private:
  static constexpr bool is_shared = Where == rmw::space::shared;
  static constexpr bool all_policies = sizeof(State) == 4 && !std::is_floating_point_v<State>;

  /// A policy under the name that it has in results. AddsOnly: what other operations cost is measured with its
  /// siblings, for kernels take long to compile. InGlobal: its word lies in global memory whatever `Where` says.
  template <class Consensus, bool AddsOnly = false, bool InGlobal = false>
  struct named_policy {
    using consensus = Consensus;
    static constexpr bool adds_only = AddsOnly;
    static constexpr bool in_global = InGlobal || !is_shared;
    static std::string name() { return policy_name<Consensus>() + (InGlobal ? "-global" : ""); }
  };
  template <class Visit>
  static void for_each_policy(Visit&& visit) {
    using evidence = std::conditional_t<is_shared, rmw::litmus::nvidia_h200, rmw::litmus::nvidia_h200_apart>;
    if constexpr (is_shared) visit(named_policy<rivals::hardware, true, true>{});
    visit(named_policy<rivals::hardware>{});
    visit(named_policy<rivals::cas_loop>{});
    visit(named_policy<rmw::cas<>>{});
    if constexpr (all_policies) {
      visit(named_policy<rmw::cas<rmw::publication::tagged, 16>, true>{});
      if constexpr (N == 5) visit(named_policy<rmw::cas<rmw::publication::ordered>, true>{});
      visit(named_policy<rmw::cas128<>, true>{});
    }
    if constexpr (N <= (is_shared ? 16 : 5)) {
      visit(named_policy<rmw::coalesced_store<evidence, Where>>{});
      if constexpr (all_policies) visit(named_policy<rmw::coalesced_store<evidence, Where, uint32_t>, true>{});
    }
  }

  /// One atomic operation needs one thread, an object a warp.
  template <class Consensus, rmw::space At>
  struct machine_of {
    using type = rmw::cuda_warp<At>;
  };
  template <bool Loops, rmw::space At>
  struct machine_of<rivals::atomic_word<Loops>, At> {
    using type = rmw::cuda_thread<At>;
  };
  template <class Named>
  using object_of = basic_rmw_object<
      State, N, typename Named::consensus, rmw::named_operation<State>,
      typename machine_of<typename Named::consensus, Named::in_global ? rmw::space::global : rmw::space::shared>::type>;

  /// The hardware's operations are compiled each by itself, so that nothing is measured beside them; the rest for
  /// additions, and for whatever is asked.
  template <class Named>
  std::unique_ptr<tool::program> make(uint32_t participants) {
    (void)rmw::require_evidence<typename Named::consensus>(where_.device());
    constexpr bool is_atomic = N == 5 && std::is_same_v<typename Named::consensus, rivals::hardware>;
    if constexpr (is_atomic) return make_of_any<Named>(participants, std::make_integer_sequence<int, 8>{});
    constexpr auto add = static_cast<int>(rmw::operation_kind::add);
    if constexpr (all_policies) {
      if (setup_.kind == rmw::operation_kind::add) return make_of<Named, add>(participants);
    }
    if constexpr (Named::adds_only && all_policies) {
      throw invalid_argument(Named::name() + " is measured with additions only.");
    } else if constexpr (Named::adds_only) {
      throw invalid_argument(Named::name() + " is measured with words of 32 bits only.");
    } else {
      return make_of<Named, any_kind>(participants);
    }
  }

  /// By the kernel for the setup's operation alone; Kinds are all that there are.
  template <class Named, int... Kinds>
  std::unique_ptr<tool::program> make_of_any(uint32_t participants, std::integer_sequence<int, Kinds...>) {
    std::unique_ptr<tool::program> made;
    ((static_cast<int>(setup_.kind) == Kinds ? void(made = make_of<Named, Kinds>(participants)) : void()), ...);
    return made;
  }

  template <class Named, int Kind>
  std::unique_ptr<tool::program> make_of(uint32_t participants) {
    using object = object_of<Named>;
    call_object calls;
    calls.first_words = [](rmw::operation_kind kind, uint32_t all) {
      std::vector<uint64_t> words(object::words);
      object::start(words.data(), first_state(kind, all));
      return words;
    };
    calls.state = [](const uint64_t* words) { return static_cast<uint32_t>(object::settled_state(words)); };
    calls.start = start_of<Named, object, Kind>(participants);
    return std::make_unique<call_program>(where_, *places_, setup_, participants, calls);
  }

  static State first_state(rmw::operation_kind kind, uint32_t all) {
    return static_cast<State>(call_script<State>::first_state(kind, all));
  }

  /// What enqueues a run.
  template <class Named, class Object, int Kind>
  std::function<void(call_task)> start_of(uint32_t participants) const {
    if constexpr (!is_shared) {
      const void* const kernel =
          reinterpret_cast<const void*>(&call_in_global<Object, Kind, basic_grid_barrier<start_barrier, cuda_grid>>);
      const launch_shape shape{participants, 32};
      require_co_resident(where_.device(), kernel, shape);
      const std::shared_ptr<cuda_barrier> barrier =
          make_cuda_barrier(grid::name_of<start_barrier>(), where_, participants, std::nullopt);
      return [this, kernel, shape, barrier](call_task task) {
        launch_with(where_, shape, kernel, {&task}, barrier.get());
      };
    } else if constexpr (Named::in_global) {
      return [this, participants](call_task task) {
        void* arguments[] = {&task};
        start_kernel(where_.stream(), {1, participants * 32}, kernel_start::plain,
                     reinterpret_cast<const void*>(&call_from_one_block<Object, Kind, 32 * N>), arguments);
      };
    } else {
      return [this, participants,
              permit = rmw::require_evidence<typename Named::consensus>(where_.device())](call_task task) mutable {
        State first = first_state(task.kind, task.participants * task.calls);
        void* arguments[] = {&task, &first, &permit};
        start_kernel(where_.stream(), {1, participants * 32}, kernel_start::plain,
                     reinterpret_cast<const void*>(&call_in_shared<Object, Kind, 32 * N>), arguments);
      };
    }
  }

  using start_barrier = grid::lock_based<ordering::acquire_release>;

  const cuda_target& where_;
  const call_setup setup_;
  std::unique_ptr<call_places> places_;
};

/// The workload of a setup on 32-bit words; a source of its own, for it takes long to compile.
std::unique_ptr<workload> open_calls_on_words(const cuda_target& where, const call_setup& setup);

}  // namespace gpusync::tool
