// Workload "barrier-parts" on host threads.
#include "boundary/barrier_methods.hpp"
#include "boundary/steps_host.hpp"
#include "workloads/barrier_parts/barrier_parts.hpp"

namespace gpusync::tool {

namespace {

/// A whole barrier between steps, compiled into their loop as the parts are that it is compared with.
template <class Algorithm>
class whole_barrier_program : public host_program {
 public:
  whole_barrier_program(const step_shape& shape, const barrier_parts_text<barrier_part::whole>& text,
                        std::shared_ptr<run_data> data)
      : host_program(shape, std::move(data), barrier_parts_steps_of_a_run()), text_(text), storage_(shape.blocks) {}

 private:
  void carry_out(uint32_t steps) override {
    launch(
        device_, shape_,
        [this, steps](basic_grid_barrier<Algorithm, host_grid> barrier) {
          barrier.enter();
          computation::kept nothing;
          all_steps(text_, host_grid::current(), steps, nothing, [&barrier](uint32_t) {
            barrier.sync();
            return true;
          });
        },
        storage_.barrier());
  }

  const barrier_parts_text<barrier_part::whole> text_;
  host_barrier_storage<Algorithm> storage_;
};

class host_barrier_parts : public workload {
 public:
  std::vector<step_method> methods() const override { return barrier_parts_methods(); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_co_resident(device_, {shape.blocks, shape.threads});
    const auto memory = std::make_shared<host_arrays>(barrier_parts_arrays(shape));
    const auto result = std::make_shared<barrier_parts_result>(shape, method.name, memory);
    std::unique_ptr<program> made;
    for_each_part([&](auto part, const char* name) {
      if (method.name != name) return;
      const auto text = host_text::of_all(barrier_parts_in<part.value>(*memory, shape));
      made = prepare_program({method_names::none, "", {}}, shape,
                             host_computation{text, barrier_parts_steps_of_a_run(), result});
    });
    if (made) return made;
    made = with_algorithm<std::unique_ptr<program>, whole_barriers>(method, [&](auto algorithm) {
      const auto text = barrier_parts_in<barrier_part::whole>(*memory, shape);
      return std::make_unique<whole_barrier_program<decltype(algorithm)>>(shape, text, result);
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

const register_side<workload> barrier_parts_registered(device_kind::host, make_side<host_barrier_parts>,
                                                       "barrier-parts");

}  // namespace

}  // namespace gpusync::tool
