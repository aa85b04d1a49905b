#include "results/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

using rows = std::vector<const row*>;

constexpr size_t most_rivals = 3;

/// Of what people compare a barrier with, the usual form of each kind is named in a verdict even where others are
/// faster: the one that its experiment lists first.
constexpr method_kind kinds_of_rivals[] = {method_kind::barrier, method_kind::graph, method_kind::launch};

std::string words(const row* entry) {
  return method_in_words(printable(entry->method, 60));
}

std::string figure_with_unit(const row* entry) {
  return figure(*headline_value(*entry)) + " " + printable(headline_metric(*entry)->unit, 20);
}

bool spreads_overlap(const row* fast, const row* slow) {
  const metric* a = headline_metric(*fast);
  const metric* b = headline_metric(*slow);
  return a->q1 && a->q3 && b->q1 && b->q3 && *b->q1 <= *a->q3 && *a->q1 <= *b->q3;
}

std::string names_of(const row_group& group, bool (*chosen)(const row*)) {
  std::vector<std::string> names;
  for (const row* entry : group.rows) {
    if (chosen(entry)) names.push_back(printable(entry->method, 60));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What did not take part, each part after a semicolon.
std::string also_rans(const row_group& group) {
  std::string text;
  const auto add = [&](const char* title, const std::string& names) {
    if (!names.empty()) text += fmt::format("; {}: {}", title, names);
  };
  add("wrong results", names_of(group, [](const row* entry) { return entry->verified == false && !is_floor(*entry); }));
  add("ordering nothing and so not to be trusted", names_of(group, [](const row* entry) {
        return entry->status == row_status::ok && entry->verified != false && !entry->ordered;
      }));
  add("failed", names_of(group, [](const row* entry) {
        return entry->status == row_status::failed && entry->verified != false;
      }));
  add("not verified", names_of(group, [](const row* entry) {
        return entry->status == row_status::ok && !entry->verified && !is_floor(*entry) && entry->ordered;
      }));
  add("skipped", names_of(group, [](const row* entry) { return entry->status == row_status::skipped; }));
  return text;
}

/// The slower contenders to name: the first, then the usual rivals, by rising figure.
rows rivals_of(const rows& slower, const row_group& group) {
  rows chosen(slower.begin(), slower.begin() + std::min<ptrdiff_t>(1, std::ssize(slower)));
  for (const method_kind kind : kinds_of_rivals) {
    const auto usual =
        std::ranges::find_if(group.rows, [&](const row* entry) { return entry->rival && entry->kind == kind; });
    const auto found = usual == group.rows.end() ? slower.end() : std::ranges::find(slower, *usual);
    const bool named = found == slower.end() || std::ranges::find(chosen, *found) != chosen.end();
    if (!named && chosen.size() < most_rivals) chosen.push_back(*found);
  }
  std::ranges::sort(chosen, {}, [](const row* entry) { return *headline_value(*entry); });
  return chosen;
}

std::string rivals_in_words(const rows& slower, const row* winner, const row_group& group) {
  std::string text;
  for (const row* rival : rivals_of(slower, group)) {
    text += fmt::format("{}{}{} {} ({})", text.empty() ? "; " : ", ", words(rival), text.empty() ? " takes" : "",
                        figure_with_unit(rival), ratio(*headline_value(*rival) / *headline_value(*winner)));
  }
  return text;
}

/// What the figures of methods are of.
const char* unit_of_work(const row* entry) {
  return entry->find_metric("step_time") != nullptr ? "a step" : "a run";
}

std::string winner_in_words(const row* winner, const rows& equals) {
  if (equals.empty()) {
    return fmt::format("{} is the cheapest way to wait, {} {}", words(winner), figure_with_unit(winner),
                       unit_of_work(winner));
  }
  std::vector<std::string> names;
  std::vector<std::string> figures;
  for (const row* entry : equals) {
    names.push_back(words(entry));
    figures.push_back(figure_with_unit(entry));
  }
  return fmt::format("{} is as fast as {}, {} {} against {} with overlapping quartiles; no way to wait is cheaper",
                     words(winner), join_words(names), figure_with_unit(winner), unit_of_work(winner),
                     join_words(figures));
}

std::string work_alone(const row_group& group) {
  const auto floor = std::ranges::find_if(group.rows, [](const row* entry) { return is_floor(*entry); });
  if (floor == group.rows.end() || !headline_value(**floor)) return "";
  return fmt::format(" (the work alone: {})", figure_with_unit(*floor));
}

/// From how many steps on a barrier is worth it, where rows say so: the least of them.
std::string first_win(const row_group& group) {
  const row* soonest = nullptr;
  const auto from = [](const row* entry) {
    const metric* found = entry->find_metric("wins_from");
    return found == nullptr ? std::nullopt : found->value;
  };
  bool asked = false;
  for (const row* entry : group.rows) {
    if (!is_contender(*entry)) continue;
    asked = asked || entry->find_metric("wins_from") != nullptr;
    if (from(entry) && (soonest == nullptr || *from(entry) < *from(soonest))) soonest = entry;
  }
  if (!asked) return "";
  if (soonest == nullptr) return "; no barrier overtakes launching and waiting on the host";
  return fmt::format("; {} takes less than launching and waiting on the host from {:.0f} step{} on", words(soonest),
                     *from(soonest), *from(soonest) == 1 ? "" : "s");
}

/// What papers have printed of step times in this experiment, and the same methods here, both by rising figure.
std::string then_and_now(const document& results, const row_group& group) {
  rows then;
  for (const row& entry : results.rows) {
    const bool same = is_published(entry) && entry.experiment == group.experiment && headline_value(entry);
    if (!same || entry.find_metric("step_time") == nullptr) continue;
    // The experiment adds them for each of its devices.
    if (std::ranges::find(then, entry.method, &row::method) == then.end()) then.push_back(&entry);
  }
  if (then.empty()) return "";
  rows now;
  for (const row* entry : group.rows) {
    const bool printed =
        std::ranges::any_of(then, [&](const row* old) { return is_printed_method(entry->method, method_of(*old)); });
    if (printed && is_contender(*entry)) now.push_back(entry);
  }
  const auto by_rising_figure = [](rows& list) {
    std::ranges::stable_sort(list, {}, [](const row* entry) { return *headline_value(*entry); });
    std::vector<std::string> parts;
    for (const row* entry : list) {
      parts.push_back(printable(method_of(*entry), 60) + " " + figure_with_unit(entry));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  };
  const std::string device = then.front()->device.substr(std::string(published_device).size());
  return fmt::format("; then, on {}: {}; now: {}", printable(device, 60), by_rising_figure(then),
                     now.empty() ? "nothing verified" : by_rising_figure(now));
}

verdict verdict_on(const document& results, const row_group& group) {
  const std::string shape = axes_in_words(group.axes);
  const std::string where = device_title(results, group.device) + (shape.empty() ? "" : ", " + shape);
  verdict result{group.experiment, group.device, where, "", ""};
  rows contenders;
  for (const row* entry : by_figure(group)) {
    if (is_contender(*entry)) contenders.push_back(entry);
  }
  if (contenders.empty()) {
    result.text = fmt::format("{}: no method has verified results{}.", where, also_rans(group));
    return result;
  }
  const row* winner = contenders.front();
  rows equals;
  rows slower;
  for (const row* entry : contenders) {
    if (entry != winner) (spreads_overlap(winner, entry) ? equals : slower).push_back(entry);
  }
  result.winner = winner->method;
  result.text = fmt::format("{}: {}{}{}{}{}{}.", where, winner_in_words(winner, equals), work_alone(group),
                            rivals_in_words(slower, winner, group), first_win(group), then_and_now(results, group),
                            also_rans(group));
  return result;
}

/// Whether there is something to judge: times of steps or of whole runs that were measured here.
bool has_times(const row_group& group) {
  if (is_published(*group.rows.front())) return false;
  return std::ranges::any_of(group.rows, [](const row* entry) {
    return entry->find_metric("step_time") != nullptr || entry->find_metric("run_time") != nullptr;
  });
}

/// What "largest shape" compares.
std::tuple<double, int64_t, int64_t> size_of(const row_group& group) {
  const int64_t blocks = axis_number(group.axes, "blocks").value_or(1);
  const int64_t threads = axis_number(group.axes, "threads").value_or(1);
  return {static_cast<double>(blocks) * static_cast<double>(threads), blocks,
          axis_number(group.axes, "stores").value_or(0)};
}

}  // namespace

std::vector<verdict> verdicts(const document& results) {
  std::vector<verdict> found;
  for (const row_group& group : group_rows(results)) {
    if (has_times(group)) found.push_back(verdict_on(results, group));
  }
  return found;
}

std::vector<verdict> main_verdicts(const document& results) {
  const std::vector<row_group> groups = group_rows(results);
  std::vector<const row_group*> largest;  // one per experiment and device
  for (const row_group& group : groups) {
    if (!has_times(group)) continue;
    const auto known = std::ranges::find_if(largest, [&](const row_group* other) {
      return other->experiment == group.experiment && other->device == group.device;
    });
    if (known == largest.end()) {
      largest.push_back(&group);
    } else if (size_of(group) > size_of(**known)) {
      *known = &group;
    }
  }
  std::vector<verdict> found;
  for (const row_group* group : largest) found.push_back(verdict_on(results, *group));
  return found;
}

std::string answer(const document& results) {
  const std::vector<verdict> found = main_verdicts(results);
  return found.empty() ? "" : found.front().text;
}

std::string method_in_words(const std::string& method) {
  static constexpr std::pair<const char*, const char*> known[] = {
      {"launch-wait", "launching and waiting on the host"},
      {"relaunch", "stream relaunch"},
      {"graph", "a CUDA graph"},
      {"graph-pdl", "a CUDA graph with programmatic launch"},
      {"cooperative-relaunch", "cooperative relaunch"},
      {"cg", "cooperative groups' grid sync"},
  };
  for (const auto& [name, title] : known) {
    if (method == name) return title;
  }
  return method;
}

}  // namespace gpusync::tool
