#include "boundary/barrier_methods.hpp"

namespace gpusync::tool {

step_method barrier_method(const std::string& name, const char* paper_item, ordering order, const std::string& kind) {
  step_method method;
  method.name = name;
  method.title = name + " " + kind;
  if (*paper_item != '\0') method.items.emplace_back(paper_item);
  method.ordered = orders_data(order);
  method.needs_co_residency = true;
  return method;
}

}  // namespace gpusync::tool
