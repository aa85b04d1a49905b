#include "boundary/cuda_target.hpp"
#include "boundary/device_clock.hpp"
#include "measure/cuda_clock.cuh"

namespace gpusync::tool {

namespace {

class cuda_clock : public device_clock {
 public:
  explicit cuda_clock(const device_description& device) : where_(device.index) {}

  double mhz() override { return measure_clock_mhz(where_.device(), where_.stream()); }

 private:
  const cuda_target where_;
};

const register_side<device_clock> device_clock_registered(device_kind::cuda, make_side<cuda_clock>);

}  // namespace

}  // namespace gpusync::tool
