// The alignment behind a score: its CIGAR, counted anew, always gives the score that was found, and it begins where an
// exhaustive search says.
#include "workloads/smith_waterman/traceback.hpp"

#include <gpusync/core/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "workloads/smith_waterman/reference.hpp"

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

/// The best alignment, whose counted score must be the one found.
alignment align(const base_vector& query, const base_vector& reference, const alignment_scoring& scoring) {
  const alignment_end end = align_reference(query, reference, scoring);
  alignment found = trace_back(query, reference, scoring, end, 1);
  EXPECT_EQ(score_of(found, query, reference, scoring), end.score);
  EXPECT_EQ(found.query_end, end.query_end);
  EXPECT_EQ(found.reference_end, end.reference_end);
  return found;
}

std::string cigar(const std::string& query, const std::string& reference, const alignment_scoring& scoring) {
  return align(bases(query), bases(reference), scoring).cigar;
}

/// The latest begin, first in the reference, then in the query, from which an alignment to `end` reaches its score;
/// found from the matrix of all alignments that end there, gaps of each length tried in each cell.
std::pair<int64_t, int64_t> latest_begin(const base_vector& query, const base_vector& reference,
                                         const alignment_scoring& scoring, const alignment_end& end) {
  const auto gap = [&](size_t letters) {
    return scoring.gap_open + static_cast<int64_t>(letters) * scoring.gap_extend;
  };
  const auto rows = static_cast<size_t>(end.reference_end) + 2, columns = static_cast<size_t>(end.query_end) + 2;
  constexpr int64_t never = std::numeric_limits<int64_t>::min() / 2;
  std::vector<std::vector<int64_t>> score(rows, std::vector<int64_t>(columns, never));
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      int64_t& most = score[i][j];
      if (i == 0 && j == 0) most = 0;
      if (i > 0 && j > 0) {
        const uint8_t a = query[columns - 1 - j], b = reference[rows - 1 - i];
        most = std::max(most, score[i - 1][j - 1] + (a == b && a < 4 ? scoring.match : scoring.mismatch));
      }
      for (size_t k = 1; k <= i; ++k) most = std::max(most, score[i - k][j] - gap(k));
      for (size_t k = 1; k <= j; ++k) most = std::max(most, score[i][j - k] - gap(k));
      if (most == end.score) return {static_cast<int64_t>(columns - 1 - j), static_cast<int64_t>(rows - 1 - i)};
    }
  }
  return {-1, -1};
}

alignment_scoring any_scoring() {
  alignment_scoring scoring;
  scoring.match = *rc::gen::inRange(1, 6);
  scoring.mismatch = *rc::gen::inRange(-12, 1);
  scoring.gap_open = *rc::gen::element(0, 0, 1, 2, 3, 7);
  scoring.gap_extend = *rc::gen::inRange(scoring.gap_open == 0 ? 1 : 0, 4);
  return scoring;
}

base_vector any_bases(int most) {
  return *rc::gen::resize(
      most, rc::gen::container<base_vector>(rc::gen::element<uint8_t>(0, 0, 0, 1, 1, 2, 3, unknown_base)));
}

/// A sequence that came from `origin`: pieces of any length lost, inserted and changed.
base_vector relative(const base_vector& origin, uint32_t seed, size_t changes, size_t longest) {
  std::mt19937 random(seed);
  base_vector made = origin;
  for (size_t i = 0; i < changes && !made.empty(); ++i) {
    const size_t at = random() % made.size();
    const size_t letters = std::min<size_t>(made.size() - at, 1 + random() % longest);
    const auto place = made.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 4) {
      case 0: made.erase(place, place + static_cast<std::ptrdiff_t>(letters)); break;
      case 1: {
        base_vector piece(letters);
        for (uint8_t& base : piece) base = static_cast<uint8_t>(random() % 4);
        made.insert(place, piece.begin(), piece.end());
        break;
      }
      default: *place = static_cast<uint8_t>(random() % 5);
    }
  }
  return made;
}

TEST(TraceBack, FindsTheAlignmentsOfTextbooks) {
  EXPECT_EQ(cigar("TGTTACGG", "GGTTGACTA", {3, -3, 0, 2}), "3=1D2=");
  EXPECT_EQ(cigar("GGTTGACTA", "TGTTACGG", {3, -3, 0, 2}), "3=1I2=");
  const alignment found = align(bases("TGTTACGG"), bases("GGTTGACTA"), {3, -3, 0, 2});
  EXPECT_EQ(found.query_begin, 1);
  EXPECT_EQ(found.reference_begin, 1);
  EXPECT_EQ(found.matches, 5u);
  EXPECT_EQ(found.mismatches, 0u);
  EXPECT_EQ(found.gap_letters, 1u);
  EXPECT_EQ(found.gaps, 1u);
}

TEST(TraceBack, NamesMatchesMismatchesAndBothKindsOfGaps) {
  const std::string left = "ACGTACGGTTCA", right = "TTGACCATGCAA";
  const alignment_scoring scoring{2, -3, 5, 1};
  EXPECT_EQ(cigar("A", "A", scoring), "1=");
  EXPECT_EQ(cigar(left, left, scoring), "12=");
  EXPECT_EQ(cigar(left + "C" + right, left + "G" + right, scoring), "12=1X12=");
  EXPECT_EQ(cigar(left + "N" + right, left + "N" + right, scoring), "12=1X12=") << "N is equal to nothing";
  EXPECT_EQ(cigar(left + right, left + "GGG" + right, scoring), "12=3D12=");
  EXPECT_EQ(cigar(left + "GGG" + right, left + right, scoring), "12=3I12=");
  EXPECT_EQ(cigar("TTTT" + left, "GG" + left + "GGG", scoring), "12=") << "only what is aligned";
  EXPECT_EQ(cigar("AANAA", "AACAA", {2, 0, 3, 1}), "2=1X2=") << "mismatches that cost nothing";
  const std::string both = cigar(left + "A" + right, left + "T" + right, {2, -9, 1, 1});
  EXPECT_TRUE(both == "12=1I1D12=" || both == "12=1D1I12=") << both;
}

TEST(TraceBack, JoinsAGapThatTheCutsGoThrough) {
  // Every cut of the reference that the division makes falls into the gap, at whatever place of it.
  const std::string left = "ACGTACGGTTCAGATTACA", right = "TTGACCATGCAATCGGATC";
  for (size_t letters = 1; letters <= 17; ++letters) {
    const std::string with_gap = fmt::format("{}{:N>{}}{}", left, "", letters, right);
    const alignment_scoring scoring{3, -3, 4, 1};
    EXPECT_EQ(cigar(left + right, with_gap, scoring), fmt::format("19={}D19=", letters));
    EXPECT_EQ(cigar(with_gap, left + right, scoring), fmt::format("19={}I19=", letters));
  }
}

TEST(TraceBack, PaysOnceForEachOfTwoGapsSideBySide) {
  // Mismatches are a little too dear for so many, so that other letters stand beside gaps, in either order, and cuts go
  // through both gaps. To pay twice for one of them would be worse than a mismatch.
  const std::string left = "ACGTACGGTTCAGATTACA", right = "TTGACCATGCAATCGGATC";
  for (size_t in_query = 11; in_query <= 19; ++in_query) {
    for (size_t in_reference = 11; in_reference <= 19; ++in_reference) {
      const std::string found = cigar(fmt::format("{}{:N>{}}{}", left, "", in_query, right),
                                      fmt::format("{}{:N>{}}{}", left, "", in_reference, right), {9, -3, 5, 1});
      EXPECT_TRUE(found == fmt::format("19={}I{}D19=", in_query, in_reference) ||
                  found == fmt::format("19={1}D{0}I19=", in_query, in_reference))
          << found;
    }
  }
}

TEST(TraceBack, IsEmptyWhereNothingIsAligned) {
  for (const auto& [query, reference] :
       {std::pair<std::string, std::string>{"", ""}, {"", "A"}, {"A", ""}, {"N", "N"}}) {
    const alignment found = align(bases(query), bases(reference), {});
    EXPECT_EQ(found.cigar, "");
    EXPECT_EQ(found.query_begin, -1);
    EXPECT_EQ(found.reference_begin, -1);
    EXPECT_EQ(found.matches + found.mismatches + found.gap_letters + found.gaps, 0u);
  }
}

RC_GTEST_PROP(TraceBack, ReachesTheScoreAndBeginsAsLateAsItCan, (uint32_t seed))
{
  const alignment_scoring scoring = any_scoring();
  const base_vector query = any_bases(40);
  const base_vector reference = *rc::gen::inRange(0, 4) > 0 ? relative(query, seed, 5, 9) : any_bases(40);
  const alignment_end end = align_reference(query, reference, scoring);
  const alignment found = trace_back(query, reference, scoring, end, 1);
  RC_ASSERT(score_of(found, query, reference, scoring) == end.score);
  RC_ASSERT(found.query_end == end.query_end);
  RC_ASSERT(found.reference_end == end.reference_end);
  if (end.score == 0) return;
  RC_ASSERT(std::make_pair(found.query_begin, found.reference_begin) == latest_begin(query, reference, scoring, end));
}

RC_GTEST_PROP(TraceBack, ReachesTheScoreAcrossLongGaps, (uint32_t seed))
{
  const auto gap_open = *rc::gen::inRange(0, 30);
  const alignment_scoring scoring{*rc::gen::inRange(4, 9), *rc::gen::inRange(-12, 1), gap_open,
                                  *rc::gen::inRange(gap_open == 0 ? 1 : 0, 3)};
  base_vector query(150 + seed % 100);
  std::mt19937 random(seed);
  for (uint8_t& base : query) base = static_cast<uint8_t>(random() % 4);
  const base_vector reference = relative(query, seed + 1, 8, 60);
  const alignment_end end = align_reference(query, reference, scoring);
  RC_ASSERT(score_of(trace_back(query, reference, scoring, end, 1), query, reference, scoring) == end.score);
}

TEST(TraceBack, ReachesTheScoreOnTwoThreads) {
  std::mt19937 random(1);
  base_vector query(1400);
  for (uint8_t& base : query) base = static_cast<uint8_t>(random() % 4);
  const base_vector reference = relative(query, 2, 60, 40);
  const alignment_end end = align_reference(query, reference, {});
  const alignment found = trace_back(query, reference, {}, end, 2);
  EXPECT_GT(found.gaps, 10u);
  EXPECT_EQ(score_of(found, query, reference, {}), end.score);
  EXPECT_EQ(found.cigar, trace_back(query, reference, {}, end, 1).cigar);
}

TEST(TraceBack, RefusesAnEndAtWhichNoAlignmentOfThatScoreEnds) {
  const base_vector query = bases("ACGTACGT"), reference = bases("TTACGTACGTTT");
  const alignment_end end = align_reference(query, reference, {});
  ASSERT_EQ(end, (alignment_end{16, 7, 9}));
  const auto expect = [&](const alignment_end& wrong, const std::string& words) {
    try {
      (void)trace_back(query, reference, {}, wrong, 1);
      ADD_FAILURE() << words;
    } catch (const invalid_argument& refused) {
      EXPECT_NE(std::string(refused.what()).find(words), std::string::npos) << refused.what();
    }
  };
  expect({15, 7, 9}, "scores 16, not 15");
  expect({17, 7, 9}, "scores 16, not 17");
  expect({16, 6, 9}, "scores 14, not 16");
  expect({16, 7, 8}, "scores 14, not 16");
  expect({16, 7, 10}, "it ends before");
  expect({16, 8, 9}, "letter 8 of a query of 8");
  expect({16, 7, 12}, "letter 12 of a reference of 12");
  expect({16, -1, -1}, "letter -1");
  expect({-1, 7, 9}, "scores 16, not -1");
  EXPECT_THROW((void)trace_back(query, reference, {0, -1, 3, 1}, end, 1), invalid_argument);
}

TEST(ScoreOf, CountsWhatTheCigarSays) {
  const alignment_scoring scoring{5, -4, 10, 2};
  const base_vector query = bases("ACGTNA"), reference = bases("ACTTTTNA");
  //   query      A C G T - - N A      = = X = D D X =
  //   reference  A C T T T T N A
  alignment found{0, 5, 0, 7, "2=1X1=2D1X1=", 4, 2, 2, 1};
  EXPECT_EQ(score_of(found, query, reference, scoring), 4 * 5 - 2 * 4 - (10 + 2 * 2));
  found = {1, 4, 1, 6, "1=2I3D1X1D", 1, 1, 6, 3};
  EXPECT_EQ(score_of(found, query, bases("GCGGGNT"), scoring), 5 - 4 - (10 + 2 * 2) - (10 + 3 * 2) - (10 + 2))
      << "bad alignments too";
}

TEST(ScoreOf, RefusesWhatDoesNotFit) {
  const base_vector query = bases("ACGTNA"), reference = bases("ACTTTTNA");
  const alignment good{0, 5, 0, 7, "2=1X1=2D1X1=", 4, 2, 2, 1};
  ASSERT_NO_THROW((void)score_of(good, query, reference, {}));
  const auto expect = [&](const std::string& words, auto&& change) {
    alignment wrong = good;
    change(wrong);
    try {
      (void)score_of(wrong, query, reference, {});
      ADD_FAILURE() << words;
    } catch (const error& refused) {
      EXPECT_NE(std::string(refused.what()).find(words), std::string::npos) << words << ": " << refused.what();
    }
  };
  const auto expect_cigar = [&](const std::string& words, const std::string& text) {
    expect(words, [&](alignment& wrong) { wrong.cigar = text; });
  };
  expect_cigar("count", "=");
  expect_cigar("count", "0=");
  expect_cigar("count", "-2=");
  expect_cigar("count", "99999999999999999999=");
  expect_cigar("ends in a count", "2=1");
  expect_cigar("none of =, X, I and D", "2M");
  expect_cigar("two runs of =", "1=1=1X1=2D1X1=");
  expect_cigar("letter 2 of the query", "3=1=2D1X1=");
  expect_cigar("says X of letter 1", "1=2X1=2D1X1=");
  expect_cigar("says = of letter 4", "2=1X1=2D2=");
  expect_cigar("beyond", "2=1X1=2D1X2=");
  expect_cigar("beyond", "2=18446744073709551615I");
  expect_cigar("leads to letter 4", "2=1X1=2D1X");
  expect_cigar("leads to letter -1", "");
  expect("begins before", [](alignment& wrong) { wrong.query_begin = -1; });
  expect("begins before", [](alignment& wrong) { wrong.reference_begin = -7; });
  expect("beyond", [](alignment& wrong) { wrong.query_begin = 100; });
  expect("not to 4 and 7", [](alignment& wrong) { wrong.query_end = 4; });
  expect("not to 5 and 6", [](alignment& wrong) { wrong.reference_end = 6; });
  expect("4 matches", [](alignment& wrong) { wrong.matches = 5; });
  expect("2 mismatches", [](alignment& wrong) { wrong.mismatches = 1; });
  expect("2 letters", [](alignment& wrong) { wrong.gap_letters = 1; });
  expect("1 gaps", [](alignment& wrong) { wrong.gaps = 2; });
}

}  // namespace
}  // namespace gpusync::tool
