#include "results/row.hpp"

namespace gpusync::tool {

const metric* row::find_metric(const std::string& name) const {
  for (const auto& [key, value] : metrics) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace gpusync::tool
