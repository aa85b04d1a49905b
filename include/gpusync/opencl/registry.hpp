// The barriers that there are in OpenCL C, once: programs, storages, tests, workloads and experiments walk this list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gpusync/opencl/storage_layout.h>
#include <gpusync/core/ordering.hpp>
#include <gpusync/core/phase.hpp>
#include <gpusync/opencl/centralized_source.hpp>
#include <gpusync/opencl/decentralized_source.hpp>
#include <gpusync/opencl/lock_based_source.hpp>
#include <gpusync/opencl/lock_free_source.hpp>
#include <gpusync/opencl/tree_source.hpp>

namespace gpusync::opencl {

/// One barrier in OpenCL C, of any ordering. Which one a program takes is known when it is built, at run time, so these
/// are values and not types. Compare by address.
struct barrier_algorithm {
  const char* family;          ///< in names: "lock-based"
  const char* file;            ///< its file is FILE.cl and its functions are gpusync_FILE_...
  const char* text;            ///< the file
  uint32_t number;             ///< gpusync_FILE_number, by which a kernel of another algorithm is found out
  bool wait_needed_by_others;  ///< work-groups are let go only when work-group 0 calls wait
  uint32_t max_groups;         ///< the most that it can serve
  /// Its words of the storage, for `groups` work-groups.
  size_t (*words)(uint32_t groups);
  /// Sets them, zero so far, to the start of phase `phase`.
  void (*start)(std::vector<uint32_t>& words, uint32_t phase);
};

namespace detail {

static_assert(GPUSYNC_LINE_WORDS == gpusync::detail::line_words, "kernels and the host have lines of one size");

inline size_t tree_words(uint32_t groups) {
  size_t wide = 1;
  while (wide * wide < groups) ++wide;
  return (1 + wide) * GPUSYNC_LINE_WORDS;
}

// Counters hold the phase in their high half: see gpusync::phase_word.
inline void start_counters(std::vector<uint32_t>& words, uint32_t phase) {
  for (size_t i = 0; i < words.size(); i += GPUSYNC_LINE_WORDS) words[i] = phase_word::start_of(phase);
}
// The first word counts the phases that have ended; what else there is rests at zero.
inline void start_count(std::vector<uint32_t>& words, uint32_t phase) {
  words[0] = phase;
}
inline void start_flags(std::vector<uint32_t>& words, uint32_t phase) {
  for (uint32_t& word : words) word = phase;
}

/// What a device's launches cannot exceed in practice.
inline constexpr uint32_t most_groups = phase_word::max_blocks;

}  // namespace detail

/// The default: see lock_based.cl.
inline constexpr barrier_algorithm lock_based{"lock-based",
                                              "lock_based",
                                              embedded::opencl_lock_based,
                                              1,
                                              false,
                                              phase_word::max_blocks,
                                              [](uint32_t) { return size_t{GPUSYNC_LINE_WORDS}; },
                                              detail::start_counters};
/// See lock_free.cl.
inline constexpr barrier_algorithm lock_free{
    "lock-free",
    "lock_free",
    embedded::opencl_lock_free,
    5,
    true,
    detail::most_groups,
    [](uint32_t groups) { return GPUSYNC_LINE_WORDS + 2 * gpusync::detail::whole_lines(groups); },
    detail::start_flags};
/// See tree.cl.
inline constexpr barrier_algorithm tree{"tree-2",
                                        "tree",
                                        embedded::opencl_tree,
                                        2,
                                        false,
                                        phase_word::max_blocks,
                                        detail::tree_words,
                                        detail::start_counters};
/// See centralized.cl.
inline constexpr barrier_algorithm centralized{"centralized",
                                               "centralized",
                                               embedded::opencl_centralized,
                                               3,
                                               false,
                                               detail::most_groups,
                                               [](uint32_t) { return size_t{3 * GPUSYNC_LINE_WORDS}; },
                                               detail::start_count};
/// See decentralized.cl.
inline constexpr barrier_algorithm decentralized{
    "decentralized",
    "decentralized",
    embedded::opencl_decentralized,
    4,
    true,
    detail::most_groups,
    [](uint32_t groups) { return GPUSYNC_LINE_WORDS + gpusync::detail::whole_lines(groups); },
    detail::start_count};

/// All of them.
inline constexpr const barrier_algorithm* barrier_algorithms[] = {&lock_based, &lock_free, &tree, &centralized,
                                                                  &decentralized};

/// An algorithm with one of its orderings.
struct barrier_method {
  const barrier_algorithm* algorithm;          ///< never null
  ordering order = ordering::acquire_release;  ///< how it orders the data around it

  /// As in results and on the command line: "lock-based-acquire-release".
  std::string name() const { return std::string(algorithm->family) + "-" + to_string(order); }
};

/// Every algorithm with every ordering.
inline std::vector<barrier_method> barrier_methods() {
  std::vector<barrier_method> methods;
  for (const barrier_algorithm* algorithm : barrier_algorithms) {
    for (const ordering order : {ordering::none, ordering::fence, ordering::acquire_release}) {
      methods.push_back({algorithm, order});
    }
  }
  return methods;
}

}  // namespace gpusync::opencl
