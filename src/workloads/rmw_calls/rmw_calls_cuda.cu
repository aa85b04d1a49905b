// Workload "rmw calls" on CUDA devices: which objects there are.
#include "workloads/rmw_calls/rmw_calls_cuda.cuh"

namespace gpusync::tool {

namespace {

template <class State>
std::unique_ptr<workload> open_calls_of_few(const cuda_target& where, const call_setup& setup) {
  if (setup.where == rmw::space::global) {
    return std::make_unique<calls_workload<State, 5, rmw::space::global>>(where, setup);
  }
  return std::make_unique<calls_workload<State, 5, rmw::space::shared>>(where, setup);
}

class cuda_rmw_calls : public rmw_calls_device {
 public:
  explicit cuda_rmw_calls(const device_description& description) : where_(description.index) {}

  std::vector<uint32_t> capacities(rmw::space where) const override {
    return where == rmw::space::global ? std::vector<uint32_t>{5, 132, 264} : std::vector<uint32_t>{5, 16, 32};
  }
  std::vector<std::string> types(rmw::space, uint32_t capacity) const override {
    return capacity == 5 ? std::vector<std::string>{"uint32", "float32", "float64"}
                         : std::vector<std::string>{"uint32"};
  }

  std::unique_ptr<workload> open(const call_setup& setup) override {
    if (setup.type == "float32") return open_calls_of_few<float>(where_, setup);
    if (setup.type == "float64") return open_calls_of_few<double>(where_, setup);
    return open_calls_on_words(where_, setup);
  }

 private:
  const cuda_target where_;
};

const register_side<rmw_calls_device> rmw_calls_registered(device_kind::cuda, [](const device_description& device) {
  return std::make_unique<cuda_rmw_calls>(device);
});

}  // namespace

}  // namespace gpusync::tool
