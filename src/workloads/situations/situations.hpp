// Workload "situations", whatever device it runs on. C++17: CUDA sources include it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gpusync/advice/step_costs.hpp>

#include "boundary/arrays.hpp"
#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "workloads/halo_exchange/halo_exchange.hpp"
#include "workloads/situations/situation_text.hpp"

namespace gpusync::tool {

/// Words for others of a block, and words that each of its threads keeps.
uint32_t words_of(const advice::situation& asked);
uint32_t kept_words_of(const advice::situation& asked);

/// Its neighbourhood, in which `all` is a ring: methods of neighbours are not asked for then.
halo_problem neighbours_of(const advice::situation& asked);

/// Units of time of a device in a microsecond, and the work of a block in them.
situation_work work_of(const advice::situation& asked, double units_in_us);

/// What a run finds: two buffers of words, the first with the start, and what is kept.
std::vector<array_content> situation_arrays(const advice::situation& asked);

/// Compares all words after each run.
class situation_result : public run_data {
 public:
  situation_result(const advice::situation& asked, std::shared_ptr<arrays> memory)
      : asked_(asked), memory_(std::move(memory)) {}
  void reset() override { memory_->reset(); }
  check_result check(uint64_t steps) override;
  std::string how() const override { return "every word for others and every word kept, after each run"; }

 private:
  const advice::situation asked_;
  const std::shared_ptr<arrays> memory_;
};

/// What a thread has at most, for others and to keep: on a dense grid it has half of the registers.
constexpr uint32_t most_words_of(bool dense) {
  return dense ? 1 : 2;
}
constexpr uint32_t most_kept_words_of(bool dense) {
  return dense ? 2 : 8;
}
/// Whether a GPU's multiprocessors are to hold more than 1024 threads.
inline bool is_dense(const advice::situation& asked, uint32_t sms) {
  return uint64_t{asked.blocks} * asked.threads > uint64_t{sms} * 1024;
}

/// Calls `use(text)` with the text that is compiled for a situation; `dense`: as is_dense()
/// says of a GPU. Throws invalid_argument if there is none.
template <class Use>
auto with_situation_text(const advice::situation& asked, bool dense, Use&& use) {
  const uint32_t each = (words_of(asked) + asked.threads - 1) / asked.threads, kept = kept_words_of(asked);
  const bool four = asked.waits_for == advice::dependence::neighbours && asked.neighbours == 4;
  if (asked.waits_for == advice::dependence::neighbours && asked.neighbours > 4) {
    throw invalid_argument("Steps are compiled for 2 and 4 neighbours, not for " + std::to_string(asked.neighbours) +
                           ".");
  }
  const uint32_t most = most_words_of(dense), most_kept = most_kept_words_of(dense);
  if (each > most || kept > most_kept) {
    throw invalid_argument("Steps are compiled for " + std::to_string(most) + " words for others and " +
                           std::to_string(most_kept) + " kept words of a thread at such a grid, not for " +
                           std::to_string(each) + " and " + std::to_string(kept) + ".");
  }
  if (dense) {
    return four ? use(situation_text<4, most_words_of(true), most_kept_words_of(true), 2>{})
                : use(situation_text<2, most_words_of(true), most_kept_words_of(true), 2>{});
  }
  return four ? use(situation_text<4, most_words_of(false), most_kept_words_of(false), 1>{})
              : use(situation_text<2, most_words_of(false), most_kept_words_of(false), 1>{});
}

/// A text with all that does not hang on the device.
template <class Text>
Text filled_in(Text text, const advice::situation& asked, double units_in_us) {
  text.words = words_of(asked);
  text.kept_words = kept_words_of(asked);
  text.reads_any = asked.waits_for == advice::dependence::all;
  text.across = text.reads_any ? asked.blocks : halo_blocks_across(neighbours_of(asked), asked.blocks);
  text.work = work_of(asked, units_in_us);
  return text;
}

/// The device side.
class situation_device {
 public:
  virtual ~situation_device() = default;
  /// The workload of this situation, whose runs have its steps. It must not outlive this object.
  virtual std::unique_ptr<workload> in(const advice::situation& asked) = 0;
  /// What there is room for.
  virtual advice::device_room room() const = 0;
};

}  // namespace gpusync::tool
