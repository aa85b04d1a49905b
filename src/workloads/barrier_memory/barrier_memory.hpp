// Workload "barrier-memory": steps of "average" behind barriers whose words lie in the device's memory or in the
// host's.
#pragma once

namespace gpusync::tool {

/// How the methods end whose words lie in the host's memory.
inline constexpr const char* in_host_memory = "-in-host-memory";

}  // namespace gpusync::tool
