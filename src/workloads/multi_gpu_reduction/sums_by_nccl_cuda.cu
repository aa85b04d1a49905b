// Sums over GPUs as NVIDIA's libraries have them: CUB's on each GPU, and NCCL's all-reduce of the parts' sums, where
// CMake has found NCCL; elsewhere it is listed and refused.
#include "boundary/nccl_ranks.cuh"
#include "workloads/multi_gpu_reduction/sums_across.cuh"

namespace gpusync::tool {

namespace {

#ifdef GPUSYNC_WITH_NCCL

template <class T>
class by_all_reduce_of_sums : public queued_sums {
 public:
  explicit by_all_reduce_of_sums(const summing_gpus<T>& gpus)
      : queued_sums(gpus), gpus_(gpus), ranks_(nccl_ranks_of(targets_)) {
    for (uint32_t i = 0; i < gpus.size(); ++i) {
      parts_.emplace_back(targets_[i].device(), sizeof(T));
      sum_pieces<T> pieces = gpus.pieces[i];
      pieces.results = part(i);
      pieces.kept = 1;
      calls_.push_back(cub_sum<T>().prepare(targets_[i], pieces));
    }
  }

 private:
  T* part(uint32_t gpu) const { return static_cast<T*>(parts_[gpu].address()); }

  void queue(uint32_t number) override {
    for (uint32_t i = 0; i < gpus_.size(); ++i) {
      const cuda_device_scope scope(targets_[i].device().ordinal());
      calls_[i].sum(targets_[i].stream(), number);
    }
    constexpr ncclDataType_t type = sizeof(T) == 4 ? ncclFloat : ncclDouble;
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    for (uint32_t i = 0; i < gpus_.size(); ++i) {
      check_nccl(ncclAllReduce(part(i), gpus_.pieces[i].result(number), 1, type, ncclSum, ranks_[i].communicator,
                               targets_[i].stream()),
                 "ncclAllReduce");
    }
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
  }
  std::vector<cuda_graph> capture(uint32_t, uint32_t) override { return {}; }

  const summing_gpus<T> gpus_;
  const std::vector<nccl_rank>& ranks_;
  std::vector<cuda_buffer> parts_;
  std::vector<sum_calls> calls_;
};

#else

template <class T>
class by_all_reduce_of_sums;

#endif

}  // namespace

template <class T>
std::vector<across_sum_method<T>> sums_by_nccl() {
  step_method about{
      "cub-nccl", "CUB's DeviceReduce::Sum on each GPU, and NCCL's all-reduce of one value", {}, method_kind::launch};
  about.rival = true;
  return {{about, true, [](const auto& gpus) -> std::unique_ptr<sums_across> {
             if (gpus.size() < 2) throw invalid_argument("With one GPU there is nothing for NCCL to do.");
             if (gpus.passing == method_names::graph) {
               throw invalid_argument("NCCL's all-reduces are not captured here: they are queued.");
             }
             require_nccl();
             if constexpr (nccl_headers != 0) return std::make_unique<by_all_reduce_of_sums<T>>(gpus);
             return nullptr;
           }}};
}

template std::vector<across_sum_method<float>> sums_by_nccl<float>();
template std::vector<across_sum_method<double>> sums_by_nccl<double>();

}  // namespace gpusync::tool
