// What waiting costs on one device: for each way to wait the coefficients of a sum of terms, fitted to what was
// measured there.
//
// The terms are the papers'. A barrier is t_S = t_a + t_c + t_s + t_f (equation 1 of Feng and Xiao): atomic additions
// that follow each other, the round trip to see that all are there, the barriers of the block, the fence behind the
// stores. A step takes work and synchronization, T = t_O + t_Com + t_S (equations 2 and 3). A kernel that stays pays
// its launch and its first barrier once in a run of N steps, one that comes back pays in each step (equations 5 and 6
// of Shen). Over the blocks costs are lines (equations 3 and 4), with another slope where an SM has several. Data that
// do not stay on the chip are loaded again at the rate of the memory (equations 1 to 5 of Zhang and others: a time
// that is a latency as long as little is under way, and a throughput beyond).
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include <gpusync/advice/work.hpp>

namespace gpusync::advice {

/// A way to pass from step to step.
enum class way {
  host_wait,             ///< the host launches a kernel for each step and waits for it
  relaunch,              ///< it queues kernels
  cooperative_relaunch,  ///< it queues cooperative kernels
  graph,                 ///< a CUDA graph of kernels
  dependent_graph,       ///< the same with programmatic dependent launch: kernels let in the next first
  late_dependent_graph,  ///< the same, but kernels let in the next behind their wait for the one before
  cooperative_groups,    ///< NVIDIA's grid barrier
  grid_barrier,          ///< this library's, as it is by default on GPUs
  host_barrier,          ///< this library's, as it is by default on host threads
  neighbour_barrier,     ///< its barrier of neighbours
  halo,                  ///< its halo
  gpus_host,             ///< several GPUs: a host thread for each launches a step, and all wait for each other
  gpus_events,           ///< several GPUs: queued kernels that wait for events of the other streams
  gpus_graph,            ///< several GPUs: one CUDA graph of their kernels
  gpus_barrier,          ///< several GPUs: this library's barrier of all their blocks
};

/// How many ways there are.
inline constexpr size_t way_count = static_cast<size_t>(way::gpus_barrier) + 1;

/// The name of a way, as result documents have it: "graph-pdl".
constexpr const char* name_of(way which) {
  constexpr const char* names[] = {"launch-wait",
                                   "relaunch",
                                   "cooperative-relaunch",
                                   "graph",
                                   "graph-pdl",
                                   "graph-pdl-late",
                                   "cg",
                                   "placed-counters-acquire-release",
                                   "lock-based-acquire-release",
                                   "neighbour-barrier",
                                   "halo",
                                   "host-threads",
                                   "stream-events",
                                   "graph-across",
                                   "multi-gpu-replicated"};
  static_assert(std::size(names) == way_count);
  return names[static_cast<size_t>(which)];
}

/// What a way is in a program.
constexpr const char* in_program(way which) {
  constexpr const char* words[] = {
      "a launch in each step, waited for by the host",
      "a launch in each step, queued by the host",
      "a cooperative launch in each step, queued by the host",
      "a CUDA graph with a kernel for each step",
      "a CUDA graph of kernels with programmatic dependent launch",
      "a CUDA graph of kernels that let in the next behind cudaGridDependencySynchronize()",
      "cooperative_groups::grid_group",
      "gpusync::grid_barrier",
      "gpusync::host_grid_barrier",
      "gpusync::neighbour_barrier",
      "gpusync::halo",
      "a host thread for each GPU, which launch each step and wait for each other",
      "launches of each step that wait for events of the other GPUs' streams",
      "one CUDA graph of the kernels of all GPUs",
      "gpusync::multi_gpu_barrier"};
  static_assert(std::size(words) == way_count);
  return words[static_cast<size_t>(which)];
}

/// Whether it is a way of several GPUs together.
constexpr bool is_of_several_gpus(way which) {
  return which >= way::gpus_host;
}
/// Whether each step is a kernel of its own.
constexpr bool is_launch(way which) {
  return which <= way::late_dependent_graph || (is_of_several_gpus(which) && which != way::gpus_barrier);
}
/// Whether a block waits for its neighbours alone.
constexpr bool is_of_neighbours(way which) {
  return which == way::neighbour_barrier || which == way::halo;
}
/// Whether all blocks must run at once.
constexpr bool needs_co_residency(way which) {
  return !is_launch(which) || which == way::cooperative_relaunch;
}

/// What a step's cost beyond its work is made of.
enum class term {
  round_trip,      ///< t_c, and what a launch takes alone
  first_blocks,    ///< t_a of the first block of each SM: the part of the SMs that have one
  further_blocks,  ///< t_a of further ones: blocks per SM beyond the first
  crowded,         ///< t_a beyond four blocks per SM, where polls delay additions
  together,        ///< as further_blocks, as far as blocks arrive at the same time: skew spreads them
  block_threads,   ///< t_s: threads of a block, in 1024
  sm_threads,      ///< the part of the SMs' threads that are taken
  occupied,        ///< the part of the places for blocks that are taken
  waves,           ///< blocks beyond those that run at once, in grids of those: they start when others have ended
  worked,          ///< behind work a block's threads meet once more: from 0 to 1, which 0.2 microseconds of work are
  skewed,          ///< what a late block finds otherwise than one of many: from 0 to 1 with the skew
  stored,          ///< t_f: kilobytes that an SM stores in a step
  read,            ///< kilobytes that it reads of others
  read_beyond,     ///< of these, kilobytes beyond what an SM has under way at a time
  partners,        ///< blocks of which a block reads
  kept,            ///< kilobytes of an SM that stay on the chip, or are loaded and saved: in each step, or in each run
  begin,           ///< what a run takes once: one part in its steps
  begin_blocks,    ///< the same for each block of an SM
};

/// How many terms there are.
inline constexpr size_t term_count = static_cast<size_t>(term::begin_blocks) + 1;

/// The name of a term: "round_trip".
constexpr const char* name_of(term which) {
  constexpr const char* names[] = {"round_trip",    "first_blocks", "further_blocks", "crowded",     "together",
                                   "block_threads", "sm_threads",   "occupied",       "waves",       "worked",
                                   "skewed",        "stored",       "read",           "read_beyond", "partners",
                                   "kept",          "begin",        "begin_blocks"};
  static_assert(std::size(names) == term_count);
  return names[static_cast<size_t>(which)];
}

/// What a term counts, in words.
constexpr const char* in_words(term which) {
  constexpr const char* words[] = {"the round trip to see that those waited for are there, or the launch itself",
                                   "the first block of each SM that arrives, or starts",
                                   "further blocks of an SM that arrive, or start",
                                   "more than four blocks of an SM, in each other's way",
                                   "blocks of an SM that arrive at the same time",
                                   "the threads of a block that meet",
                                   "the threads of an SM that are taken",
                                   "the places for blocks that are taken",
                                   "blocks that start when others have ended",
                                   "the threads of a block that meet behind its work",
                                   "late blocks that find others polling",
                                   "stores of an SM that must be seen by others",
                                   "words of others that an SM reads",
                                   "words of others beyond the 16 KB that an SM reads at a time",
                                   "blocks of which a block reads",
                                   "what an SM keeps, or loads and saves",
                                   "what a run takes once, a part of it in each step",
                                   "what a run takes once for each block of an SM, a part of it in each step"};
  static_assert(std::size(words) == term_count);
  return words[static_cast<size_t>(which)];
}

/// A value for each term.
using term_values = std::array<double, term_count>;

/// What a device has room for.
struct device_room {
  uint32_t sms = 1;                ///< multiprocessors, or processors of a host
  uint32_t threads_per_sm = 2048;  ///< at most
  uint32_t blocks_per_sm = 32;     ///< at most
};

/// Blocks of a situation that run at once on a device.
inline double resident_blocks_of(const situation& asked, const device_room& room) {
  const uint32_t warps = (asked.threads + 31) / 32;
  const uint32_t by_threads = std::max(1u, room.threads_per_sm / 32 / warps);
  const double most = static_cast<double>(room.sms) * std::min(room.blocks_per_sm, by_threads);
  return asked.resident_blocks == 0 ? most : std::min(most, static_cast<double>(asked.resident_blocks));
}

/// The terms of a situation under a way to wait, without their coefficients.
inline term_values terms_of(const situation& asked, way which, const device_room& room) {
  constexpr double kilobyte = 1024, spread_by_us = 0.25, under_way = 16, work_us = 0.2;
  const double sms = room.sms, each = asked.blocks / sms, steps = static_cast<double>(asked.steps);
  const double resident = resident_blocks_of(asked, room), grids = asked.blocks / resident;
  const double of_an_sm = std::min<double>(std::max(1.0, std::ceil(each)), std::max(1.0, resident / sms));
  const double skewed = asked.skew_us / (asked.skew_us + spread_by_us);
  const double partners = asked.waits_for == dependence::all ? 1 : asked.neighbours;
  const double further = std::max(0.0, each - 1);
  term_values values{};
  const auto set = [&values](term one, double value) { values[static_cast<size_t>(one)] = value; };
  set(term::round_trip, 1);
  set(term::first_blocks, std::min(1.0, each));
  set(term::further_blocks, further);
  set(term::crowded, std::max(0.0, each - 4));
  set(term::together, further * (1 - skewed));
  set(term::block_threads, asked.threads / 1024.0);
  set(term::sm_threads, std::min(1.0, of_an_sm * asked.threads / room.threads_per_sm));
  set(term::occupied, std::min(1.0, grids));
  set(term::waves, std::max(0.0, grids - 1));
  set(term::worked, std::min(1.0, asked.step_us / work_us));
  set(term::skewed, skewed);
  set(term::stored, asked.stored_bytes * std::max(1.0, each) / kilobyte);
  const double read = asked.stored_bytes * partners * std::max(1.0, each) / kilobyte;
  set(term::read, read);
  set(term::read_beyond, std::max(0.0, read - under_way));
  set(term::partners, partners);
  set(term::kept, asked.kept_bytes * std::max(1.0, each) / kilobyte / (is_launch(which) ? 1 : steps));
  set(term::begin, 1 / steps);
  set(term::begin_blocks, each / steps);
  return values;
}

/// What one way costs on a device.
struct way_costs {
  way which = way::relaunch;  ///< whose costs these are
  term_values us = {};        ///< microseconds for each unit of a term; never below 0
  /// Microseconds from launch to launch that the host needs; shorter steps wait for it. 0: there is no such bound.
  double host_us = 0;
  /// Nine of ten times are to lie within this part of the predicted one, either way: of steps that the fit does not
  /// know, but of the kind that was measured.
  double spread = 0;
  uint64_t points = 0;  ///< situations that it was fitted to
};

/// What all ways cost on a device.
struct device_costs {
  std::string device;           ///< "NVIDIA H200"
  device_room room = {};        ///< what the terms are reckoned with
  std::vector<way_costs> ways;  ///< each once
  situation least = {};         ///< the least of each number that was measured
  situation most = {};          ///< and the greatest
  double most_grids = 0;        ///< the most waves of blocks: blocks over those that run at once. 0: not known

  /// The costs of a way; null if it was not measured.
  const way_costs* find(way which) const {
    for (const way_costs& one : ways) {
      if (one.which == which) return &one;
    }
    return nullptr;
  }
};

}  // namespace gpusync::advice
