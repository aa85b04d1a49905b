#include "results/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpusync::tool {

std::string_view to_string(row_status status) {
  switch (status) {
    case row_status::ok: return "ok";
    case row_status::failed: return "failed";
    case row_status::skipped: return "skipped";
  }
  return "failed";
}

std::string to_string(const axis_value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  return std::get<std::string>(value);
}

std::string plural(size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string figure(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude < 0.001 || magnitude >= 1e7) return fmt::format("{:.2e}", value);
  // The digit count is that of the rounded figure: 9.999 is 10.0, not 10.00.
  const double rounded = std::stod(fmt::format("{:.2e}", magnitude));
  const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(rounded))), 0, 5);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string bytes_in_words(uint64_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[unit]);
}

std::string spread_figure(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude < 1e-6 || magnitude >= 1e7) return fmt::format("{:.1e}", value);
  const double rounded = std::stod(fmt::format("{:.1e}", magnitude));
  return fmt::format("{:.{}f}", value, std::max(1 - static_cast<int>(std::floor(std::log10(rounded))), 0));
}

std::string ratio(double value) {
  if (!std::isfinite(value)) return "-";
  if (value < 1.995) return fmt::format("{:.2f}x", value);
  if (value < 9.95) return fmt::format("{:.1f}x", value);
  return fmt::format("{:.0f}x", value);
}

std::optional<double> half_interquartile_range(const metric& measured) {
  if (!measured.q1 || !measured.q3) return std::nullopt;
  return (*measured.q3 - *measured.q1) / 2;
}

std::string printable(std::string_view text, size_t limit) {
  const auto continues = [](char byte) { return (byte & 0xc0) == 0x80; };  // a later byte of a UTF-8 character
  std::string clean;
  clean.reserve(std::min(text.size(), limit));
  size_t i = 0;
  for (; i < text.size() && clean.size() < limit; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080..U+009F, two bytes in UTF-8, hold the one-character forms of escape sequences.
    const bool c1_control = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1_control) ++i;
    clean += byte < 0x20 || byte == 0x7f || c1_control ? '?' : text[i];
  }
  if (i == text.size()) return clean;
  if (continues(text[i])) {
    while (!clean.empty() && continues(clean.back())) clean.pop_back();
    if (!clean.empty()) clean.pop_back();
  }
  return clean + "...";
}

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

size_t words_in(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) count += text[i] != ' ' && (i == 0 || text[i - 1] == ' ') ? 1 : 0;
  return count;
}

std::string join_words(const std::vector<std::string>& parts) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += i + 1 == parts.size() ? " and " : ", ";
    joined += parts[i];
  }
  return joined;
}

}  // namespace gpusync::tool
