#include "experiments/feng_xiao_2010/feng_xiao_published.hpp"

#include "embedded/feng_xiao_2010_published_json.hpp"
#include "experiments/published.hpp"

namespace gpusync::tool {

std::vector<row> feng_xiao_published(const std::string& experiment) {
  return published_rows(embedded::feng_xiao_2010_published_json, experiment);
}

}  // namespace gpusync::tool
