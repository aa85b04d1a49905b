// Grids as users write them: "132x256".
#pragma once

#include <string>
#include <vector>

#include "boundary/program.hpp"
#include "harness/choices.hpp"

namespace gpusync::tool {

/// Parses words like "132x256", blocks x threads per block. `stores` is left false. Throws usage_error naming the
/// culprit and what is allowed.
std::vector<step_shape> parse_shapes(const std::vector<std::string>& words);

/// "132x256".
std::string to_word(const step_shape& shape);

/// The blocks that axis `blocks` names, or those of the workload's that run at once: beyond, there is nothing to
/// compare launches with.
std::vector<int64_t> chosen_blocks(const experiment_request& request, workload& workload, int64_t threads);

/// "132 blocks x 256 threads, stores in flight".
std::string in_words(const step_shape& shape);

/// The axes blocks, threads and stores of a shape.
axis_values axes_of(const step_shape& shape);

/// The shapes that axis `shape` names, or `defaults`. Throws usage_error.
std::vector<step_shape> shapes_or(const experiment_request& request, const std::vector<std::string>& defaults);

/// Threads per block if the user names none: on a GPU enough to fill its multiprocessors with eight blocks, elsewhere
/// few.
int64_t threads_by_default(device_kind kind);

/// One to eight blocks on each SM of an H200, in small and in large blocks; for a quick look only one of them.
std::vector<std::string> usual_shapes(bool quick);

/// Both of them, as the help of an axis shows them.
std::string usual_shapes_in_words();

/// Whether the L1 cache is to be small, for each word of axis `l1`: "large" or "small"; by default large, or both.
std::vector<bool> chosen_l1(const experiment_request& request, bool both);
/// "large" or "small".
const char* l1_word(bool small);

/// The axis `shape`; `default_text` as in axis.
axis shape_axis(const std::string& default_text = "");

}  // namespace gpusync::tool
