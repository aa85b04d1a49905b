// What a document's context says, in words. Readers take the context as it comes: any key may be missing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/document.hpp"

namespace gpusync::tool {

/// Facts under one heading: {"Device cuda:0", {{"Name", "NVIDIA H200"}, …}}.
struct context_section {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;
};

/// Everything that the context holds, scalars first as "Run", then one section for each nested object and
/// device. Null entries are left out.
std::vector<context_section> context_in_words(const document& results);

/// The devices that rows were measured on, in the order of the rows.
std::vector<std::string> device_ids(const document& results);

/// A device's name; its id if the context does not name it.
std::string device_name(const document& results, const std::string& id);

/// What to call a device: its name, with its id where another device of the document has the same name; its
/// id if the context does not name it.
std::string device_title(const document& results, const std::string& id);

/// The UUID of a device: which of all of its name it was. Empty if the context does not say.
std::string uuid_of(const document& results, const std::string& device);

/// SMs, OpenCL compute units, or cores of a device; empty if the context does not say.
std::optional<int64_t> compute_units_of(const document& results, const std::string& device);

/// Whether a device is the machine's own processors: host threads, or OpenCL on them.
bool is_processor(const document& results, const std::string& device);

/// What a step of an idle CUDA graph that was kept took before and after the run, in words, if these differ by more
/// than a hundredth: something in the process has made all its graphs slower. Empty if not, or if the context does not
/// say.
std::string graph_drift_of(const document& results, const std::string& device);

/// What disturbed a device during the run, in words, if that was enough to make its figures wander: more than a
/// twentieth of the processors that it runs on had other work, other processes were on a GPU, or graph_drift_of().
/// Empty if not, or if nobody knows.
std::string disturbance_of(const document& results, const std::string& device);

/// Whether the context says that the run was cut short.
bool is_incomplete(const document& results);

}  // namespace gpusync::tool
