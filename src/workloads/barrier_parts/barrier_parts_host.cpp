// Workload "barrier-parts" on host threads.
#include "boundary/barrier_methods.hpp"
#include "boundary/steps_host.hpp"
#include "workloads/barrier_parts/barrier_parts.hpp"

namespace gpusync::tool {

namespace {

class host_barrier_parts : public workload {
 public:
  std::vector<step_method> methods() const override { return barrier_parts_methods(); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const auto memory = std::make_shared<host_arrays>(barrier_parts_arrays(shape));
    const auto prepared = [&](auto part, const step_method& boundary) {
      return prepare_program(boundary, shape,
                             host_computation{host_text::of_all(barrier_parts_in<part.value>(*memory, shape)),
                                              barrier_parts_steps_of_a_run(),
                                              std::make_shared<barrier_parts_result>(shape, method.name, memory)});
    };
    std::unique_ptr<program> made;
    for_each_part([&](auto part, const char* name) {
      if (method.name == name) made = prepared(part, {method_names::none, "", {}});
    });
    if (made) return made;
    made = with_algorithm<std::unique_ptr<program>, whole_barriers>(
        method, [&](auto) { return prepared(std::integral_constant<barrier_part, barrier_part::whole>{}, method); });
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

const register_side<workload> registered(device_kind::host, make_side<host_barrier_parts>, "barrier-parts");

}  // namespace

}  // namespace gpusync::tool
