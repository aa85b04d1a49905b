#include "cli/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace gpusync::tool {

namespace {

constexpr auto bar_interval = std::chrono::milliseconds(100);
constexpr auto line_interval = std::chrono::seconds(5);
constexpr double almost_all = 0.995;

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

console_options console_options::detect(verbosity level, bool no_color) {
  const char* refused = std::getenv("NO_COLOR");
  const bool color = !no_color && (refused == nullptr || *refused == '\0');
  return {level, color && isatty(STDOUT_FILENO) != 0, isatty(STDERR_FILENO) != 0};
}

progress_display::progress_display(const console_options& options, std::string title)
    : options_(options), title_(std::move(title)) {}

progress_display::~progress_display() {
  finish();
}

std::string progress_display::time_left(double fraction) const {
  const double spent = std::chrono::duration<double>(clock::now() - begin_).count();
  if (fraction >= almost_all) return ", finishing";  // what comes now, checks and the like, is in no fraction
  if (fraction <= 0.02) return spent < 5 ? "" : fmt::format(", {:.0f} s so far", spent);
  if (spent < 0.5) return "";
  const auto left = static_cast<int64_t>(spent / fraction * (1 - fraction) + 0.5);
  return left >= 60 ? fmt::format(", {}:{:02} left", left / 60, left % 60) : fmt::format(", {} s left", left);
}

void progress_display::update(double fraction, const std::string& what) {
  if (options_.level == verbosity::quiet) return;
  const auto now = clock::now();
  if (now - shown_ < (options_.terminal ? clock::duration(bar_interval) : clock::duration(line_interval))) return;
  shown_ = now;
  fraction = std::clamp(fraction, 0.0, 1.0);
  const std::string text =
      fmt::format("{:3.0f} % {}{}", std::floor(100 * std::min(fraction, almost_all)), what, time_left(fraction));
  if (options_.terminal) {
    constexpr size_t bar_width = 20;
    const auto filled = static_cast<size_t>(fraction * bar_width + 0.5);
    std::string line =
        fmt::format("{} [{}{}] {}", title_, std::string(filled, '#'), std::string(bar_width - filled, '.'), text);
    line.resize(std::min(line.size(), terminal_width() - 1));
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
    drawn_ = true;
  } else {
    fmt::print(stderr, "{}: {}\n", title_, text);
  }
}

void progress_display::finish() {
  if (drawn_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    drawn_ = false;
  }
}

void say(const console_options& options, const std::string& line) {
  if (options.level == verbosity::quiet) return;
  (void)std::fflush(stdout);  // both may go to one file
  fmt::print(stderr, "{}\n", line);
}

}  // namespace gpusync::tool
