// How much memory the host has left.
#pragma once

#include <cstdint>

namespace gpusync::tool {

/// Bytes that this process can still allocate without the system running short: what the kernel calls available, the
/// limits of the control group and of the address space (`ulimit -v`) taken into account. UINT64_MAX if nothing says.
uint64_t available_host_memory();

}  // namespace gpusync::tool
