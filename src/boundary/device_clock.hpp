// The clock that a device really runs at, whatever is measured on it. C++17: CUDA sources include it.
#pragma once

#include "boundary/device_side.hpp"

namespace gpusync::tool {

/// What measures a device's clock, for a kind of device whose clock can be measured.
class device_clock {
 public:
  virtual ~device_clock() = default;
  /// Megahertz of its multiprocessors now. Blocking, some 0.5 ms. Throws gpusync::error.
  virtual double mhz() = 0;
};

/// Megahertz of a device's multiprocessors now; 0 if its kind has no clock that can be measured. Throws gpusync::error.
inline double clock_mhz_of(const device_description& device) {
  if (side_openers<device_clock>().count({"", device.kind}) == 0) return 0;
  return open_side<device_clock>(device)->mhz();
}

}  // namespace gpusync::tool
