// What the work of a step takes until those who wait for it may go on: the slowest counts, of all blocks or of a few.
#pragma once

#include <algorithm>
#include <cmath>

#include <gpusync/advice/situation.hpp>

namespace gpusync::advice {

/// The mean of the greatest of `count` draws of the skew, in means of one draw: the harmonic number of an exponential,
/// 2 count / (count + 1) of a uniform distribution. Precondition: count >= 1.
inline double greatest_of(double count, skew_form skew) {
  if (skew == skew_form::uniform) return 2 * count / (count + 1);
  constexpr double euler = 0.57721566490153286;
  if (count > 20) return std::log(count) + euler + 1 / (2 * count);
  double sum = 0;
  for (int k = 1; k <= static_cast<int>(count); ++k) sum += 1.0 / k;
  return sum;
}

/// What a step takes in means of one draw if a block goes on as soon as its neighbours and itself are done, in runs of
/// `steps` steps of `blocks` blocks. A block's time of step s is x(s) = draw + greatest of the neighbours' x(s - 1) and
/// its own: last-passage percolation. Long runs of many blocks grow at a rate that depends on the neighbours alone,
/// which is known from simulation, as is how runs come near to it (tests/advice simulates them anew). The first step is
/// that of a barrier: the greatest of all.
inline double greatest_among_neighbours(double blocks, uint32_t neighbours, double steps, skew_form skew) {
  struct growth {
    double rate;     // of endless rings or tori
    double smaller;  // rings and tori of B blocks: less by smaller / B^power
    double power;
  };
  const bool uniform = skew == skew_form::uniform;
  const growth grows = neighbours == 2   ? (uniform ? growth{1.645, 0.42, 1} : growth{2.39, 1.9, 1})
                       : neighbours == 4 ? (uniform ? growth{1.806, 0.315, 0.65} : growth{3.19, 2.85, 0.65})
                                         : (uniform ? growth{1.885, 0.297, 0.65} : growth{3.72, 3.88, 0.65});
  const double all = greatest_of(blocks, skew);
  const double rate = std::max(1.0, grows.rate - grows.smaller / std::pow(blocks, grows.power));
  if (rate >= all) return all;
  return rate + (all - rate) * std::pow(steps, uniform ? -0.5 : -0.85);
}

/// Microseconds of a step's work with everybody waiting for everybody, `resident` blocks of a GPU at a time. Where
/// blocks are more than that, they come in waves: what all take alike is taken once in each wave, what differs fills
/// the places of those that are done early.
inline double work_of_all(const situation& asked, double resident) {
  const double at_once = std::min<double>(asked.blocks, resident);
  const double waves = std::ceil(asked.blocks / at_once);
  const double even = asked.step_us - asked.skew_us;
  return even * waves + asked.skew_us * (greatest_of(at_once * asked.gpus, asked.skew) + asked.blocks / at_once - 1);
}

/// The same with blocks that wait for their neighbours, all resident.
inline double work_of_neighbours(const situation& asked) {
  const double even = asked.step_us - asked.skew_us;
  return even + asked.skew_us * greatest_among_neighbours(asked.blocks, asked.neighbours,
                                                          static_cast<double>(asked.steps), asked.skew);
}

}  // namespace gpusync::advice
