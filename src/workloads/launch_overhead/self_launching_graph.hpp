// A graph whose kernel launches it again. Its source stands alone: its module needs a driver that knows such launches.
#pragma once

namespace gpusync::tool {

/// The kernel: (waiting_task, uint32_t* left). While `left` is above 0 it takes one off and launches its graph again
/// behind itself; the launch with n left notes its length, that of its first block, in word n.
const void* self_launching_kernel();

/// The same without a wait and a count: (uint32_t* left).
const void* self_launching_empty_kernel();

}  // namespace gpusync::tool
