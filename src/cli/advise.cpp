// gpusync advise
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include <gpusync/advice/recorded.hpp>

#include "cli/commands.hpp"
#include "cli/jobs.hpp"
#include "devices/device.hpp"
#include "models/step_cost_rows.hpp"
#include "nearest.hpp"
#include "results/columns.hpp"
#include "results/context.hpp"
#include "results/json.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

using advice::prediction;
using advice::term;
using advice::term_count;

std::vector<std::string> recorded_names() {
  std::vector<std::string> names;
  for (const advice::device_costs* each : advice::recorded()) names.push_back(each->device);
  return names;
}

/// "nvidia-h200" for "NVIDIA H200".
std::string slug_of(std::string name) {
  for (char& c : name) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// Whether a device's name has these words, as users write them: "NVIDIA H200" has "h200", not "h20".
bool has_words(const std::string& name, const std::string& words) {
  return fmt::format("-{}-", slug_of(name)).find(fmt::format("-{}-", slug_of(words))) != std::string::npos;
}

/// By a name as users write it, or by words of one that no other has.
const advice::device_costs* recorded_costs(const std::string& name) {
  const advice::device_costs* found = nullptr;
  for (const std::string& each : recorded_names()) {
    if (!has_words(each, name)) continue;
    if (found != nullptr) return nullptr;
    found = advice::recorded_of(each);
  }
  return found;
}

bool is_device_id(const std::string& word) {
  return word == "host" || word.starts_with("cuda:") || word.starts_with("opencl:");
}

/// The commands that measure and take costs, in words.
std::string way_to_costs(const std::string& device_option) {
  return fmt::format("`gpusync run {}{} --json costs.json` measures them, --from costs.json takes them.",
                     step_costs_experiment, device_option);
}

/// The recorded costs of the device that was named, by its id here or by its name; without one of the first CUDA device
/// here, and where there is none, or it was never recorded, of the first that was.
advice::device_costs recorded_for(const console_options& console, const std::string& word) {
  const auto recorded_here = [&](const device_description& device) -> const advice::device_costs& {
    if (const advice::device_costs* found = advice::recorded_of(device.name)) return *found;
    if (!runs_on(find_experiment(step_costs_experiment), device)) {
      throw usage_error(
          fmt::format("Costs of waiting are measured on CUDA devices and on host threads, not on {} ({}).", device.id,
                      printable(device.name)));
    }
    throw usage_error(fmt::format("No costs of {} ({}) are recorded: {}", device.id, printable(device.name),
                                  way_to_costs(" -d " + device.id)));
  };
  if (is_device_id(word)) return recorded_here(find_device(word));
  if (!word.empty()) {
    if (const advice::device_costs* found = recorded_costs(word)) return *found;
    std::vector<std::string> names = recorded_names();
    for (std::string& each : names) each = slug_of(each);
    throw usage_error(fmt::format("No costs of a device '{}' are recorded: there are those of {}.{} On it, {}",
                                  printable(word), join_words(names), did_you_mean(word, names), way_to_costs("")));
  }
  const device_description& first = all_devices().front();
  if (first.kind == device_kind::cuda) return recorded_here(first);
  const advice::device_costs& other = *advice::recorded().front();
  say(console, fmt::format("No CUDA device here: these are the costs recorded on an {}.", other.device));
  return other;
}

advice::skew_form skew_in(const std::string& word) {
  if (word == "uniform") return advice::skew_form::uniform;
  if (word == "exponential") return advice::skew_form::exponential;
  throw usage_error(fmt::format("--skew '{}' is no form of skew: it takes uniform or exponential.", printable(word)));
}

advice::situation situation_in(const advise_options& options) {
  advice::situation asked;
  asked.blocks = options.blocks;
  asked.threads = options.threads;
  asked.step_us = options.step_us;
  asked.skew_us = options.skew_us;
  asked.skew = skew_in(options.skew.value_or("uniform"));
  if (options.skew && options.skew_us == 0) {
    throw usage_error("--skew says how the part of the step differs that --skew-us names: give that, too.");
  }
  asked.stored_bytes = options.stored_bytes;
  asked.kept_bytes = options.kept_bytes;
  asked.steps = options.steps;
  asked.gpus = options.gpus;
  asked.resident_blocks = options.resident;
  if (options.waits_for != "all") {
    asked.waits_for = advice::dependence::neighbours;
    if (options.waits_for != "2" && options.waits_for != "4" && options.waits_for != "8") {
      throw usage_error(fmt::format("--waits-for '{}' is nobody: it takes all, or 2, 4 or 8 neighbours.",
                                    printable(options.waits_for)));
    }
    asked.neighbours = static_cast<uint32_t>(std::stoul(options.waits_for));
  }
  try {
    check(asked);
  } catch (const invalid_argument& wrong) {
    throw usage_error(wrong.what());
  }
  return asked;
}

/// What waiting costs in a step, all terms together.
double waiting_us(const prediction& one) {
  return one.us_per_step - one.work_us;
}

/// The term that speaks most for `best` against `other`.
term strongest_term(const prediction& best, const prediction& other) {
  size_t strongest = 0;
  const auto more = [&](size_t i) { return other.cost_us[i] - best.cost_us[i]; };
  for (size_t i = 1; i < term_count; ++i) {
    if (more(i) > more(strongest)) strongest = i;
  }
  return static_cast<term>(strongest);
}

/// Why the first is recommended and not the second, in words.
std::string why(const advice::answer& found) {
  const prediction& best = found.best();
  const std::string head = fmt::format("{}: {} us a step, of which {} us is the work that is waited for",
                                       name_of(best.which), figure(best.us_per_step), figure(best.work_us));
  if (found.predictions.size() == 1) {
    return fmt::format("{}. No other way can be taken. In a program it is {}.", head, in_program(best.which));
  }
  const prediction& next = found.predictions[1];
  const double more = next.us_per_step - best.us_per_step, more_work = next.work_us - best.work_us;
  std::string reason = fmt::format(". Next is {} with {} us more", name_of(next.which), figure(more));
  const term strongest = strongest_term(best, next);
  const double of_term = next.cost_us[static_cast<size_t>(strongest)] - best.cost_us[static_cast<size_t>(strongest)];
  if (next.host_us > 0) {
    reason += ": the host cannot launch more often";
  } else if (more_work > 0 && more_work >= of_term) {
    reason += fmt::format(": it waits for slower blocks, {} us of work", figure(next.work_us));
  } else if (of_term > 0) {
    reason += fmt::format(", above all for {}", in_words(strongest));
  }
  std::vector<std::string> as_good;
  for (const prediction& one : found.predictions) {
    if (&one != &best && one.us_per_step <= 1.01 * best.us_per_step) as_good.emplace_back(name_of(one.which));
  }
  if (!as_good.empty()) {
    reason += fmt::format(". Within 1 % {} {}: take what is simplest", as_good.size() == 1 ? "is" : "are",
                          join_words(as_good));
  } else if (next.low <= best.us_per_step || best.high >= next.us_per_step) {
    // Both intervals hold nine of ten: that each time lies in the other's is what makes the order doubtful.
    reason += ". The two are closer than the model is sure of: measure both if it matters";
  }
  return fmt::format("{}{}. In a program it is {}.", head, reason, in_program(best.which));
}

/// How often a grid runs one after the other what runs at once, in words; empty if it all does.
std::string waves_in_words(const advice::situation& asked, const advice::device_room& room) {
  const double resident = resident_blocks_of(asked, room);
  if (asked.blocks <= resident) return "";
  return fmt::format(", {} waves of {}", std::ceil(asked.blocks / resident),
                     plural(static_cast<uint64_t>(resident), "block"));
}

std::string table_of(const advice::answer& found, bool color) {
  std::vector<column_line> lines{{{"method", "us a step", "interval", "work", "waiting"}, "", ""}};
  for (const prediction& one : found.predictions) {
    lines.push_back(
        {{name_of(one.which), figure(one.us_per_step), fmt::format("{} to {}", figure(one.low), figure(one.high)),
          figure(one.work_us), figure(waiting_us(one))},
         one.host_us > 0 ? "  limited by how often the host launches" : "",
         &one == &found.best() ? "\033[1m" : ""});
  }
  return in_columns(lines, color);
}

/// Below that the figures have no digit for it.
bool is_shown(double us) {
  return us >= 0.0005;
}

/// Every term that costs something, for every method.
std::string terms_of(const advice::answer& found) {
  std::string text = "\nA step is the work that is waited for and these terms, in microseconds:\n";
  for (const prediction& one : found.predictions) {
    text += fmt::format("  {}: {} work", name_of(one.which), figure(one.work_us));
    for (size_t i = 0; i < term_count; ++i) {
      if (is_shown(one.cost_us[i]))
        text += fmt::format(" + {} {}", figure(one.cost_us[i]), name_of(static_cast<term>(i)));
    }
    text += one.host_us > 0 ? fmt::format("; no less than the host's {}\n", figure(one.host_us)) : "\n";
  }
  text += "where\n";
  for (size_t i = 0; i < term_count; ++i) {
    const auto is_there = [i](const prediction& one) { return is_shown(one.cost_us[i]); };
    if (std::ranges::none_of(found.predictions, is_there)) continue;
    const auto which = static_cast<term>(i);
    text += fmt::format("  {}: {}\n", name_of(which), in_words(which));
  }
  return text + "docs/advise.md says what each is in the papers.\n";
}

/// The rows of several documents, with the first one's context. Throws usage_error if a device of one is another in
/// another: their costs would be of neither.
document in_one(const std::vector<std::string>& paths) {
  document all;
  std::map<std::string, std::pair<std::string, std::string>> first;  // by device: its name, and the document
  std::vector<document> documents = read_documents(paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    for (const std::string& id : device_ids(documents[i])) {
      const std::string name = device_name(documents[i], id);
      const auto& [known, path] = first.try_emplace(id, name, paths[i]).first->second;
      if (known == name) continue;
      throw usage_error(fmt::format("'{}' is of {} ({}) and '{}' of {}: give the documents of one device.",
                                    printable(path), known, printable(id), printable(paths[i]), name));
    }
    if (i == 0) all.context = std::move(documents[i].context);
    std::ranges::move(documents[i].rows, std::back_inserter(all.rows));
  }
  return all;
}

/// The id of the device that was named by its id or its name. Throws usage_error if the document has none such.
std::string device_in(const document& results, const std::string& word) {
  if (word.empty()) return word;
  std::vector<std::string> found, all;
  for (const std::string& id : device_ids(results)) {
    const std::string name = device_name(results, id);
    all.push_back(fmt::format("{} ({})", printable(id), name));
    if (id == word || has_words(name, word)) found.push_back(id);
  }
  if (found.size() == 1) return found.front();
  throw usage_error(fmt::format("-d '{}' is {} of the document: it has {}.", printable(word),
                                found.empty() ? "no device" : "several devices", join_words(all)));
}

json as_json(const advice::answer& found, const advice::device_costs& costs, const advice::situation& asked) {
  json predictions = json::array(), refused = json::array();
  for (const prediction& one : found.predictions) {
    json terms = json::object();
    for (size_t i = 0; i < term_count; ++i) terms[name_of(static_cast<term>(i))] = one.cost_us[i];
    predictions.push_back({{"method", name_of(one.which)},
                           {"us_per_step", one.us_per_step},
                           {"low", one.low},
                           {"high", one.high},
                           {"work_us", one.work_us},
                           {"host_us", one.host_us > 0 ? json(one.host_us) : json(nullptr)},
                           {"terms", std::move(terms)}});
  }
  for (const advice::refusal& one : found.refused) {
    refused.push_back({{"method", name_of(one.which)}, {"reason", one.reason}});
  }
  json situation = to_json(axes_of(asked));  // a row's axes, which are of one GPU
  situation["gpus"] = asked.gpus;
  return {{"recommendation", name_of(found.best().which)},
          {"in_program", in_program(found.best().which)},
          {"why", why(found)},
          {"device", costs.device},
          {"situation", std::move(situation)},
          {"predictions", std::move(predictions)},
          {"refused", std::move(refused)},
          {"beyond_measured", found.beyond}};
}

}  // namespace

exit_code run_advise(const console_options& console, const advise_options& options) {
  const advice::situation asked = situation_in(options);
  advice::device_costs costs;
  if (!options.from.empty()) {
    const document all = in_one(options.from);
    costs = costs_in(all, device_in(all, options.device), join_words(options.from));
  } else {
    costs = recorded_for(console, options.device);
  }
  advice::answer found;
  try {
    found = advise(asked, costs);
  } catch (const invalid_argument& wrong) {
    throw usage_error(wrong.what());
  }
  const auto is_finite = [](const prediction& one) { return std::isfinite(one.low) && std::isfinite(one.high); };
  if (!std::ranges::all_of(found.predictions, is_finite)) {
    throw usage_error("These costs and this situation give no finite times: look at the document and at the numbers.");
  }
  if (options.as_json) {
    fmt::print("{}\n", as_json(found, costs, asked).dump(2, ' ', false, json::error_handler_t::replace));
    return exit_code::done;
  }
  fmt::print("{}{} on {}\n\n{}", in_words(asked), waves_in_words(asked, costs.room), printable(costs.device),
             table_of(found, console.color_data));
  for (const advice::refusal& one : found.refused) {
    if (asked.gpus == 1 ? is_of_several_gpus(one.which) : !is_of_several_gpus(one.which)) continue;
    fmt::print("  {}: {}\n", name_of(one.which), one.reason);
  }
  if (options.explain) fmt::print("{}", terms_of(found));
  if (!found.beyond.empty()) fmt::print("\n");
  for (const std::string& one : found.beyond) fmt::print("Beyond what was measured, so less sure: {}.\n", one);
  fmt::print("\n{}ake {}\n", found.beyond.empty() ? "T" : "Measure before you rely on it: t", why(found));
  return exit_code::done;
}

}  // namespace gpusync::tool
