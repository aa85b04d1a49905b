// Workload "average" on host threads.
#include "boundary/steps_host.hpp"
#include "workloads/average/average.hpp"

namespace gpusync::tool {

namespace {

class host_average : public workload {
 public:
  std::vector<step_method> methods() const override { return methods_on_host(true); }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_co_resident(host_device{}, {shape.blocks, shape.threads});  // before its arrays are made
    const auto memory = std::make_shared<host_arrays>(average_arrays(shape));
    const average_text text{
        {}, {memory->address<float>(0), memory->address<uint32_t>(1)}, shape.stores, crosses_blocks(method)};
    return prepare_program(method, shape,
                           host_computation{host_text::of(text), average_steps(shape),
                                            std::make_shared<average_result>(shape, crosses_blocks(method), memory)});
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t threads) override {
    return max_co_resident_on_host(threads);
  }
  std::vector<uint32_t> default_blocks(bool quick) override {
    const uint32_t cores = host_device{}.cores();
    if (quick || cores == 1) return {cores};
    std::vector<uint32_t> blocks{1};
    for (uint32_t b = 2; b < cores; b *= 2) blocks.push_back(b);
    blocks.push_back(cores);
    blocks.push_back(2 * cores);
    return blocks;
  }
  std::vector<uint32_t> default_threads(bool) override { return {1}; }
};

const register_side<workload> average_registered(device_kind::host, make_side<host_average>, "average");

}  // namespace

}  // namespace gpusync::tool
