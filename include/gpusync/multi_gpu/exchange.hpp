// How GPUs tell each other that their blocks have arrived: the second half of a barrier across GPUs.
#pragma once

#include <gpusync/core/phase.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/grid/ordered.hpp>
#include <gpusync/multi_gpu/peers.hpp>

namespace gpusync::multi_gpu {

/// @page Exchange
/// How the leading blocks of several GPUs tell all others that their own GPU's blocks have arrived: a struct without
/// data, with static functions. Phases are numbers that count up and wrap.
/// - `family`: its name
/// - `repeatable`: whether several warps may each tell what one of them needs to tell
/// - `senders(gpus)`: how many threads of a warp find the last arrival and tell the others, at best
/// - `phase_of(grid, places)`: the last phase that ended, for a block that has not arrived in the next
/// - `target(peers, gpu, gpus, i)`: what the i-th of the senders of a GPU writes to
/// - `tell(grid, own, i, goal, context)`: the calling thread, the i-th sender, tells its targets that its GPU's blocks
///   have arrived in the phase; may wait
/// - `sources(gpus)`: how many words a block polls
/// - `source(places, partition)`: the first of them; the others follow it
/// - `word`: what they are, uint32_t or uint64_t
/// - `reached(word, goal)`: whether a word that is polled tells that a phase has ended
/// - `see(own, word, goal)`: what else the thread must do that has polled this word until it did
/// - `word_of(phase)`: what the words on the lines hold when that phase has ended
/// - `stamp(goal)`: a mark of a phase, never 0
/// - `layout`: an exchange_layout
/// - `places_lines`: whether the lines that peers write to may lie outside the GPU's words

/// What a sender holds.
struct sender {
  const peer* peers;  ///< all GPUs
  uint32_t* out;      ///< its own target, found once
  uint32_t gpu;       ///< its GPU's rank
  uint32_t gpus;      ///< how many GPUs there are
  uint32_t step;      ///< how many senders there are, for one that has more than one target
  bool across_hosts;  ///< see exchange_places
};

/// What most exchanges have in common.
struct exchange_defaults {
  /// What a sender writes: the phase.
  using word = uint32_t;
  /// Two lines for each GPU.
  using layout = exchange_layout<most_gpus, detail::line_words>;
  /// Each line lies near one half of the GPU's L2 cache.
  static constexpr bool places_lines = true;
  /// Nothing: what polls a word in its own memory needs no other's leave to see it.
  GPUSYNC_HD static void see(const sender&, const word*, uint32_t) {}
};

/// What exchanges have in common whose leading blocks write to every GPU, on both of its lines. Fulfils @ref Exchange
/// with what derives from it.
struct to_every_gpu : exchange_defaults {
  GPUSYNC_HD static constexpr uint32_t senders(uint32_t gpus) { return 2 * gpus; }
  GPUSYNC_HD static const uint32_t* source(const exchange_places& at, uint32_t partition) { return at.near(partition); }
  /// The i-th sender's line. The peers first, for their messages take longest; the own GPU last.
  GPUSYNC_HD static uint32_t* line_of(const peer* peers, uint32_t gpu, uint32_t gpus, uint32_t i) {
    return peers[(gpu + 1 + i % gpus) % gpus].line[i / gpus];
  }
  /// Calls `write(word)` for each target of an Exchange's i-th sender.
  GPUSYNC_API_TEMPLATE
  template <class Exchange, class Write>
  GPUSYNC_HD static wait_status write_all(const sender& own, uint32_t i, Write write) {
    uint32_t* out = own.out;
    for (;;) {
      write(out);
      i += own.step;
      if (i >= senders(own.gpus)) return wait_status::completed;
      out = Exchange::target(own.peers, own.gpu, own.gpus, i);
    }
  }
};

/// A flag for each GPU on every GPU, in both partitions: each leading block stores the phase in its GPU's flags, and a
/// block looks at the flags of all GPUs in the copy that is near it. One hop. Fulfils @ref Exchange.
struct all_to_all : to_every_gpu {
  static constexpr const char* family = "multi-gpu-all-to-all";
  static constexpr bool repeatable = true;

  GPUSYNC_HD static constexpr uint32_t sources(uint32_t gpus) { return gpus; }
  /// Its own GPU's flag cannot move before all its blocks have arrived.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t phase_of(Grid, const exchange_places& at) {
    return Grid::memory::template load<memory_order::relaxed, scope::system>(at.line[0] + at.gpu);
  }
  GPUSYNC_HD static constexpr bool reached(uint32_t word, uint32_t goal) { return phase_reached(word, goal); }
  GPUSYNC_HD static constexpr uint32_t word_of(uint32_t phase) { return phase; }
  GPUSYNC_HD static constexpr uint32_t stamp(uint32_t goal) { return goal << 1 | 1u; }

  GPUSYNC_HD static uint32_t* target(const peer* peers, uint32_t gpu, uint32_t gpus, uint32_t i) {
    return line_of(peers, gpu, gpus, i) + gpu;
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status tell(Grid, const sender& own, uint32_t i, uint32_t goal, Context&) {
    return write_all<all_to_all>(own, i, [goal](uint32_t* flag) {
      Grid::memory::template store<memory_order::release, scope::system>(flag, goal);
    });
  }
};

/// A counter on every GPU, in both partitions, to which each leading block adds: a block polls one word, however many
/// GPUs there are. One hop. Fulfils @ref Exchange.
struct replicated : to_every_gpu {
  static constexpr const char* family = "multi-gpu-replicated";
  static constexpr bool repeatable = false;

  GPUSYNC_HD static constexpr uint32_t sources(uint32_t) { return 1; }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t phase_of(Grid, const exchange_places& at) {
    using memory = typename Grid::memory;
    // One of the two may still lack a peer's addition for a phase that this GPU's blocks have seen the end of in the
    // other: then the last launch was over sooner.
    const uint32_t first = memory::template load<memory_order::relaxed, scope::system>(at.line[0]);
    const uint32_t second = memory::template load<memory_order::relaxed, scope::system>(at.line[1]);
    return phase_word::phase(phase_reached(first, second) ? first : second);
  }
  GPUSYNC_HD static constexpr bool reached(uint32_t word, uint32_t goal) {
    return phase_reached(word, phase_word::start_of(goal));
  }
  GPUSYNC_HD static constexpr uint32_t word_of(uint32_t phase) { return phase_word::start_of(phase); }
  /// Of what the counter has of a phase.
  GPUSYNC_HD static constexpr uint32_t stamp(uint32_t goal) { return phase_word::start_of(goal) | 1u; }

  GPUSYNC_HD static uint32_t* target(const peer* peers, uint32_t gpu, uint32_t gpus, uint32_t i) {
    return line_of(peers, gpu, gpus, i);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status tell(Grid, const sender& own, uint32_t i, uint32_t, Context&) {
    const uint32_t step = own.gpu == 0 ? phase_word::completing(own.gpus) : 1u;
    return write_all<replicated>(own, i, [step](uint32_t* counter) {
      Grid::memory::template add<memory_order::release, scope::system>(counter, step);
    });
  }
};

/// One counter, on the first GPU, to which each leading block adds and which every block of every GPU polls. Two hops
/// for the others, and their polls delay each other: what multi_grid_group was like. Fulfils @ref Exchange.
struct central : exchange_defaults {
  static constexpr const char* family = "multi-gpu-central";
  static constexpr bool repeatable = false;

  GPUSYNC_HD static constexpr uint32_t senders(uint32_t) { return 1; }
  GPUSYNC_HD static constexpr uint32_t sources(uint32_t) { return 1; }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t phase_of(Grid, const exchange_places& at) {
    return phase_word::phase(Grid::memory::template load<memory_order::relaxed, scope::system>(at.peers[0].line[0]));
  }
  GPUSYNC_HD static const uint32_t* source(const exchange_places& at, uint32_t) { return at.peers[0].line[0]; }
  GPUSYNC_HD static constexpr bool reached(uint32_t word, uint32_t goal) { return replicated::reached(word, goal); }
  GPUSYNC_HD static constexpr uint32_t word_of(uint32_t phase) { return replicated::word_of(phase); }
  GPUSYNC_HD static constexpr uint32_t stamp(uint32_t goal) { return replicated::stamp(goal); }
  GPUSYNC_HD static uint32_t* target(const peer* peers, uint32_t, uint32_t, uint32_t) { return peers[0].line[0]; }
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status tell(Grid, const sender& own, uint32_t, uint32_t, Context&) {
    Grid::memory::template add<memory_order::release, scope::system>(
        own.out, own.gpu == 0 ? phase_word::completing(own.gpus) : 1u);
    return wait_status::completed;
  }
};

/// Rounds in which each leading block tells the one 1, 2, 4, … GPUs further (Hensgen, Finkel and Manber, 1988), and
/// then releases its own GPU's blocks: one hop for each round, and messages to few. Fulfils
/// @ref Exchange.
struct disseminated : exchange_defaults {
  static constexpr const char* family = "multi-gpu-dissemination";
  static constexpr bool repeatable = false;

  GPUSYNC_HD static constexpr uint32_t senders(uint32_t) { return 1; }
  GPUSYNC_HD static constexpr uint32_t sources(uint32_t) { return 1; }
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t phase_of(Grid, const exchange_places& at) {
    return Grid::memory::template load<memory_order::relaxed, scope::system>(released(at.peers[at.gpu]));
  }
  GPUSYNC_HD static const uint32_t* source(const exchange_places& at, uint32_t) { return released(at.peers[at.gpu]); }
  GPUSYNC_HD static constexpr bool reached(uint32_t word, uint32_t goal) { return phase_reached(word, goal); }
  GPUSYNC_HD static constexpr uint32_t word_of(uint32_t phase) { return phase; }
  GPUSYNC_HD static constexpr uint32_t stamp(uint32_t goal) { return all_to_all::stamp(goal); }
  GPUSYNC_HD static uint32_t* target(const peer* peers, uint32_t gpu, uint32_t, uint32_t) {
    return released(peers[gpu]);
  }
  GPUSYNC_API_TEMPLATE
  template <class Grid, class Context>
  GPUSYNC_HD static wait_status tell(Grid grid, const sender& own, uint32_t, uint32_t goal, Context& context) {
    using memory = typename Grid::memory;
    uint32_t round = 0;
    GPUSYNC_UNROLL(1)
    for (uint32_t distance = 1; distance < own.gpus; distance *= 2, ++round) {
      const uint32_t next = (own.gpu + distance) % own.gpus;
      memory::template store<memory_order::release, scope::system>(own.peers[next].line[0] + round, goal);
      const wait_status status = poll_until<memory_order::acquire, scope::system>(
          grid, own.peers[own.gpu].line[0] + round, [goal](uint32_t current) { return phase_reached(current, goal); },
          context);
      if (status == wait_status::timed_out) return status;
    }
    memory::template store<memory_order::release, scope::device>(own.out, goal);
    return wait_status::completed;
  }

 private:
  /// The word by which a leading block releases the others of its GPU: on the second line, which it has to itself.
  GPUSYNC_HD static uint32_t* released(const peer& of) { return of.line[1]; }
};

}  // namespace gpusync::multi_gpu
