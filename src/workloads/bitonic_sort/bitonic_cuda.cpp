// Workload "bitonic sort" on CUDA devices.
#include "workloads/bitonic_sort/bitonic_cuda.hpp"

#include "boundary/cuda_compare.hpp"
#include "boundary/steps_cuda.hpp"
#include "measure/cuda_clock.cuh"
#include "workloads/bitonic_sort/sort_input.hpp"

namespace gpusync::tool {

namespace {

/// The elements on the device: as they come, as they are sorted, and as they should be; and where blocks exchange them.
class cuda_sort_data : public run_data {
 public:
  cuda_sort_data(const cuda_target& where, const sort_input& input, size_t exchanged_bytes)
      : where_(where),
        bytes_(input.bytes()),
        unsorted_(copy_of(input.unsorted)),
        expected_(copy_of(input.sorted)),
        elements_(where.device(), room(bytes_)),
        exchanged_(where.device(), room(exchanged_bytes)),
        different_(where.device(), sizeof(unsigned long long)) {}

  void reset() override {
    const cuda_device_scope scope(where_.device().ordinal());
    // What the run before has left there would be right, whether a barrier held or not.
    check_cuda(cudaMemsetAsync(exchanged_.address(), 0xa5, exchanged_.bytes(), where_.stream()), "cudaMemsetAsync");
    check_cuda(
        cudaMemcpyAsync(elements_.address(), unsorted_.address(), bytes_, cudaMemcpyDeviceToDevice, where_.stream()),
        "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(where_.stream()), "cudaStreamSynchronize");
  }
  check_result check(uint64_t) override {
    const size_t words = bytes_ / sizeof(uint32_t);
    return {words, different_words(where_, elements_.address(), expected_.address(), words, different_)};
  }
  std::string how() const override { return how_sorts_are_checked(); }

  void* elements() const { return elements_.address(); }
  const void* unsorted() const { return unsorted_.address(); }
  four_words* exchanged() const { return static_cast<four_words*>(exchanged_.address()); }

 private:
  static size_t room(size_t bytes) { return bytes == 0 ? 1 : bytes; }

  cuda_buffer copy_of(const std::vector<uint32_t>& words) const {
    cuda_buffer copy(where_.device(), room(bytes_));
    where_.upload(copy, words.data(), bytes_);
    return copy;
  }

  const cuda_target& where_;
  const size_t bytes_;
  const cuda_buffer unsorted_, expected_, elements_, exchanged_, different_;
};

/// A sort's kernels and data; what differs is how elements are kept from step to step.
class cuda_sort : public workload {
 public:
  cuda_sort(const cuda_target& where, const sort_input& input, cuda_kernels kernels, size_t exchanged_bytes)
      : where_(where),
        input_(input),
        kernels_(std::move(kernels)),
        data_(std::make_shared<cuda_sort_data>(where, input, exchanged_bytes)) {}

  std::vector<step_method> methods() const override { return methods_on_cuda(where_.device(), kernels_, false); }
  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_on_cuda(where_.device(), kernels_, methods, threads);
  }

 protected:
  template <class Text>
  std::unique_ptr<program> prepared(const step_method& method, const step_shape& shape, const Text& text) {
    return prepare_on_cuda(where_, method, shape, {kernels_, text, step_sequence::of_whole(text.steps()), data_});
  }
  const sort_input& input() const { return input_; }
  const cuda_sort_data& data() const { return *data_; }

 private:
  const cuda_target& where_;
  const sort_input& input_;
  const cuda_kernels kernels_;
  const std::shared_ptr<cuda_sort_data> data_;
};

/// In memory, under every barrier.
template <class Element>
class sort_in_memory : public cuda_sort {
 public:
  sort_in_memory(const cuda_target& where, const sort_input& input)
      : cuda_sort(where, input, sort_kernels_of<Element>().in_memory, 0) {}

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    return prepared(
        method, shape,
        bitonic_steps<Element>{static_cast<Element*>(data().elements()), static_cast<uint32_t>(input().count),
                               merges_of(input().count), input().order});
  }
};

/// In registers, under a few of them.
template <class Element>
class sort_in_registers : public cuda_sort {
 public:
  using text = bitonic_stages<Element>;

  sort_in_registers(const cuda_target& where, const sort_input& input)
      : cuda_sort(where, input, sort_kernels_of<Element>().in_registers, exchanged_bytes(input.count)) {}

  /// Throws invalid_argument if the shape has no room for the elements.
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const uint32_t threads = shape.threads;
    if (threads < 32 || (threads & (threads - 1)) != 0 || threads > text::most_threads) {
      throw invalid_argument("A sort in registers needs a power of two of threads per block, 32 to " +
                             std::to_string(text::most_threads) + ", not " + std::to_string(threads) + ".");
    }
    const uint32_t chunk = merges_of(uint64_t{threads} * text::own);
    const uint32_t merges = std::max(chunk, merges_of(input().count));
    const uint64_t needed = uint64_t{1} << (merges - chunk);
    if (needed > shape.blocks) {
      throw invalid_argument("A sort of " + std::to_string(input().count) + " elements in registers needs " +
                             std::to_string(needed) + " blocks of " + std::to_string(threads) +
                             " threads, which keep " + std::to_string(text::own) + " elements each, not " +
                             std::to_string(shape.blocks) + ".");
    }
    text stages;
    stages.input = static_cast<const Element*>(data().unsorted());
    stages.output = static_cast<Element*>(data().elements());
    stages.exchanged = data().exchanged();
    stages.count = static_cast<uint32_t>(input().count);
    stages.merges = merges;
    stages.chunk = chunk;
    stages.order = input().order;
    return prepared(method, shape, stages);
  }

 private:
  /// Of two halves for the elements, padded to the next power of two and to the largest block's part.
  static size_t exchanged_bytes(uint64_t count) {
    return 2 * (size_t{1} << std::max(merges_of(count), merges_of(uint64_t{text::most_threads} * text::own))) *
           sizeof(Element);
  }
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
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  template <class Element>
  std::unique_ptr<workload> sorting(const sort_input& input, sort_form form) const {
    if (form == sort_form::memory) return std::make_unique<sort_in_memory<Element>>(where_, input);
    return std::make_unique<sort_in_registers<Element>>(where_, input);
  }

  const cuda_target where_;
};

const register_side<bitonic_device> registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_bitonic>(device);
});

}  // namespace

}  // namespace gpusync::tool
