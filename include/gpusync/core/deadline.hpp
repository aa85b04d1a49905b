// How long a wait may take.
#pragma once

#include <gpusync/core/config.hpp>

namespace gpusync {

/// What became of a wait that could have been cut short.
enum class [[nodiscard]] wait_status{
    completed,  ///< the phase is over
    timed_out   ///< it was given up: leave the kernel
};

/// A time span in nanoseconds that device code can take. Built from any duration that looks like std::chrono's
/// (std::chrono on the host, cuda::std::chrono in a kernel) or from the literals below; negative spans count as 0.
class timeout {
 public:
  /// A span of `nanoseconds` ns.
  GPUSYNC_HD constexpr explicit timeout(uint64_t nanoseconds) : nanoseconds_(nanoseconds) {}

  /// From a duration; sub-nanosecond parts are cut off.
  GPUSYNC_API_TEMPLATE
  template <class Rep, class Period, template <class, class> class Duration>
  GPUSYNC_HD constexpr timeout(Duration<Rep, Period> span)  // NOLINT(google-explicit-constructor): reads as in <chrono>
      : nanoseconds_(span.count() > 0 ? to_nanoseconds<Period>(span.count()) : 0) {}

  /// `count` units of so many nanoseconds each; the longest span if it is longer than that.
  GPUSYNC_HD static constexpr timeout of(uint64_t count, uint64_t unit) {
    return timeout(count > longest / unit ? longest : count * unit);
  }

  /// The span in nanoseconds.
  GPUSYNC_HD constexpr uint64_t nanoseconds() const { return nanoseconds_; }

 private:
  static constexpr uint64_t longest = ~uint64_t{0};

  GPUSYNC_HD static constexpr uint64_t divisor(uint64_t a, uint64_t b) { return b == 0 ? a : divisor(b, a % b); }

  /// a * b / c, rounded down; the longest span if it is longer than that.
  GPUSYNC_HD static constexpr uint64_t scaled(uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t whole = a / c, rest = a % c;
    if (whole != 0 && b > longest / whole) return longest;
    uint64_t part = 0, left = 0;  // rest * b / c, a bit of b after the other, with what is left over
    for (int bit = 63; bit >= 0; --bit) {
      if (part > longest / 2) return longest;
      part *= 2;
      part += left >= c - left ? 1 : 0;
      left = left >= c - left ? left - (c - left) : 2 * left;
      if ((b >> bit & 1) == 0) continue;
      part += left >= c - rest ? 1 : 0;
      left = left >= c - rest ? left - (c - rest) : left + rest;
    }
    return part > longest - whole * b ? longest : whole * b + part;
  }

  /// `count`, not negative, of units of Period::num / Period::den seconds; the longest span if it is longer than that.
  template <class Period, class Rep>
  GPUSYNC_HD static constexpr uint64_t to_nanoseconds(Rep count) {
    constexpr uint64_t billion = 1000000000;
    if constexpr (static_cast<Rep>(0.5) != Rep{}) {  // fractions: a floating type
      const double nanoseconds = static_cast<double>(count) * Period::num * (1e9 / Period::den);
      return nanoseconds < 1.8e19 ? static_cast<uint64_t>(nanoseconds) : longest;
    } else {
      constexpr uint64_t per_second = divisor(billion, Period::den);
      constexpr uint64_t in_step = divisor(Period::num, Period::den / per_second);
      constexpr uint64_t num = Period::num / in_step, den = Period::den / per_second / in_step;
      if (num > longest / (billion / per_second)) return count == 0 ? 0 : longest;
      return scaled(static_cast<uint64_t>(count), num * (billion / per_second), den);
    }
  }

  uint64_t nanoseconds_;
};

namespace literals {
/// A span of so many nanoseconds.
GPUSYNC_HD constexpr timeout operator""_ns(unsigned long long n) {
  return timeout(n);
}
/// A span of so many microseconds.
GPUSYNC_HD constexpr timeout operator""_us(unsigned long long n) {
  return timeout::of(n, 1000);
}
/// A span of so many milliseconds.
GPUSYNC_HD constexpr timeout operator""_ms(unsigned long long n) {
  return timeout::of(n, 1000000);
}
/// A span of so many seconds.
GPUSYNC_HD constexpr timeout operator""_s(unsigned long long n) {
  return timeout::of(n, 1000000000);
}
}  // namespace literals

/// A wait that may take for ever: costs nothing, for nothing is asked of the clock.
struct no_deadline {
  static constexpr bool bounded = false;  ///< it never ends a wait
  /// Never.
  GPUSYNC_HD constexpr bool passed(uint64_t) const { return false; }
};

/// A wait that ends when a time span is over. The span begins when the clock is first asked, which a waiting loop does
/// only once a few polls have failed: a wait that is soon over never reads the clock.
class deadline {
 public:
  static constexpr bool bounded = true;  ///< it may end a wait

  /// For waits of up to `span`.
  GPUSYNC_HD constexpr explicit deadline(timeout span) : span_(span.nanoseconds()) {}

  /// Whether the span is over at `now`, in nanoseconds of one clock. The first call begins it.
  GPUSYNC_HD constexpr bool passed(uint64_t now) {
    if (!begun_) {
      begun_ = true;
      begin_ = now;
    }
    // A clock may step back, as those of different processors do: then no time has passed.
    return (now > begin_ ? now - begin_ : 0) >= span_;
  }

 private:
  uint64_t span_;
  uint64_t begin_ = 0;
  bool begun_ = false;
};

}  // namespace gpusync
