// Workload "Smith-Waterman" on the host: textbook cases, the rule for ties, and a recurrence that shares nothing with
// the shipped one.
#include "workloads/smith_waterman/reference.hpp"

#include <gpusync/core/error.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "support/refusal.hpp"

namespace gpusync::tool {
namespace {

using base_vector = std::vector<uint8_t>;

base_vector bases(const std::string& letters) {
  base_vector codes;
  for (const char letter : letters) {
    const size_t code = std::string("ACGT").find(letter);
    codes.push_back(code == std::string::npos ? unknown_base : static_cast<uint8_t>(code));
  }
  return codes;
}

/// What align_reference finds in one tile and in several, which must be the same.
alignment_end align(const base_vector& query, const base_vector& reference, const alignment_scoring& scoring) {
  const alignment_end found = align_reference(query, reference, scoring);
  for (const tile_shape tile : {tile_shape{1, 1}, tile_shape{2, 3}, tile_shape{100, 3}, tile_shape{1024, 2048}}) {
    EXPECT_EQ(align_reference(query, reference, scoring, 2, tile), found);
  }
  return found;
}

alignment_end align(const std::string& query, const std::string& reference, const alignment_scoring& scoring) {
  return align(bases(query), bases(reference), scoring);
}

/// The recurrence of Smith and Waterman as they printed it: every cell looks at gaps of every length. The matrix is
/// kept whole and searched from its first cell.
alignment_end by_the_book(const base_vector& query, const base_vector& reference, const alignment_scoring& scoring) {
  const auto gap = [&](size_t letters) {
    return scoring.gap_open + static_cast<int32_t>(letters) * scoring.gap_extend;
  };
  const size_t rows = reference.size() + 1, columns = query.size() + 1;
  std::vector<std::vector<int32_t>> score(rows, std::vector<int32_t>(columns, 0));
  alignment_end best;
  for (size_t i = 1; i < rows; ++i) {
    for (size_t j = 1; j < columns; ++j) {
      const bool equal = query[j - 1] == reference[i - 1] && query[j - 1] < 4;
      int32_t most = std::max(0, score[i - 1][j - 1] + (equal ? scoring.match : scoring.mismatch));
      for (size_t k = 1; k <= i; ++k) most = std::max(most, score[i - k][j] - gap(k));
      for (size_t k = 1; k <= j; ++k) most = std::max(most, score[i][j - k] - gap(k));
      score[i][j] = most;
      if (most > best.score) best = {most, static_cast<int64_t>(j - 1), static_cast<int64_t>(i - 1)};
    }
  }
  return best;
}

alignment_scoring any_scoring() {
  alignment_scoring scoring;
  scoring.match = *rc::gen::inRange(1, 6);
  scoring.mismatch = *rc::gen::inRange(-6, 1);
  scoring.gap_open = *rc::gen::element(0, 0, 1, 2, 3, 7, 1000);
  scoring.gap_extend = *rc::gen::inRange(scoring.gap_open == 0 ? 1 : 0, 4);
  return scoring;
}

base_vector any_bases(size_t most) {
  return *rc::gen::resize(static_cast<int>(most), rc::gen::container<base_vector>(
                                                      rc::gen::element<uint8_t>(0, 0, 0, 1, 1, 2, 3, unknown_base)));
}

/// A sequence that came from `origin`: pieces lost, repeated and changed.
base_vector any_relative(const base_vector& origin) {
  base_vector relative = origin;
  const size_t changes = *rc::gen::inRange<size_t>(0, 6);
  for (size_t i = 0; i < changes && !relative.empty(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(*rc::gen::inRange<size_t>(0, relative.size()));
    const auto rest = static_cast<std::ptrdiff_t>(relative.size()) - at;
    const auto letters = std::min<std::ptrdiff_t>(rest, *rc::gen::inRange(1, 12));
    const base_vector piece(relative.begin() + at, relative.begin() + at + letters);
    switch (*rc::gen::inRange(0, 3)) {
      case 0: relative.erase(relative.begin() + at, relative.begin() + at + letters); break;
      case 1: relative.insert(relative.begin() + at, piece.rbegin(), piece.rend()); break;
      default: relative[static_cast<size_t>(at)] ^= 1;
    }
    for (uint8_t& base : relative) base = std::min(base, unknown_base);
  }
  return relative;
}

TEST(SmithWatermanReference, FindsTheScoresOfTextbooks) {
  // The example of Wikipedia's article on the algorithm, and what EMBOSS's water says of it (EDNAFULL, gaps of 10 and
  // 0.5, doubled: a first letter costs 10, each further one 0.5).
  EXPECT_EQ(align("TGTTACGG", "GGTTGACTA", {3, -3, 0, 2}), (alignment_end{13, 5, 6}));
  EXPECT_EQ(align("TGTTACGG", "GGTTGACTA", {10, -8, 19, 1}).score, 30);
  EXPECT_EQ(align("ACACACTA", "AGCACACA", {2, -1, 0, 1}).score, 12);
}

TEST(SmithWatermanReference, AlignsNothingWhereNothingMatches) {
  for (const auto& [query, reference] : {std::pair<std::string, std::string>{"", ""},
                                         {"", "ACGT"},
                                         {"ACGT", ""},
                                         {"A", "C"},
                                         {"N", "N"},
                                         {"NNNN", "NNNNNN"},
                                         {"AAAA", "CCCC"}}) {
    const alignment_end found = align(query, reference, {});
    EXPECT_EQ(found, (alignment_end{0, -1, -1})) << query << " " << reference;
  }
  EXPECT_EQ(align("A", "A", {}), (alignment_end{2, 0, 0}));
  EXPECT_EQ(align("ANA", "ANA", {2, 0, 3, 1}), (alignment_end{4, 2, 2})) << "a mismatch that costs nothing";
  EXPECT_EQ(align("ANA", "ANA", {2, -2, 3, 1}), (alignment_end{2, 0, 0})) << "N matches not even N";
}

TEST(SmithWatermanReference, ReportsTheFirstEndInTheReferenceThenInTheQuery) {
  const alignment_scoring strict{1, -9, 9, 9};
  EXPECT_EQ(align("AC", "TACTAC", strict), (alignment_end{2, 1, 2}));
  EXPECT_EQ(align("TACTAC", "AC", strict), (alignment_end{2, 2, 1}));
  EXPECT_EQ(align("AAACCC", "CCCAAA", strict), (alignment_end{3, 5, 2})) << "the reference decides before the query";
  EXPECT_EQ(align("AAAA", "AAAAAA", strict), (alignment_end{4, 3, 3}));
}

TEST(SmithWatermanReference, PaysForAGapOnceForEachLetterAndOnceForItself) {
  const std::string left = "ACGTACGGTTCA", right = "TTGACCATGCAA";
  EXPECT_EQ(align(left + right, left + "GGG" + right, {2, -3, 5, 1}).score, 48 - 5 - 3);
  EXPECT_EQ(align(left + "GGG" + right, left + right, {2, -3, 5, 1}).score, 48 - 5 - 3);
  EXPECT_EQ(align(left + right, left + "GGG" + right, {2, -3, 0, 2}).score, 48 - 6) << "linear";
  EXPECT_EQ(align(left + right, left + "GGG" + right, {2, -3, 5, 0}).score, 48 - 5) << "any length costs the same";
  EXPECT_EQ(align(left + right, left + "GGG" + right, {2, -3, 1000, 1}).score, 24) << "dearer than one half";
  EXPECT_EQ(align(left + "A" + right, left + "T" + right, {2, -9, 1, 1}).score, 48 - 4) << "two gaps side by side";
}

RC_GTEST_PROP(SmithWatermanReference, FindsWhatTheRecurrenceByTheBookFinds, ())
{
  const alignment_scoring scoring = any_scoring();
  const base_vector query = any_bases(60);
  const base_vector reference = *rc::gen::arbitrary<bool>() ? any_relative(query) : any_bases(60);
  RC_ASSERT(align_reference(query, reference, scoring) == by_the_book(query, reference, scoring));
}

RC_GTEST_PROP(SmithWatermanReference, FindsTheSameInTilesOfAnyShapeOnAnyNumberOfThreads, ())
{
  const alignment_scoring scoring = any_scoring();
  const base_vector query = any_bases(120);
  const base_vector reference = *rc::gen::arbitrary<bool>() ? any_relative(query) : any_bases(60);
  const tile_shape tile{*rc::gen::inRange<size_t>(1, 20), *rc::gen::inRange<size_t>(1, 20)};
  const auto threads = *rc::gen::inRange<uint32_t>(0, 6);
  RC_ASSERT(align_reference(query, reference, scoring, threads, tile) == align_reference(query, reference, scoring));
}

TEST(SmithWatermanReference, ReportsTheFirstOfEqualEndsWhicheverThreadIsFirst) {
  const base_vector unit = bases("ACGGTCATTG"), gap(20, unknown_base);
  base_vector query, reference;
  for (int i = 0; i < 30; ++i) {
    for (const base_vector& piece : {unit, gap}) reference.insert(reference.end(), piece.begin(), piece.end());
    if (i >= 5) continue;
    for (const base_vector& piece : {gap, unit}) query.insert(query.end(), piece.begin(), piece.end());
  }
  const alignment_end first{20, 29, 9};
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(align_reference(query, reference, {2, -9, 9, 9}, 4, {30, 40}), first);
  }
}

TEST(SmithWatermanReference, RefusesATileWithoutLetters) {
  EXPECT_THROW((void)align_reference({0}, {0}, {}, 1, {0, 1}), invalid_argument);
  EXPECT_THROW((void)align_reference({0}, {0}, {}, 1, {1, 0}), invalid_argument);
}

/// The sentence with which a scoring is refused; empty if it is not.
std::string refusal(const alignment_scoring& scoring, size_t query_length = 10, size_t reference_length = 10) {
  return test::refusal([&] { require_scoring(scoring, query_length, reference_length); });
}

TEST(AlignmentScoring, IsRefusedWithItsNumbers) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({1, 0, 0, 1}), "");
  EXPECT_EQ(refusal({1, 0, 1, 0}), "");
  const auto expect = [](const alignment_scoring& scoring, const std::string& words) {
    EXPECT_NE(refusal(scoring).find(words), std::string::npos) << words << ": " << refusal(scoring);
    EXPECT_THROW((void)align_reference({0}, {0}, scoring), invalid_argument);
  };
  expect({0, -1, 3, 1}, "scores 0, but must score at least 1");
  expect({-2, -3, 3, 1}, "scores -2");
  expect({2, 1, 3, 1}, "scores 1, but must score at most 0");
  expect({2, -1, -3, 4}, "-3 + k * 4");
  expect({2, -1, 3, -1}, "3 + k * -1");
  expect({2, -1, 0, 0}, "one of them must be at least 1");
  expect({2, std::numeric_limits<int32_t>::min(), 3, 1}, "-2147483648");
  expect({2, -1, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::max()}, "2147483647 + 2147483647");
  expect({std::numeric_limits<int32_t>::max(), -1, 3, 1}, "10 matches of 2147483647");
}

TEST(AlignmentScoring, IsRefusedWhereAScoreCouldReachTheLimit) {
  constexpr size_t million = 1000000, much = std::numeric_limits<size_t>::max();
  EXPECT_EQ(refusal({1073, -1, 3, 1}, million, much), "") << "1073 million, and the limit is 1073.74 million";
  EXPECT_NE(refusal({1074, -1, 3, 1}, million, much).find("a match of at most 1073"), std::string::npos);
  EXPECT_NE(refusal({1074, -1, 3, 1}, much, million), "");
  EXPECT_EQ(refusal({1, -1, 3, 1}, score_limit - 1, much), "");
  EXPECT_NE(refusal({1, -1, 3, 1}, score_limit, score_limit), "");
  EXPECT_EQ(refusal({score_limit - 1, 1 - score_limit, score_limit - 2, 1}, 1, 1), "");
}

TEST(SmithWatermanReference, ComputesAtTheLimitWithoutOverflow) {
  const alignment_scoring largest{score_limit - 1, 1 - score_limit, 0, score_limit - 1};
  EXPECT_EQ(align("A", "TTATT", largest), (alignment_end{score_limit - 1, 0, 2}));
  EXPECT_EQ(align("CACAC", "A", largest), (alignment_end{score_limit - 1, 1, 0}));
}

}  // namespace
}  // namespace gpusync::tool
