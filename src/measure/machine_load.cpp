#include "measure/machine_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace gpusync::tool {

namespace {

/// Seconds of all processors since the machine was started: in all, and not idle.
struct processor_time {
  double total = 0;
  double busy = 0;
};

processor_time time_of_all() {
  // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice (man 5 proc).
  constexpr int columns = 8, idle = 3, waiting = 4;
  std::ifstream file("/proc/stat");
  std::string word;
  processor_time found;
  if (!(file >> word) || word != "cpu") return found;
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  for (int i = 0; i < columns; ++i) {
    double ticks = 0;
    if (!(file >> ticks)) return {};
    found.total += ticks / tick;
    if (i != idle && i != waiting) found.busy += ticks / tick;
  }
  return found;
}

double own_time() {
  double seconds = 0;
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    (void)getrusage(whose, &used);
    for (const timeval& each : {used.ru_utime, used.ru_stime}) {
      seconds += static_cast<double>(each.tv_sec) + static_cast<double>(each.tv_usec) * 1e-6;
    }
  }
  return seconds;
}

}  // namespace

machine_load::machine_load() : own_(own_time()) {
  const processor_time now = time_of_all();
  total_ = now.total;
  busy_ = now.busy;
}

std::optional<double> machine_load::others() const {
  constexpr double least_seconds = 0.1;
  const processor_time now = time_of_all();
  const double passed = now.total - total_;
  if (now.total == 0 || passed < least_seconds) return std::nullopt;
  return std::clamp((now.busy - busy_ - (own_time() - own_)) / passed, 0.0, 1.0);
}

}  // namespace gpusync::tool
