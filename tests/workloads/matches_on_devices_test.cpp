// Workload "maximal matches" on every device of this machine, with barriers placed everywhere and nowhere.
#include <gtest/gtest.h>

#include <algorithm>

#include <gpusync/core/error.hpp>
#include "support/brute_matches.hpp"
#include "workloads/maximal_matches/generated.hpp"
#include "workloads/maximal_matches/match_device.hpp"

namespace gpusync::tool {
namespace {

class MatchesOnDevice : public testing::TestWithParam<device_description> {
 protected:
  bool is(device_kind kind) const { return GetParam().kind == kind; }
  /// Blocks of threads that take several queries each, and those with a thread for each query.
  std::vector<step_shape> shapes(const match_workload& workload) const {
    const auto shape = [](uint32_t blocks, uint32_t threads) {
      step_shape made;
      made.blocks = blocks;
      made.threads = threads;
      return made;
    };
#if defined(__SANITIZE_ADDRESS__)
    if (is(device_kind::host)) return {shape(2, 1), workload.shape_of(1)};  // see applications_test.cpp
#endif
    if (is(device_kind::host)) return {shape(1, 1), shape(2, 2), workload.shape_of(1)};
    if (is(device_kind::opencl)) return {shape(1, 1), shape(2, 16), workload.shape_of(7)};
    return {shape(1, 32), shape(3, 96), workload.shape_of(256)};
  }

  /// Runs all placements of both methods; all records must be those of the host, and so the matches those of a direct
  /// search.
  void expect_right(const std::vector<sequence>& references, const std::vector<sequence>& queries, uint32_t least) {
    const reference_index index = reference_index::of(references, node_order::breadth);
    const match_batch batch = match_batch::of(queries, least);
    const auto device = open_side<match_device>(GetParam());
    std::vector<std::vector<maximal_match>> directly;
    for (const sequence& query : queries) directly.push_back(brute_matches(references, query, least));
    for (const match_method method : {match_method::tree, match_method::array}) {
      const match_problem problem{
          &index, &batch, method,
          std::make_shared<const std::vector<match_record>>(expected_records(index, queries, batch, method))};
      const auto workload = device->matching(problem);
      for (const step_shape& shape : shapes(*workload)) {
        for (const step_method& placement : workload->methods()) {
          const auto program = workload->prepare(placement, shape);
          (void)program->run();
          (void)program->run();
          const verification found = program->verify();
          EXPECT_TRUE(found.performed);
          EXPECT_EQ(found.checked, uint64_t{batch.records} * 2 * 2);
          EXPECT_EQ(found.wrong, 0u) << placement.name << ", " << shape.blocks << " x " << shape.threads
                                     << (method == match_method::tree ? ", tree" : ", array");
        }
      }
      const std::vector<match_record> records = workload->records();
      ASSERT_EQ(records.size(), batch.records);
      const auto matches = matches_of(index, queries, batch, method, records);
      for (size_t i = 0; i < queries.size(); ++i) {
        EXPECT_EQ(matches[i], directly[i]) << i;
      }
    }
  }
};

TEST_P(MatchesOnDevice, OfReads) {
  const std::vector<sequence> references{generated_reference(5000, 1), generated_reference(300, 2)};
  std::vector<sequence> queries = generated_reads(references, 18, 60, 20, 3);
  expect_right(references, queries, 14);
  expect_right(references, queries, 1);
}

TEST_P(MatchesOnDevice, OfIrregularQueries) {
  const std::vector<sequence> references{sequence_of("ACGTNNACGTnnacgtRYACGTTTTACGTACGTAAAAAAAAAAAAAA")};
  std::vector<sequence> queries;
  for (const char* letters : {"", "A", "ACGTNNACGT", "acgtacgt", "NNNN", "AC", "ACGTRYACGT", "AAAAAAAAAAAAAAAAAAAAAAAA",
                              "TTTTTTTTT", "n", "NACGTNACGTN", "CGTACG"}) {
    queries.push_back(sequence_of(letters));
  }
  expect_right(references, queries, 3);
  // One is longer than all others, and not the first of its block.
  queries.insert(queries.begin() + 5, generated_reference(3000, 9));
  expect_right(references, queries, 3);
  expect_right(references, queries, 5000);  // nothing is as long
  expect_right(references, {}, 3);
  expect_right({sequence_of("")}, queries, 3);
}

/// The check of a run sees each record.
TEST_P(MatchesOnDevice, AreCheckedRecordByRecord) {
  const std::vector<sequence> references{generated_reference(2000, 1)};
  const std::vector<sequence> queries = generated_reads(references, 8, 30, 0, 3);
  const reference_index index = reference_index::of(references, node_order::breadth);
  const match_batch batch = match_batch::of(queries, 20);
  const auto device = open_side<match_device>(GetParam());
  const auto right = expected_records(index, queries, batch, match_method::tree);
  for (const size_t wrong : {size_t{0}, right.size() / 2, right.size() - 1}) {
    std::vector<match_record> expected = right;
    expected[wrong].length += 1;
    const auto workload = device->matching(
        {&index, &batch, match_method::tree, std::make_shared<const std::vector<match_record>>(expected)});
    const auto program = workload->prepare(workload->methods().front(), workload->shape_of(4));
    (void)program->run();
    EXPECT_EQ(program->verify().wrong, 1u);
  }
}

TEST_P(MatchesOnDevice, RefusesAPlacementThatThereIsNot) {
  const reference_index index = reference_index::of({sequence_of("ACGT")}, node_order::breadth);
  const match_batch batch = match_batch::of({sequence_of("ACGT")}, 2);
  const auto device = open_side<match_device>(GetParam());
  const auto workload = device->matching(
      {&index, &batch, match_method::tree, std::make_shared<const std::vector<match_record>>(batch.records)});
  step_method placement = workload->methods().front();
  placement.name = "3";
  EXPECT_THROW((void)workload->prepare(placement, workload->shape_of(1)), invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(All, MatchesOnDevice, testing::ValuesIn(all_devices()), [](const auto& which) {
  std::string name = which.param.id;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

}  // namespace
}  // namespace gpusync::tool
