// How a check is written down and what it says.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "program.hpp"
#include "support/run_time_test.hpp"

namespace gpusync::verify {

using test::add_check;

/// Calls `visit(Algorithm{})` for each barrier that ships.
template <class Visitor>
void for_each_algorithm(Visitor&& visit) {
  gpusync::grid::portable_algorithms::for_each(visit);
  gpusync::grid::miniatures::for_each(visit);
}

/// States after which a search is cut short: so many, unless the environment says another number.
inline uint64_t states_allowed(uint64_t usual) {
  const char* given = std::getenv("GPUSYNC_VERIFY_STATES");
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

/// A row of the table of results.
inline void print(const std::string& what, const exploration& result) {
  std::printf("%-52s %9llu states %10llu steps %7llu ends %6.2f s  %s\n", what.c_str(),
              static_cast<unsigned long long>(result.states), static_cast<unsigned long long>(result.steps),
              static_cast<unsigned long long>(result.executions), result.seconds,
              result.found != failure::none ? to_string(result.found)
              : result.exhaustive           ? "exhaustive"
                                            : "bounded");
}

/// A row, and that the search has found no failure.
inline void expect_nothing_found(const std::string& what, const exploration& result) {
  print(what, result);
  EXPECT_EQ(result.found, failure::none) << what << ": " << to_string(result.found) << "\n" << result.trace;
}
/// A row, the way to the failure, and that it is the one that this mutant has.
inline void expect_found(const std::string& mutant, const exploration& result, failure wanted) {
  print(mutant, result);
  std::fputs(result.trace.c_str(), stdout);
  EXPECT_EQ(result.found, wanted) << "found: " << to_string(result.found);
}

void add_shipped_checks();
void add_mutant_checks();
void add_phased_checks();
void add_rmw_checks();
void add_fault_tolerant_checks();
void add_multi_gpu_checks();
void add_pace_checks();
void add_dependency_counter_checks();
void add_vote_checks();
void add_channel_checks();
void add_neighbour_checks();

}  // namespace gpusync::verify
