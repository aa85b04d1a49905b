// How long a wait may take.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync {

/// What became of a wait that could have been cut short.
enum class wait_status { completed, timed_out };

/// A time span in nanoseconds that device code can take. Built from any duration that looks like std::chrono's
/// (std::chrono on the host, cuda::std::chrono in a kernel) or from the literals below; negative spans count as 0.
class timeout {
 public:
  /// A span of `nanoseconds` ns.
  GPUSYNC_HD constexpr explicit timeout(uint64_t nanoseconds) : nanoseconds_(nanoseconds) {}

  /// From a duration; sub-nanosecond parts are cut off.
  GPUSYNC_TEMPLATE_TEXT
  template <class Rep, class Period, template <class, class> class Duration>
  GPUSYNC_HD constexpr timeout(Duration<Rep, Period> span)  // NOLINT(google-explicit-constructor): reads as in <chrono>
      : nanoseconds_(span.count() > 0 ? to_nanoseconds<Period>(span.count()) : 0) {}

  GPUSYNC_HD constexpr uint64_t nanoseconds() const { return nanoseconds_; }

 private:
  /// `count`, not negative, of units of Period::num / Period::den seconds; the longest span if it is longer than that.
  template <class Period, class Rep>
  GPUSYNC_HD static constexpr uint64_t to_nanoseconds(Rep count) {
    constexpr uint64_t billion = 1000000000;
    constexpr uint64_t longest = ~uint64_t{0};
    if constexpr (static_cast<Rep>(0.5) != Rep{}) {  // fractions: a floating type
      const double nanoseconds = static_cast<double>(count) * Period::num * (1e9 / Period::den);
      return nanoseconds < 1.8e19 ? static_cast<uint64_t>(nanoseconds) : longest;
    } else if constexpr (static_cast<uint64_t>(Period::den) > billion) {
      return static_cast<uint64_t>(count) / (Period::den / billion) * Period::num;
    } else {
      constexpr uint64_t factor = Period::num * (billion / Period::den);
      return static_cast<uint64_t>(count) > longest / factor ? longest : static_cast<uint64_t>(count) * factor;
    }
  }

  uint64_t nanoseconds_;
};

namespace literals {
GPUSYNC_HD constexpr timeout operator""_ns(unsigned long long n) {
  return timeout(n);
}
GPUSYNC_HD constexpr timeout operator""_us(unsigned long long n) {
  return timeout(n * 1000);
}
GPUSYNC_HD constexpr timeout operator""_ms(unsigned long long n) {
  return timeout(n * 1000000);
}
GPUSYNC_HD constexpr timeout operator""_s(unsigned long long n) {
  return timeout(n * 1000000000);
}
}  // namespace literals

/// A wait that may take for ever: costs nothing, for nothing is asked of the clock.
struct no_deadline {
  static constexpr bool bounded = false;
  GPUSYNC_HD constexpr bool passed(uint64_t) const { return false; }
};

/// A wait that ends when a time span is over. The span begins when the clock is first asked, which a waiting loop does
/// only once a few polls have failed: a wait that is soon over never reads the clock.
class deadline {
 public:
  static constexpr bool bounded = true;

  GPUSYNC_HD constexpr explicit deadline(timeout span) : span_(span.nanoseconds()) {}

  /// Whether the span is over at `now`, in nanoseconds of one clock. The first call begins it.
  GPUSYNC_HD constexpr bool passed(uint64_t now) {
    if (!begun_) {
      begun_ = true;
      begin_ = now;
    }
    return now - begin_ >= span_;
  }

 private:
  uint64_t span_;
  uint64_t begin_ = 0;
  bool begun_ = false;
};

}  // namespace gpusync
