#include "boundary/steps_cuda.hpp"

#include <cstring>
#include <iterator>
#include <map>
#include <optional>

#include <gpusync/core/cuda_code.cuh>
#include <gpusync/gpusync.cuh>

#include "boundary/cuda_dependent.cuh"
#include "boundary/cuda_graph.hpp"
#include "boundary/cuda_launch.hpp"
#include "boundary/cuda_pinned.hpp"
#include "measure/host_timer.hpp"

namespace gpusync::tool {

namespace {

/// A step that does nothing, in the place of a kernel that carries one out.
template <kernel_start How>
__global__ void idle_step() {
  wait_for_kernel_before<How>();
}

const void* idle_kernel(kernel_start how) {
  const auto address = [](void (*kernel)()) { return reinterpret_cast<const void*>(kernel); };
  const cuda_kernels idle{nullptr,
                          address(&idle_step<kernel_start::plain>),
                          address(&idle_step<kernel_start::dependent>),
                          address(&idle_step<kernel_start::dependent_late>),
                          {}};
  return idle.step(how);
}

/// What the programs of one computation have in common.
class steps_program : public cuda_program {
 public:
  steps_program(const launch_shape& shape, cuda_computation computation)
      : cuda_program(*computation.where, shape, computation.data, computation.steps),
        computation_(std::move(computation)) {}

 protected:
  const cuda_kernels& kernels() const { return computation_.kernels; }
  void* text() { return computation_.text.data(); }
  /// Goes on with the next text, if there are several.
  void take_next_place() {
    if (computation_.places.empty()) return;
    std::swap(computation_.text, computation_.places[next_place_]);
    next_place_ = (next_place_ + 1) % computation_.places.size();
  }

  /// Starts the step that is told `number`.
  void start(uint32_t number, kernel_start how) {
    if (computation_.call) return computation_.call(where_.stream(), number);
    if (number == step_sequence::idle) {
      return start_kernel(where_.stream(), shape_, how, idle_kernel(how), nullptr);
    }
    void* arguments[] = {text(), &number};
    start_kernel(where_.stream(), shape_, how, kernels().step(how), arguments);
  }

  bool ends_by_itself() const { return computation_.goes_on != nullptr; }
  /// See there; behind the `s`-th step.
  const uint32_t* goes_on(uint32_t s) const { return computation_.goes_on(steps().number_of(s, steps().count)); }

  /// Steps of a batch, behind which the host, or a graph, asks whether there are more to come.
  static constexpr uint32_t asked_every = 32;

 private:
  cuda_computation computation_;
  size_t next_place_ = 0;
};

/// What the host does to end a computation that ends by itself.
class asking_program : public steps_program {
 public:
  asking_program(const launch_shape& shape, cuda_computation computation)
      : steps_program(shape, std::move(computation)) {
    if (!ends_by_itself()) return;
    questions_.emplace();
    for (uint32_t s = 0; s < 2 * asked_every; ++s) {
      if (steps().number_of(s, steps().count) == steps().number_of(s % asked_every, asked_every)) continue;
      throw invalid_argument("The numbers of these steps do not come back after 32.");
    }
  }

 protected:
  /// Queues `batch()`, asked_every steps, again and again until it is over. The host reads the answer to a batch when
  /// the next is queued, so that the device need not wait for it.
  template <class Batch>
  void in_batches(Batch&& batch) {
    for (uint32_t i = 0; i < steps().limit() / asked_every + 2; ++i) {
      batch();
      questions_->ask(where_.stream(), goes_on(asked_every - 1), i);
      if (i != 0 && questions_->answer(i - 1) == 0) return;
    }
  }
  /// Asks behind the `s`-th step, and waits for the answer.
  bool must_go_on(uint32_t s) {
    questions_->ask(where_.stream(), goes_on(s), s);
    return questions_->answer(s) != 0;
  }

 private:
  std::optional<cuda_questions> questions_;
};

/// A kernel for each step, started by the host, which may wait for each.
class relaunch_program : public asking_program {
 public:
  relaunch_program(const launch_shape& shape, cuda_computation computation, kernel_start how, bool waited_for)
      : asking_program(shape, std::move(computation)), how_(how), waited_for_(waited_for) {
    if (how == kernel_start::cooperative) require_co_resident(where_.device(), kernels().single, shape);
  }

 private:
  bool by_host_clock() const override { return waited_for_; }

  void carry_out(uint32_t count) override {
    if (ends_by_itself()) return carry_out_to_the_end(count);
    for (uint32_t s = 0; s < count; ++s) {
      start(steps().number_of(s, count), how_);
      if (waited_for_) check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
  }

  void carry_out_to_the_end(uint32_t count) {
    if (waited_for_) {
      for (uint32_t s = 0; s < steps().limit(); ++s) {
        start(steps().number_of(s, count), how_);
        if (!must_go_on(s)) return;
      }
      return;
    }
    in_batches([&] {
      for (uint32_t s = 0; s < asked_every; ++s) start(steps().number_of(s, asked_every), how_);
    });
  }

  const kernel_start how_;
  const bool waited_for_;
};

/// Steps as nodes of CUDA graphs, replayed.
class graph_program : public asking_program {
 public:
  graph_program(const launch_shape& shape, cuda_computation computation, kernel_start how)
      : asking_program(shape, std::move(computation)), how_(how) {
    if (!steps().whole) require_multiples_of(steps().nodes != 0 ? steps().nodes : repeated_nodes);
  }

 private:
  // A graph of all steps would do as well, but for the memory that instantiating it takes. Where runs are of any
  // length, so many that a replay's own cost is under 1 % of its steps'.
  static constexpr uint32_t most_nodes = 1u << 14, repeated_nodes = 256;

  /// Graphs are kept: most replays are of the same steps. New ones are replayed once, for that uploads them.
  void arrange(uint32_t count) override {
    if (ends_by_itself()) count = asked_every;
    const auto each = static_cast<uint32_t>(steps().whole ? most_nodes : steps_unit());
    bool any_new = false;
    replays_.clear();
    for (uint32_t first = 0; first < count; first += each) {
      std::vector<uint32_t> numbers;
      for (uint32_t s = first; s < std::min(count, first + each); ++s) numbers.push_back(steps().number_of(s, count));
      auto found = graphs_.find(numbers);
      if (found == graphs_.end()) {
        any_new = true;
        cuda_graph made(where_.stream(), [&] {
          for (const uint32_t number : numbers) start(number, how_);
        });
        found = graphs_.emplace(std::move(numbers), std::move(made)).first;
      }
      replays_.push_back(&found->second);
    }
    if (!any_new) return;
    replay();
    check_cuda(cudaStreamSynchronize(where_.stream()), "a graph's first replay");
    start_again();
  }

  void carry_out(uint32_t) override {
    if (!ends_by_itself()) return replay();
    in_batches([&] { replay(); });
  }

  void replay() const {
    for (const cuda_graph* graph : replays_) graph->replay(where_.stream());
  }

  const kernel_start how_;
  std::map<std::vector<uint32_t>, cuda_graph> graphs_;  ///< by the numbers of their steps
  std::vector<const cuda_graph*> replays_;
};

#if CUDART_VERSION >= 13000
/// Goes once more round a graph's loop, or not; `rounds`, 0 before the first, are at most `most`.
__global__ void ask_for_more(cudaGraphConditionalHandle loop, const uint32_t* goes_on, uint32_t* rounds,
                             uint32_t most) {
  const bool more = *goes_on != 0 && *rounds + 1 < most;
  *rounds = more ? *rounds + 1 : 0;
  cudaGraphSetConditional(loop, more ? 1 : 0);
}

/// Steps in the loop of a CUDA graph that the device itself goes round until the computation is over.
class while_graph_program : public steps_program {
 public:
  while_graph_program(const launch_shape& shape, cuda_computation computation)
      : steps_program(shape, std::move(computation)),
        rounds_(where_.device(), sizeof(uint32_t), where_.stream()),
        graph_(cuda_graph::looping(where_.stream(), [this](cudaGraphConditionalHandle loop) {
          for (uint32_t s = 0; s < asked_every; ++s) start(steps().number_of(s, asked_every), kernel_start::plain);
          const uint32_t* word = goes_on(asked_every - 1);
          void* rounds = rounds_.address();
          uint32_t most = steps().limit() / asked_every + 1;
          void* arguments[] = {&loop, &word, &rounds, &most};
          start_kernel(where_.stream(), {1, 1}, kernel_start::plain, reinterpret_cast<const void*>(&ask_for_more),
                       arguments);
        })) {}

 private:
  /// Uploaded by a first replay, as other graphs.
  void arrange(uint32_t) override {
    if (is_uploaded_) return;
    is_uploaded_ = true;
    graph_.replay(where_.stream());
    check_cuda(cudaStreamSynchronize(where_.stream()), "a graph's first replay");
    start_again();
  }
  void carry_out(uint32_t) override { graph_.replay(where_.stream()); }

  const cuda_buffer rounds_;
  const cuda_graph graph_;
  bool is_uploaded_ = false;
};
#endif

/// One kernel for all steps that waits for nothing between them.
class alone_program : public steps_program {
 public:
  using steps_program::steps_program;

 private:
  void carry_out(uint32_t count) override {
    void* arguments[] = {text(), &count, &nothing_};
    start_kernel(where_.stream(), shape_, kernel_start::plain, kernels().alone, arguments);
  }

  unsigned char nothing_ = 0;  ///< in the place of a barrier
};

/// One kernel for all steps, with a grid barrier between them, or with a part of one, or with what else blocks wait by.
class steps_with_barrier : public steps_program {
 public:
  /// `barrier`: null for a part.
  steps_with_barrier(const launch_shape& shape, cuda_computation computation, const void* kernel,
                     std::unique_ptr<cuda_waiting> barrier)
      : steps_program(shape, std::move(computation)), kernel_(kernel), barrier_(std::move(barrier)) {
    require_co_resident(where_.device(), kernel, shape);
  }

  void place_anew() override {
    take_next_place();
    if (barrier_) barrier_->place_anew();
  }

 private:
  void carry_out(uint32_t count) override { launch_with(where_, shape_, kernel_, {text(), &count}, barrier_.get()); }

  const void* const kernel_;
  const std::unique_ptr<cuda_waiting> barrier_;
};

/// How the methods of a text on the chip are called.
using kernels_on_chip = kernel_table cuda_on_chip_kernels::*;
struct on_chip_form {
  const char *suffix, *title;
  kernels_on_chip kernels;
};
constexpr on_chip_form on_chip_forms[] = {
    {"-on-chip", ", data on the chip", &cuda_on_chip_kernels::with_barrier},
    {"-on-chip-split", ", data on the chip, split phase", &cuda_on_chip_kernels::split},
};

/// The program of a method of a text on the chip; null if the method is none.
std::unique_ptr<program> prepare_on_chip(const step_method& method, const step_shape& shape,
                                         const cuda_computation& computation) {
  if (computation.on_chip == nullptr) return nullptr;
  for (const on_chip_form& form : on_chip_forms) {
    if (method.barrier.empty() || method.name != method.barrier + form.suffix) continue;
    const void* const kernel = (computation.on_chip->kernels.*form.kernels).find(method.barrier);
    if (kernel == nullptr) continue;
    cuda_on_chip::fitted fitted = computation.on_chip->fit(shape);
    cuda_computation own = computation;
    own.text = std::move(fitted.text);
    own.places.clear();
    return std::make_unique<steps_with_barrier>(
        launch_shape{shape.blocks, shape.threads, fitted.shared_bytes}, std::move(own), kernel,
        make_cuda_barrier(method.barrier, *computation.where, shape.blocks, method.plan));
  }
  return nullptr;
}

/// The own method of that name; null if there is none.
const cuda_own_method* own_method(const cuda_computation& computation, const std::string& name) {
  for (const cuda_own_method& one : computation.own) {
    if (one.method.name == name) return &one;
  }
  return nullptr;
}

/// The program of an own method; null if the method is none.
std::unique_ptr<program> prepare_own(const step_method& method, const step_shape& shape,
                                     const cuda_computation& computation) {
  const cuda_own_method* const found = own_method(computation, method.name);
  if (found == nullptr) return nullptr;
  launch_shape launched{shape.blocks, shape.threads};
  cuda_computation own = computation;
  const void* kernel = found->kernel;
  if (found->fit) {
    cuda_on_chip::fitted fitted = found->fit(shape);
    own.text = std::move(fitted.text);
    own.places.clear();
    launched.shared_bytes = fitted.shared_bytes;
    if (fitted.kernel != nullptr) kernel = fitted.kernel;
  }
  return std::make_unique<steps_with_barrier>(launched, std::move(own), kernel,
                                              found->waits_by ? found->waits_by(*computation.where, shape) : nullptr);
}

}  // namespace

cuda_program::cuda_program(const cuda_target& where, const launch_shape& shape, std::shared_ptr<run_data> data,
                           step_sequence steps)
    : checked_program(std::move(data), std::move(steps)), where_(where), shape_(shape) {}

double cuda_program::compute(uint32_t steps) {
  const cuda_device_scope scope(where_.device().ordinal());
  arrange(steps);
  if (by_host_clock()) {
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const host_timer clock;
    carry_out(steps);
    return clock.nanoseconds();
  }
  timer_.start(where_.stream());
  carry_out(steps);
  return timer_.stop(where_.stream());
}

std::vector<step_method> methods_of_calls() {
  return {{method_names::host_wait, "kernel launch and host wait for each step", {"F1"}, method_kind::host_wait},
          {method_names::relaunch, "stream relaunch", {"F1"}, method_kind::launch},
          {method_names::graph, "CUDA graph of kernels", {}, method_kind::graph}};
}

std::vector<step_method> methods_on_cuda(const cuda_device& device, const cuda_kernels& kernels, bool floor) {
  std::vector<step_method> all;
  if (floor) all.push_back({method_names::none, "no barrier (the work alone)", {"F12"}, method_kind::floor});
  std::vector<step_method> launches = methods_of_calls();
  launches.insert(launches.end() - 1,
                  {method_names::cooperative, "cooperative relaunch", {}, method_kind::launch, true, true});
  std::move(launches.begin(), launches.end(), std::back_inserter(all));
  // Where the code for this device is older, its kernels do not wait for the step before.
  if (code_for(device) >= 90) {
    all.push_back({method_names::dependent_graph,
                   "CUDA graph of kernels with programmatic dependent launch",
                   {},
                   method_kind::graph});
    all.push_back({method_names::late_dependent_graph,
                   "CUDA graph with programmatic dependent launch, triggered behind the wait",
                   {},
                   method_kind::graph});
  }
  for (step_method& method : cuda_barrier_methods()) {
    if (kernels.with_barrier.find(barrier_name_of(method)) != nullptr) all.push_back(std::move(method));
  }
  return all;
}

std::vector<step_method> methods_of(const cuda_computation& what) {
  if (what.call) return methods_of_calls();
  std::vector<step_method> all = methods_on_cuda(what.where->device(), what.kernels, false);
#if CUDART_VERSION >= 13000
  if (what.goes_on != nullptr) {
    all.push_back({method_names::while_graph, "CUDA graph with a loop that the device ends", {}, method_kind::graph});
  }
#endif
  for (const cuda_own_method& one : what.own) all.push_back(one.method);
  if (what.on_chip == nullptr) return all;
  for (const on_chip_form& form : on_chip_forms) {
    for (step_method& method : cuda_barrier_methods_in(what.on_chip->kernels.*form.kernels)) {
      method.barrier = method.name;
      method.name += form.suffix;
      method.title += form.title;
      all.push_back(std::move(method));
    }
  }
  return all;
}

std::unique_ptr<program> prepare_program(const step_method& method, const step_shape& shape,
                                         cuda_computation computation) {
  const cuda_target& where = *computation.where;
  const cuda_device_scope scope(where.device().ordinal());
  launch_shape launched{shape.blocks, shape.threads};
  check_shape(where.device(), launched);
  if (auto on_chip = prepare_on_chip(method, shape, computation)) return on_chip;
  if (auto own = prepare_own(method, shape, computation)) return own;
  const auto started = [&](kernel_start how, bool waited_for) {
    return std::make_unique<relaunch_program>(launched, std::move(computation), how, waited_for);
  };
  const auto in_graphs = [&](kernel_start how) {
    return std::make_unique<graph_program>(launched, std::move(computation), how);
  };
  if (const void* const part = computation.kernels.with_part.find(method.name)) {
    return std::make_unique<steps_with_barrier>(launched, std::move(computation), part, nullptr);
  }
  if (method.name == method_names::none) {
    return std::make_unique<alone_program>(launched, std::move(computation));
  }
  if (method.name == method_names::host_wait) return started(kernel_start::plain, true);
  if (method.name == method_names::relaunch) return started(kernel_start::plain, false);
  if (method.name == method_names::cooperative) return started(kernel_start::cooperative, false);
  if (method.name == method_names::graph) return in_graphs(kernel_start::plain);
  if (method.name == method_names::dependent_graph) return in_graphs(kernel_start::dependent);
  if (method.name == method_names::late_dependent_graph) return in_graphs(kernel_start::dependent_late);
#if CUDART_VERSION >= 13000
  if (method.name == method_names::while_graph && computation.goes_on != nullptr) {
    return std::make_unique<while_graph_program>(launched, std::move(computation));
  }
#endif
  const std::string& barrier = barrier_name_of(method);
  const void* const kernel = computation.kernels.with_barrier.find(barrier);
  if (kernel == nullptr) throw invalid_argument("There is no method " + method.name + " on CUDA devices.");
  launched.cluster = method.cluster;
  return std::make_unique<steps_with_barrier>(launched, std::move(computation), kernel,
                                              make_cuda_barrier(barrier, where, shape.blocks, method.plan));
}

uint64_t max_co_resident_on_cuda(const cuda_device& device, const cuda_kernels& kernels,
                                 const std::vector<step_method>& methods, uint32_t threads) {
  uint64_t least = UINT64_MAX;
  for (const step_method& method : methods) {
    const void* const kernel =
        method.name == method_names::cooperative ? kernels.single : kernels.with_barrier.find(barrier_name_of(method));
    if (kernel != nullptr) least = std::min(least, gpusync::max_co_resident(device, kernel, {1, threads}).blocks());
  }
  return least;
}

uint64_t max_co_resident_of(const cuda_computation& what, const std::vector<step_method>& methods, uint32_t threads) {
  const cuda_device& device = what.where->device();
  uint64_t least = max_co_resident_on_cuda(device, what.kernels, methods, threads);
  for (const step_method& method : methods) {
    const cuda_own_method* const own = own_method(what, method.name);
    if (own != nullptr) least = std::min(least, gpusync::max_co_resident(device, own->kernel, {1, threads}).blocks());
  }
  return least;
}

void launch_with(const cuda_target& where, const launch_shape& shape, const void* kernel, std::vector<void*> arguments,
                 cuda_waiting* barrier) {
  if (barrier != nullptr) return barrier->launch(where, shape, kernel, std::move(arguments));
  launch_by_address(where.device(), where.stream(), shape, kernel, std::move(arguments));
}

}  // namespace gpusync::tool
