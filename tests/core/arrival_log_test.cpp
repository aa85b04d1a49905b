// Who a report names, from marks written by hand.
#include <gpusync/core/host_memory.hpp>
#include <gpusync/core/missing_block.hpp>
#include <gpusync/grid/lock_based.hpp>

#include <gtest/gtest.h>

namespace gpusync {
namespace {

using log_algorithm = grid::lock_based<ordering::acquire_release>;

struct grid_of_four {
  using memory = host_memory;
  uint32_t blocks() const { return 4; }
  uint32_t block() const { return 0; }
};

template <class Members>
std::vector<missing_block> report(const std::vector<uint32_t>& marks, uint32_t token, const Members& members) {
  uint32_t claimed = 0;
  std::vector<uint32_t> arrived = marks;
  std::vector<uint32_t> memory(timeout_report::bytes(4) / sizeof(uint32_t), 0);
  auto* written = reinterpret_cast<timeout_report*>(memory.data());
  std::vector<uint32_t> entered(arrived.size(), 0);
  const arrival_log log{&claimed, arrived.data(), entered.data(), written};
  log.report_missing(grid_of_four{}, members, log_algorithm::stamp(token), log_algorithm::next_stamp(token), 7);
  return missing_blocks(*written);
}

TEST(ArrivalLog, NamesThoseWhoseMarkIsOfAnEarlierPhaseOrNone) {
  for (const uint32_t token :
       {0u, phase_word::start_of(5), phase_word::start_of(0xfffe), phase_word::start_of(0xffff)}) {
    const uint32_t now = log_algorithm::stamp(token);
    const uint32_t before = log_algorithm::stamp(token - phase_word::one_phase);
    EXPECT_EQ(report({now, before, now, 0}, token, whole_grid{}), (std::vector<missing_block>{{1, 7}, {3, 7}}))
        << token;
  }
}

TEST(ArrivalLog, DoesNotNameThoseThatHaveGoneOnBecauseTheLastOneCameAfterAll) {
  for (const uint32_t token : {0u, phase_word::start_of(0xffff)}) {
    const uint32_t now = log_algorithm::stamp(token);
    const uint32_t next = log_algorithm::next_stamp(token);
    EXPECT_TRUE(report({now, next, now, next}, token, whole_grid{}).empty()) << token;
  }
}

TEST(ArrivalLog, KnowsTheMembersOfAPartOfTheGridByTheirBlocks) {
  const uint32_t token = phase_word::start_of(5);
  const uint32_t now = log_algorithm::stamp(token);
  EXPECT_EQ(report({0, now, 0, 0}, token, block_range{1, 3}), (std::vector<missing_block>{{1, 7}, {3, 7}}));
}

TEST(ArrivalLog, DoesNotNameThoseThatHaveDroppedOut) {
  const uint32_t token = phase_word::start_of(5);
  const uint32_t now = log_algorithm::stamp(token);
  std::vector<uint32_t> roster(dropping_blocks::words(4), 0);
  dropping_blocks members(roster.data(), 4);
  members.drop(grid_of_four{}, 3);  // block 0, in an odd phase
  EXPECT_EQ(report({0, 0, now, now}, token, members), (std::vector<missing_block>{{1, 7}}));
}

TEST(ArrivalLog, TakesOnlyTheFirstReport) {
  uint32_t claimed = 1;
  uint32_t arrived[4] = {}, entered[4] = {};
  std::vector<uint32_t> memory(timeout_report::bytes(4) / sizeof(uint32_t), 0);
  auto* written = reinterpret_cast<timeout_report*>(memory.data());
  arrival_log{&claimed, arrived, entered, written}.report_missing(grid_of_four{}, whole_grid{}, 1, 2, 0);
  EXPECT_EQ(written->written, 0u);
}

}  // namespace
}  // namespace gpusync
