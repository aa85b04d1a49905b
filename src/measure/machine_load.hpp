// How much of the machine other programs took.
#pragma once

#include <optional>

namespace gpusync::tool {

/// Watches the processors from when it is made.
class machine_load {
 public:
  machine_load();
  /// The part of all processors' time since then that neither this program nor the idle loop had, 0..1; what the host
  /// of a virtual machine has taken counts too. Empty where /proc/stat is not to be read, or for less than a tenth of a
  /// second.
  std::optional<double> others() const;

 private:
  double total_ = 0, busy_ = 0, own_ = 0;
};

}  // namespace gpusync::tool
