#include "workloads/levels/levels.hpp"

namespace gpusync::tool {

std::string name_of(const level_variant& variant) {
  std::string name = variant.method;
  if (variant.group != 0) name += "-" + std::to_string(variant.group);
  return variant.divergent ? name + "-divergent" : name;
}

}  // namespace gpusync::tool
