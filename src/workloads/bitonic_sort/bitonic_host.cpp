// Workload "bitonic sort" on host threads.
#include <cstring>

#include "boundary/steps_host.hpp"
#include "workloads/bitonic_sort/bitonic_steps.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"

namespace gpusync::tool {

namespace {

template <class Element>
class host_data : public run_data {
 public:
  explicit host_data(const sort_input& input) : input_(input), elements_(input.count) {}

  void reset() override {
    if (!elements_.empty()) std::memcpy(elements_.data(), input_.unsorted.data(), input_.bytes());
  }
  check_result check(uint64_t) override {
    return compare_sorted(input_, reinterpret_cast<const uint32_t*>(elements_.data()));
  }
  std::string how() const override { return how_sorts_are_checked(); }

  bitonic_steps<Element> text() {
    const auto count = static_cast<uint32_t>(input_.count);
    return {elements_.data(), count, merges_of(count), input_.order};
  }

 private:
  const sort_input& input_;
  std::vector<Element> elements_;
};

template <class Element>
std::unique_ptr<workload> sorting(const sort_input& input) {
  const auto data = std::make_shared<host_data<Element>>(input);
  const bitonic_steps<Element> text = data->text();
  return workload_on_host({host_text::of(text), step_sequence::of_whole(text.steps()), data});
}

class host_bitonic : public bitonic_device {
 public:
  std::unique_ptr<workload> sorting(const sort_input& input, sort_form form) override {
    if (!has(form)) throw invalid_argument("Host threads sort in memory only.");
    if (input.element_bytes == 4) return tool::sorting<uint32_t>(input);
    if (input.element_bytes == 8) return tool::sorting<uint64_t>(input);
    return tool::sorting<sort_pair>(input);
  }
  bool has(sort_form form) const override { return form == sort_form::memory; }
  uint64_t memory() const override { return 0; }
};

const register_side<bitonic_device> registered(device_kind::host, [](const device_description&) {
  return std::make_unique<host_bitonic>();
});

}  // namespace

}  // namespace gpusync::tool
