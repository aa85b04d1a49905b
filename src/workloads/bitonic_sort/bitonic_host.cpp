// Workload "bitonic sort" on host threads.
#include "boundary/steps_host.hpp"
#include "workloads/bitonic_sort/bitonic_steps.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"

namespace gpusync::tool {

namespace {

template <class Element>
std::unique_ptr<workload> sorting(const sort_input& input) {
  const auto memory = std::make_shared<host_arrays>(std::vector{elements_of(input)});
  const auto text = bitonic_steps<Element>::of(memory->address<Element>(0), input.count, input.order);
  return workload_of(
      host_computation{host_text::of(text), step_sequence::of_whole(text.steps()), sorted_result(input, memory)});
}

class host_bitonic : public bitonic_device {
 public:
  std::unique_ptr<workload> sorting(const sort_input& input, sort_form form) override {
    if (!has(form)) throw invalid_argument("Host threads sort in memory only.");
    if (input.element_bytes == 4) return tool::sorting<uint32_t>(input);
    if (input.element_bytes == 8) return tool::sorting<uint64_t>(input);
    return tool::sorting<sort_pair>(input);
  }
};

const register_side<bitonic_device> bitonic_registered(device_kind::host, make_side<host_bitonic>);

}  // namespace

}  // namespace gpusync::tool
