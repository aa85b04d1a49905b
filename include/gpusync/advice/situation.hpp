// What a program that goes on in steps is asked before anybody can say how its blocks should wait for each other.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include <gpusync/core/error.hpp>

/// Which way to wait: predictions of what a step takes, from costs that were measured. Host only.
namespace gpusync::advice {

/// How the time of a block's step scatters, from block to block and from step to step.
enum class skew_form {
  uniform,      ///< evenly between nothing and twice the mean
  exponential,  ///< often little, now and then much
};

/// Whom a block waits for.
enum class dependence {
  all,         ///< every block needs what any other has written
  neighbours,  ///< it needs what a few others have written
};

/// A computation in steps, behind each of which blocks read what others have written.
struct situation {
  uint32_t blocks = 1;                     ///< of the grid
  uint32_t threads = 1;                    ///< of a block
  double step_us = 0;                      ///< mean time of a block's work in a step, in microseconds
  double skew_us = 0;                      ///< of this, the mean of what differs between blocks; at most step_us
  skew_form skew = skew_form::uniform;     ///< how it differs
  double stored_bytes = 4;                 ///< that a block writes in a step for others
  double kept_bytes = 0;                   ///< that a block keeps on the chip from step to step, if it can
  dependence waits_for = dependence::all;  ///< whose words a block needs
  uint32_t neighbours = 2;                 ///< of a block, if it waits for neighbours: 2 in a ring, 4 or 8 in a torus
  uint64_t steps = 1000;                   ///< of a run
  uint32_t gpus = 1;                       ///< each with so many blocks
  /// Blocks that run at once; 0: as many as their threads allow, which is also the most. A kernel that takes many
  /// registers, or much shared memory, has fewer.
  uint64_t resident_blocks = 0;
};

/// Throws invalid_argument, with what is wrong and what is allowed.
inline void check(const situation& asked) {
  const auto refuse = [](const std::string& sentence) { throw invalid_argument(sentence); };
  constexpr uint32_t most_blocks = 2147483647;
  if (asked.blocks == 0 || asked.blocks > most_blocks) {
    refuse("A grid has 1 to " + std::to_string(most_blocks) + " blocks, not " + std::to_string(asked.blocks) + ".");
  }
  if (asked.threads == 0 || asked.threads > 1024) {
    refuse("A block has 1 to 1024 threads, not " + std::to_string(asked.threads) + ".");
  }
  if (!(asked.step_us >= 0) || asked.step_us > 1e9) refuse("A step takes from 0 to 1e9 microseconds.");
  if (!(asked.skew_us >= 0) || asked.skew_us > asked.step_us) {
    std::ostringstream words;
    words << "What differs between blocks is a part of the step: from 0 to its " << asked.step_us
          << " microseconds, not " << asked.skew_us << ".";
    refuse(words.str());
  }
  if (!(asked.stored_bytes >= 0) || asked.stored_bytes > 1e12) refuse("A block stores from 0 to 1e12 bytes in a step.");
  if (!(asked.kept_bytes >= 0) || asked.kept_bytes > 1e12) refuse("A block keeps from 0 to 1e12 bytes.");
  if (asked.steps == 0) refuse("A run has at least one step, not 0.");
  if (asked.gpus == 0) refuse("A computation runs on at least one GPU, not 0.");
  if (asked.waits_for == dependence::neighbours && asked.neighbours != 2 && asked.neighbours != 4 &&
      asked.neighbours != 8) {
    refuse("A block has 2, 4 or 8 neighbours, not " + std::to_string(asked.neighbours) + ".");
  }
}

}  // namespace gpusync::advice
