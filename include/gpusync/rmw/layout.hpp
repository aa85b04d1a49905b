// Where the parts of a wait-free object lie in its memory.
#pragma once

#include <gpusync/rmw/operations.hpp>
#include <gpusync/rmw/words.hpp>

namespace gpusync::rmw::detail {

/// The words, of 64 bits each, of an object of N participants: the consensus policy's own, the announcements, the
/// answers that winners deliver (only with spin_limit), and two records for each participant.
///
/// A record is a proposal, and once a round has taken it, the state of the object: the state's words, for each
/// participant the number of the last announcement that has been applied, and its answer. Everything that is kept for
/// each participant is kept in rows, so that the lanes of a warp read neighbouring words.
template <class State, uint32_t N, class Consensus, class Operation>
struct object_layout {
  static constexpr uint32_t line = gpusync::detail::line_words / 2;
  static constexpr uint32_t sector = 4;  ///< words of 32 bytes
  GPUSYNC_HD static constexpr uint64_t up_to(uint64_t words, uint32_t unit) { return (words + unit - 1) / unit * unit; }

  static constexpr uint32_t state_words = words_of<State>;
  static constexpr uint32_t operation_words = wire<Operation>::words;

  // Of 64 bits: the records of many participants are larger than 32 bits can count.
  static constexpr uint64_t announcements = up_to(Consensus::words(N), line);
  static constexpr uint64_t responses = announcements + up_to(uint64_t{N} * operation_words, line);
  static constexpr uint64_t records =
      responses + (Consensus::spin_limit == 0 ? 0 : up_to(uint64_t{N} * state_words, line));

  /// In a record: the state (unless the policy's own words carry it), the row of numbers, the rows of the answers.
  static constexpr uint32_t numbers = Consensus::carries_state ? 0 : state_words;
  static constexpr uint32_t answers = numbers + N;
  static constexpr uint32_t record_words = answers + N * state_words;
  static constexpr uint64_t record_stride = up_to(record_words, sector);

  static constexpr uint64_t total = up_to(records + 2 * uint64_t{N} * record_stride, line);

  GPUSYNC_HD static constexpr size_t announcement(uint32_t row, uint32_t participant) {
    return announcements + size_t{row} * N + participant;
  }
  GPUSYNC_HD static constexpr size_t response(uint32_t row, uint32_t participant) {
    return responses + size_t{row} * N + participant;
  }
  GPUSYNC_HD static constexpr size_t record(uint32_t participant, uint32_t buffer) {
    return records + (size_t{2} * participant + buffer) * record_stride;
  }

  /// A row's word of a number: the number, and whether the record's own round applied that announcement.
  static constexpr uint32_t fresh = 1u << 31;
};

}  // namespace gpusync::rmw::detail
