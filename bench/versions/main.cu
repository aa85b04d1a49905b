// Two versions of the library side by side: what a step costs, what a launch with a few barriers costs, and what the
// host spends on a launch. scripts/compare-versions builds and runs it.
#include <cooperative_groups.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "side.hpp"

namespace {

using namespace versions;

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}

__global__ void cg_barriers(int count) {
  auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < count; ++i) grid.sync();
}
__global__ void nothing(int) {}
/// Twelve lines: a counter that only grows.
__global__ void plain_barriers(unsigned* counter, int count) {
  for (int i = 0; i < count; ++i) {
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned old, now;
      asm volatile("atom.add.release.gpu.global.u32 %0, [%1], 1;" : "=r"(old) : "l"(counter) : "memory");
      const unsigned goal = (old / gridDim.x + 1) * gridDim.x;
      do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
      while (static_cast<int>(now - goal) < 0);
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    __syncthreads();
  }
}

double host_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct figures {
  double low, median, high;
};
figures of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return {at(0.25), at(0.5), at(0.75)};
}
/// 95 % interval of a median, by ranks.
figures interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  const auto half = static_cast<size_t>(0.98 * std::sqrt(n) + 0.5);
  const size_t middle = values.size() / 2;
  return {values[middle - std::min(half, middle)], values[middle], values[std::min(values.size() - 1, middle + half)]};
}

class bench {
 public:
  bench() : partitions_{before(), after()} {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    check(cudaEventCreate(&begin_), "event");
    check(cudaEventCreate(&end_), "event");
    check(cudaMalloc(&counter_, 128), "cudaMalloc");
    check(cudaMemset(counter_, 0, 128), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaMemset");
  }

  /// Steps of a persistent kernel: differences of a long and a short run, in rounds that take turns; fresh storages,
  /// and so fresh places, every few rounds.
  void steps(int blocks, int threads, work what, const char* name) {
    constexpr int placements = 8, rounds = 9;
    std::vector<double> cost[2], ratio;
    unsigned wrong = 0;
    for (int placement = 0; placement < placements; ++placement) {
      // Which of the two gets its places first alternates, for the lines taken first are the better ones.
      for (int i : {placement % 2, 1 - placement % 2}) partitions_[i]->make(blocks, threads);
      for (auto& one : partitions_) (void)time(*one, what, 500);
      for (int round = 0; round < rounds; ++round) {
        double now[2];
        for (int i : {round % 2, 1 - round % 2}) {
          now[i] = (time(*partitions_[i], what, 2500) - time(*partitions_[i], what, 500)) / 2000 * 1e3;
          cost[i].push_back(now[i]);
        }
        ratio.push_back(now[1] / now[0]);
      }
      for (auto& one : partitions_) wrong += one->wrong();
    }
    const figures a = of(cost[0]), b = of(cost[1]), r = interval(ratio);
    std::printf(
        "step %4d x %4d %-22s before %7.1f ns [%7.1f, %7.1f]  after %7.1f [%7.1f, %7.1f]  ratio %.4f [%.4f, %.4f]  "
        "wrong words %u\n",
        blocks, threads, name, a.median, a.low, a.high, b.median, b.low, b.high, r.median, r.low, r.high, wrong);
    std::fflush(stdout);
  }

  /// A launch with k barriers: as nodes of a graph, and queued on a stream.
  void launches(int blocks, int threads) {
    for (auto& one : partitions_) one->make(blocks, threads);
    const auto cooperative = [&](const void* kernel, void** arguments) {
      check(cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments, 0, stream_), "cooperative");
    };
    for (const int k : {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      const std::vector<std::pair<const char*, std::function<void()>>> all{
          {"cg",
           [&] {
             int count = k;
             void* arguments[] = {&count};
             cooperative(reinterpret_cast<const void*>(cg_barriers), arguments);
           }},
          {"counter",
           [&] {
             int count = k;
             void* arguments[] = {&counter_, &count};
             cooperative(reinterpret_cast<const void*>(plain_barriers), arguments);
           }},
          {"before", [&] { partitions_[0]->start(stream_, k); }},
          {"after", [&] { partitions_[1]->start(stream_, k); }},
      };
      for (const bool graphs : {true, false}) {
        std::vector<std::vector<double>> cost(all.size());
        std::vector<double> against_cg;
        std::vector<cudaGraphExec_t> shorter, longer;
        if (graphs) {
          for (const auto& one : all) {
            shorter.push_back(capture(16, one.second));
            longer.push_back(capture(64, one.second));
          }
        }
        for (int round = 0; round < 25; ++round) {
          for (size_t i = 0; i < all.size(); ++i) {
            const double few = graphs ? replay(shorter[i]) : stream(16, all[i].second);
            const double many = graphs ? replay(longer[i]) : stream(64, all[i].second);
            if (round > 2) cost[i].push_back((many - few) / 48);
          }
          if (round > 2) against_cg.push_back(cost[3].back() - cost[0].back());
        }
        std::printf("launch %d x %d with %2d barriers, %-8s", blocks, threads, k, graphs ? "graph" : "stream");
        for (size_t i = 0; i < all.size(); ++i) std::printf("  %s %6.3f us", all[i].first, of(cost[i]).median);
        const figures d = interval(against_cg);
        std::printf("  after - cg %+.3f [%+.3f, %+.3f]\n", d.median, d.low, d.high);
        for (auto* graph : shorter) check(cudaGraphExecDestroy(graph), "destroy");
        for (auto* graph : longer) check(cudaGraphExecDestroy(graph), "destroy");
      }
      std::fflush(stdout);
    }
  }

  /// What the host spends on a launch: of a kernel that does nothing, so that the device keeps up.
  void host_time(int blocks, int threads) {
    for (auto& one : partitions_) one->make(blocks, threads);
    const std::vector<std::pair<const char*, std::function<void()>>> all{
        {"cudaLaunchCooperativeKernel",
         [&] {
           int count = 0;
           void* arguments[] = {&count};
           check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(nothing), blocks, threads, arguments, 0,
                                             stream_),
                 "cooperative");
         }},
        {"of the same kernel", [&] { partitions_[1]->start_plainly(stream_); }},
        {"gpusync::launch before", [&] { partitions_[0]->start(stream_, 0); }},
        {"gpusync::launch after", [&] { partitions_[1]->start(stream_, 0); }},
    };
    std::vector<std::vector<double>> cost(all.size());
    std::vector<double> more, more_of_the_same;
    for (int round = 0; round < 60; ++round) {
      for (size_t i = 0; i < all.size(); ++i) {
        check(cudaStreamSynchronize(stream_), "synchronize");
        const double begin = host_us();
        for (int n = 0; n < 200; ++n) all[i].second();
        if (round > 4) cost[i].push_back((host_us() - begin) / 200);
      }
      if (round <= 4) continue;
      more.push_back(cost[3].back() - cost[0].back());
      more_of_the_same.push_back(cost[3].back() - cost[1].back());
    }
    check(cudaStreamSynchronize(stream_), "synchronize");
    std::printf("host time of a launch, %d x %d:", blocks, threads);
    for (size_t i = 0; i < all.size(); ++i) std::printf("  %s %.3f us", all[i].first, of(cost[i]).median);
    const figures d = interval(more), same = interval(more_of_the_same);
    std::printf("  after - plain %+.3f [%+.3f, %+.3f], of the same kernel %+.3f [%+.3f, %+.3f]\n", d.median, d.low,
                d.high, same.median, same.low, same.high);
    std::fflush(stdout);
  }

 private:
  double time(side& one, work what, unsigned steps) {
    check(cudaEventRecord(begin_, stream_), "record");
    one.run(stream_, what, steps);
    check(cudaEventRecord(end_, stream_), "record");
    check(cudaEventSynchronize(end_), "run");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "elapsed");
    return 1e3 * static_cast<double>(milliseconds);
  }
  cudaGraphExec_t capture(int count, const std::function<void()>& start) {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < count; ++i) start();
    cudaGraph_t graph;
    cudaGraphExec_t made;
    check(cudaStreamEndCapture(stream_, &graph), "capture");
    check(cudaGraphInstantiate(&made, graph, 0), "instantiate");
    check(cudaGraphDestroy(graph), "destroy");
    return made;  // not uploaded: an uploaded graph that has not run yet slows the others down
  }
  double replay(cudaGraphExec_t graph) {
    check(cudaStreamSynchronize(stream_), "synchronize");
    const double begin = host_us();
    check(cudaGraphLaunch(graph, stream_), "replay");
    check(cudaStreamSynchronize(stream_), "synchronize");
    return host_us() - begin;
  }
  double stream(int count, const std::function<void()>& start) {
    check(cudaStreamSynchronize(stream_), "synchronize");
    const double begin = host_us();
    for (int i = 0; i < count; ++i) start();
    check(cudaStreamSynchronize(stream_), "synchronize");
    return host_us() - begin;
  }

  std::unique_ptr<side> partitions_[2];
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  unsigned* counter_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "device");
  std::printf("%s\n", device.name);
  const int sms = device.multiProcessorCount;
  bench all;
  if (what == "all" || what == "steps") {
    for (const auto& [blocks, threads] : {std::pair{sms, 256}, {2 * sms, 1024}, {8 * sms, 256}}) {
      all.steps(blocks, threads, work::idle, "idle");
      all.steps(blocks, threads, work::exchange, "exchange");
      all.steps(blocks, threads, work::idle_with_deadline, "idle, deadline");
      all.steps(blocks, threads, work::exchange_with_deadline, "exchange, deadline");
      all.steps(blocks, threads, work::split, "exchange, split");
    }
  }
  if (what == "neighbours") {
    for (const auto& [blocks, threads] : {std::pair{sms, 256}, {sms, 512}, {2 * sms, 512}, {4 * sms, 256}}) {
      all.steps(blocks, threads, work::exchange_with_deadline, "exchange, deadline");
      all.steps(blocks, threads, work::near, "ring");
      all.steps(blocks, threads, work::near_with_deadline, "ring, deadline");
      all.steps(blocks, threads, work::sum, "sum");
      all.steps(blocks, threads, work::sum_with_deadline, "sum, deadline");
    }
  }
  if (what == "all" || what == "host") all.host_time(sms, 256);
  if (what == "all" || what == "launches") all.launches(sms, 256);
  return 0;
}
