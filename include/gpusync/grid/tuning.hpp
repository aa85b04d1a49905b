// Which counter plan a device's grids use: tables that were measured.
#pragma once

#include <cctype>
#include <iomanip>
#include <istream>
#include <ostream>
#include <sstream>
#include <string>

#include <gpusync/core/error.hpp>
#include <gpusync/core/tuning_text.hpp>
#include <gpusync/grid/counter_plan.hpp>
#include <gpusync/grid/tuned/nvidia_h100_80gb_hbm3.hpp>
#include <gpusync/grid/tuned/nvidia_h200.hpp>

namespace gpusync {

namespace grid::tuned {

/// All that ship: a new one has its file beside the others', and its name here.
inline constexpr const tuned_counters* all[] = {&nvidia_h100_80gb_hbm3, &nvidia_h200};

/// Whether each has rules, and none a plan that the counters cannot follow.
constexpr bool all_valid() {
  for (const tuned_counters* one : all) {
    if (one->rules.count == 0 || one->rules.count > counter_rules::most) return false;
    for (uint32_t i = 0; i < one->rules.count; ++i) {
      if (!valid(one->rules.rules[i].plan)) return false;
    }
  }
  return true;
}
static_assert(all_valid(), "a table that ships must pass barrier_tuning::check()");

}  // namespace grid::tuned

/// Rules for the barriers of one kind of device: what `gpusync tune` measures and writes.
///
/// As text: `gpusync-tuning 1`, `device NAME`, then lines `rule BLOCKS_PER_SM THREADS SUB_COUNTERS COPIES PARTITIONS
/// SECOND_WARP POLL_BACKOFF`; the first, in steps of a quarter, and the second may be `any`; # starts a comment. Lines
/// `reduce …` are for reduction_tuning.
struct barrier_tuning {
  std::string device;         ///< the name of the device that it was measured on
  grid::counter_rules rules;  ///< the first that fits a grid is taken

  /// For devices that nobody has tuned: safe everywhere, good on most.
  static barrier_tuning generic() {
    barrier_tuning made;
    made.device = "any";
    made.rules.count = 3;
    made.rules.rules[0] = {2 * unit, any, {1, 1, 2, 0, 200}};
    made.rules.rules[1] = {4 * unit, any, {2, 1, 2, 0, 300}};
    made.rules.rules[2] = {any, any, {4, 2, 2, 0, 400}};
    return made;
  }

  /// The table that ships for the device of this name, or else generic().
  static barrier_tuning shipped_for(const std::string& device) {
    for (const grid::tuned_counters* one : grid::tuned::all) {
      if (one->device == device) return {device, one->rules};
    }
    return generic();
  }

  /// Throws invalid_argument, naming `source` and the line, if the text is not a table.
  static barrier_tuning read(std::istream& text, const std::string& source) {
    barrier_tuning made;
    made.device = detail::read_tuning_text(
        text, source, [&](const std::string& key, std::istringstream& words, const auto& refuse) {
          if (key != "rule") return;  // a reduction's: reduction_tuning reads it
          if (made.rules.count == grid::counter_rules::most) throw refuse("a table has at most 16 rules");
          grid::counter_rule& rule = made.rules.rules[made.rules.count++];
          if (!read_limit(words, unit, rule.blocks_per_sm) || !read_limit(words, 1, rule.threads) ||
              !detail::read_number(words, rule.plan.sub_counters) || !detail::read_number(words, rule.plan.copies) ||
              !detail::read_number(words, rule.plan.partitions) || !detail::read_number(words, rule.plan.second_warp) ||
              !detail::read_number(words, rule.plan.poll_backoff) || !detail::line_ended(words)) {
            throw refuse(
                "a rule has seven numbers, of which the first (blocks per SM, in steps of 0.25) and the second may be "
                "`any`");
          }
          if (!valid(rule.plan)) {
            throw refuse(
                "a rule takes 1, 2, 4 or 8 sub-counters and copies (their product 8 at most), 1 or 2 partitions, 0 or "
                "1 for the second warp and at most 100000 cycles before the first poll");
          }
        });
    if (made.rules.count == 0) throw invalid_argument(source + " has no rules; a tuning table needs at least one.");
    made.check();
    return made;
  }

  /// Throws invalid_argument, naming the rule and its values, unless there are rules and their plans are valid.
  void check() const {
    if (rules.count == 0 || rules.count > grid::counter_rules::most) {
      throw invalid_argument("A tuning table has 1 to " + std::to_string(grid::counter_rules::most) +
                             " rules; this one has " + std::to_string(rules.count) + ".");
    }
    for (uint32_t i = 0; i < rules.count; ++i) {
      const grid::counter_plan& plan = rules.rules[i].plan;
      if (valid(plan)) continue;
      throw invalid_argument(
          "Rule " + std::to_string(i + 1) +
          " of a tuning table has no valid plan: " + std::to_string(plan.sub_counters) + " sub-counters, " +
          std::to_string(plan.copies) + " copies, " + std::to_string(plan.partitions) + " partitions, second warp " +
          std::to_string(plan.second_warp) + ", first poll after " + std::to_string(plan.poll_backoff) + " cycles.");
    }
  }

  /// Writes it as text, which read() reads.
  void write(std::ostream& text) const {
    text << "gpusync-tuning 1\ndevice " << device
         << "\n# blocks_per_sm threads  sub_counters copies partitions second_warp poll_backoff\n";
    const auto limit = [&text](uint32_t value, uint32_t parts) {
      if (value == any) {
        text << "any ";
      } else {
        text << value / parts;
        if (value % parts != 0) text << '.' << value % parts * 100 / parts;
        text << ' ';
      }
    };
    for (uint32_t i = 0; i < rules.count; ++i) {
      const grid::counter_rule& rule = rules.rules[i];
      text << "rule ";
      limit(rule.blocks_per_sm, unit);
      limit(rule.threads, 1);
      text << ' ' << rule.plan.sub_counters << ' ' << rule.plan.copies << ' ' << rule.plan.partitions << ' '
           << rule.plan.second_warp << ' ' << rule.plan.poll_backoff << '\n';
    }
  }

  /// Writes it as a header to ship, in grid/tuned/ under header_name(): docs/adding.md.
  void write_header(std::ostream& text) const {
    const auto limit = [](uint32_t value) { return value == any ? "counter_rules::any" : std::to_string(value); };
    text
        << "// Written by `gpusync tune` for " << device << ".\n#pragma once\n\n#include "
        << "<gpusync/grid/counter_plan.hpp>\n\nnamespace gpusync::grid::tuned {\n\n"
        << "// Quarters of a block per SM, threads; sub-counters, copies, partitions, second warp, cycles to the first "
        << "poll.\ninline constexpr tuned_counters " << header_name() << "{\n    " << std::quoted(device)
        << ",\n    {\n        " << rules.count << ",\n        {\n";
    for (uint32_t i = 0; i < rules.count; ++i) {
      const grid::counter_rule& rule = rules.rules[i];
      text << "            {" << limit(rule.blocks_per_sm) << ", " << limit(rule.threads) << ", {"
           << rule.plan.sub_counters << ", " << rule.plan.copies << ", " << rule.plan.partitions << ", "
           << rule.plan.second_warp << ", " << rule.plan.poll_backoff << "}},\n";
    }
    text << "        },\n    },\n};\n\n}  // namespace gpusync::grid::tuned\n";
  }
  /// What its header is called, and the constant in it: "nvidia_h200".
  std::string header_name() const {
    std::string name;
    for (const char letter : device) {
      const auto code = static_cast<unsigned char>(letter);
      if (std::isalnum(code) != 0) {
        name += static_cast<char>(std::tolower(code));
      } else if (!name.empty() && name.back() != '_') {
        name += '_';
      }
    }
    return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "device_" + name : name;
  }

 private:
  static constexpr uint32_t any = grid::counter_rules::any;
  static constexpr uint32_t unit = grid::counter_rule::unit;

  /// `any`, or a positive number in whole `parts`-ths.
  static bool read_limit(std::istream& words, uint32_t parts, uint32_t& limit) {
    std::string word;
    if (!(words >> word)) return false;
    if (word == "any") {
      limit = any;
      return true;
    }
    std::istringstream number(word);
    double value = 0;
    if (!(number >> value) || !number.eof() || !(value > 0) || value * parts > 1e6) return false;
    limit = static_cast<uint32_t>(value * parts);
    return limit != 0 && limit == value * parts;
  }
};

}  // namespace gpusync
