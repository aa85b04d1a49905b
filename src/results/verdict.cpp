#include "results/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>

#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/row_ratio.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

using row_list = std::vector<const row*>;

/// Of what people compare a barrier with, the usual form of each kind is named behind a verdict even where others are
/// faster: the one that its experiment lists first.
constexpr method_kind kinds_of_rivals[] = {method_kind::barrier, method_kind::graph, method_kind::launch};

std::string words(const row* entry) {
  return method_in_words(printable(entry->method, 60));
}

std::string figure_with_unit(const row* entry) {
  return figure(*headline_value(*entry)) + " " + printable(headline_metric(*entry)->unit, 20);
}

/// The contenders of a group, beside the one with the least figure.
struct field {
  const row* winner = nullptr;
  row_list same;    // within the least effect, for certain
  row_list open;    // may be faster by more than that: too noisy to say
  row_list slower;  // the others; a few of them not for certain
  /// If more rounds are all that is wanting to tell the open ones from the winner, the least of theirs.
  std::optional<uint64_t> few_rounds;
};

field field_of(const row_list& contenders) {
  field found;
  found.winner = contenders.front();
  bool noisy = false;
  for (const row* entry : row_list(contenders.begin() + 1, contenders.end())) {
    const std::optional<paired_ratio> ratio = headline_ratio(*entry, *found.winner);
    const std::optional<interval> between = ratio ? ratio->between : std::nullopt;
    if (!between || between->low < 1 / (1 + usual_least_effect)) {
      found.open.push_back(entry);
      noisy = noisy || between || !ratio || ratio->rounds >= fewest_rounds;
      if (ratio) found.few_rounds = std::min(found.few_rounds.value_or(ratio->rounds), ratio->rounds);
    } else {
      (judge_ratio(between) == difference::same ? found.same : found.slower).push_back(entry);
    }
  }
  if (noisy) found.few_rounds.reset();
  return found;
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
row_list rivals_of(const row_list& slower, const row_group& group) {
  constexpr size_t most_rivals = 3;
  row_list chosen(slower.begin(), slower.begin() + std::min<ptrdiff_t>(1, std::ssize(slower)));
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

std::string with_figures(const row_list& some) {
  std::vector<std::string> parts;
  for (const row* entry : some) parts.push_back(fmt::format("{} ({})", words(entry), figure_with_unit(entry)));
  return join_words(parts);
}

/// How the others did, each part after a semicolon.
std::string others_in_words(const field& found, const row_group& group) {
  std::string text;
  if (!found.same.empty()) {
    text += fmt::format("; the same within {:.0f} %: {}", 100 * usual_least_effect, with_figures(found.same));
  }
  if (!found.open.empty()) text += "; not told apart from it: " + with_figures(found.open);
  bool first = true;
  for (const row* rival : rivals_of(found.slower, group)) {
    text += fmt::format("{}{}{} {} ({})", first ? "; " : ", ", words(rival), first ? " takes" : "",
                        figure_with_unit(rival), ratio(*headline_value(*rival) / *headline_value(*found.winner)));
    first = false;
  }
  return text;
}

/// The times that ways to wait are judged by, and what they are of.
constexpr std::pair<const char*, const char*> judged_times[] = {
    {"step_time", "a step"}, {"run_time", "a run"}, {"mean_release", "after the last arrival"}};

const char* unit_of_work(const row* entry) {
  for (const auto& [metric, unit] : judged_times) {
    if (entry->find_metric(metric) != nullptr) return unit;
  }
  return "";
}

/// A way to wait of this kind: "barrier", "wait for neighbours".
std::string_view kind_in_words(method_kind kind) {
  return kind == method_kind::neighbours ? "wait for neighbours" : to_string(kind);
}

/// Of those that are slower for certain, the one to compare with: the first of another sort than the winner, what
/// people use without this library or ours, as `rival` says, or else of another kind, or else the first. Null if there
/// is none.
const row* beaten_by(const field& found, bool other_kind) {
  const auto other = std::ranges::find_if(found.slower, [&](const row* entry) {
    return other_kind ? entry->kind != found.winner->kind : entry->rival != found.winner->rival;
  });
  if (other != found.slower.end()) return *other;
  return found.slower.empty() || other_kind ? nullptr : found.slower.front();
}

std::string gain_over(const row* beaten, const row* winner) {
  return fmt::format("{} faster than {}", ratio(*headline_value(*beaten) / *headline_value(*winner)), words(beaten));
}

/// What is to be said where nobody can tell which is fastest.
std::vector<std::string> undecided(const field& found, bool quick) {
  if (found.few_rounds) {
    const std::string others = found.open.size() == 1 ? "" : fmt::format(" and {} more", found.open.size() - 1);
    const std::string lead = fmt::format("Too few rounds ({}) to be certain: {} {}, {} {}{}", *found.few_rounds,
                                         words(found.winner), figure_with_unit(found.winner), words(found.open.front()),
                                         figure_with_unit(found.open.front()), others);
    return quick ? std::vector{lead + "; measure without --quick", lead} : std::vector{lead};
  }
  const std::string who = found.open.size() == 1
                              ? fmt::format("{} or {}", words(found.winner), words(found.open.front()))
                              : fmt::format("{} or one of {} others", words(found.winner), found.open.size());
  const std::string lead = fmt::format("Too noisy to say whether {} is fastest", who);
  return {lead + (quick ? "; measure again, idle and without --quick" : "; measure again, idle"), lead};
}

/// What the reader should do, and why, in more words and in fewer. `quick`: it was measured with --quick.
std::vector<std::string> decision(const field& found, bool quick) {
  const std::string figure = fmt::format("{} {}", figure_with_unit(found.winner), unit_of_work(found.winner));
  if (found.open.empty()) {
    const std::string use = fmt::format("Use {}: {}", words(found.winner), figure);
    const row* beaten = beaten_by(found, false);
    return beaten == nullptr ? std::vector{use} : std::vector{use + ", " + gain_over(beaten, found.winner), use};
  }
  const bool one_kind =
      std::ranges::all_of(found.open, [&](const row* entry) { return entry->kind == found.winner->kind; });
  const row* beaten = beaten_by(found, true);
  if (one_kind && beaten != nullptr && found.winner->kind) {  // which kind is certain, and that is most of the answer
    const std::string use =
        fmt::format("Use a {} such as {}: {}", kind_in_words(*found.winner->kind), words(found.winner), figure);
    const std::string but = found.few_rounds
                                ? fmt::format("; {} rounds are too few to tell the best", *found.few_rounds)
                                : "; noise hides the best";
    return {use + ", " + gain_over(beaten, found.winner) + but, use + but};
  }
  return undecided(found, quick);
}

/// Why there is nothing to recommend, in more words and in fewer.
std::vector<std::string> why_none(const row_group& group) {
  row_list ways;
  for (const row* entry : group.rows) {
    if (!is_floor(*entry)) ways.push_back(entry);
  }
  const auto all = [&](const auto& what) { return std::ranges::all_of(ways, what); };
  const bool any_ok = std::ranges::any_of(group.rows, [](const row* one) { return one->status == row_status::ok; });
  if (ways.empty() && any_ok) return {"Nothing to choose: only the work alone was measured"};
  if (ways.empty()) ways = group.rows;
  const auto is_skipped = [](const row* entry) { return entry->status == row_status::skipped; };
  if (all(is_skipped)) {
    if (std::ranges::any_of(ways, [](const row* entry) { return is_lost_in_noise(*entry); })) {
      return {"Nothing rose above the noise; measure again, idle", "Nothing rose above the noise"};
    }
    const std::string reason = ways.front()->reason.value_or("");
    const std::string none = any_ok ? "No way to wait was measured" : "Nothing was measured";
    const bool is_same = all([&](const row* entry) { return entry->reason.value_or("") == reason; });
    if (!is_same || reason.empty()) return {none};
    return {fmt::format("{}: {}", none, printable(reason.substr(0, reason.find_first_of(":.(")), 150)), none};
  }
  const bool is_right = all([](const row* entry) { return !entry->ordered && entry->verified != false; });
  if (is_right) return {"Nothing to choose: only what orders nothing was measured"};
  return {"No method has verified results"};
}

/// Whether it was measured with --quick, as far as the context says.
bool is_quick(const document& results) {
  if (!results.context->is_object()) return false;
  const json command = results.context->value("command", json());
  return command.is_array() && std::ranges::find(command, json("--quick")) != command.end();
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
  row_list then;
  for (const row& entry : results.rows) {
    const bool same = is_published(entry) && entry.experiment == group.experiment && headline_value(entry);
    if (!same || entry.find_metric("step_time") == nullptr) continue;
    // The experiment adds them for each of its devices.
    if (std::ranges::find(then, entry.method, &row::method) == then.end()) then.push_back(&entry);
  }
  if (then.empty()) return "";
  row_list now;
  for (const row* entry : group.rows) {
    const bool printed =
        std::ranges::any_of(then, [&](const row* old) { return is_printed_method(entry->method, method_of(*old)); });
    if (printed && is_contender(*entry)) now.push_back(entry);
  }
  const auto by_rising_figure = [](row_list& list) {
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
  const auto place = [&](const std::string& device) { return device + (shape.empty() ? "" : ", " + shape); };
  const std::string where = place(device_title(results, group.device));
  verdict result{group.experiment, group.device, "", "", ""};
  row_list contenders;
  for (const row* entry : by_figure(group)) {
    if (is_contender(*entry)) contenders.push_back(entry);
  }
  if (contenders.empty()) {
    result.text = short_sentence(why_none(group), {where, place(group.device), group.device});
    const std::string others = also_rans(group);  // each part behind a semicolon
    if (!others.empty()) {
      result.behind = fmt::format("{}{}.", static_cast<char>(std::toupper(others[2])), others.substr(3));
    }
    return result;
  }
  const field found = field_of(contenders);
  result.winner = found.winner->method;
  // A shorter head before the shape is left out: without it a figure means nothing.
  result.text = short_sentence(decision(found, is_quick(results)), {where, place(group.device)}, {group.device});
  result.behind = fmt::format("{} takes {} {}{}{}{}{}{}.", words(found.winner), figure_with_unit(found.winner),
                              unit_of_work(found.winner), work_alone(group), others_in_words(found, group),
                              first_win(group), then_and_now(results, group), also_rans(group));
  return result;
}

/// Whether there is something to judge: times of steps or of whole runs that were measured here.
bool has_times(const row_group& group) {
  if (is_published(*group.rows.front())) return false;
  return std::ranges::any_of(group.rows, [](const row* entry) { return *unit_of_work(entry) != '\0'; });
}

/// Blocks and threads of a group, from its axes of that name, from the blocks on each multiprocessor, or from a shape
/// like "132x256"; 1 where none is named.
std::pair<int64_t, int64_t> grid_of(const document& results, const row_group& group) {
  std::pair<int64_t, int64_t> grid{axis_number(group.axes, "blocks").value_or(1),
                                   axis_number(group.axes, "threads").value_or(1)};
  if (const std::optional<int64_t> per_sm = axis_number(group.axes, "blocks_per_sm")) {
    grid.first = *per_sm * compute_units_of(results, group.device).value_or(1);
  }
  for (const auto& [name, value] : group.axes) {
    const auto* word = std::get_if<std::string>(&value);
    if (name != "shape" || word == nullptr) continue;
    int64_t blocks = 0, threads = 0;
    if (std::sscanf(word->c_str(), "%" SCNd64 "x%" SCNd64, &blocks, &threads) == 2) grid = {blocks, threads};
  }
  return grid;
}

/// The shape that people launch: a block of 256 threads on every multiprocessor.
bool is_usual(const document& results, const row_group& group) {
  constexpr int64_t usual_threads = 256;
  const std::optional<int64_t> units = compute_units_of(results, group.device);
  return units && grid_of(results, group) == std::pair{*units, usual_threads};
}

/// What main_verdicts() chooses by.
std::tuple<bool, double, int64_t, int64_t> rank_of(const document& results, const row_group& group) {
  const auto [blocks, threads] = grid_of(results, group);
  return {is_usual(results, group), static_cast<double>(blocks) * static_cast<double>(threads), blocks,
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
  std::vector<const row_group*> chosen;  // one per experiment and device
  for (const row_group& group : groups) {
    if (!has_times(group)) continue;
    const auto known = std::ranges::find_if(chosen, [&](const row_group* other) {
      return other->experiment == group.experiment && other->device == group.device;
    });
    if (known == chosen.end()) {
      chosen.push_back(&group);
    } else if (rank_of(results, group) > rank_of(results, **known)) {
      *known = &group;
    }
  }
  std::vector<verdict> found;
  for (const row_group* group : chosen) found.push_back(verdict_on(results, *group));
  return found;
}

std::string short_sentence(const std::vector<std::string>& heads, const std::vector<std::string>& places,
                           const std::vector<std::string>& last_places) {
  std::string form;
  for (const std::vector<std::string>* some : {&places, &last_places}) {
    for (const std::string& head : heads) {
      for (const std::string& place : *some) {
        form = fmt::format("{} ({}).", head, place);
        if (words_in(form) <= most_words) return form;
      }
    }
  }
  return form;
}

std::string method_in_words(const std::string& method) {
  static constexpr std::pair<const char*, const char*> known[] = {
      {"launch-wait", "launching and waiting on the host"},
      {"relaunch", "stream relaunch"},
      {"graph", "a CUDA graph"},
      {"graph-pdl", "a CUDA graph with programmatic launch"},
      {"graph-pdl-late", "a CUDA graph with programmatic launch, triggered late"},
      {"cooperative-relaunch", "cooperative relaunch"},
      {"cg", "cooperative groups' grid sync"},
  };
  for (const auto& [name, title] : known) {
    if (method == name) return title;
  }
  return method;
}

}  // namespace gpusync::tool
