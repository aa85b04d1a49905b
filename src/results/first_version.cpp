#include "results/first_version.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

constexpr std::pair<std::string_view, method_kind> named_kinds[] = {{name_of_floor, method_kind::floor},
                                                                    {"launch-wait", method_kind::host_wait},
                                                                    {"relaunch", method_kind::launch},
                                                                    {"graph", method_kind::graph},
                                                                    {"cooperative-relaunch", method_kind::launch},
                                                                    {"graph-pdl", method_kind::graph}};
constexpr std::pair<std::string_view, method_kind> kinds_of_experiments[] = {{"message-floor", method_kind::neighbours},
                                                                             {"rmw-cost", method_kind::object},
                                                                             {"rmw-faults", method_kind::object},
                                                                             {"store-atomicity", method_kind::object}};
constexpr std::array<std::string_view, 4> named_rivals = {"cg", "hardware", "hardware-global", "cas-loop"};

}  // namespace

void derive_method(row& entry) {
  entry.ordered = !entry.method.ends_with(suffix_of_unordered) &&
                  !(entry.experiment == "message-floor" && entry.method.starts_with("relaxed"));
  entry.kind = std::nullopt;
  entry.rival = false;
  if (is_published(entry) || entry.method == "traceback") return;
  entry.kind = method_kind::barrier;
  const auto named = [](std::string_view name) { return [name](const auto& known) { return known.first == name; }; };
  const auto of_experiment = std::ranges::find_if(kinds_of_experiments, named(entry.experiment));
  if (of_experiment != std::end(kinds_of_experiments)) entry.kind = of_experiment->second;
  const auto of_method = std::ranges::find_if(named_kinds, named(entry.method));
  if (of_method != std::end(named_kinds)) entry.kind = of_method->second;
  entry.rival = (of_method != std::end(named_kinds) && entry.kind != method_kind::floor) ||
                std::ranges::find(named_rivals, entry.method) != named_rivals.end();
}

}  // namespace gpusync::tool
