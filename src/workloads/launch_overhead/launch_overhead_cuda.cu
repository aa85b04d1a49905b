// Workload "launch overhead" on CUDA devices.
#include <gpusync/core/cuda_code.cuh>
#include <gpusync/gpusync.cuh>

#include <algorithm>
#include <map>
#include <tuple>

#include "boundary/cuda_dependent.cuh"
#include "boundary/cuda_graph.hpp"
#include "boundary/cuda_launch.hpp"
#include "boundary/cuda_pinned.hpp"
#include "boundary/cuda_target.hpp"
#include "measure/cuda_clock.cuh"
#include "measure/host_timer.hpp"
#include "workloads/launch_overhead/launch_overhead.hpp"
#include "workloads/launch_overhead/self_launching_graph.hpp"
#include "workloads/launch_overhead/waiting_kernel.cuh"

namespace gpusync::tool {

namespace {

template <kernel_start How>
__global__ void __launch_bounds__(1024) waits(waiting_task task) {
  wait_for_kernel_before<How>();
  carry_out(task);
}

template <kernel_start How>
__global__ void __launch_bounds__(1024) does_nothing() {
  wait_for_kernel_before<How>();
}

template <class Kernel>
const void* address(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

/// What all ways to launch have in common: what is counted, and timing.
class counted_program : public launch_program {
 public:
  counted_program(const cuda_target& where, const launch_shape& shape, double clock_mhz)
      : where_(where),
        shape_(shape),
        clock_mhz_(clock_mhz),
        count_(where.device(), sizeof(launch_count)),
        longest_(where.device(), most_launches * sizeof(unsigned long long)) {
    check_shape(where.device(), shape);
  }

  sequence_times run(uint32_t launches, const launched_kernel& kernel) override {
    const cuda_device_scope scope(where_.device().ordinal());
    arrange(launches, kernel, false);
    sequence_times times;
    const host_timer clock;
    queue(launches, kernel, false);
    times.queued = clock.nanoseconds();
    check_cuda(cudaStreamSynchronize(where_.stream()), "a sequence of launches");
    times.total = clock.nanoseconds();
    expect(launches, kernel);
    return times;
  }

  std::vector<double> lengths(uint32_t launches, const launched_kernel& kernel) override {
    if (launches > most_launches) throw invalid_argument("That many launches do not note their lengths.");
    const cuda_device_scope scope(where_.device().ordinal());
    arrange(launches, kernel, true);
    longest_.clear();
    queue(launches, kernel, true);
    check_cuda(cudaStreamSynchronize(where_.stream()), "a sequence of launches");
    expect(launches, kernel);
    std::vector<unsigned long long> cycles(noted_places(launches));
    where_.download(cycles.data(), longest_, cycles.size() * sizeof(cycles[0]));
    std::vector<double> nanoseconds;
    for (const unsigned long long each : cycles) nanoseconds.push_back(static_cast<double>(each) * 1e3 / clock_mhz_);
    return nanoseconds;
  }

  verification verify() override {
    launch_count found{};
    where_.download(&found, count_, sizeof(found));
    const auto distance = [](unsigned long long a, unsigned long long b) { return a < b ? b - a : a - b; };
    verification result;
    result.performed = true;
    result.checked = expected_.launches + expected_.units;
    result.wrong = distance(found.launches, expected_.launches) + distance(found.units, expected_.units);
    result.how =
        "the count of launches and the sum of their units, which each launch adds itself to in the runs that were "
        "timed; empty kernels cannot, and ran in turn with those";
    return result;
  }

 protected:
  static constexpr uint32_t most_launches = 1024;

  /// Makes what the sequence needs; nothing is under way when it returns.
  virtual void arrange(uint32_t launches, const launched_kernel& kernel, bool noting) = 0;
  virtual void queue(uint32_t launches, const launched_kernel& kernel, bool noting) = 0;
  /// Places in which so many launches note their lengths: one if they are the same launch again, which leaves the
  /// longest of them.
  virtual uint32_t noted_places(uint32_t launches) const { return launches; }

  void expect(uint32_t launches, const launched_kernel& kernel) {
    if (!kernel.counted) return;
    expected_.launches += launches;
    expected_.units += uint64_t{launches} * kernel.units;
  }
  waiting_task task_of(const launched_kernel& kernel, unsigned long long* longest) const {
    const double length = kernel.unit == wait_unit::clock          ? kernel.unit_us * clock_mhz_
                          : kernel.unit == wait_unit::global_timer ? kernel.unit_us * 1e3
                                                                   : kernel.unit_us;
    return {static_cast<launch_count*>(count_.address()), longest, kernel.units, static_cast<uint32_t>(length),
            kernel.unit};
  }
  /// Where the launch of that number notes its length; null if it does not.
  unsigned long long* place_of(uint32_t number, bool noting) const {
    return noting ? static_cast<unsigned long long*>(longest_.address()) + number : nullptr;
  }
  cudaStream_t stream() const { return where_.stream(); }

  const cuda_target& where_;
  const launch_shape shape_;

 private:
  const double clock_mhz_;
  const cuda_buffer count_, longest_;
  launch_count expected_{};
};

/// Launches by the host, each queued on the stream.
class streamed_program : public counted_program {
 public:
  streamed_program(const cuda_target& where, const launch_shape& shape, double clock_mhz, kernel_start how)
      : counted_program(where, shape, clock_mhz), how_(how) {
    if (how == kernel_start::cooperative)
      require_co_resident(where.device(), address(&waits<kernel_start::plain>), shape);
  }

 protected:
  void arrange(uint32_t, const launched_kernel&, bool) override {}
  void queue(uint32_t launches, const launched_kernel& kernel, bool noting) override {
    for (uint32_t i = 0; i < launches; ++i) start(kernel, place_of(i, noting));
  }
  virtual void start(const launched_kernel& kernel, unsigned long long* longest) {
    const bool dependent = how_ == kernel_start::dependent;
    if (!kernel.counted) {
      const void* const empty =
          dependent ? address(&does_nothing<kernel_start::dependent>) : address(&does_nothing<kernel_start::plain>);
      return start_kernel(stream(), shape_, how_, empty, nullptr);
    }
    waiting_task task = task_of(kernel, longest);
    void* arguments[] = {&task};
    start_kernel(stream(), shape_, how_,
                 dependent ? address(&waits<kernel_start::dependent>) : address(&waits<kernel_start::plain>),
                 arguments);
  }

 private:
  const kernel_start how_;
};

/// The same by this library's checked launch.
class checked_launch_program : public streamed_program {
 public:
  checked_launch_program(const cuda_target& where, const launch_shape& shape, double clock_mhz)
      : streamed_program(where, shape, clock_mhz, kernel_start::cooperative) {}

 private:
  void start(const launched_kernel& kernel, unsigned long long* longest) override {
    if (!kernel.counted) return launch(where_.device(), stream(), shape_, &does_nothing<kernel_start::plain>);
    launch(where_.device(), stream(), shape_, &waits<kernel_start::plain>, task_of(kernel, longest));
  }
};

/// The same launches in graphs: one of all of them, or one of a single launch that is replayed. A graph that is new is
/// replayed once, which uploads it.
class graphs_program : public streamed_program {
 public:
  graphs_program(const cuda_target& where, const launch_shape& shape, double clock_mhz, kernel_start how, bool replayed)
      : streamed_program(where, shape, clock_mhz, how), replayed_(replayed) {}

 private:
  using key = std::tuple<uint32_t, uint32_t, wait_unit, uint32_t, bool, bool>;

  uint32_t nodes_of(uint32_t launches) const { return replayed_ ? 1 : launches; }
  key key_of(uint32_t launches, const launched_kernel& kernel, bool noting) const {
    return {nodes_of(launches), kernel.units, kernel.unit, kernel.unit_us, kernel.counted, noting};
  }
  void arrange(uint32_t launches, const launched_kernel& kernel, bool noting) override {
    const key which = key_of(launches, kernel, noting);
    if (graphs_.count(which) != 0) return;
    const uint32_t nodes = nodes_of(launches);
    cuda_graph made(stream(), [&] { streamed_program::queue(nodes, kernel, noting); });
    made.replay(stream());
    check_cuda(cudaStreamSynchronize(stream()), "a graph's first replay");
    expect(nodes, kernel);
    graphs_.emplace(which, std::move(made));
  }
  uint32_t noted_places(uint32_t launches) const override { return nodes_of(launches); }
  void queue(uint32_t launches, const launched_kernel& kernel, bool noting) override {
    const cuda_graph& graph = graphs_.at(key_of(launches, kernel, noting));
    for (uint32_t i = 0; i < (replayed_ ? launches : 1); ++i) graph.replay(stream());
  }

  const bool replayed_;
  std::map<key, cuda_graph> graphs_;
};

/// A graph of one kernel that launches it again until all launches are done; the host launches it once.
class device_graph_program : public counted_program {
 public:
  device_graph_program(const cuda_target& where, const launch_shape& shape, double clock_mhz)
      : counted_program(where, shape, clock_mhz), left_(where.device(), sizeof(uint32_t)), wanted_(1) {}

 private:
  using key = std::tuple<uint32_t, wait_unit, uint32_t, bool, bool>;

  static key key_of(const launched_kernel& kernel, bool noting) {
    return {kernel.units, kernel.unit, kernel.unit_us, kernel.counted, noting};
  }
  void arrange(uint32_t launches, const launched_kernel& kernel, bool noting) override {
    const key which = key_of(kernel, noting);
    if (graphs_.count(which) == 0) {
      auto* left = static_cast<uint32_t*>(left_.address());
      waiting_task task = task_of(kernel, place_of(0, noting));
      void* with_task[] = {&task, &left};
      void* without[] = {&left};
      cuda_graph made(
          stream(),
          [&] {
            start_kernel(stream(), shape_, kernel_start::plain,
                         kernel.counted ? self_launching_kernel() : self_launching_empty_kernel(),
                         kernel.counted ? with_task : without);
          },
          cudaGraphInstantiateFlagDeviceLaunch);
      set_left(0);
      made.replay(stream());
      check_cuda(cudaStreamSynchronize(stream()), "a graph's first replay");
      expect(1, kernel);
      graphs_.emplace(which, std::move(made));
    }
    set_left(launches - 1);
  }
  uint32_t noted_places(uint32_t) const override { return 1; }
  void queue(uint32_t, const launched_kernel& kernel, bool noting) override {
    graphs_.at(key_of(kernel, noting)).replay(stream());
  }
  void set_left(uint32_t launches) {
    *wanted_.get() = launches;
    check_cuda(cudaMemcpyAsync(left_.address(), wanted_.get(), sizeof(uint32_t), cudaMemcpyHostToDevice, stream()),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream()), "cudaMemcpyAsync");
  }

  const cuda_buffer left_;
  const pinned_words<uint32_t> wanted_;
  std::map<key, cuda_graph> graphs_;
};

class cuda_launch_device : public launch_device {
 public:
  explicit cuda_launch_device(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override { return launch_methods(); }

  std::unique_ptr<launch_program> prepare(const step_method& method, const step_shape& shape) override {
    const cuda_device_scope scope(where_.device().ordinal());
    if (clock_mhz_ == 0) clock_mhz_ = measure_clock_mhz(where_.device(), where_.stream());
    const launch_shape launched{shape.blocks, shape.threads, 0, method.cluster};
    const auto is = [&](const char* name) { return method.name == name; };
    if (is(launch_names::cluster)) require_co_resident(where_.device(), address(&waits<kernel_start::plain>), launched);
    if (is(launch_names::dependent) || is(launch_names::dependent_graph)) require_dependent_launch();
    if (is(launch_names::traditional) || is(launch_names::cluster)) return streamed(launched, kernel_start::plain);
    if (is(launch_names::cooperative)) return streamed(launched, kernel_start::cooperative);
    if (is(launch_names::dependent)) return streamed(launched, kernel_start::dependent);
    if (is(launch_names::checked)) return std::make_unique<checked_launch_program>(where_, launched, clock_mhz_);
    if (is(launch_names::graph_replays)) return in_graphs(launched, kernel_start::plain, true);
    if (is(launch_names::graph)) return in_graphs(launched, kernel_start::plain, false);
    if (is(launch_names::cooperative_graph)) return in_graphs(launched, kernel_start::cooperative, false);
    if (is(launch_names::dependent_graph)) return in_graphs(launched, kernel_start::dependent, false);
    if (is(launch_names::device_graph)) return std::make_unique<device_graph_program>(where_, launched, clock_mhz_);
    throw invalid_argument("There is no way to launch that is called " + method.name + ".");
  }

 private:
  std::unique_ptr<launch_program> streamed(const launch_shape& shape, kernel_start how) const {
    return std::make_unique<streamed_program>(where_, shape, clock_mhz_, how);
  }
  std::unique_ptr<launch_program> in_graphs(const launch_shape& shape, kernel_start how, bool replayed) const {
    return std::make_unique<graphs_program>(where_, shape, clock_mhz_, how, replayed);
  }
  void require_dependent_launch() const {
    if (code_for(where_.device()) >= 90) return;
    throw invalid_argument(
        "Programmatic dependent launch needs compute capability 9.0, and a program compiled for it.");
  }

  const cuda_target where_;
  double clock_mhz_ = 0;
};

const register_side<launch_device> launch_overhead_registered(device_kind::cuda, make_side<cuda_launch_device>);

}  // namespace

}  // namespace gpusync::tool
