// Workload "Smith-Waterman" on CUDA devices.
#include "measure/cuda_clock.cuh"
#include "workloads/smith_waterman/wavefront_rows.hpp"
#include "workloads/stepped/stepped_cuda.cuh"

namespace gpusync::tool {

namespace {

/// All rows as they are before the first diagonal.
__global__ void reset_rows(handed_down* down, handed_on* on, row_best* best, uint32_t rows) {
  for (uint32_t row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
    down[row] = down[size_t{rows} + row] = {0, no_score};
    on[row] = {no_score, 0};
    best[row] = {0, 0};
  }
}

/// Sequences and rows on the device.
class cuda_alignment_data : public run_data {
 public:
  cuda_alignment_data(const cuda_target& where, const alignment_problem& problem)
      : where_(where),
        problem_(problem),
        query_(copy_of(problem.query)),
        reference_(copy_of(letters_of_reference(problem.reference))),
        down_(room(2 * sizeof(handed_down))),
        on_(room(sizeof(handed_on))),
        best_(room(sizeof(row_best))),
        found_(problem.query.size()) {}

  void reset() override {
    const cuda_device_scope scope(where_.device().ordinal());
    reset_rows<<<static_cast<unsigned>(where_.device().sm_count()), 256, 0, where_.stream()>>>(
        down(), on(), best(), static_cast<uint32_t>(found_.size()));
    check_cuda(cudaGetLastError(), "launch of reset_rows");
    check_cuda(cudaStreamSynchronize(where_.stream()), "reset_rows");
  }
  comparison check() override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemcpy(found_.data(), best(), found_.size() * sizeof(row_best), cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    return compare_rows(problem_, found_);
  }
  std::string how() const override { return how_alignments_are_checked(); }
  findings found() const override { return findings_of(found_); }

  wavefront_problem numbers() const {
    return wavefront_problem::of(problem_, static_cast<const uint8_t*>(query_.address()),
                                 static_cast<const uint8_t*>(reference_.address()));
  }
  handed_down* down() const { return static_cast<handed_down*>(down_.address()); }
  handed_on* on() const { return static_cast<handed_on*>(on_.address()); }
  row_best* best() const { return static_cast<row_best*>(best_.address()); }

 protected:
  const cuda_target& where_;

 private:
  cuda_buffer room(size_t bytes_of_row) const {
    return {where_.device(), std::max<size_t>(1, problem_.query.size()) * bytes_of_row};
  }
  cuda_buffer copy_of(const std::vector<uint8_t>& letters) const {
    cuda_buffer copy(where_.device(), std::max<size_t>(1, letters.size()));
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemcpy(copy.address(), letters.data(), letters.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    return copy;
  }

  const alignment_problem& problem_;
  const cuda_buffer query_, reference_, down_, on_, best_;
  std::vector<row_best> found_;
};

/// And what warps hand down to each other.
class cuda_edges_data : public cuda_alignment_data {
 public:
  cuda_edges_data(const cuda_target& where, const alignment_problem& problem, size_t edge_bytes)
      : cuda_alignment_data(where, problem), edges_(where.device(), edge_bytes) {}

  /// Nothing of the run before is to be found there.
  void reset() override {
    const cuda_device_scope scope(where_.device().ordinal());
    check_cuda(cudaMemsetAsync(edges_.address(), 0x25, edges_.bytes(), where_.stream()), "cudaMemsetAsync");
    cuda_alignment_data::reset();
  }

  handed_down* edges() const { return static_cast<handed_down*>(edges_.address()); }
  size_t edge_bytes() const { return edges_.bytes(); }

 private:
  const cuda_buffer edges_;
};

/// In memory, under every barrier.
class alignment_in_memory : public whole_workload {
 public:
  alignment_in_memory(const cuda_target& where, const alignment_problem& problem)
      : where_(where),
        data_(std::make_shared<cuda_alignment_data>(where, problem)),
        work_{data_->numbers(), data_->down(), data_->on(), data_->best()} {}

  std::vector<step_method> methods() const override { return stepped::methods<grid::cuda_algorithms>(where_.device()); }
  std::unique_ptr<whole_program> prepare(const step_method& method, const step_shape& shape) override {
    return stepped::prepare<grid::cuda_algorithms>(where_, method, shape, work_, data_);
  }
  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return stepped::max_co_resident<grid::cuda_algorithms, wavefront_steps>(where_.device(), methods, threads);
  }

 private:
  const cuda_target& where_;
  const std::shared_ptr<cuda_alignment_data> data_;
  const wavefront_steps work_;
};

/// In registers, under a few of them.
class alignment_in_registers : public whole_workload {
 public:
  alignment_in_registers(const cuda_target& where, const alignment_problem& problem)
      : where_(where),
        data_(std::make_shared<cuda_edges_data>(where, problem, edge_bytes(most_warps(where.device())))) {}

  std::vector<step_method> methods() const override { return stepped::methods<stepped::few_barriers>(where_.device()); }

  /// Throws invalid_argument if the shape has no room for the rows.
  std::unique_ptr<whole_program> prepare(const step_method& method, const step_shape& shape) override {
    if (shape.threads == 0 || shape.threads % cuda_grid::warp_size != 0) {
      throw invalid_argument("Rows in registers need whole warps, a multiple of 32 threads per block, not " +
                             std::to_string(shape.threads) + ".");
    }
    const uint64_t threads = uint64_t{shape.blocks} * shape.threads;
    const uint32_t rows = data_->numbers().rows;
    if (rows > most_rows * threads) {
      throw invalid_argument(std::to_string(rows) + " letters of the query are too many for the registers of " +
                             std::to_string(threads) + " threads, which have " + std::to_string(most_rows) +
                             " rows each.");
    }
    if (edge_bytes(threads / cuda_grid::warp_size) > data_->edge_bytes()) {
      throw invalid_argument("More blocks than ever run at once: " + std::to_string(shape.blocks) + ".");
    }
    if (rows <= threads) return prepared<1>(method, shape);
    if (rows <= 2 * threads) return prepared<2>(method, shape);
    return prepared<most_rows>(method, shape);
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return stepped::max_co_resident<stepped::few_barriers, wavefront_rows<most_rows>>(where_.device(), methods,
                                                                                      threads);
  }

 private:
  static constexpr uint32_t most_rows = 4;

  template <uint32_t Rows>
  std::unique_ptr<whole_program> prepared(const step_method& method, const step_shape& shape) {
    const wavefront_rows<Rows> work{data_->numbers(), data_->edges(), data_->down(), data_->on(), data_->best()};
    return stepped::prepare<stepped::few_barriers>(where_, method, shape, work, data_);
  }

  static size_t edge_bytes(uint64_t warps) { return wavefront_rows<1>::slots * warps * sizeof(handed_down); }

  /// As many as the device can have at once.
  static uint64_t most_warps(const cuda_device& device) {
    const auto warps = static_cast<uint64_t>(device.properties().maxThreadsPerMultiProcessor) / cuda_grid::warp_size;
    return warps * static_cast<uint64_t>(device.sm_count());
  }

  const cuda_target& where_;
  const std::shared_ptr<cuda_edges_data> data_;
};

class cuda_smith_waterman : public smith_waterman_device {
 public:
  explicit cuda_smith_waterman(const device_description& device) : where_(device.index) {}

  std::unique_ptr<whole_workload> aligning(const alignment_problem& problem, alignment_form form) override {
    if (form == alignment_form::memory) return std::make_unique<alignment_in_memory>(where_, problem);
    return std::make_unique<alignment_in_registers>(where_, problem);
  }
  bool has(alignment_form) const override { return true; }
  std::vector<std::string> methods_in_registers() const override {
    std::vector<std::string> names;
    for (const step_method& method : stepped::methods<stepped::few_barriers>(where_.device())) {
      names.push_back(method.name);
    }
    return names;
  }
  uint64_t memory() const override {
    const cuda_device_scope scope(where_.device().ordinal());
    size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target where_;
};

const register_side<smith_waterman_device> registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_smith_waterman>(device);
});

}  // namespace

}  // namespace gpusync::tool
