// The dynamic schedule of Shen's thesis (2013; item S5): a flag per group, and two barriers per phase.
#pragma once

#include <gpusync/phased/resident_block.hpp>

namespace gpusync::phased {

/// "Double Centralized Barrier" (figure 3-5 and appendix E of the thesis), with the parts that it leaves open. Resident
/// block p runs virtual block p, then all resident blocks synchronize, go through the array of flags, claim those
/// virtual blocks that nobody has claimed by setting their flags atomically, and run them; then they synchronize again.
/// The thesis found no way to say what the work of another group is (its "TODO"); here it is what the body does with
/// that number.
///
/// The two barriers are what lets the flags be used again: a flag is set between the first and the second of a phase
/// only, so each block clears its share of the flags between the second and the first of the next.
///
/// Synchronizes: as claiming.
/// Cost: a load of every flag per resident block and phase, an atomic addition per claim and per claim that came too
///   late, and a second barrier. `claiming` does the same with one counter and one barrier.
/// Storage: one word per virtual block.
/// Fulfils @ref Schedule.
struct flag_claiming {
  static constexpr const char* name = "flag-claiming";
  static constexpr uint32_t barriers = 2;

  GPUSYNC_HD static constexpr size_t words(uint32_t virtual_blocks) { return virtual_blocks; }

  GPUSYNC_API_TEMPLATE
  template <class Grid, class Sync, class Body>
  GPUSYNC_HD static bool for_each(const resident_block<Grid>& at, Sync&& sync, Body&& body) {
    using memory = typename Grid::memory;
    const uint32_t own = at.grid.block(), resident = at.grid.blocks();
    const uint32_t stride = resident * at.grid.threads();
    const uint32_t first = own * at.grid.threads() + at.grid.thread();
    for (uint64_t flag = uint64_t{resident} + first; flag < at.virtual_blocks; flag += stride) {
      memory::template store<memory_order::relaxed, scope::device>(at.words + flag, 0u);
    }
    uint32_t looked = 0;
    uint32_t block = own;
    GPUSYNC_UNROLL(1)
    while (true) {
      body(block);
      if (block == own && !sync()) return false;
      block = at.told_by_first(at.grid.thread() == 0 ? claim(at, looked) : no_block);
      if (block == no_block) return true;
    }
  }

 private:
  /// By one thread of the block, which has looked at so many flags in this phase. Blocks begin at different places, so
  /// that they do not all try to set the same flag.
  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD static uint32_t claim(const resident_block<Grid>& at, uint32_t& looked) {
    using memory = typename Grid::memory;
    const uint32_t resident = at.grid.blocks(), flags = at.virtual_blocks - resident;
    const uint32_t start = at.grid.block() * (flags / resident);
    while (looked < flags) {
      const uint32_t behind = flags - start;
      const uint32_t place = looked < behind ? start + looked : looked - behind;
      ++looked;
      uint32_t* const flag = at.words + resident + place;
      if (memory::template load<memory_order::relaxed, scope::device>(flag) == 0 &&
          memory::template fetch_add<memory_order::relaxed, scope::device>(flag, 1u) == 0) {
        return resident + place;
      }
    }
    return no_block;
  }
};

}  // namespace gpusync::phased
