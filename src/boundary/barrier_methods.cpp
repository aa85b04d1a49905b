#include "boundary/barrier_methods.hpp"

#include "boundary/paper_items.hpp"

namespace gpusync::tool {

step_method barrier_method(const std::string& name, ordering order, const std::string& kind, bool rival) {
  step_method method;
  method.name = name;
  method.title = name + " " + kind;
  method.items = paper_items_of(name);
  method.ordered = orders_data(order);
  method.needs_co_residency = true;
  method.rival = rival;
  return method;
}

}  // namespace gpusync::tool
