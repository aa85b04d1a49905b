// Wall-clock time on the host.
#pragma once

#include <chrono>

namespace gpusync::tool {

/// Starts when made. Clock must be steady: a clock that is set back while it measures would give nonsense.
template <class Clock = std::chrono::steady_clock>
class basic_host_timer {
  static_assert(Clock::is_steady, "a timer needs a clock that only goes forward");

 public:
  /// Nanoseconds since the timer was made.
  double nanoseconds() const { return std::chrono::duration<double, std::nano>(Clock::now() - start_).count(); }

 private:
  typename Clock::time_point start_ = Clock::now();
};

using host_timer = basic_host_timer<>;

}  // namespace gpusync::tool
