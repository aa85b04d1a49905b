// What the storages of halos have in common, whatever memory is behind them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/neighbours/halo.hpp>
#include <gpusync/neighbours/halo_rule.hpp>
#include <gpusync/neighbours/neighbour_barrier.hpp>
#include <gpusync/neighbours/storage.hpp>

namespace gpusync {

namespace detail {

/// The base of gpusync::halo_storage and host_halo_storage.
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
    given.pages = base::marks() + pages_begin(base::blocks(), slots_);
    given.places.slots = slots_;
    given.units = reinterpret_cast<typename argument::unit*>(base::state());
    if constexpr (narrow) {
      given.plain = base::marks() + marks_words(base::blocks(), slots_, pages_.size());
    } else {
      given.plain = base::state() + pool_ * page * 2;
    }
    given.blocks = base::blocks();
    given.words = words_;
    given.pages_per_block = static_cast<uint32_t>(pages_.size() / base::blocks());
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
  /// The page of each block's first words, of its next ones, …: where it begins, in words, for tests.
  const std::vector<uint32_t>& pages() const { return pages_; }
  /// When which form is taken.
  const halo_rule& rule() const { return rule_; }
  /// What a launch of blocks with so many threads takes, of kernels that are compiled for both.
  halo_form form_for(uint64_t threads) const {
    return rule_.choose(base::blocks(), slots_, words_, sizeof(T), threads);
  }

 protected:
  /// `first_step`: how many steps count as done; only tests of the wrap need another number than 0. `pool`: pages to
  /// choose from, see pages_for(); 0: as many as there must be.
  halo_storage(const typename Backend::place& where, const neighbourhood& who, uint64_t words, const halo_rule& rule,
               uint32_t first_step, uint64_t pool = 0)
      : halo_storage(where, who, words, rule, first_step, pages_for(who.blocks(), words),
                     std::max(pool, pages_for(who.blocks(), words))) {}

  /// Pages of a halo. Throws invalid_argument for no words, or so many that they cannot be numbered.
  static uint64_t pages_for(uint64_t blocks, uint64_t words) {
    return blocks * ((require_words(blocks, words) + argument::page_words - 1) / argument::page_words);
  }
  /// As many pages as can be numbered.
  static constexpr uint64_t most_pages = UINT32_MAX / (2 * argument::page_words);

  /// Puts them elsewhere. Precondition: the pool has them, each is there once, and no launch has been made. Blocks.
  void put_pages(std::vector<uint32_t> pages) {
    pages_ = std::move(pages);
    base::write_marks(pages_, pages_begin(base::blocks(), slots_));
  }

 private:
  static constexpr size_t page = 2 * argument::page_words;  ///< words of both buffers

  halo_storage(const typename Backend::place& where, const neighbourhood& who, uint64_t words, const halo_rule& rule,
               uint32_t first_step, uint64_t pages, uint64_t pool)
      : base(where, who.blocks(), static_cast<size_t>(pool) * page * (narrow ? 1 : 3),
             marks_words(who.blocks(), who.slots(), pages) + (narrow ? static_cast<size_t>(pool) * page : 0),
             who.slots(), {"halo", "phase", ""}),
        words_(static_cast<uint32_t>(words)),
        slots_(who.slots()),
        first_step_(first_step),
        pool_(static_cast<size_t>(pool)),
        table_(who.table()),
        pages_(pages),
        rule_(rule) {
    for (size_t i = 0; i < pages_.size(); ++i) pages_[i] = static_cast<uint32_t>(i * page);
    base::complete_by([rule, words = words_, slots = slots_](handle_header& handle, const launch_request& launch) {
      auto& given = *reinterpret_cast<argument*>(&handle);
      if (given.form == halo_form::automatic) {
        given.form = rule.choose(launch.blocks, slots, words, sizeof(T), launch.threads);
      }
      given.places.poll_backoff = rule.backoff_of(given.form, slots, launch.blocks * launch.threads);
    });
    start();
  }

  static size_t flag_words(uint64_t blocks) { return static_cast<size_t>(blocks) * line_words; }
  /// Where the table of pages begins: behind the flags and who reads whom.
  static size_t pages_begin(uint64_t blocks, uint64_t slots) {
    return flag_words(blocks) + whole_lines(static_cast<size_t>(blocks * slots));
  }
  static size_t marks_words(uint64_t blocks, uint64_t slots, uint64_t pages) {
    return pages_begin(blocks, slots) + whole_lines(static_cast<size_t>(pages));
  }
  static uint64_t require_words(uint64_t blocks, uint64_t words) {
    // A word's place is told in 32 bits, the largest of which says that there is none.
    const uint64_t most = most_pages / (blocks == 0 ? 1 : blocks) * argument::page_words;
    if (words != 0 && words <= most) return words;
    throw invalid_argument("A halo of " + std::to_string(blocks) + " blocks has 1 to " + std::to_string(most) +
                           " words a block, not " + std::to_string(words) + ".");
  }

  void start() {
    std::vector<uint32_t> marks(flag_words(base::blocks()));
    for (uint64_t block = 0; block < base::blocks(); ++block) marks[block * line_words] = first_step_;
    marks.insert(marks.end(), table_.begin(), table_.end());
    marks.resize(pages_begin(base::blocks(), slots_));
    marks.insert(marks.end(), pages_.begin(), pages_.end());
    base::write_marks(marks, 0);
    // No word is of the step to come.
    if (first_step_ != 0) {
      base::write_words(std::vector<uint64_t>(pool_ * page * (narrow ? 1 : 2), halo_unit<4>::make(0, first_step_)), 0);
    }
  }

  uint32_t words_;
  uint32_t slots_;
  uint32_t first_step_;
  size_t pool_;  ///< pages
  std::vector<uint32_t> table_;
  std::vector<uint32_t> pages_;
  halo_rule rule_;
};

}  // namespace detail

}  // namespace gpusync
