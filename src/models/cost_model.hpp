// What a grid barrier costs, part by part: the time model of Feng and Xiao 2010 (section VI, items F17 and F18). Parts
// are differences of the times of programs that have more or fewer of them; over the number of blocks each is taken for
// a straight line, and the lines added up predict whole barriers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/line_fit.hpp"

namespace gpusync::tool {

/// A figure with its standard deviation, where that is known.
struct cost_estimate {
  double value = 0;
  std::optional<double> sigma;
};

/// The sum, its standard deviation as if the errors were independent of each other; unknown if one of them is.
cost_estimate sum_of(const std::vector<cost_estimate>& summands);

/// Equations 2 and 3, T = tO + tCom + tS: a kernel's execution time from that of the kernel without its barrier and
/// from the time of the barrier.
cost_estimate execution_time(const cost_estimate& launch_and_computation, const cost_estimate& synchronization);

/// A program's time, counted `factor` times.
struct cost_term {
  std::string program;
  double factor = 1;
};

/// A part of a barrier: the sum of its terms.
using cost_formula = std::vector<cost_term>;

/// The five programs from which the paper draws the parts.
struct measured_programs {
  std::string work;            ///< t1 = tO + tCom: the work, without a barrier
  std::string atomic_add;      ///< t2 = ta: nothing but one atomic addition for each block
  std::string block_barriers;  ///< t3 = tO + tCom + ts: the work with __syncthreads()
  std::string unfenced;        ///< t4 = tO + tCom + ts + ta + tc: the lock-based barrier without its fence
  std::string fenced;          ///< t5 = t4 + tf: with its fence
};

/// The four parts of the paper.
struct barrier_formulae {
  cost_formula atomic_add;      ///< ta = t2
  cost_formula check;           ///< tc = t4 - t3 - t2
  cost_formula block_barriers;  ///< ts = t3 - t1
  cost_formula fence;           ///< tf = t5 - t4
};
barrier_formulae formulae_of(const measured_programs& programs);

/// Times of programs by their name, each in the order of the rounds in which they were taken.
using program_rounds = std::map<std::string, std::vector<double>>;

/// A formula's value in each round that all of its programs have. What drifts from round to round is in all programs of
/// a round and cancels, so that these values scatter less than the programs' own scatter, added up, would say. Empty
/// if there is no such round, or a program is not there at all.
std::vector<double> by_round(const cost_formula& formula, const program_rounds& rounds);

/// A part's cost over the number of blocks n: constant + per_block n.
struct cost_line {
  cost_estimate constant;
  cost_estimate per_block;
  double mean_blocks = 0;  ///< the mean of the numbers of blocks behind it, about which its errors turn

  /// At `blocks` blocks, with the standard error of the line there.
  cost_estimate at(double blocks) const;
};

/// The line with the least squares through points of a cost over blocks. Empty if they do not have two different
/// numbers of blocks; without errors if there are but two.
std::optional<cost_line> fit_cost(const std::vector<fit_point>& points);

/// Equation 1, tS = ta + tc + ts + tf, at `blocks` blocks: the sum of the parts that a barrier has. One without the
/// fence leaves tf out.
cost_estimate synchronization_time(const std::vector<cost_line>& parts, double blocks);

}  // namespace gpusync::tool
