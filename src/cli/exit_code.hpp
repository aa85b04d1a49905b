// What the program ends with.
#pragma once

namespace gpusync::tool {

enum class exit_code : int {
  done = 0,
  failed = 1,          ///< a measurement or a check failed, or the run was interrupted
  usage = 2,           ///< wrong usage, foreign input, unwritable output
  no_such_device = 3,  ///< a device that this machine does not have
};

}  // namespace gpusync::tool
