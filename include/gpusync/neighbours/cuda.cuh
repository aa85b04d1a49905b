// Waiting for neighbours on a CUDA device.
#pragma once

#include <algorithm>

#include <gpusync/core/cuda_backend.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/grid/l2_survey.cuh>
#include <gpusync/launch/cuda.cuh>
#include <gpusync/neighbours/dependency_counters.cuh>
#include <gpusync/neighbours/device.cuh>
#include <gpusync/neighbours/halo_storage.hpp>
#include <gpusync/neighbours/neighbour_barrier.hpp>

namespace gpusync {

/// Owns the flags of a neighbour barrier for grids of exactly as many blocks as the neighbourhood has. Reusable by one
/// launch after another without a reset, unless a wait timed out. For launches on one stream, as cuda_barrier_storage.
class neighbour_barrier_storage : public detail::neighbour_storage<cuda_grid, detail::cuda_backend> {
 public:
  /// Throws cuda_failure if memory is short. `first_phase`: where the phase counter starts; only tests of the wrap need
  /// another than 0.
  neighbour_barrier_storage(const cuda_device& device, const neighbourhood& who, uint32_t first_phase = 0)
      : neighbour_storage(device, who, first_phase) {}

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }
};

/// Owns the words of a halo for grids of exactly as many blocks as the neighbourhood has. Reusable by one launch after
/// another without a reset, unless a wait timed out. For launches on one stream, as cuda_barrier_storage.
template <class T>
class halo_storage : public detail::halo_storage<T, cuda_grid, detail::cuda_backend> {
 public:
  /// `words`: of each block. Throws invalid_argument for none, or so many that they cannot be numbered; cuda_failure if
  /// memory is short.
  halo_storage(const cuda_device& device, const neighbourhood& who, uint64_t words, const halo_rule& rule = {},
               uint32_t first_step = 0)
      : base(device, who, words, rule, first_step) {}

  /// The same with each block's words in a partition of the L2 cache: the other one if a neighbour is near that, else
  /// the block's own. What is read across the partitions comes sooner from there, and all steps go at the pace of the
  /// slowest pair: 0.49 us a step and not 0.59, in a ring of 132 x 256 on an H100 (docs/neighbours.md). Where the cache
  /// has one partition, or the halo more than 16 MB, as without a survey. Takes twice the memory, and some 4 ms more
  /// for each MB, in which the calling thread waits for the device. It supposes that blocks start where they do on an
  /// idle device; a wrong guess, or a device on which some change places from launch to launch, costs time later, never
  /// correctness. Throws invalid_argument also for a survey of another device.
  halo_storage(const cuda_device& device, const neighbourhood& who, uint64_t words, const l2_survey& survey,
               const halo_rule& rule = {}, uint32_t first_step = 0)
      : base(device, who, words, rule, first_step, pool_for(device, who, words, survey)) {
    place(who, survey);
  }

  /// Whether a survey has said where the words lie.
  bool placed() const { return placed_; }

  /// Says that the next launch may come on another stream: the caller has seen to it that it follows those before.
  void hand_over() { this->forget_order(); }

 private:
  using base = detail::halo_storage<T, cuda_grid, detail::cuda_backend>;
  using argument = detail::halo_argument<T>;
  static constexpr uint64_t most_placed = 4096;  ///< pages
  static constexpr uint32_t page = 2 * argument::page_words;

  /// So many pages of each partition as there are words for, and one, for the first may begin within a page of memory.
  static uint64_t pool_for(const cuda_device& device, const neighbourhood& who, uint64_t words,
                           const l2_survey& survey) {
    survey.require_device(device);
    const uint64_t pages = base::pages_for(who.blocks(), words);
    return survey.figures().has_partitions() && pages <= most_placed ? 2 * pages + 1 : 0;
  }

  void place(const neighbourhood& who, const l2_survey& survey) {
    const auto count = static_cast<uint32_t>(this->pages().size());
    if (!survey.figures().has_partitions() || count > most_placed) return;
    // The pages of memory that lie in the pool as a whole.
    const auto begin = reinterpret_cast<uintptr_t>(this->state());
    const auto skipped =
        static_cast<uint32_t>((argument::page_bytes - begin % argument::page_bytes) % argument::page_bytes);
    const grid::line_survey found = survey.survey_of(reinterpret_cast<uint32_t*>(begin + skipped),
                                                     argument::page_bytes / sizeof(uint32_t), 2 * count);
    if (!found.has_partitions()) return;
    std::vector<uint32_t> pages = choose(found.homes(), wanted_partitions(who, found.partitions(), survey));
    for (uint32_t& word : pages) word = word * page + skipped / sizeof(typename argument::unit);
    this->put_pages(std::move(pages));
    placed_ = true;
  }

  /// Which partition each block's words should lie in: the other one than the block's if a neighbour is near that.
  /// `partitions`: of each multiprocessor.
  static std::vector<uint32_t> wanted_partitions(const neighbourhood& who, const std::vector<unsigned char>& partitions,
                                                 const l2_survey& survey) {
    const std::vector<uint32_t> sms = survey.sms_of(who.blocks()), readers = who.table();
    const auto partition_of = [&](uint32_t block) { return partitions[sms[block]] & 1u; };
    std::vector<uint32_t> wanted(who.blocks());
    for (uint32_t block = 0; block < who.blocks(); ++block) {
      const auto row = readers.begin() + static_cast<std::ptrdiff_t>(size_t{block} * who.slots());
      const bool is_read_afar = std::any_of(row, row + who.slots(), [&](uint32_t reader) {
        return reader != detail::neighbour_places::none && partition_of(reader) != partition_of(block);
      });
      wanted[block] = partition_of(block) ^ (is_read_afar ? 1u : 0u);
    }
    return wanted;
  }

  /// The numbers of each block's pages, of those whose partitions are `homes`: of the wanted one, or where that has no
  /// more, of the other.
  std::vector<uint32_t> choose(const std::vector<unsigned char>& homes, const std::vector<uint32_t>& wanted) const {
    const size_t pages_of_block = this->pages().size() / wanted.size();
    std::vector<uint32_t> free[2], chosen;
    for (uint32_t i = static_cast<uint32_t>(homes.size()); i-- != 0;) free[homes[i] & 1u].push_back(i);
    for (const uint32_t partition : wanted) {
      for (size_t i = 0; i < pages_of_block; ++i) {
        std::vector<uint32_t>& from = free[partition].empty() ? free[1 - partition] : free[partition];
        chosen.push_back(from.back());
        from.pop_back();
      }
    }
    return chosen;
  }

  bool placed_ = false;
};

}  // namespace gpusync
