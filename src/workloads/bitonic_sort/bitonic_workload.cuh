// Workload "bitonic sort" on CUDA devices, for any element.
#pragma once

#include "workloads/bitonic_sort/bitonic_cuda.cuh"
#include "workloads/bitonic_sort/bitonic_stages.hpp"
#include "workloads/bitonic_sort/bitonic_steps.hpp"
#include "workloads/stepped/compare_cuda.cuh"
#include "workloads/stepped/stepped_cuda.cuh"

namespace gpusync::tool {

/// The elements on the device: as they come, as they are sorted, and as they should be.
class cuda_sort_data : public run_data {
 public:
  cuda_sort_data(const cuda_target& where, const sort_input& input)
      : where_(where),
        bytes_(input.bytes()),
        unsorted_(copy_of(input.unsorted)),
        expected_(copy_of(input.sorted)),
        elements_(where.device(), room(bytes_)),
        different_(where.device(), sizeof(unsigned long long)) {}

  void reset() override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(
        cudaMemcpyAsync(elements_.address(), unsorted_.address(), bytes_, cudaMemcpyDeviceToDevice, where_.stream()),
        "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(where_.stream()), "cudaStreamSynchronize");
  }
  comparison check() override {
    const size_t words = bytes_ / sizeof(uint32_t);
    return {words, different_words(where_.device(), where_.stream(), elements_.address(), expected_.address(), words,
                                   different_)};
  }
  std::string how() const override { return how_sorts_are_checked(); }

  void* elements() const { return elements_.address(); }
  const void* unsorted() const { return unsorted_.address(); }

 protected:
  const cuda_target& where_;

 private:
  static size_t room(size_t bytes) { return bytes == 0 ? 1 : bytes; }

  cuda_buffer copy_of(const std::vector<uint32_t>& words) const {
    cuda_buffer copy(where_.device(), room(bytes_));
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemcpy(copy.address(), words.data(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    return copy;
  }

  const size_t bytes_;
  const cuda_buffer unsorted_, expected_, elements_, different_;
};

/// And where blocks exchange them.
class cuda_exchange_data : public cuda_sort_data {
 public:
  cuda_exchange_data(const cuda_target& where, const sort_input& input, size_t exchanged_bytes)
      : cuda_sort_data(where, input), exchanged_(where.device(), exchanged_bytes) {}

  /// What the run before has left there would be right, whether a barrier held or not.
  void reset() override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemsetAsync(exchanged_.address(), 0xa5, exchanged_.bytes(), where_.stream()), "cudaMemsetAsync");
    cuda_sort_data::reset();
  }

  four_words* exchanged() const { return static_cast<four_words*>(exchanged_.address()); }

 private:
  const cuda_buffer exchanged_;
};

/// In memory, under every barrier.
template <class Element>
class cuda_sort_in_memory : public whole_workload {
 public:
  cuda_sort_in_memory(const cuda_target& where, const sort_input& input)
      : where_(where),
        data_(std::make_shared<cuda_sort_data>(where, input)),
        work_{static_cast<Element*>(data_->elements()), static_cast<uint32_t>(input.count), merges_of(input.count),
              input.order} {}

  std::vector<step_method> methods() const override { return stepped::methods<grid::cuda_algorithms>(where_.device()); }
  std::unique_ptr<whole_program> prepare(const step_method& method, const step_shape& shape) override {
    return stepped::prepare<grid::cuda_algorithms>(where_, method, shape, work_, data_);
  }
  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return stepped::max_co_resident<grid::cuda_algorithms, bitonic_steps<Element>>(where_.device(), methods, threads);
  }

 private:
  const cuda_target& where_;
  const std::shared_ptr<cuda_sort_data> data_;
  const bitonic_steps<Element> work_;
};

/// In registers, under a few of them.
template <class Element>
class cuda_sort_in_registers : public whole_workload {
 public:
  using work = bitonic_stages<Element>;

  cuda_sort_in_registers(const cuda_target& where, const sort_input& input)
      : where_(where),
        input_(input),
        data_(std::make_shared<cuda_exchange_data>(where, input, exchanged_bytes(input.count))) {}

  std::vector<step_method> methods() const override { return stepped::methods<stepped::few_barriers>(where_.device()); }

  /// Throws invalid_argument if the shape has no room for the elements.
  std::unique_ptr<whole_program> prepare(const step_method& method, const step_shape& shape) override {
    const uint32_t threads = shape.threads;
    if (threads < cuda_grid::warp_size || (threads & (threads - 1)) != 0 || threads > work::most_threads) {
      throw invalid_argument("A sort in registers needs a power of two of threads per block, 32 to " +
                             std::to_string(work::most_threads) + ", not " + std::to_string(threads) + ".");
    }
    const uint32_t chunk = merges_of(uint64_t{threads} * work::own);
    const uint32_t merges = std::max(chunk, merges_of(input_.count));
    const uint64_t needed = uint64_t{1} << (merges - chunk);
    if (needed > shape.blocks) {
      throw invalid_argument("A sort of " + std::to_string(input_.count) + " elements in registers needs " +
                             std::to_string(needed) + " blocks of " + std::to_string(threads) +
                             " threads, which keep " + std::to_string(work::own) + " elements each, not " +
                             std::to_string(shape.blocks) + ".");
    }
    work stages;
    stages.input = static_cast<const Element*>(data_->unsorted());
    stages.output = static_cast<Element*>(data_->elements());
    stages.exchanged = data_->exchanged();
    stages.count = static_cast<uint32_t>(input_.count);
    stages.merges = merges;
    stages.chunk = chunk;
    stages.order = input_.order;
    return stepped::prepare<stepped::few_barriers>(where_, method, shape, stages, data_);
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return stepped::max_co_resident<stepped::few_barriers, work>(where_.device(), methods, threads);
  }

 private:
  /// Of two halves for the elements, padded to the next power of two and to the largest block's part.
  static size_t exchanged_bytes(uint64_t count) {
    return 2 * (size_t{1} << std::max(merges_of(count), merges_of(work::most_threads * work::own))) * sizeof(Element);
  }

  const cuda_target& where_;
  const sort_input& input_;
  const std::shared_ptr<cuda_exchange_data> data_;
};

template <class Element>
std::unique_ptr<whole_workload> sort_on_cuda(const cuda_target& where, const sort_input& input, sort_form form) {
  if (form == sort_form::memory) return std::make_unique<cuda_sort_in_memory<Element>>(where, input);
  return std::make_unique<cuda_sort_in_registers<Element>>(where, input);
}

}  // namespace gpusync::tool
