// GPUs that are joined by launches: threads of the host, events, one graph.
#include "boundary/cuda_events.hpp"
#include "boundary/cuda_graph.hpp"
#include "boundary/openmp_barrier.hpp"
#include "workloads/multi_gpu_barrier/across_launches.cuh"

namespace gpusync::tool {

namespace {

/// A thread of the host for each GPU launches, waits for its device, and meets the others.
class by_openmp : public by_launches {
 public:
  using by_launches::by_launches;

 private:
  double steps(bool exchanges) override {
    set_base(next_steps(launched_steps));
    if (exchanges) count_checked(launched_steps - 1);
    return steps_with_openmp_barrier(gpus(), launched_steps, launched_warm_up, [&](uint32_t gpu, uint32_t i) {
      const cuda_device_scope scope(targets_[gpu].device().ordinal());
      launch_step(gpu, streams_[gpu], exchanges, i);
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    });
  }
};

class by_events : public by_queues {
 public:
  by_events(const std::vector<cuda_target>& all, const cuda_device_group& group, const across_setting& setting)
      : by_queues(all, group, setting), events_(targets_) {}

 private:
  void meet() override { events_.meet(); }

  step_events events_;
};

/// One graph with the steps of all GPUs.
class by_graph : public by_launches {
 public:
  by_graph(const std::vector<cuda_target>& all, const cuda_device_group& group, const across_setting& setting)
      : by_launches(all, group, setting), events_(targets_), silent_(capture(false)), exchanging_(capture(true)) {}

 private:
  cuda_graph capture(bool exchanges) {
    const cuda_device_scope scope(targets_[0].device().ordinal());
    return cuda_graph(streams_[0], [&] {
      events_.fork(0);
      for (uint32_t i = 0; i < launched_steps; ++i) {
        for (uint32_t gpu = 0; gpu < gpus(); ++gpu) {
          const cuda_device_scope on(targets_[gpu].device().ordinal());
          launch_step(gpu, streams_[gpu], exchanges, i);
        }
        if (i + 1 < launched_steps) events_.meet();
      }
      events_.join(0);
    });
  }
  double steps(bool exchanges) override {
    set_base(next_steps(launched_steps));
    if (exchanges) count_checked(launched_steps - 1);
    const cuda_device_scope scope(targets_[0].device().ordinal());
    const cuda_graph& graph = exchanges ? exchanging_ : silent_;
    graph.replay(streams_[0]);
    await();
    set_base(next_steps(launched_steps));
    if (exchanges) count_checked(launched_steps - 1);
    const host_timer clock;
    graph.replay(streams_[0]);
    await();
    return clock.nanoseconds() / launched_steps;
  }

  step_events events_;
  cuda_graph silent_, exchanging_;
};

const register_across<by_openmp> openmp("host-threads", "launch, cudaDeviceSynchronize, omp barrier",
                                        method_kind::host_wait, true, {"Z4", "Z5"});
const register_across<by_events> events("stream-events", "launches, and events across streams", method_kind::launch,
                                        true);
const register_across<by_graph> graph("graph-across", "one graph of all GPUs", method_kind::graph, true);

}  // namespace

}  // namespace gpusync::tool
