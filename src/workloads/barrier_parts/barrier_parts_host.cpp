// Workload "barrier-parts" on host threads.
#include "boundary/barrier_methods.hpp"
#include "boundary/steps_host.hpp"
#include "workloads/barrier_parts/barrier_parts_result.hpp"

namespace gpusync::tool {

namespace {

/// What both kinds of variants work on.
struct parts_memory {
  parts_memory(const step_shape& shape, const std::string& method)
      : memory(std::make_shared<host_arrays>(barrier_parts_arrays(shape))),
        result(std::make_shared<barrier_parts_result>(shape, method, memory)),
        text{{{memory->address<float>(0), memory->address<uint32_t>(1)}, memory->address<uint32_t>(2), 0},
             shape.stores} {}

  std::shared_ptr<host_arrays> memory;
  std::shared_ptr<barrier_parts_result> result;
  barrier_parts_text text;
};

template <barrier_part Part>
class part_program : public host_program {
 public:
  part_program(const step_shape& shape, const parts_memory& memory)
      : host_program(shape, memory.result, barrier_parts_steps_of_a_run()), text_(memory.text) {}

 private:
  void carry_out(uint32_t steps) override {
    launch(device_, shape_, [this, steps] { run_with_part<Part>(host_grid::current(), text_, steps); });
  }

  const barrier_parts_text text_;
};

template <class Algorithm>
class whole_barrier_program : public host_program {
 public:
  whole_barrier_program(const step_shape& shape, const parts_memory& memory)
      : host_program(shape, memory.result, barrier_parts_steps_of_a_run()),
        text_(memory.text),
        storage_(shape.blocks) {}

 private:
  void carry_out(uint32_t steps) override {
    launch(
        device_, shape_,
        [this, steps](basic_grid_barrier<Algorithm, host_grid> barrier) {
          run_with_barrier(host_grid::current(), text_, steps, barrier);
        },
        storage_.barrier());
  }

  const barrier_parts_text text_;
  host_barrier_storage<Algorithm> storage_;
};

class host_barrier_parts : public workload {
 public:
  std::vector<step_method> methods() const override { return barrier_parts_methods(); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_co_resident(device_, {shape.blocks, shape.threads});
    const parts_memory memory(shape, method.name);
    std::unique_ptr<program> made;
    for_each_part([&](auto part, const char* name) {
      if (method.name == name) made = std::make_unique<part_program<part.value>>(shape, memory);
    });
    if (made) return made;
    made = with_algorithm<std::unique_ptr<program>, whole_barriers>(method, [&](auto algorithm) {
      return std::make_unique<whole_barrier_program<decltype(algorithm)>>(shape, memory);
    });
    if (!made) throw invalid_argument("There is no variant " + method.name + " on the host.");
    return made;
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return max_co_resident_on_host(threads);
  }
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
