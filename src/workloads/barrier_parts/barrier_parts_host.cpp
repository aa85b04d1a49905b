// Workload "barrier-parts" on host threads.
#include <gpusync/gpusync.hpp>

#include "measure/host_timer.hpp"
#include "workloads/barrier_parts/barrier_parts_methods.hpp"

namespace gpusync::tool {

namespace {

/// Memory, counting and timing; what differs is what stands between the steps.
class host_parts : public step_program {
 public:
  host_parts(const step_shape& shape, bool synchronizes, bool adds)
      : shape_(shape), result_(shape, synchronizes, adds), values_(result_.first_values()) {}

  double run(uint64_t steps) override {
    own_line_.word = 0;
    const host_timer timer;
    carry_out(static_cast<uint32_t>(steps));
    const double elapsed = timer.nanoseconds();
    result_.add_run(steps, wrong_, own_line_.word);
    wrong_ = 0;
    return elapsed;
  }
  uint64_t steps_unit() const override { return average_period; }
  verification verify() override { return result_.verify(values_); }

 protected:
  virtual void carry_out(uint32_t steps) = 0;

  barrier_parts_data data() { return {{values_.data(), &wrong_}, &own_line_.word, 0}; }
  launch_shape shape() const { return {shape_.blocks, shape_.threads}; }

  const host_device device_{};
  const step_shape shape_;

 private:
  struct alignas(128) line {
    uint32_t word = 0;
  };

  barrier_parts_result result_;
  std::vector<float> values_;
  uint32_t wrong_ = 0;
  line own_line_;  // what is added to must not share its line with what is read
};

template <barrier_part Part>
class part_program : public host_parts {
 public:
  explicit part_program(const step_shape& shape) : host_parts(shape, false, adds(Part)) {}

 private:
  void carry_out(uint32_t steps) override {
    launch(device_, shape(),
           [this, steps] { barrier_parts_run<Part>(host_grid::current(), data(), shape_.stores, steps); });
  }
};

template <class Algorithm>
class whole_program : public host_parts {
 public:
  explicit whole_program(const step_shape& shape) : host_parts(shape, true, false), storage_(shape.blocks) {}

 private:
  void carry_out(uint32_t steps) override {
    launch(
        device_, shape(),
        [this, steps](basic_grid_barrier<Algorithm, host_grid> barrier) {
          barrier_parts_run(host_grid::current(), data(), shape_.stores, steps, barrier);
        },
        storage_.barrier());
  }

  host_barrier_storage<Algorithm> storage_;
};

class host_barrier_parts : public step_workload {
 public:
  std::vector<step_method> methods() const override { return barrier_parts_methods(); }

  std::unique_ptr<step_program> prepare(const step_method& method, const step_shape& shape) override {
    require_co_resident(device_, {shape.blocks, shape.threads});
    auto program = with_part(method.name, [&](auto part) { return std::make_unique<part_program<part.value>>(shape); });
    if (program) return program;
    program = with_algorithm<std::unique_ptr<step_program>, whole_barriers>(
        method, [&](auto algorithm) { return std::make_unique<whole_program<decltype(algorithm)>>(shape); });
    if (!program) throw invalid_argument("There is no variant " + method.name + " on the host.");
    return program;
  }

  uint64_t max_co_resident(uint32_t threads) override { return device_.max_threads().threads / threads; }
  std::vector<uint32_t> default_blocks(bool quick) override {
    const uint32_t cores = device_.cores();
    std::vector<uint32_t> blocks{1};
    for (uint32_t b = 2; b < cores && !quick; b *= 2) blocks.push_back(b);
    if (cores > 1) blocks.push_back(cores);
    return blocks;
  }
  std::vector<uint32_t> default_threads(bool) override { return {1}; }

 private:
  const host_device device_{};
};

const register_workload registered("barrier-parts", device_kind::host,
                                   [](const device_description&) { return std::make_unique<host_barrier_parts>(); });

}  // namespace

}  // namespace gpusync::tool
