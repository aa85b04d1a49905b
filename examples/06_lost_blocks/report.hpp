// The plate that both programs relax, what it must look like in the end, and what is said about the run.
#pragma once

#include <cstdio>
#include <vector>

#include "relax.hpp"

namespace lost_blocks {

inline std::vector<float> first_plate(int width, int height) {
  std::vector<float> cells(static_cast<size_t>(width) * static_cast<size_t>(height), 0.0f);
  for (int x = 0; x < width; ++x) cells[static_cast<size_t>(x)] = 100.0f + static_cast<float>(x % 7);
  return cells;
}

/// The same steps by one thread.
inline std::vector<float> relaxed_alone(int width, int height, int steps) {
  std::vector<float> one = first_plate(width, height), other = one;
  const plate both{{one.data(), other.data()}, width, height};
  for (int step = 0; step < steps; ++step) relax(both, step, {1, height - 1}, 0, 1);
  return steps % 2 == 0 ? one : other;
}

/// Says who was lost when, by the notes of one who lives; returns whether those are the ones that the plan says.
inline bool say_who_was_lost(const std::vector<plan>& plans, const std::vector<note>& notes) {
  size_t witness = 0;
  while (plans[witness].what != fate::lives) ++witness;
  bool right = true;
  for (size_t i = 0; i < plans.size(); ++i) {
    const plan& of = plans[i];
    note seen = notes[witness * plans.size() + i];
    seen.told_removed = notes[i * plans.size() + i].told_removed;
    const bool dies = of.what != fate::lives;
    right = right && (seen.lost_in != 0) == dies && (seen.told_removed != 0) == (of.what == fate::sleeps);
    if (seen.lost_in == 0 && !dies) continue;
    const char* how = of.what == fate::dies_at_work         ? "died at its work"
                      : of.what == fate::dies_after_arrival ? "died after its arrival"
                      : of.what == fate::sleeps             ? "fell asleep"
                                                            : "was to live";
    std::printf("  block %zu %s in step %d and was lost in step %d; %d rows were redone%s\n", i, how, of.step,
                seen.lost_in - 1, seen.rows_redone,
                seen.told_removed != 0 ? "; when it woke, it learned that it was removed" : "");
  }
  return right;
}

}  // namespace lost_blocks
