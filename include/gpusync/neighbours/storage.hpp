// What the storages of handles have in common by which blocks wait for some others: words to wait for, a word for each
// block to remember where it is, the time-out report, and the checks of launches.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/core/arrival_log.hpp>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/core/storage_control.hpp>
#include <gpusync/core/wait_context.hpp>

namespace gpusync::detail {

/// The base of such storages. Its memory is zero at first and after reset(); it is never reset between launches.
template <class Backend>
class waiting_storage {
 public:
  /// The blocks that a timed-out wait missed, with the phase, counted from 0 at the start of the launch; empty if none
  /// timed out. Synchronizes with nothing: call it after the kernel, or at any time while it runs.
  std::vector<missing_block> missing() const { return control_->missing(); }

  /// What went wrong in a launch on this storage, in a sentence or two; empty if nothing did. Call it as missing(); it
  /// also works after a launch has failed and taken the CUDA context with it.
  std::string report() const { return control_->report(); }

  /// Back to the first state. Needed after a wait timed out. Precondition: no kernel uses the storage, and no launch on
  /// it is queued. Blocking.
  void reset() {
    timeout_report* const report = control_->memory.get();
    std::memset(static_cast<void*>(report), 0, timeout_report::bytes(entries_));
    report->capacity = blocks_;
    control_->words.clear();
    control_->marks.clear();
    control_->order.forget();
  }

  /// Bytes of the memory that blocks share, the report not counted.
  size_t bytes() const { return control_->words.bytes() + control_->marks.bytes(); }

  /// Blocks of the grids that it is for.
  uint32_t blocks() const { return blocks_; }

  /// The words that are waited for, for tests.
  uint64_t* state() { return control_->words.data(); }

 protected:
  /// `words`: of 64 bits, to wait for. `marks`: of 32 bits, besides the log's, see marks(). `entries`: the most that a
  /// time-out can miss. `of`: what is reported of.
  waiting_storage(const typename Backend::place& where, uint32_t blocks, size_t words, size_t marks, uint32_t entries,
                  const reported_thing& of)
      : blocks_(blocks),
        entries_(entries),
        control_(std::make_unique<control>(where, blocks, words, behind_log(blocks) + marks,
                                           typename Backend::report(where, entries), of)) {
    reset();
  }

  /// What completes a handle for a launch, see storage_control::complete(). It must not refer to the storage, which may
  /// be moved.
  void complete_by(std::function<void(handle_header&, const launch_request&)> complete) {
    control_->completes = std::move(complete);
  }

  void forget_order() { control_->order.forget(); }
  handle_header header(handle_kind kind) const { return control_->header(kind); }
  /// The words of 32 bits besides the log's.
  uint32_t* marks() const { return control_->marks.data() + behind_log(blocks_); }
  /// Where a loss is noted, and which blocks have waited long, by their numbers.
  arrival_log log() const {
    uint32_t* const words = control_->marks.data();
    return {words, words + line_words, words + line_words, control_->memory.get()};
  }
  /// Sets words of 32 bits from the `first` on. Blocks.
  void write_marks(const std::vector<uint32_t>& from, size_t first) {
    control_->marks.write(from, behind_log(blocks_) + first);
  }
  /// Sets words of 64 bits from the `first` on. Blocks.
  void write_words(const std::vector<uint64_t>& from, size_t first) { control_->words.write(from, first); }

 private:
  /// Has all that is behind the storage, for it must stay where it is when the storage is moved.
  class control final : public barrier_control {
   public:
    control(const typename Backend::place& where, uint32_t blocks, size_t word_count, size_t mark_count,
            typename Backend::report&& report, const reported_thing& of)
        : barrier_control(Backend::device(where), blocks, report.get(), of),
          words(where, word_count),
          marks(where, mark_count),
          memory(std::move(report)),
          order(where) {
      this->enlist();
    }
    ~control() override { this->retire(); }

    void check(const handle_header& handle, const launch_request& launch) override {
      barrier_control::check(handle, launch);
      order.check(launch);
    }
    void complete(handle_header& handle, const launch_request& launch) override {
      if (completes) completes(handle, launch);
    }
    void prepare(const handle_header&, const launch_request&) override { order.follow(); }
    void withdraw() override { order.withdraw(); }
    void release() override { order.release(); }

    typename Backend::template words<uint64_t> words;
    typename Backend::template words<uint32_t> marks;
    typename Backend::report memory;
    typename Backend::order order;
    std::function<void(handle_header&, const launch_request&)> completes;
  };

  /// Words of the log: a line for the claim, and one for each block.
  static size_t behind_log(uint32_t blocks) { return line_words + whole_lines(blocks); }

  uint32_t blocks_;
  uint32_t entries_;
  std::unique_ptr<control> control_;
};

}  // namespace gpusync::detail
