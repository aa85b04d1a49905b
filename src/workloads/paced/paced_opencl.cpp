// Paced loops on OpenCL devices, without a barrier and with the work-group's. There is no fence for the compiler alone
// in OpenCL C, and so no control.
#include <fmt/format.h>

#include <algorithm>

#include <gpusync/opencl/program.hpp>

#include "boundary/opencl_target.hpp"
#include "embedded/paced_cl.hpp"
#include "workloads/paced/memory_test.hpp"
#include "workloads/paced/scalar_product.hpp"
#include "workloads/paced/vector_add.hpp"

namespace gpusync::tool {

namespace {

/// A text's kernel and the intervals that it has.
struct opencl_paced_text {
  const char* kernel;
  uint32_t plain;
  std::vector<uint32_t> intervals;
};

/// A variant's kernel.
struct opencl_paced_kernel {
  paced_variant about;
  cl::Kernel kernel;
  uint64_t checked = 0, wrong = 0;
};

std::vector<paced_variant> opencl_variants(const opencl_paced_text& text) {
  std::vector<paced_variant> all{{"none", "no barrier", text.plain, paced_role::plain}};
  for (const uint32_t every : text.intervals) {
    all.push_back(
        {fmt::format("block-{}", every), fmt::format("block, every {} iterations", every), every, paced_role::paced});
  }
  return all;
}

template <class Text>
class opencl_paced_program : public paced_program {
 public:
  opencl_paced_program(const opencl_target& where, const paced_problem& problem, const opencl_paced_text& text)
      : where_(where), shape_(problem.shape), sizes_(Text::arrays(problem)) {
    require_room(sizes_.bytes(), std::min(where.memory() / 2, most_bytes), "for a workload on OpenCL");
    uint32_t* const nowhere[6] = {};
    const Text formulas(problem, nowhere);
    trips_ = formulas.trips();
    bytes_ = formulas.bytes();
    for (uint32_t array = 0; array + 1 < sizes_.count; ++array) {
      std::vector<uint32_t> words(sizes_.words[array]);
      for (uint64_t i = 0; i < words.size(); ++i) words[i] = formulas.word(array, i);
      add_buffer(words);
    }
    for (uint64_t i = 0; i < sizes_.output_words(); ++i) expected_.push_back(formulas.expected(i));
    add_buffer(std::vector<uint32_t>(expected_.size(), UINT32_MAX));
    for (const paced_variant& one : opencl_variants(text)) add_kernel(one, text, problem);
  }

  std::vector<paced_variant> variants() const override {
    std::vector<paced_variant> all;
    for (const opencl_paced_kernel& one : kernels_) all.push_back(one.about);
    return all;
  }
  std::vector<paced_variant> clocked() const override { return {}; }
  uint64_t trips() const override { return trips_; }
  uint64_t bytes() const override { return bytes_; }
  paced_resources resources(const paced_variant&) override { return {}; }

  double run(const paced_variant& which) override {
    opencl_paced_kernel& one =
        *std::ranges::find(kernels_, which.name, [](const opencl_paced_kernel& each) { return each.about.name; });
    std::vector<uint32_t> found(expected_.size(), UINT32_MAX);
    const size_t bytes = found.size() * sizeof(uint32_t);
    const double elapsed = opencl::checked([&] {
      if (bytes != 0) where_.queue.enqueueWriteBuffer(buffers_.back(), CL_TRUE, 0, bytes, found.data());
      cl::Event event;
      where_.queue.enqueueNDRangeKernel(one.kernel, cl::NullRange, cl::NDRange(size_t{shape_.blocks} * shape_.threads),
                                        cl::NDRange(shape_.threads), nullptr, &event);
      event.wait();
      if (bytes != 0) where_.queue.enqueueReadBuffer(buffers_.back(), CL_TRUE, 0, bytes, found.data());
      return profiled(event, event);
    });
    for (size_t i = 0; i < found.size(); ++i) one.wrong += found[i] == expected_[i] ? 0 : 1;
    one.checked += found.size();
    return elapsed;
  }
  paced_clocks run_clocked(const paced_variant&) override {
    throw invalid_argument("There are no clocks in OpenCL C.");
  }
  verification verify(const paced_variant& which, bool) const override {
    for (const opencl_paced_kernel& one : kernels_) {
      if (one.about.name == which.name) return {true, one.checked, one.wrong, paced_check};
    }
    return {};
  }

 private:
  static constexpr uint64_t most_bytes = uint64_t{4} << 30;

  void add_buffer(const std::vector<uint32_t>& words) {
    const size_t bytes = words.size() * sizeof(uint32_t);
    opencl::checked([&] {
      buffers_.emplace_back(where_.context, CL_MEM_READ_WRITE, std::max<size_t>(bytes, 1));
      if (bytes != 0) where_.queue.enqueueWriteBuffer(buffers_.back(), CL_TRUE, 0, bytes, words.data());
    });
  }
  void add_kernel(const paced_variant& one, const opencl_paced_text& text, const paced_problem& problem) {
    const char* const visit = one.role == paced_role::plain ? "-DVISIT=" : "-DVISIT=barrier(CLK_LOCAL_MEM_FENCE)";
    const cl::Program program = opencl::build(where_.context, where_.device, embedded::paced_cl,
                                              fmt::format("-DEVERY={} {}", one.every, visit));
    opencl_paced_kernel& made = kernels_.emplace_back();
    made.about = one;
    opencl::checked([&] {
      made.kernel = cl::Kernel(program, text.kernel);
      cl_uint next = 0;
      for (const cl::Buffer& buffer : buffers_) made.kernel.setArg(next++, buffer);
      made.kernel.setArg(next++, cl_ulong{problem.elements});
      made.kernel.setArg(next, cl_ulong{problem.length});
    });
    where_.require_size(made.kernel, shape_.threads);
  }

  const opencl_target& where_;
  const step_shape shape_;
  const paced_arrays sizes_;
  uint64_t trips_ = 0, bytes_ = 0;
  std::vector<uint32_t> expected_;
  std::vector<cl::Buffer> buffers_;
  std::vector<opencl_paced_kernel> kernels_;
};

template <class Text>
class opencl_paced_device : public paced_device {
 public:
  opencl_paced_device(const device_description& description, opencl_paced_text text)
      : target_(description), text_(std::move(text)) {}

  std::vector<paced_variant> variants() const override { return opencl_variants(text_); }
  std::unique_ptr<paced_program> program(const paced_problem& problem) override {
    (void)elements_of(problem.shape);
    return std::make_unique<opencl_paced_program<Text>>(target_, problem, text_);
  }

 private:
  const opencl_target target_;
  const opencl_paced_text text_;
};

template <class Text>
register_side<paced_device> paced_on_opencl(const char* name, const opencl_paced_text& text) {
  return {
      device_kind::opencl,
      [text](const device_description& device) { return std::make_unique<opencl_paced_device<Text>>(device, text); },
      name};
}

const register_side<paced_device> paced_registered_on_opencl[] = {
    paced_on_opencl<memory_test_text>("memory-test", {"memory_test", 1024, {1024, 128, 32, 8, 1}}),
    paced_on_opencl<vector_add_text>("vector-add", {"vector_add", 1, {1, 4, 16}}),
    paced_on_opencl<scalar_product_text<false>>("scalar-product set", {"scalar_product", 1, {1}}),
};

}  // namespace

}  // namespace gpusync::tool
