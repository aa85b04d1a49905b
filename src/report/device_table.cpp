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

/// The ways by which devices of each name were reached: kinds by bare name.
using known_ways = std::map<std::string, std::set<std::string>>;

std::string name_in_page(const document& results, const std::string& id, const std::set<std::string>& ids,
                         const known_ways& ways) {
  const std::string name = bare_name(results, id), kind = kind_of(id);
  constexpr size_t most_compared = 16;
  const bool has_namesake = ids.size() <= most_compared && std::ranges::any_of(ids, [&](const std::string& other) {
                              return other != id && kind_of(other) == kind && bare_name(results, other) == name;
                            });
  if (has_namesake) return fmt::format("{} ({})", name, id);
  return kind == "opencl" && ways.at(name).size() > 1 ? name + " (OpenCL)" : name;
}

}  // namespace

device_table::device_table(const std::vector<document>& documents) {
  std::vector<std::set<std::string>> ids(documents.size());
  known_ways ways;
  for (size_t i = 0; i < documents.size(); ++i) {
    for (const row& entry : documents[i].rows) {
      if (ids[i].insert(entry.device).second) ways[bare_name(documents[i], entry.device)].insert(kind_of(entry.device));
    }
  }
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < documents.size(); ++i) {
    for (const std::string& id : ids[i]) {
      const auto [found, is_new] = known.try_emplace(name_in_page(documents[i], id, ids[i], ways), names_.size());
      if (is_new) {
        names_.push_back(found->first);
        uuids_.emplace_back();
      }
      if (const std::string uuid = uuid_of(documents[i], id); !uuid.empty()) uuids_[found->second].insert(uuid);
      numbers_.emplace(std::pair{i, id}, found->second);
    }
  }
}

}  // namespace gpusync::tool
