// What the storages of halos have in common, whatever memory is behind them.
#pragma once

#include <string>
#include <vector>

#include <gpusync/neighbours/halo.hpp>
#include <gpusync/neighbours/halo_rule.hpp>
#include <gpusync/neighbours/neighbour_barrier.hpp>
#include <gpusync/neighbours/storage.hpp>

namespace gpusync {

namespace detail {

/// The base of cuda_halo_storage and host_halo_storage.
template <class T, class Grid, class Backend>
class halo_storage : public waiting_storage<Backend> {
  using base = waiting_storage<Backend>;
  using argument = halo_argument<T>;
  static constexpr bool narrow = sizeof(T) == 4;

 public:
  /// The halo to hand to a kernel. Form: as the kernel is compiled; halo_form::automatic serves whatever the launch
  /// chooses.
  template <halo_form Form = halo_form::automatic>
  basic_halo<T, Grid, Form> halo() {
    argument given{};
    given.header = base::header(handle_kind::exact_grid);
    given.places.flags = base::marks();
    given.places.table = base::marks() + flag_words(base::blocks());
    given.places.slots = slots_;
    given.places.poll_backoff = rule_.poll_backoff;
    given.units = reinterpret_cast<typename argument::unit*>(base::state());
    if constexpr (narrow) {
      given.plain = base::marks() + flag_words(base::blocks()) + table_words(base::blocks(), slots_);
    } else {
      given.plain = base::state() + values(base::blocks(), words_) * 2;
    }
    given.blocks = base::blocks();
    given.words = words_;
    given.pitch = pitch_for(words_);
    given.form = Form;
    given.log = base::log();
    return basic_halo<T, Grid, Form>(given);
  }

  /// Back to the first state; see the base's.
  void reset() {
    base::reset();
    start();
  }

  /// Words of a block.
  uint32_t words() const { return words_; }
  /// When which form is taken.
  const halo_rule& rule() const { return rule_; }
  /// What a launch of blocks with so many threads takes, of kernels that are compiled for both.
  halo_form form_for(uint64_t threads) const {
    return rule_.choose(base::blocks(), slots_, words_, sizeof(T), threads);
  }

 protected:
  /// `first_step`: how many steps count as done; only tests of the wrap need another number than 0.
  halo_storage(const typename Backend::place& where, const neighbourhood& who, uint64_t words, const halo_rule& rule,
               uint32_t first_step)
      : base(where, who.blocks(), values(who.blocks(), require_words(who.blocks(), words)) * (narrow ? 1 : 3),
             flag_words(who.blocks()) + table_words(who.blocks(), who.slots()) +
                 (narrow ? values(who.blocks(), words) : 0),
             who.slots()),
        words_(static_cast<uint32_t>(words)),
        slots_(who.slots()),
        first_step_(first_step),
        table_(who.table()),
        rule_(rule) {
    base::complete_by([rule, words = words_, slots = slots_](handle_header& handle, const launch_request& launch) {
      auto& given = *reinterpret_cast<argument*>(&handle);
      if (given.form == halo_form::automatic) {
        given.form = rule.choose(launch.blocks, slots, words, sizeof(T), launch.threads);
      }
    });
    start();
  }

 private:
  /// So many words of a block lie from one to the next: whole lines of units of 8 bytes.
  static uint32_t pitch_for(uint64_t words) { return static_cast<uint32_t>((words + 15) / 16 * 16); }
  /// Words of all blocks, twice.
  static size_t values(uint64_t blocks, uint64_t words) { return static_cast<size_t>(2 * blocks * pitch_for(words)); }
  static size_t flag_words(uint64_t blocks) { return static_cast<size_t>(blocks) * line_words; }
  static size_t table_words(uint64_t blocks, uint64_t slots) {
    return static_cast<size_t>((blocks * slots + line_words - 1) / line_words * line_words);
  }
  static uint64_t require_words(uint64_t blocks, uint64_t words) {
    // A word's place is told in 32 bits, the largest of which says that there is none.
    const uint64_t most = (UINT32_MAX - 16) / (blocks == 0 ? 1 : blocks) / 16 * 16;
    if (words != 0 && words <= most) return words;
    throw invalid_argument("A halo of " + std::to_string(blocks) + " blocks has 1 to " + std::to_string(most) +
                           " words a block, not " + std::to_string(words) + ".");
  }

  void start() {
    std::vector<uint32_t> marks(flag_words(base::blocks()));
    for (uint64_t block = 0; block < base::blocks(); ++block) marks[block * line_words] = first_step_;
    marks.insert(marks.end(), table_.begin(), table_.end());
    base::write_marks(marks, 0);
    // No word is of the step to come.
    if (first_step_ != 0) {
      base::write_words(
          std::vector<uint64_t>(values(base::blocks(), words_) * (narrow ? 1 : 2), halo_unit<4>::make(0, first_step_)),
          0);
    }
  }

  uint32_t words_;
  uint32_t slots_;
  uint32_t first_step_;
  std::vector<uint32_t> table_;
  halo_rule rule_;
};

}  // namespace detail

}  // namespace gpusync
