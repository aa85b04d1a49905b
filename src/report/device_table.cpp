#include "report/device_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "results/context.hpp"
#include "results/groups.hpp"

namespace gpusync::tool {
namespace {

/// What an id begins with: "cuda", "opencl", "host".
std::string kind_of(const std::string& id) {
  return id.substr(0, id.find(':'));
}

/// The name without the id that device_title() may have put behind it.
std::string bare_name(const document& results, const std::string& id) {
  const std::string title = device_title(results, id), suffix = fmt::format(" ({})", id);
  return title.ends_with(suffix) ? title.substr(0, title.size() - suffix.size()) : title;
}

std::string name_in_page(const document& results, const std::string& id, const std::set<std::string>& ids) {
  const std::string name = bare_name(results, id);
  constexpr size_t most_compared = 16;
  const bool has_namesake = ids.size() <= most_compared && std::ranges::any_of(ids, [&](const std::string& other) {
                              return other != id && kind_of(other) == kind_of(id) && bare_name(results, other) == name;
                            });
  const char* way = kind_of(id) == "opencl" && name.find("OpenCL") == std::string::npos ? " (OpenCL)" : "";
  return has_namesake ? fmt::format("{} ({})", name, id) : name + way;
}

}  // namespace

device_table::device_table(const std::vector<document>& documents) {
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < documents.size(); ++i) {
    std::set<std::string> ids;
    for (const row& entry : documents[i].rows) ids.insert(entry.device);
    for (const row& entry : documents[i].rows) {
      if (numbers_.contains({i, entry.device})) continue;
      const auto [found, is_new] = known.try_emplace(name_in_page(documents[i], entry.device, ids), names_.size());
      if (is_new) names_.push_back(found->first);
      numbers_.emplace(std::pair{i, entry.device}, found->second);
    }
  }
}

}  // namespace gpusync::tool
