// Workload "Smith-Waterman" on CUDA devices.
#include "workloads/smith_waterman/smith_waterman_cuda.hpp"

#include <map>

#include "boundary/steps_cuda.hpp"
#include "measure/cuda_clock.cuh"

namespace gpusync::tool {

namespace {

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
    reset_rows(where_, down(), on(), best(), static_cast<uint32_t>(found_.size()));
    check_cuda(cudaStreamSynchronize(where_.stream()), "reset_rows");
  }
  check_result check(uint64_t) override {
    where_.download(found_.data(), best_, found_.size() * sizeof(row_best));
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
    where_.upload(copy, letters.data(), letters.size());
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
class alignment_in_memory : public workload {
 public:
  alignment_in_memory(const cuda_target& where, const alignment_problem& problem)
      : where_(where), data_(std::make_shared<cuda_alignment_data>(where, problem)) {}

  std::vector<step_method> methods() const override { return methods_on_cuda(where_.device(), kernels_, false); }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    const wavefront_steps text{data_->numbers(), data_->down(), data_->on(), data_->best()};
    return prepare_on_cuda(where_, method, shape, {kernels_, text, step_sequence::of_whole(text.steps()), data_});
  }
  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_on_cuda(where_.device(), kernels_, methods, threads);
  }

 private:
  const cuda_target& where_;
  const cuda_kernels kernels_ = kernels_in_memory();
  const std::shared_ptr<cuda_alignment_data> data_;
};

/// In registers, under a few of them.
class alignment_in_registers : public workload {
 public:
  alignment_in_registers(const cuda_target& where, const alignment_problem& problem)
      : where_(where),
        data_(std::make_shared<cuda_edges_data>(where, problem, edge_bytes(most_warps(where.device())))) {}

  std::vector<step_method> methods() const override {
    return methods_on_cuda(where_.device(), kernels_in_registers(1), false);
  }

  /// Throws invalid_argument if the shape has no room for the rows.
  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    if (shape.threads == 0 || shape.threads % warp_size != 0) {
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
    if (edge_bytes(threads / warp_size) > data_->edge_bytes()) {
      throw invalid_argument("More blocks than ever run at once: " + std::to_string(shape.blocks) + ".");
    }
    if (rows <= threads) return prepared<1>(method, shape);
    if (rows <= 2 * threads) return prepared<2>(method, shape);
    return prepared<most_rows>(method, shape);
  }

  uint64_t max_co_resident(const std::vector<step_method>& methods, uint32_t threads) override {
    return max_co_resident_on_cuda(where_.device(), kernels_in_registers(most_rows), methods, threads);
  }

 private:
  static constexpr uint32_t most_rows = 4, warp_size = 32;

  template <uint32_t Rows>
  std::unique_ptr<program> prepared(const step_method& method, const step_shape& shape) {
    const wavefront_rows<Rows> text{data_->numbers(), data_->edges(), data_->down(), data_->on(), data_->best()};
    return prepare_on_cuda(where_, method, shape,
                           {kernels_in_registers(Rows), text, step_sequence::of_whole(text.steps()), data_});
  }

  static size_t edge_bytes(uint64_t warps) { return wavefront_rows<1>::slots * warps * sizeof(handed_down); }

  /// As many as the device can have at once.
  static uint64_t most_warps(const cuda_device& device) {
    const auto warps = static_cast<uint64_t>(device.properties().maxThreadsPerMultiProcessor) / warp_size;
    return warps * static_cast<uint64_t>(device.sm_count());
  }

  const cuda_target& where_;
  const std::shared_ptr<cuda_edges_data> data_;
};

class cuda_smith_waterman : public smith_waterman_device {
 public:
  explicit cuda_smith_waterman(const device_description& device) : where_(device.index) {}

  std::unique_ptr<workload> aligning(const alignment_problem& problem, alignment_form form) override {
    if (form == alignment_form::memory) return std::make_unique<alignment_in_memory>(where_, problem);
    return std::make_unique<alignment_in_registers>(where_, problem);
  }
  bool has(alignment_form) const override { return true; }
  std::vector<std::string> methods_in_registers() const override {
    std::vector<std::string> names;
    for (const step_method& method : methods_on_cuda(where_.device(), kernels_in_registers(1), false)) {
      names.push_back(method.name);
    }
    return names;
  }
  uint64_t memory() const override { return where_.free_memory(); }
  double clock_mhz() override { return measure_clock_mhz(where_.device()); }

 private:
  const cuda_target where_;
};

const register_side<smith_waterman_device> registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_smith_waterman>(device);
});

}  // namespace

}  // namespace gpusync::tool
