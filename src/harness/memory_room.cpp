#include "harness/memory_room.hpp"

#include <fmt/format.h>

#include "devices/host_memory.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

void require_memory(const room_needed& needed, const experiment_request& request) {
  const auto check = [&](uint64_t bytes, uint64_t there, const std::string& where, const char* has) {
    if (there == 0 || bytes <= there) return;
    throw usage_error(fmt::format("{} takes {} MiB {}, which has {}{} MiB: {}.", needed.what,
                                  (bytes + (1u << 20) - 1) >> 20, where, has, there >> 20, needed.less));
  };
  const std::string& name = request.device.name;
  check(needed.device, needed.device_has, "of the memory of " + name, "");
  check(needed.buffer, needed.buffer_has, "in one buffer on " + name, "at most ");
  check(needed.host, available_host_memory(), "of the host's memory", "no more than ");
}

}  // namespace gpusync::tool
