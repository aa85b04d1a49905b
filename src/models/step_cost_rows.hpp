// Situations as axes of rows, and what rows tell the adviser.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gpusync/advice/advice.hpp>

#include "models/step_cost_fit.hpp"
#include "results/row.hpp"

namespace gpusync::tool {

struct document;

/// The experiment whose rows the adviser reads, its metric, and the row that tells what the device has room for.
inline constexpr const char *step_costs_experiment = "step-costs", *step_time_metric = "step_time",
                            *room_method = "room", *costs_part = "part";

/// A situation as axes, times rounded to whole nanoseconds.
axis_values axes_of(const advice::situation& where);

/// And back; empty for axes that are none.
std::optional<advice::situation> situation_of(const axis_values& axes);

/// In words: "132 blocks x 256 threads, 2 us (exponential 1 us), 1024 bytes to 2 neighbours, 64 steps".
std::string in_words(const advice::situation& where);

/// The way of that name; empty if there is none.
std::optional<advice::way> way_of(const std::string& method);

/// What was measured of a device with checked results, by rows of experiments step-costs, halo-exchange and
/// multi-gpu-barrier. Those of halo-exchange count for as many neighbours as no row of step-costs has: steps of
/// situations do more than exchange words.
std::vector<step_observation> observations_of(const std::vector<row>& rows, const std::string& device);

/// What the device has room for, as the row of room_method tells; empty if there is none.
std::optional<advice::device_room> room_of(const std::vector<row>& rows, const std::string& device);
/// The metrics of that row.
std::vector<std::pair<std::string, metric>> room_metrics(const advice::device_room& room);

/// The costs of a way as metrics: `us_` and the term's name, `host_us`, `spread`, of as many points.
std::vector<std::pair<std::string, metric>> metrics_of(const advice::way_costs& costs);

/// The costs that the rows of these experiments in a document give, fitted anew: of `device`, or, if that is empty,
/// of the first device that has such rows. Throws usage_error naming `name`, the document, and what to do, if there are
/// none.
advice::device_costs costs_in(const document& results, const std::string& device, const std::string& name);

}  // namespace gpusync::tool
