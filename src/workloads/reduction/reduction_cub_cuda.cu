// Workload "reduction" on CUDA devices: NVIDIA's CUB, which comes with the toolkit.
#include <cub/device/device_reduce.cuh>

#include <type_traits>

#include "workloads/reduction/reduction_cuda.cuh"

namespace gpusync::tool {

namespace {

/// Sums whose elements are counted by a Count: CUB takes other code for each.
template <class T, class Count>
sum_calls calls_of_cub(const cuda_target& where, const sum_pieces<T>& pieces) {
  const cuda_device_scope scope(where.device().ordinal());
  const auto count = static_cast<Count>(pieces.elements);
  size_t bytes = 0;
  check_cuda(cub::DeviceReduce::Sum(nullptr, bytes, pieces.first, pieces.results, count), "cub::DeviceReduce::Sum");
  const auto scratch = std::make_shared<cuda_buffer>(where.device(), std::max<size_t>(bytes, 1), where.stream());
  return {[=](cudaStream_t stream, uint32_t number) {
    size_t given = bytes;
    check_cuda(
        cub::DeviceReduce::Sum(scratch->address(), given, pieces.input(number), pieces.result(number), count, stream),
        "cub::DeviceReduce::Sum");
  }};
}

}  // namespace

template <class T>
std::vector<sum_method<T>> cub_sums() {
  const auto method = [](const char* name, const char* title) {
    step_method made{name, title, {}, method_kind::launch};
    made.rival = true;
    return made;
  };
  return {{method("cub-int", "CUB's DeviceReduce::Sum, elements counted by int"), calls_of_cub<T, int>,
           uint64_t{INT32_MAX} * sizeof(T)},
          {method("cub-size", "CUB's DeviceReduce::Sum, elements counted by size_t"), calls_of_cub<T, size_t>}};
}

template <class T>
sum_method<T> cub_sum() {
  return cub_sums<T>().back();
}

template sum_method<float> cub_sum<float>();
template sum_method<double> cub_sum<double>();
template std::vector<sum_method<float>> cub_sums<float>();
template std::vector<sum_method<double>> cub_sums<double>();

}  // namespace gpusync::tool
