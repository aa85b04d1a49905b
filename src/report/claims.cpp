#include "report/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "embedded/report_claims_json.hpp"
#include "results/groups.hpp"
#include "results/row_ratio.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

using string_list = std::vector<std::string>;

/// Differences up to this are none: those that verdicts overlook as well.
constexpr double least_effect = usual_least_effect;

struct claim_row {
  size_t document;
  const row* entry;
};

/// What claims are judged by.
struct evidence {
  const std::vector<document>& documents;
  const device_table& devices;
};

string_list words_at(const json& claim, const char* key, const string_list& otherwise = {}) {
  return claim.contains(key) ? claim.at(key).get<string_list>() : otherwise;
}

/// The rows of a claim's experiment that have a figure of its metric: printed ones, or ours.
std::vector<claim_row> rows_with(const evidence& from, const json& claim, bool printed) {
  constexpr size_t most_rows = 20'000;  // of what no experiment of ours has
  const auto experiment = claim.at("experiment").get<std::string>();
  const auto metric = claim.at("metric").get<std::string>();
  std::vector<claim_row> rows;
  for (size_t i = 0; i < from.documents.size(); ++i) {
    for (const row& entry : from.documents[i].rows) {
      if (entry.experiment != experiment || is_published(entry) != printed || !value_of(entry, metric)) continue;
      if (rows.size() < most_rows) rows.push_back({i, &entry});
    }
  }
  return rows;
}

/// How far a row is from where the claim is made: numbers by their ratio, and words that differ more than any number.
double distance(const row& entry, const json& claim) {
  constexpr double other_word = 1000;
  double sum = is_line(entry) ? other_word : 0;
  if (!claim.contains("at")) return sum;
  for (const auto& [name, wanted] : claim.at("at").items()) {
    const axis_value* const found = find_axis(entry.axes, name);
    if (found == nullptr) continue;
    const auto* number = std::get_if<int64_t>(found);
    if (number == nullptr || !wanted.is_number()) {
      if (json(to_string(*found)) != wanted) sum += other_word;
    } else {
      sum += std::abs(std::log((static_cast<double>(*number) + 1) / (wanted.get<double>() + 1)));
    }
  }
  return sum;
}

/// Where a row stands, in the axes that the claim names and those that make a shape.
std::string place_of(const row& entry, const json& claim) {
  axis_values some;
  string_list parts;
  for (const auto& axis : entry.axes) {
    const bool is_shape = std::ranges::count(string_list{"shape", "blocks", "threads"}, axis.first) > 0;
    const bool is_named =
        axis.first == claim.value("say", "") || (claim.contains("at") && claim.at("at").contains(axis.first));
    const auto* bytes = axis.first == "bytes" ? std::get_if<int64_t>(&axis.second) : nullptr;
    if (bytes != nullptr) {
      parts.push_back(bytes_in_words(static_cast<uint64_t>(std::max<int64_t>(0, *bytes))));
    } else if (is_shape || is_named) {
      some.push_back(axis);
    }
  }
  if (!some.empty()) parts.insert(parts.begin(), printable(axes_in_words(some)));
  if (entry.verified == false) parts.push_back("with wrong results");
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

double figure_of(const row& entry, const json& claim) {
  return *value_of(entry, claim.at("metric").get<std::string>());
}

std::string unit_of(const row& entry, const json& claim) {
  return entry.find_metric(claim.at("metric").get<std::string>())->unit;
}

/// A figure of the claim as people read it: "+25.5 %", "0.69x", "17 blocks".
std::string in_words(double value, const std::string& unit) {
  if (unit == "1") return ratio(value);
  const bool is_whole = value == std::floor(value) && std::abs(value) < 1e6;
  return fmt::format("{}{} {}", unit == "%" && value > 0 ? "+" : "",
                     is_whole ? fmt::format("{:.0f}", value) : figure(value), printable(unit, 20));
}

std::string range_in_words(std::vector<double> values, const std::string& unit) {
  const auto [least, most] = std::ranges::minmax(values);
  const std::string low = in_words(least, unit), high = in_words(most, unit);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

/// -1, 0 or 1: below what is neutral, the same, above.
int direction(double value, double neutral) {
  const double from_neutral = neutral == 0 ? value / 100 : value / neutral - 1;
  return std::abs(from_neutral) <= least_effect ? 0 : from_neutral < 0 ? -1 : 1;
}

claim_state state_of(const std::vector<double>& then, const std::vector<double>& now, double neutral) {
  int was = 0;
  for (const double value : then) was += direction(value, neutral);
  was = std::clamp(was, -1, 1);
  const auto all = [&](int wanted) {
    return std::ranges::all_of(now, [&](double value) { return direction(value, neutral) == wanted; });
  };
  if (all(was)) return claim_state::holds;
  if (was == 0)
    return std::ranges::any_of(now, [&](double value) { return direction(value, neutral) == 0; }) ? claim_state::differs
                                                                                                  : claim_state::lost;
  if (all(0)) return claim_state::even;
  return all(-was) ? claim_state::turned : claim_state::differs;
}

/// A figure of a claim on one device, and how it was come by.
struct claim_figure {
  std::string device;
  double value;
  std::string words;
};

/// For each device the figure of the row for which `figure_in` has one and that `is_better` than the others.
std::vector<claim_figure> by_device(const evidence& from, const std::vector<claim_row>& rows,
                                    const std::function<std::optional<claim_figure>(const claim_row&)>& figure_in,
                                    const std::function<bool(const claim_row&, const claim_row&)>& is_better) {
  std::vector<std::pair<claim_row, claim_figure>> best;
  for (const claim_row& one : rows) {
    const std::string device = from.devices.name_of(one.document, one.entry->device);
    const auto known = std::ranges::find(best, device, [](const auto& other) { return other.second.device; });
    if (known != best.end() && !is_better(one, known->first)) continue;
    std::optional<claim_figure> found = figure_in(one);
    if (!found) continue;
    found->device = device;
    if (known == best.end()) {
      best.emplace_back(one, *found);
    } else {
      *known = {one, *found};
    }
  }
  std::vector<claim_figure> figures;
  for (auto& each : best) figures.push_back(std::move(each.second));
  return figures;
}

bool is_one_of(const row& entry, const string_list& methods) {
  return std::ranges::any_of(methods, [&](const std::string& one) { return is_printed_method(method_of(entry), one); });
}

std::vector<claim_row> of_methods(const std::vector<claim_row>& rows, const string_list& methods) {
  std::vector<claim_row> some;
  std::ranges::copy_if(rows, std::back_inserter(some),
                       [&](const claim_row& one) { return is_one_of(*one.entry, methods); });
  return some;
}

/// The figures of a claim about one method, or about one over another; `printed`: the paper's.
std::vector<claim_figure> figures_of(const evidence& from, const json& claim, bool printed) {
  const string_list method{claim.at("method").get<std::string>()};
  const std::vector<claim_row> all = rows_with(from, claim, printed);
  const bool is_ratio = claim.at("form") == "ratio";
  string_list over;
  if (is_ratio) over = {claim.at("over").get<std::string>()};
  if (is_ratio && !printed) over = words_at(claim, "now_over", over);
  const std::vector<claim_row> bases = of_methods(all, over);
  const auto figure_in = [&](const claim_row& one) -> std::optional<claim_figure> {
    const double value = figure_of(*one.entry, claim);
    const std::string unit = unit_of(*one.entry, claim), place = place_of(*one.entry, claim);
    if (!is_ratio) return claim_figure{"", value, in_words(value, unit) + place};
    const auto base = std::ranges::find_if(bases, [&](const claim_row& other) {
      return other.document == one.document && question_of(*other.entry) == question_of(*one.entry);
    });
    if (base == bases.end() || figure_of(*base->entry, claim) <= 0) return std::nullopt;
    const double under = figure_of(*base->entry, claim);
    return claim_figure{
        "", value / under,
        fmt::format("{}: {} against {}{}", ratio(value / under), in_words(value, unit), in_words(under, unit), place)};
  };
  const bool most = claim.value("pick", "") == "most";
  const auto is_better = [&](const claim_row& one, const claim_row& other) {
    if (most) return figure_of(*one.entry, claim) > figure_of(*other.entry, claim);
    return distance(*one.entry, claim) < distance(*other.entry, claim);
  };
  return by_device(from, of_methods(all, printed ? method : words_at(claim, "now", method)), figure_in, is_better);
}

/// "27.6x (Mobility Radeon HD 5870)": of several devices, from the least to the most.
std::string then_in_words(const std::vector<claim_figure>& then, const json& claim, const std::string& unit) {
  string_list devices;
  std::vector<double> values;
  for (const claim_figure& one : then) {
    devices.push_back(one.device.substr(std::string(published_device).size()));
    values.push_back(one.value);
  }
  const bool is_ratio = claim.at("form") == "ratio";
  return fmt::format("{} ({})", range_in_words(values, is_ratio ? "1" : unit), join_words(devices));
}

/// How many of a device's rows are as the claim says.
std::optional<judged_claim> judged_count(const evidence& from, const json& claim, judged_claim about) {
  const string_list methods = words_at(claim, "methods");
  std::vector<std::pair<std::string, std::pair<size_t, size_t>>> counts;
  for (const auto& [document, entry] : rows_with(from, claim, false)) {
    if (!methods.empty() && !is_one_of(*entry, methods)) continue;
    const std::string device = from.devices.name_of(document, entry->device);
    auto known = std::ranges::find(counts, device, [](const auto& one) { return one.first; });
    if (known == counts.end()) known = counts.insert(counts.end(), {device, {0, 0}});
    const double value = figure_of(*entry, claim);
    const bool is_so = claim.contains("at_most")
                           ? value <= value_of(*entry, claim.at("at_most").get<std::string>()).value_or(value)
                           : value == claim.at("is").get<double>();
    known->second.first += is_so ? 1 : 0;
    ++known->second.second;
  }
  if (counts.empty()) return std::nullopt;
  about.state = claim_state::holds;
  for (const auto& [device, count] : counts) {
    about.now.push_back(fmt::format("{}: {} of {}", printable(device), count.first, count.second));
    if (count.first < count.second) about.state = claim_state::differs;
  }
  about.then = "as the paper says";
  return about;
}

std::optional<judged_claim> judged(const evidence& from, const json& claim) {
  judged_claim about{claim.at("paper").get<std::string>(),
                     claim.at("item").get<std::string>(),
                     claim.at("experiment").get<std::string>(),
                     claim.at("text").get<std::string>(),
                     "",
                     {},
                     claim_state::not_counted};
  const auto form = claim.at("form").get<std::string>();
  if (form == "count") return judged_count(from, claim, std::move(about));
  if (form != "value" && form != "ratio" && form != "figure") {
    throw std::logic_error(fmt::format("claims.json has the form \"{}\"", form));
  }
  const std::vector<claim_figure> then = figures_of(from, claim, true), now = figures_of(from, claim, false);
  if (then.empty() || now.empty()) return std::nullopt;
  std::vector<double> was, is;
  for (const claim_figure& one : then) was.push_back(one.value);
  for (const claim_figure& one : now) {
    is.push_back(one.value);
    about.now.push_back(fmt::format("{}: {}", printable(one.device), one.words));
  }
  about.then = then_in_words(then, claim, unit_of(*rows_with(from, claim, true).front().entry, claim));
  if (form != "figure") about.state = state_of(was, is, form == "ratio" ? 1 : claim.at("neutral").get<double>());
  return about;
}

}  // namespace

std::string_view to_string(claim_state state) {
  switch (state) {
    case claim_state::holds: return "holds";
    case claim_state::turned: return "turned round";
    case claim_state::differs: return "holds in part";
    case claim_state::even: return "no difference now";
    case claim_state::lost: return "no longer";
    case claim_state::not_counted: return "then and now";
  }
  return "then and now";
}

std::vector<judged_claim> judged_claims(std::string_view claims, const std::vector<document>& documents,
                                        const device_table& devices) {
  std::vector<judged_claim> all;
  try {
    const json list = json::parse(claims).at("claims");
    for (const json& claim : list) {
      if (std::optional<judged_claim> found = judged({documents, devices}, claim)) all.push_back(std::move(*found));
    }
  } catch (const json::exception& wrong) {
    throw std::logic_error(fmt::format("claims.json: {}", wrong.what()));
  }
  return all;
}

std::vector<judged_claim> judged_claims(const std::vector<document>& documents, const device_table& devices) {
  return judged_claims(embedded::report_claims_json, documents, devices);
}

std::string paper_title(const std::string& paper) {
  return json::parse(embedded::report_claims_json).at("papers").value(paper, "");
}

}  // namespace gpusync::tool
