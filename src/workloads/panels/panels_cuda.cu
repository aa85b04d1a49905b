// Workload "panels" on CUDA devices.
#include <gpusync/gpusync.cuh>
#include <gpusync/grid/cooperative_groups.cuh>
#include <gpusync/pace/cuda.cuh>

#include <algorithm>

#include "boundary/cuda_barriers.hpp"
#include "boundary/cuda_target.hpp"
#include "measure/cuda_timer.cuh"
#include "workloads/panels/panels.hpp"

namespace gpusync::tool {

namespace {

using cg_barrier = basic_grid_barrier<grid::cooperative_groups, cuda_grid>;

template <panel_op Op>
__global__ void drifting_panels(panel_text<Op> text) {
  no_pace none;
  all_panels<cuda_grid>(text, none);
}

/// The warps of a block meet, and no blocks.
struct meeting_block {
  __device__ void end_epoch() { __syncthreads(); }
};
template <panel_op Op>
__global__ void block_panels(panel_text<Op> text) {
  meeting_block meeting;
  all_panels<cuda_grid>(text, meeting);
}

template <panel_op Op, class Window>
__global__ void window_panels(panel_text<Op> text, Window window) {
  all_panels<cuda_grid>(text, window);
}

template <class Barrier>
struct panels_by_barrier {
  Barrier& barrier;
  __device__ void end_epoch() { barrier.sync(); }
};
template <panel_op Op, class Barrier>
__global__ void barrier_panels(panel_text<Op> text, Barrier barrier) {
  barrier.enter();
  panels_by_barrier<Barrier> pace{barrier};
  all_panels<cuda_grid>(text, pace);
}

/// Each panel by blocks of its own: of one panel, or of all, in the order in which blocks are started.
template <panel_op Op>
__global__ void single_panels(panel_text<Op> text, uint32_t first) {
  const uint32_t epoch = first + blockIdx.x / text.work.blocks, block = blockIdx.x % text.work.blocks;
  const uint32_t panel = text.work.panel_of(block, epoch);
  const uint32_t sum = text.template visit<cuda_memory>(block, threadIdx.x, panel);
  if constexpr (Op != panel_op::scatter) {
    cuda_memory::add<memory_order::relaxed, scope::device>(text.sums + block * text.work.threads + threadIdx.x, sum);
  }
}

__global__ void fill_table(uint32_t* table, uint64_t words) {
  const uint64_t all = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += all) table[i] = panel_word(i);
}
__global__ void fill_places(panel_work work, uint32_t* places) {
  const uint32_t element = blockIdx.x * blockDim.x + threadIdx.x;
  for (uint32_t panel = 0; panel < work.panels; ++panel) {
    panel_dice dice(work, element, panel);
    for (uint32_t i = 0; i < work.most_accesses(); ++i) {
      places[(size_t{panel} * work.most_accesses() + i) * work.elements() + element] = dice.next();
    }
  }
}
/// Sums that need no table.
template <panel_op Op>
__global__ void expected_sums(panel_text<Op> text) {
  text.sums[blockIdx.x * blockDim.x + threadIdx.x] = text.expected(blockIdx.x, threadIdx.x);
}
__global__ void compare_words(const uint32_t* found, const uint32_t* expected, uint64_t words,
                              unsigned long long* wrong) {
  const uint64_t all = uint64_t{gridDim.x} * blockDim.x;
  unsigned long long count = 0;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += all) {
    count += found[i] != expected[i];
  }
  if (count != 0) atomicAdd(wrong, count);
}

/// The memory of a problem and what it must hold after a run.
class cuda_panels {
 public:
  cuda_panels(const cuda_target& where, const panel_problem& asked)
      : problem(asked),
        work(asked.work()),
        where_(where),
        places_words_(asked.op == panel_op::probe ? size_t{work.panels} * work.most_accesses() * work.elements() : 0),
        needed_(sizeof(uint32_t) * (work.words() * (asked.op == panel_op::scatter ? 2 : 1) + places_words_ +
                                    2 * size_t{work.elements()})) {
    if (needed_ + (uint64_t{256} << 20) > where.free_memory()) {
      throw invalid_argument("This problem takes " + std::to_string(needed_ >> 20) + " MiB, and " +
                             where.device().name() + " has " + std::to_string(where.free_memory() >> 20) +
                             " MiB free. Take a smaller table.");
    }
    const cuda_device& gpu = where.device();
    table_.emplace(gpu, work.words() * sizeof(uint32_t));
    sums_.emplace(gpu, work.elements() * sizeof(uint32_t));
    expected_sums_.emplace(gpu, work.elements() * sizeof(uint32_t));
    wrong_.emplace(gpu, sizeof(unsigned long long));
    if (places_words_ != 0) places_.emplace(gpu, places_words_ * sizeof(uint32_t));
    prepare();
  }

  template <panel_op Op>
  panel_text<Op> text() const {
    return {work, words(table_), words(places_), words(sums_)};
  }

  /// As it is before a run. Queued.
  void reset() const {
    clear(sums_);
    if (problem.op == panel_op::scatter) clear(table_);
  }
  /// What is wrong after a run. Waits.
  uint64_t wrong() const {
    clear(wrong_);
    compare(sums_, expected_sums_, work.elements());
    if (problem.op == panel_op::scatter) compare(table_, expected_table_, work.words());
    unsigned long long count = 0;
    check_cuda(cudaMemcpyAsync(&count, wrong_->address(), sizeof(count), cudaMemcpyDeviceToHost, where_.stream()),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(where_.stream()), "a comparison");
    return count;
  }
  uint64_t checked() const { return work.elements() + (problem.op == panel_op::scatter ? work.words() : 0); }

  const panel_problem problem;
  const panel_work work;

 private:
  using buffer = std::optional<cuda_buffer>;
  static uint32_t* words(const buffer& of) { return of ? static_cast<uint32_t*>(of->address()) : nullptr; }
  void clear(const buffer& which) const {
    check_cuda(cudaMemsetAsync(which->address(), 0, which->bytes(), where_.stream()), "cudaMemsetAsync");
  }
  static constexpr uint32_t many_blocks = 1024;

  void prepare() {
    const cudaStream_t stream = where_.stream();
    clear(expected_sums_);
    if (problem.op == panel_op::scatter) {
      // By another kernel than those that are measured, once: adds of 1 come out alike in any order.
      expected_table_.emplace(where_.device(), work.words() * sizeof(uint32_t));
      clear(expected_table_);
      panel_text<panel_op::scatter> text = this->text<panel_op::scatter>();
      text.table = words(expected_table_);
      for (uint32_t panel = 0; panel < work.panels; ++panel) {
        single_panels<<<work.blocks, work.threads, 0, stream>>>(text, panel);
      }
    } else {
      fill_table<<<many_blocks, 256, 0, stream>>>(words(table_), work.words());
      if (problem.op == panel_op::stream) {
        expect_sums<panel_op::stream>();
      } else {
        expect_sums<panel_op::gather>();
      }
      if (problem.op == panel_op::probe) {
        fill_places<<<work.blocks, work.threads, 0, stream>>>(work, words(places_));
      }
    }
    check_cuda(cudaGetLastError(), "the kernels that prepare panels");
    check_cuda(cudaStreamSynchronize(stream), "the kernels that prepare panels");
  }
  template <panel_op Op>
  void expect_sums() const {
    panel_text<Op> text = this->text<Op>();
    text.sums = words(expected_sums_);
    expected_sums<<<work.blocks, work.threads, 0, where_.stream()>>>(text);
  }
  void compare(const buffer& found, const buffer& expected, uint64_t count) const {
    compare_words<<<many_blocks, 256, 0, where_.stream()>>>(words(found), words(expected), count,
                                                            static_cast<unsigned long long*>(wrong_->address()));
    check_cuda(cudaGetLastError(), "a comparison");
  }

  const cuda_target& where_;
  const size_t places_words_, needed_;
  buffer table_, places_, sums_, expected_sums_, expected_table_, wrong_;
};

/// A way to go through the panels: what it needs besides the memory, and how it is started.
class panel_way {
 public:
  virtual ~panel_way() = default;
  /// Queues a run.
  virtual void start(const cuda_target& where, const cuda_panels& memory) = 0;
  virtual uint32_t given_up() const { return 0; }
};

launch_shape shape_of(const cuda_panels& memory) {
  return {memory.work.blocks, memory.work.threads};
}

/// Plain launches. All: of one grid for all panels, in launch order; else of a grid for each.
template <panel_op Op, bool All>
class way_of_launches : public panel_way {
 public:
  void start(const cuda_target& where, const cuda_panels& memory) override {
    const panel_text<Op> text = memory.text<Op>();
    const uint32_t blocks = memory.work.blocks, panels = memory.work.panels;
    if (All && uint64_t{blocks} * panels > INT32_MAX) {
      throw invalid_argument("A grid has at most 2,147,483,647 blocks: take fewer panels.");
    }
    for (uint32_t panel = 0; panel < (All ? 1 : panels); ++panel) {
      single_panels<Op><<<All ? blocks * panels : blocks, memory.work.threads, 0, where.stream()>>>(text, panel);
    }
    check_cuda(cudaGetLastError(), "a launch for panels");
  }
};

/// One kernel in which no blocks wait for each other.
template <panel_op Op>
class way_alone : public panel_way {
 public:
  explicit way_alone(void (*kernel)(panel_text<Op>)) : kernel_(kernel) {}
  void start(const cuda_target& where, const cuda_panels& memory) override {
    kernel_<<<memory.work.blocks, memory.work.threads, 0, where.stream()>>>(memory.text<Op>());
    check_cuda(cudaGetLastError(), "a launch for panels");
  }

 private:
  void (*kernel_)(panel_text<Op>);
};

template <panel_op Op, class Policy>
class way_of_window : public panel_way {
 public:
  way_of_window(const cuda_target& where, const panel_problem& problem, uint32_t lead)
      : storage_(where.device(), lead, limit_for(problem)) {}
  void start(const cuda_target& where, const cuda_panels& memory) override {
    launch(where.device(), where.stream(), shape_of(memory), window_panels<Op, basic_cuda_window<Policy>>,
           memory.text<Op>(), storage_.window());
  }
  uint32_t given_up() const override { return storage_.given_up(); }

 private:
  /// Five times as long as an epoch, which takes some 5 us for each MiB; at least what users get who name none.
  static timeout limit_for(const panel_problem& problem) {
    const panel_work work = problem.work();
    uint64_t limit = 25000 * (problem.panel_bytes >> 20);
    // All blocks together read some 2 TB/s at least, and a thread makes a multiply-add in some 20 ns.
    if (problem.op == panel_op::stream) limit += 5 * (uint64_t{work.accesses} * work.elements() * 4 / 2000);
    limit += 5 * (uint64_t{work.accesses} * work.multiply_adds * 20);
    return timeout(std::max<uint64_t>(200000, limit));
  }
  cuda_window_storage<Policy> storage_;
};

template <panel_op Op>
class way_of_barrier : public panel_way {
 public:
  way_of_barrier(const cuda_target& where, const std::string& name, const void* kernel, uint32_t blocks)
      : kernel_(kernel), barrier_(make_cuda_barrier(name, where, blocks, std::nullopt)) {}
  void start(const cuda_target& where, const cuda_panels& memory) override {
    panel_text<Op> text = memory.text<Op>();
    barrier_->launch(where, shape_of(memory), kernel_, {&text});
  }

 private:
  const void* const kernel_;
  const std::unique_ptr<cuda_barrier> barrier_;
};

class cuda_panel_program : public panel_program {
 public:
  cuda_panel_program(const cuda_target& where, std::shared_ptr<cuda_panels> memory, std::unique_ptr<panel_way> way)
      : where_(where), memory_(std::move(memory)), way_(std::move(way)) {}

  double run() override {
    const cuda_device_scope scope(where_.device().ordinal());
    memory_->reset();
    timer_.start(where_.stream());
    way_->start(where_, *memory_);
    const double taken = timer_.stop(where_.stream());
    given_up_ = way_->given_up();
    checked_ += memory_->checked();
    wrong_ += memory_->wrong();
    return taken;
  }
  verification verify() override {
    return {true, checked_, wrong_, "every thread's sum, and every word that was added to, after every run"};
  }
  uint32_t given_up() const override { return given_up_; }

 private:
  const cuda_target& where_;
  const std::shared_ptr<cuda_panels> memory_;
  const std::unique_ptr<panel_way> way_;
  cuda_timer timer_;
  uint32_t given_up_ = 0;
  uint64_t checked_ = 0, wrong_ = 0;
};

constexpr const char *block_name = "block", *cg_name = "cg", *launches_name = "launch-a-panel",
                     *order_name = "launch-order";

class cuda_panels_side : public panels_device {
 public:
  explicit cuda_panels_side(const device_description& description) : where_(description.index) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all{panel_method(method_names::none, "each block at its own pace"),
                                 panel_method(block_name, "the warps of each block meet")};
    for (const step_method& window : window_methods()) all.push_back(window);
    all.push_back(panel_method(cg_name, "cg::grid_group::sync()", method_kind::barrier, true));
    all.back().rival = true;
    all.push_back(panel_method(method_names::default_barrier, "the default grid barrier", method_kind::barrier, true));
    all.push_back(panel_method(launches_name, "a launch for each panel", method_kind::launch));
    all.push_back(panel_method(order_name, "one launch of all panels' blocks, in the order of panels"));
    return all;
  }

  std::unique_ptr<panel_program> prepare(const panel_problem& problem, const std::string& method) override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_shape(where_.device(), {problem.blocks, problem.threads});
    if (!known_ || !(known_->problem == problem)) {
      known_.reset();
      known_ = std::make_shared<cuda_panels>(where_, problem);
    }
    std::unique_ptr<panel_way> way;
    if (problem.op == panel_op::gather) way = way_of<panel_op::gather>(method);
    if (problem.op == panel_op::scatter) way = way_of<panel_op::scatter>(method);
    if (problem.op == panel_op::probe) way = way_of<panel_op::probe>(method);
    if (problem.op == panel_op::stream) way = way_of<panel_op::stream>(method);
    return std::make_unique<cuda_panel_program>(where_, known_, std::move(way));
  }

 private:
  template <panel_op Op>
  std::unique_ptr<panel_way> way_of(const std::string& method) const {
    if (method == method_names::none) return std::make_unique<way_alone<Op>>(drifting_panels<Op>);
    if (method == block_name) return std::make_unique<way_alone<Op>>(block_panels<Op>);
    if (const uint32_t lead = lead_of_window(method)) {
      return std::make_unique<way_of_window<Op, pace::best_effort>>(where_, known_->problem, lead);
    }
    if (const uint32_t lead = lead_of_window(method, "strict-window-")) {
      require_fits(reinterpret_cast<const void*>(&window_panels<Op, basic_cuda_window<pace::strict>>));
      return std::make_unique<way_of_window<Op, pace::strict>>(where_, known_->problem, lead);
    }
    if (method == cg_name || method == method_names::default_barrier) {
      const void* const kernel = method == cg_name ? reinterpret_cast<const void*>(&barrier_panels<Op, cg_barrier>)
                                                   : reinterpret_cast<const void*>(&barrier_panels<Op, grid_barrier>);
      require_fits(kernel);
      return std::make_unique<way_of_barrier<Op>>(where_, method, kernel, known_->work.blocks);
    }
    if (method == launches_name) return std::make_unique<way_of_launches<Op, false>>();
    if (method == order_name) return std::make_unique<way_of_launches<Op, true>>();
    throw invalid_argument("There is no way to go through panels called " + method + ".");
  }
  /// What cannot run at once is refused before it is measured.
  void require_fits(const void* kernel) const {
    require_co_resident(where_.device(), kernel, {known_->work.blocks, known_->work.threads});
  }

  const cuda_target where_;
  std::shared_ptr<cuda_panels> known_;
};

const register_side<panels_device> panels_on_cuda_registered(device_kind::cuda, make_side<cuda_panels_side>);

}  // namespace

}  // namespace gpusync::tool
