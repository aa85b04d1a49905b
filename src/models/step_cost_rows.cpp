#include "models/step_cost_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <set>

#include "results/context.hpp"
#include "results/document.hpp"
#include "results/groups.hpp"
#include "results/metrics.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

constexpr const char *skew_none = "none", *skew_uniform = "uniform", *skew_exponential = "exponential",
                     *needs_all = "all", *across_experiment = "multi-gpu-barrier", *halo_experiment = "halo-exchange";

int64_t nanoseconds(double us) {
  return std::llround(us * 1000);
}

const std::string* axis_word(const axis_values& axes, const char* name) {
  const axis_value* const found = find_axis(axes, name);
  return found == nullptr ? nullptr : std::get_if<std::string>(found);
}

/// A number on an axis that a situation can hold; empty if it is none.
std::optional<uint32_t> count_on(const axis_values& axes, const char* name) {
  const std::optional<int64_t> value = axis_number(axes, name);
  if (!value || *value < 0 || *value > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

/// Empty for a word that is no form of skew.
std::optional<advice::skew_form> skew_of(const std::string& word) {
  if (word == skew_none || word == skew_uniform) return advice::skew_form::uniform;
  if (word == skew_exponential) return advice::skew_form::exponential;
  return std::nullopt;
}

/// The same, if it is a situation that can be: documents are anybody's.
std::optional<advice::situation> checked(const advice::situation& found) {
  try {
    check(found);
  } catch (const invalid_argument&) {
    return std::nullopt;
  }
  return found;
}

/// Of a shape like "132x256", in runs so long that no run begins.
std::optional<advice::situation> long_run(const std::string* shape) {
  advice::situation found;
  if (shape == nullptr || std::sscanf(shape->c_str(), "%ux%u", &found.blocks, &found.threads) != 2) return {};
  found.steps = uint64_t{1} << 20;
  return found;
}

/// What a row of experiment multi-gpu-barrier was measured in: steps without work and data; empty for other rows.
std::optional<advice::situation> across_gpus(const row& entry) {
  const std::optional<uint32_t> gpus = count_on(entry.axes, "gpus");
  const std::string* const data = axis_word(entry.axes, "data");
  std::optional<advice::situation> found = long_run(axis_word(entry.axes, "shape"));
  if (!found || !gpus || data == nullptr || *data != "none") return std::nullopt;
  found->gpus = *gpus;
  found->stored_bytes = 0;
  return found;
}

/// The same of experiment halo-exchange without overlap: its blocks need their neighbours under all methods.
std::optional<advice::situation> halo_exchanged(const row& entry) {
  const std::optional<uint32_t> neighbours = count_on(entry.axes, "neighbours");
  const std::optional<int64_t> bytes = axis_number(entry.axes, "bytes");
  const std::string *const work = axis_word(entry.axes, "work"), *const overlap = axis_word(entry.axes, "overlap");
  std::optional<advice::situation> found = long_run(axis_word(entry.axes, "shape"));
  if (!found || !neighbours || !bytes || work == nullptr || overlap == nullptr || *overlap != "no") return std::nullopt;
  found->waits_for = advice::dependence::neighbours;
  found->neighbours = *neighbours;
  found->stored_bytes = static_cast<double>(*bytes);
  if (*work == "none") return found;
  const size_t dash = work->find('-');
  const std::string form = work->substr(0, dash);
  found->step_us = dash == std::string::npos ? 0 : std::strtod(work->c_str() + dash + 1, nullptr) / 1000;
  if (form == "constant") return found;
  const std::optional<advice::skew_form> skew = skew_of(form);
  if (!skew) return std::nullopt;
  found->skew_us = found->step_us;
  found->skew = *skew;
  return found;
}

/// Whether a row is of a device's measured and checked times.
bool is_checked(const row& entry, const std::string& device) {
  return entry.device == device && entry.status == row_status::ok && entry.verified == std::optional<bool>(true);
}

/// What a row was measured in; empty for rows of other experiments than those that measure steps.
std::optional<advice::situation> measured_in(const row& entry) {
  if (entry.experiment == step_costs_experiment) return tool::situation_of(entry.axes);
  std::optional<advice::situation> found;
  if (entry.experiment == across_experiment) found = across_gpus(entry);
  if (entry.experiment == halo_experiment) found = halo_exchanged(entry);
  return found ? checked(*found) : std::nullopt;
}

}  // namespace

axis_values axes_of(const advice::situation& where) {
  const char* const skew = where.skew_us == 0                         ? skew_none
                           : where.skew == advice::skew_form::uniform ? skew_uniform
                                                                      : skew_exponential;
  return {{"blocks", int64_t{where.blocks}},
          {"threads", int64_t{where.threads}},
          {"step_ns", nanoseconds(where.step_us)},
          {"skew", skew},
          {"skew_ns", nanoseconds(where.skew_us)},
          {"bytes", std::llround(where.stored_bytes)},
          {"kept", std::llround(where.kept_bytes)},
          {"waits_for", where.waits_for == advice::dependence::all ? needs_all : std::to_string(where.neighbours)},
          {"steps", static_cast<int64_t>(where.steps)},
          {"resident", static_cast<int64_t>(where.resident_blocks)}};
}

std::optional<advice::situation> situation_of(const axis_values& axes) {
  const std::string *const skew = axis_word(axes, "skew"), *const waits_for = axis_word(axes, "waits_for");
  if (skew == nullptr || waits_for == nullptr) return std::nullopt;
  const std::optional<advice::skew_form> form = skew_of(*skew);
  const std::optional<uint32_t> blocks = count_on(axes, "blocks"), threads = count_on(axes, "threads");
  if (!form || !blocks || !threads) return std::nullopt;
  advice::situation found;
  bool is_whole = true;
  const auto number = [&](const char* name) {
    const std::optional<int64_t> value = axis_number(axes, name);
    is_whole = is_whole && value && *value >= 0;
    return value.value_or(0);
  };
  found.blocks = *blocks;
  found.threads = *threads;
  found.step_us = static_cast<double>(number("step_ns")) / 1000;
  found.skew_us = static_cast<double>(number("skew_ns")) / 1000;
  found.skew = *form;
  found.stored_bytes = static_cast<double>(number("bytes"));
  found.kept_bytes = static_cast<double>(number("kept"));
  found.steps = static_cast<uint64_t>(number("steps"));
  found.resident_blocks = static_cast<uint64_t>(number("resident"));
  if (*waits_for != needs_all) {
    found.waits_for = advice::dependence::neighbours;
    found.neighbours = *waits_for == "8" ? 8 : *waits_for == "4" ? 4 : *waits_for == "2" ? 2 : 0;
  }
  return is_whole ? checked(found) : std::nullopt;
}

std::string in_words(const advice::situation& where) {
  std::string words =
      fmt::format("{} x {}, {} us", plural(where.blocks, "block"), plural(where.threads, "thread"), where.step_us);
  if (where.skew_us > 0) {
    words += fmt::format(" ({} {} us)", where.skew == advice::skew_form::uniform ? skew_uniform : skew_exponential,
                         where.skew_us);
  }
  words += fmt::format(", {} bytes", where.stored_bytes);
  words += where.waits_for == advice::dependence::all ? " to all" : fmt::format(" to {} neighbours", where.neighbours);
  if (where.kept_bytes > 0) words += fmt::format(", {} bytes kept", where.kept_bytes);
  if (where.gpus > 1) words += fmt::format(", on each of {} GPUs", where.gpus);
  return words + ", " + plural(where.steps, "step");
}

std::optional<advice::way> way_of(const std::string& method) {
  for (size_t i = 0; i < advice::way_count; ++i) {
    const auto which = static_cast<advice::way>(i);
    if (method == name_of(which)) return which;
  }
  return std::nullopt;
}

std::vector<step_observation> observations_of(const std::vector<row>& rows, const std::string& device) {
  std::vector<step_observation> all, exchanges;
  std::set<uint32_t> known;  // neighbours of situations
  for (const row& entry : rows) {
    const std::optional<advice::way> which = way_of(entry.method);
    const std::optional<double> us = value_of(entry, step_time_metric);
    if (!which || !us || !is_checked(entry, device)) continue;
    const std::optional<advice::situation> where = measured_in(entry);
    if (!where || (where->gpus > 1) != is_of_several_gpus(*which)) continue;
    if (entry.experiment == step_costs_experiment && where->waits_for == advice::dependence::neighbours)
      known.insert(where->neighbours);
    (entry.experiment == halo_experiment ? exchanges : all).push_back({*where, *which, *us});
  }
  std::ranges::copy_if(exchanges, std::back_inserter(all),
                       [&](const step_observation& one) { return !known.contains(one.where.neighbours); });
  return all;
}

std::optional<advice::device_room> room_of(const std::vector<row>& rows, const std::string& device) {
  for (const row& entry : rows) {
    if (entry.device != device || entry.method != room_method) continue;
    const auto sms = value_of(entry, "sms"), threads = value_of(entry, "threads_per_sm"),
               blocks = value_of(entry, "blocks_per_sm");
    constexpr double most = 1e6;  // far more than any device has
    const auto can_be = [](const std::optional<double>& count) { return count && *count >= 1 && *count <= most; };
    if (!can_be(sms) || !can_be(threads) || !can_be(blocks)) continue;
    return advice::device_room{static_cast<uint32_t>(*sms), static_cast<uint32_t>(*threads),
                               static_cast<uint32_t>(*blocks)};
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, metric>> room_metrics(const advice::device_room& room) {
  return {{"sms", count_metric(room.sms)},
          {"threads_per_sm", count_metric(room.threads_per_sm)},
          {"blocks_per_sm", count_metric(room.blocks_per_sm)}};
}

std::vector<std::pair<std::string, metric>> metrics_of(const advice::way_costs& costs) {
  std::vector<std::pair<std::string, metric>> all;
  for (size_t i = 0; i < advice::term_count; ++i) {
    all.emplace_back(std::string("us_") + name_of(static_cast<advice::term>(i)),
                     plain_metric(costs.us[i], "us", costs.points));
  }
  all.emplace_back("host_us", plain_metric(costs.host_us, "us", costs.points));
  all.emplace_back("spread", plain_metric(costs.spread, "1", costs.points));
  return all;
}

advice::device_costs costs_in(const document& results, const std::string& device, const std::string& name) {
  for (const row& entry : results.rows) {
    if (!device.empty() && entry.device != device) continue;
    const std::vector<step_observation> observed = observations_of(results.rows, entry.device);
    if (observed.empty()) continue;
    std::optional<advice::device_room> room = room_of(results.rows, entry.device);
    if (!room) {
      const std::optional<int64_t> units = compute_units_of(results, entry.device);
      if (!units || *units < 1 || *units > UINT32_MAX) break;
      room = advice::device_room{static_cast<uint32_t>(*units), 2048, 32};
    }
    advice::device_costs costs = fit_step_costs(device_title(results, entry.device), *room, observed);
    if (!costs.ways.empty()) return costs;
    throw usage_error(
        fmt::format("'{}' has {} measured steps of {}, too few to fit costs to: `gpusync run {} --json FILE` measures "
                    "enough.",
                    printable(name), observed.size(), entry.device, step_costs_experiment));
  }
  throw usage_error(fmt::format("'{}' has no costs of waiting{}: `gpusync run {} --json FILE` measures them.",
                                printable(name), device.empty() ? "" : " of " + device, step_costs_experiment));
}

}  // namespace gpusync::tool
