// Workload "bitonic sort" on CUDA devices.
#include "boundary/cuda_text.cuh"
#include "boundary/steps_cuda.hpp"
#include "workloads/bitonic_sort/bitonic_stages.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"

namespace gpusync::tool {

namespace {

/// In memory, under every barrier.
template <class Element>
std::unique_ptr<workload> sort_in_memory(const cuda_target& where, const sort_input& input) {
  const auto memory = std::make_shared<cuda_arrays>(where, std::vector{elements_of(input)});
  const auto text = bitonic_steps<Element>::of(memory->address<Element>(0), input.count, input.order);
  return workload_of(cuda_computation{where, kernels_of<bitonic_steps<Element>, grid::cuda_algorithms>(), text,
                                      step_sequence::of_whole(text.steps()), sorted_result(input, memory)});
}

/// In registers, under a few of them.
template <class Element>
class sort_in_registers : public workload {
 public:
  using text = bitonic_stages<Element>;

  sort_in_registers(const cuda_target& where, const sort_input& input)
      : where_(where), input_(input), memory_(std::make_shared<cuda_arrays>(where, content(input))) {}

  std::vector<step_method> methods() const override { return methods_on_cuda(where_.device(), kernels_, false); }
  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_on_cuda(where_.device(), kernels_, methods, threads);
  }

  /// Throws invalid_argument if the shape has no room for the elements.
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const uint32_t threads = shape.threads;
    if (threads < 32 || (threads & (threads - 1)) != 0 || threads > text::most_threads) {
      throw invalid_argument("A sort in registers needs a power of two of threads per block, 32 to " +
                             std::to_string(text::most_threads) + ", not " + std::to_string(threads) + ".");
    }
    const uint32_t chunk = merges_of(uint64_t{threads} * text::own);
    const uint32_t merges = std::max(chunk, merges_of(input_.count));
    const uint64_t needed = uint64_t{1} << (merges - chunk);
    if (needed > shape.blocks) {
      throw invalid_argument("A sort of " + std::to_string(input_.count) + " elements in registers needs " +
                             std::to_string(needed) + " blocks of " + std::to_string(threads) +
                             " threads, which keep " + std::to_string(text::own) + " elements each, not " +
                             std::to_string(shape.blocks) + ".");
    }
    text stages;
    stages.output = memory_->template address<Element>(0);
    stages.input = memory_->template address<Element>(1);
    stages.exchanged = memory_->template address<four_words>(2);
    stages.count = static_cast<uint32_t>(input_.count);
    stages.merges = merges;
    stages.chunk = chunk;
    stages.order = input_.order;
    return prepare_program(
        method, shape,
        {where_, kernels_, stages, step_sequence::of_whole(stages.steps()), sorted_result(input_, memory_)});
  }

 private:
  /// What the run before has left would be right, whether a barrier held or not.
  static constexpr uint64_t poison = 0xa5a5a5a5a5a5a5a5;

  /// The result, the input, and two halves in which blocks exchange elements, padded to the next power of two and to
  /// the largest block's part.
  static std::vector<array_content> content(const sort_input& input) {
    array_content sorted = elements_of(input), unsorted = sorted;
    sorted.first.reset();
    sorted.pattern = poison;
    unsorted.anew = false;
    unsorted.expected.reset();
    const uint32_t merges = std::max(merges_of(input.count), merges_of(uint64_t{text::most_threads} * text::own));
    return {sorted, unsorted, array_content::filled(2 * (size_t{1} << merges) * sizeof(Element) / 8, poison)};
  }

  const cuda_target& where_;
  const sort_input& input_;
  const cuda_kernels kernels_ = kernels_of<text, few_barriers>();
  const std::shared_ptr<cuda_arrays> memory_;
};

class cuda_bitonic : public bitonic_device {
 public:
  explicit cuda_bitonic(const device_description& device) : where_(device.index) {}

  std::unique_ptr<workload> sorting(const sort_input& input, sort_form form) override {
    if (input.element_bytes == 4) return sorting<uint32_t>(input, form);
    if (input.element_bytes == 8) return sorting<uint64_t>(input, form);
    return sorting<sort_pair>(input, form);
  }
  bool has(sort_form) const override { return true; }
  uint64_t memory() const override { return where_.free_memory(); }

 private:
  template <class Element>
  std::unique_ptr<workload> sorting(const sort_input& input, sort_form form) const {
    if (form == sort_form::memory) return sort_in_memory<Element>(where_, input);
    return std::make_unique<sort_in_registers<Element>>(where_, input);
  }

  const cuda_target where_;
};

const register_side<bitonic_device> bitonic_registered(device_kind::cuda, make_side<cuda_bitonic>);

}  // namespace

}  // namespace gpusync::tool
