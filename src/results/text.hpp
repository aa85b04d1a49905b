// Figures and names as people read them: shared by tables, markdown, verdicts, the report and error messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/row.hpp"

namespace gpusync::tool {

/// "ok", "failed" or "skipped".
std::string_view to_string(row_status status);

/// The value of an axis: "132".
std::string to_string(const axis_value& value);

/// A figure to three significant digits, never in scientific notation between 0.001 and 10 million: "1.20",
/// "13.4".
std::string figure(double value);

/// "1 row", "2 rows".
std::string plural(size_t count, const char* noun);

/// A size in the largest unit that it is a whole number of: "16 KiB", "1 GiB", "1000 bytes".
std::string bytes_in_words(uint64_t bytes);

/// A spread to two significant digits: "0.033", "12".
std::string spread_figure(double value);

/// A ratio: "1.07x", "2.9x", "12x".
std::string ratio(double value);

/// Half the distance between the quartiles, the spread to quote after "±"; empty if it was not measured.
std::optional<double> half_interquartile_range(const metric& measured);

/// `text` fit for a terminal or an error message: control characters become '?', and no more than `limit`
/// bytes stay, cut between characters. A document comes from anywhere; its names must not move a cursor.
std::string printable(std::string_view text, size_t limit = 200);

/// Columns that `text` takes in a terminal, one for each code point.
size_t display_width(std::string_view text);

/// The most words of a sentence that people read first.
inline constexpr size_t most_words = 25;

/// Words of `text`: what spaces part.
size_t words_in(std::string_view text);

/// `parts` as one list in words: "a", "a and b", "a, b and c".
std::string join_words(const std::vector<std::string>& parts);

}  // namespace gpusync::tool
