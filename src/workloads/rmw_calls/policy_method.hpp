// The policies of objects as methods of results. C++17: CUDA sources include it.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "boundary/program.hpp"
#include "workloads/rivals/atomic_word.hpp"

namespace gpusync::tool {

/// What results call a consensus policy, or plain atomic operations in its place.
template <class Consensus>
std::string policy_name() {
  std::string words = Consensus::name;
  if (Consensus::order == rmw::publication::ordered) words += "-ordered";
  if (Consensus::spin_limit != 0) words += "-mail-" + std::to_string(Consensus::spin_limit);
  if (sizeof(typename Consensus::cell_type) == 4) words += "-32";
  return words;
}

/// The method of such a policy under that name. `items`: those that its calls reproduce; the papers have no loops.
template <class Consensus>
step_method policy_method(const std::string& name, const std::vector<std::string>& items) {
  constexpr bool loops = std::is_same_v<Consensus, rivals::cas_loop>;
  step_method method;
  method.name = method.title = name;
  method.kind = method_kind::object;
  method.rival = loops || std::is_same_v<Consensus, rivals::hardware>;
  if (!loops) method.items = items;
  return method;
}

}  // namespace gpusync::tool
