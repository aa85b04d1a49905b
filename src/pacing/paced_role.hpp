// What a variant of a loop is to the others, and against what its gain counts. C++17: CUDA sources include it.
#pragma once

namespace gpusync::tool {

/// What a variant of a kernel is to the others.
enum class paced_role {
  plain,    ///< the loop as people write it; what every other variant is compared with
  control,  ///< a fence for the compiler in the barrier's place: what it gains is the compiler's doing
  counted,  ///< a lead's counting without its waiting: the other control of leads
  paced,    ///< this library's
  lead,     ///< this library's bounded lead, which counts visits
  effect,   ///< one of a barrier's effects without the others: arriving, fencing, a delay. Never an offer
  rival     ///< another cure of the same ill, with other resources
};

/// Whether it keeps nobody in step, but has the code of what does.
constexpr bool is_control(paced_role role) {
  return role == paced_role::control || role == paced_role::counted;
}

/// Whether it keeps warps in step, and is offered.
constexpr bool is_barrier(paced_role role) {
  return role == paced_role::paced || role == paced_role::lead;
}

/// Whether a gain of `own` must be one on `other` too, which keeps nobody in step: none, the compiler's fences, and for
/// leads what counts as they do.
constexpr bool is_base_of(paced_role own, paced_role other) {
  return other == paced_role::plain || other == paced_role::control ||
         (other == paced_role::counted && own == paced_role::lead);
}

}  // namespace gpusync::tool
