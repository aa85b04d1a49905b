// The host as the tool describes it, as far as opening an implementation goes.
#pragma once

#include "devices/device.hpp"

namespace gpusync::test {

inline tool::device_description host_description() {
  tool::device_description host;
  host.kind = tool::device_kind::host;
  host.id = "host";
  return host;
}

}  // namespace gpusync::test
