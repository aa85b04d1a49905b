// The devices of a page: documents of many runs have the same ones.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "results/document.hpp"

namespace gpusync::tool {

/// The devices that the documents' rows are of, by number. Those of one name are one: "NVIDIA H200"; "NVIDIA H200
/// (OpenCL)" where OpenCL runs one that others in the page reach without; with its id where another one in the same
/// document has its name, and its id alone if the context does not name it.
class device_table {
 public:
  explicit device_table(const std::vector<document>& documents);

  /// The number of a device of a document's rows.
  size_t number_of(size_t document, const std::string& id) const { return numbers_.at({document, id}); }
  /// The name of a device of a document's rows.
  const std::string& name_of(size_t document, const std::string& id) const { return names_[number_of(document, id)]; }
  /// All names, by number.
  const std::vector<std::string>& names() const { return names_; }
  /// How many different ones of a number's name there are, by their UUIDs; 0 if no document has them.
  size_t different_ones(size_t number) const { return uuids_[number].size(); }

 private:
  std::map<std::pair<size_t, std::string>, size_t> numbers_;
  std::vector<std::string> names_;
  std::vector<std::set<std::string>> uuids_;
};

}  // namespace gpusync::tool
