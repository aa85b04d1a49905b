// What the storages of dependency counters have in common, whatever memory is behind them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gpusync/core/size.hpp>
#include <gpusync/neighbours/dependency_counters.hpp>
#include <gpusync/neighbours/storage.hpp>

namespace gpusync {

/// How far dependency counters lie apart.
enum class counter_spacing {
  /// Lines for up to 4,096 counters: few are added to and polled by many blocks at a time, and what is done to one
  /// should not queue behind what is done to its neighbour. Packed from there on: of many counters hardly two that are
  /// neighbours are in use at once, and lines would take some of the L2 cache from the data.
  automatic,
  packed,  ///< one behind the other
  lines    ///< each on a line of 128 bytes of its own
};

/// A dependency counter that was waited for in vain.
struct missed_counter {
  uint32_t counter;    ///< its number
  uint32_t epoch;      ///< counted from 0 at the start of the launch
  uint32_t published;  ///< publishes of that epoch that it had got
  uint32_t expected;   ///< of so many
};

namespace detail {

/// The tables of a graph, checked: what each counter expects, and who publishes to it.
class counter_tables {
 public:
  static constexpr uint32_t most_expected = 1u << 30;
  static constexpr size_t most_counters = size_t{1} << 28;

  /// Throws invalid_argument for what cannot be.
  counter_tables(uint32_t blocks, std::vector<uint32_t> expected,
                 const std::vector<std::vector<uint32_t>>& producers = {})
      : expected_(std::move(expected)) {
    if (expected_.empty() || expected_.size() > most_counters) {
      throw invalid_argument("A storage has 1 to " + std::to_string(most_counters) + " dependency counters, not " +
                             std::to_string(expected_.size()) + ".");
    }
    for (size_t i = 0; i < expected_.size(); ++i) {
      if (expected_[i] <= most_expected) continue;
      throw invalid_argument("Dependency counter " + std::to_string(i) + " should expect " +
                             std::to_string(expected_[i]) + " publishes in an epoch: at most " +
                             std::to_string(most_expected) + ".");
    }
    if (producers.empty()) return;
    if (producers.size() != expected_.size()) {
      throw invalid_argument("There are " + std::to_string(expected_.size()) + " dependency counters, but " +
                             std::to_string(producers.size()) + " lists of who publishes to them.");
    }
    first_.push_back(0);
    for (size_t i = 0; i < producers.size(); ++i) {
      if (producers[i].size() > expected_[i] || (producers[i].empty() && expected_[i] != 0)) {
        throw invalid_argument("Dependency counter " + std::to_string(i) + " expects " + std::to_string(expected_[i]) +
                               " publishes in an epoch, but " + std::to_string(producers[i].size()) +
                               " blocks publish to it. List each of them once.");
      }
      std::vector<uint32_t> in_order = producers[i];
      std::sort(in_order.begin(), in_order.end());
      const auto twice = std::adjacent_find(in_order.begin(), in_order.end());
      if (twice != in_order.end()) {
        throw invalid_argument("Block " + std::to_string(*twice) +
                               " is listed twice as one that publishes to dependency counter " + std::to_string(i) +
                               ". List it once, however often it does.");
      }
      for (const uint32_t block : producers[i]) {
        if (block >= blocks) {
          throw invalid_argument("Block " + std::to_string(block) + " should publish to dependency counter " +
                                 std::to_string(i) + ", but the grid has " + std::to_string(blocks) + " blocks.");
        }
        producers_.push_back(block);
      }
      most_producers_ = std::max(most_producers_, static_cast<uint32_t>(producers[i].size()));
      first_.push_back(static_cast<uint32_t>(producers_.size()));
    }
  }

  uint32_t count() const { return static_cast<uint32_t>(expected_.size()); }
  const std::vector<uint32_t>& expected() const { return expected_; }
  bool has_producers() const { return !first_.empty(); }
  uint32_t most_producers() const { return most_producers_; }
  /// One table behind the other, as dependency_places has them.
  std::vector<uint32_t> words() const {
    std::vector<uint32_t> all(expected_);
    all.insert(all.end(), first_.begin(), first_.end());
    all.insert(all.end(), producers_.begin(), producers_.end());
    return all;
  }

 private:
  std::vector<uint32_t> expected_, first_, producers_;
  uint32_t most_producers_ = 1;
};

/// Blocks of a grid that has dependency counters.
inline uint32_t require_counter_blocks(block_count blocks) {
  constexpr uint64_t most = (1u << timeout_report::block_bits) - 1;
  if (blocks >= 1 && blocks <= most) return static_cast<uint32_t>(uint64_t{blocks});
  throw invalid_argument("Dependency counters are for grids of 1 to " + std::to_string(most) + " blocks, not " +
                         std::to_string(uint64_t{blocks}) + ".");
}

/// The base of dependency_counter_storage and host_dependency_counter_storage.
template <class Grid, class Backend, class Epochs = counter_epochs>
class dependency_counter_storage : public waiting_storage<Backend> {
  using base = waiting_storage<Backend>;

 public:
  /// The counters to hand to a kernel, of a grid of exactly as many blocks as the storage was made for.
  basic_dependency_counters<Grid, Epochs> counters() {
    return basic_dependency_counters<Grid, Epochs>({this->header(handle_kind::exact_grid), places(), this->log()});
  }

  /// How many counters there are.
  uint32_t size() const { return tables_.count(); }
  /// Publishes that a counter gets in an epoch. Throws invalid_argument if there is no such counter.
  uint32_t expected(uint32_t counter) const {
    if (counter < size()) return tables_.expected()[counter];
    throw invalid_argument(misuse_counter(counter));
  }

  /// The counter that a timed-out wait waited for; nothing if none timed out. missing() has those of its producers that
  /// had not gone on to a later epoch, if the storage was told who publishes. Call it as missing().
  std::optional<missed_counter> missed() const {
    const timeout_report& report = *this->log().report;
    if (__atomic_load_n(&report.written, __ATOMIC_ACQUIRE) != timeout_report::timed_out) return std::nullopt;
    return missed_counter{report.counter - 1, report.phase, report.published, report.expected};
  }

  /// Back to the first state. Needed after a wait timed out, and after a launch that left publishes out. Precondition:
  /// no kernel uses the storage, and no launch on it is queued. Blocking.
  void reset() {
    base::reset();
    std::vector<uint32_t> image(at_tables_, 0);
    for (uint32_t block = 0; block < this->blocks(); ++block) image[block] = first_epoch_;
    for (uint32_t i = 0; i < size(); ++i) {
      image[at_counters_ + size_t{i} * pitch_] = Epochs::begin(first_epoch_, tables_.expected()[i]);
    }
    const std::vector<uint32_t> tables = tables_.words();
    image.insert(image.end(), tables.begin(), tables.end());
    this->write_marks(image, 0);
  }

 protected:
  dependency_counter_storage(const typename Backend::place& where, block_count blocks, counter_tables tables,
                             counter_spacing spacing, uint32_t first_epoch)
      : dependency_counter_storage(where, require_counter_blocks(blocks), std::move(tables),
                                   pitch_of(spacing, tables.count()), first_epoch) {}

 private:
  dependency_counter_storage(const typename Backend::place& where, uint32_t blocks, counter_tables&& tables,
                             uint32_t pitch, uint32_t first_epoch)
      : base(where, blocks, 1, tables_begin(blocks, tables.count(), pitch) + tables.words().size(),
             tables.most_producers(), {"dependency counter", "epoch", ""}),
        tables_(std::move(tables)),
        pitch_(pitch),
        first_epoch_(first_epoch),
        at_counters_(whole_lines(blocks)),
        at_tables_(tables_begin(blocks, tables_.count(), pitch)) {
    reset();
  }

  static uint32_t pitch_of(counter_spacing spacing, uint32_t counters) {
    constexpr uint32_t most_lines = 4096;
    if (spacing == counter_spacing::automatic) {
      spacing = counters <= most_lines ? counter_spacing::lines : counter_spacing::packed;
    }
    return spacing == counter_spacing::lines ? line_words : 1;
  }
  /// Where the tables begin, behind the blocks' epochs and the counters.
  static size_t tables_begin(uint32_t blocks, uint32_t counters, uint32_t pitch) {
    return whole_lines(blocks) + whole_lines(size_t{counters} * pitch);
  }
  static std::string misuse_counter(uint32_t counter) {
    return "There is no dependency counter " + std::to_string(counter) + ": they are numbered from 0 to size() - 1.";
  }

  dependency_places places() const {
    uint32_t* const words = this->marks();
    const uint32_t* const expected = words + at_tables_;
    const uint32_t* const first = tables_.has_producers() ? expected + size() : nullptr;
    return {words, words + at_counters_, expected, first, first == nullptr ? nullptr : first + size() + 1, size(),
            pitch_};
  }

  counter_tables tables_;
  uint32_t pitch_;
  uint32_t first_epoch_;
  size_t at_counters_, at_tables_;
};

}  // namespace detail

}  // namespace gpusync
