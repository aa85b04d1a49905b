// Maximal matches on the host: from records to lists, beside a search of every pair of letters.
#include "workloads/maximal_matches/match_list.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include <gpusync/core/error.hpp>
#include "in_parallel.hpp"
#include "measure/interruption.hpp"
#include "support/brute_matches.hpp"
#include "workloads/maximal_matches/generated.hpp"

namespace gpusync::tool {
namespace {

/// What the host finds, by the tree and by the array; both must be the same.
std::vector<std::vector<maximal_match>> found_in(const std::vector<sequence>& references,
                                                 const std::vector<sequence>& queries, uint32_t least,
                                                 node_order order = node_order::breadth) {
  const reference_index index = reference_index::of(references, order);
  const match_batch batch = match_batch::of(queries, least);
  std::vector<std::vector<maximal_match>> both[2];
  for (const match_method method : {match_method::tree, match_method::array}) {
    const auto records = expected_records(index, queries, batch, method);
    both[method == match_method::array] = matches_of(index, queries, batch, method, records);
  }
  EXPECT_EQ(both[0], both[1]);
  return both[0];
}

std::vector<sequence> sequences_of(const std::vector<std::string>& letters) {
  std::vector<sequence> all;
  for (const std::string& one : letters) all.push_back(sequence_of(one));
  return all;
}

rc::Gen<std::vector<sequence>> some_sequences(const std::string& letters) {
  return rc::gen::map(rc::gen::resize(20, rc::gen::container<std::vector<std::string>>(rc::gen::resize(
                                              40, rc::gen::container<std::string>(rc::gen::elementOf(letters))))),
                      sequences_of);
}

RC_GTEST_PROP(MaximalMatches, AreThoseOfADirectSearch, ())
{
  const auto letters = *rc::gen::element<std::string>("A", "AC", "ACGT", "ACN", "ACGTN", "ANNNN");
  const auto references = *some_sequences(letters), queries = *some_sequences(letters);
  const auto least = *rc::gen::inRange(1u, 8u);
  const auto order = *rc::gen::element(node_order::breadth, node_order::depth);
  const auto found = found_in(references, queries, least, order);
  RC_ASSERT(found.size() == queries.size());
  for (size_t i = 0; i < queries.size(); ++i) {
    RC_ASSERT(found[i] == brute_matches(references, queries[i], least));
  }
}

/// Cases in which links, unknown bases or ends go wrong first.
TEST(MaximalMatches, OfAdversarialSequences) {
  const std::string a(50, 'A'), fibonacci = "ABAABABAABAABABAABABA";
  std::string word;
  for (const char letter : fibonacci) word += letter == 'A' ? 'A' : 'C';
  const std::vector<std::vector<std::string>> all_references{
      {a}, {a + "C" + a}, {word + word}, {a, a + "C", ""}, {"ACGTN" + word + "NNN" + a}, {"N"}, {""}, {}, {"C"}};
  const std::vector<std::string> queries{a,          a + "C", "C" + a + "N" + a, word, "", "A", "C", "N", "NNNN",
                                         "acgtacgt", "T",     a.substr(9) + word};
  for (const std::vector<std::string>& letters : all_references) {
    const std::vector<sequence> references = sequences_of(letters), some = sequences_of(queries);
    for (const uint32_t least : {1u, 2u, 5u, 49u, 50u, 51u}) {
      const auto found = found_in(references, some, least);
      for (size_t i = 0; i < some.size(); ++i) {
        EXPECT_EQ(found[i], brute_matches(references, some[i], least)) << letters.size() << " " << queries[i] << least;
      }
    }
  }
}

TEST(MaximalMatches, OfAGenomeWithItself) {
  const std::vector<sequence> genome{generated_reference(100'000, 3)};
  const auto found = found_in(genome, genome, 20);
  EXPECT_EQ(found[0].front(), (maximal_match{0, 0, 0, 100'000}));
  EXPECT_GT(found[0].size(), 10u);  // repeats
  for (const maximal_match& match : found[0]) {
    const auto begin = genome[0].bases.begin();
    ASSERT_TRUE(std::equal(begin + match.reference, begin + match.reference + match.length, begin + match.query));
  }
}

TEST(MaximalMatches, ArePrintedAsMummerDoes) {
  const std::vector<sequence> one{sequence_of("ACGTNNACGT", "ref")}, queries{sequence_of("ACGT", "q1"), {"q2", {}}};
  const reference_text text = reference_text::of(one);
  EXPECT_EQ(as_printed(text, queries, found_in(one, queries, 3)),
            "> q1\n       1         1         4\n       7         1         4\n> q2\n");
  std::vector<sequence> two = one;
  two.push_back(sequence_of("TTACG", "longer name"));
  EXPECT_EQ(as_printed(reference_text::of(two), queries, found_in(two, queries, 3)),
            "> q1\n  ref                 1         1         4\n  ref                 7         1         4\n"
            "  longer name         3         1         3\n> q2\n");
}

TEST(MaximalMatches, AreNumberedInThirtyTwoBits) {
  EXPECT_THROW((void)match_batch::of({sequence_of("ACGT")}, 0), invalid_argument);
  match_size size;
  size.queries = 1;
  size.bases = size.records = UINT32_MAX - 1;
  EXPECT_NO_THROW(require_numbered(size));
  size.bases += 1;
  EXPECT_THROW(require_numbered(size), invalid_argument);
  size = {};
  size.add(5, 3);
  size.add(2, 3);
  EXPECT_EQ(size.records, 3u);
}

TEST(MaximalMatches, EndWhenTheUserWantsThemTo) {
  const std::vector<sequence> references{generated_reference(1000, 1)};
  const std::vector<sequence> queries = generated_reads(references, 10, 50, 0, 1);
  const reference_index index = reference_index::of(references, node_order::breadth);
  const match_batch batch = match_batch::of(queries, 20);
  const auto now = [] { return true; };
  EXPECT_THROW((void)expected_records(index, queries, batch, match_method::tree, now), run_interrupted);
  const auto records = expected_records(index, queries, batch, match_method::tree);
  EXPECT_THROW((void)matches_of(index, queries, batch, match_method::tree, records, now), run_interrupted);
}

TEST(GeneratedReads, AreFromTheReferenceAndAlwaysTheSame) {
  const std::vector<sequence> references{generated_reference(20'000, 7), {"short", {0, 1}}, generated_reference(40, 8)};
  EXPECT_EQ(references[0].bases, generated_reference(20'000, 7).bases);
  EXPECT_NE(references[0].bases, generated_reference(20'000, 8).bases);
  const std::vector<sequence> reads = generated_reads(references, 500, 30, 0, 5);
  size_t of_the_last = 0;
  for (const sequence& read : reads) {
    ASSERT_EQ(read.bases.size(), 30u);
    const auto stands_in = [&](const sequence& one) {
      return std::search(one.bases.begin(), one.bases.end(), read.bases.begin(), read.bases.end()) != one.bases.end();
    };
    ASSERT_TRUE(std::ranges::any_of(references, stands_in));
    of_the_last += stands_in(references[2]) && !stands_in(references[0]) ? 1 : 0;
  }
  EXPECT_LT(of_the_last, 10u);  // 11 of 19,982 places
  const std::vector<sequence> changed = generated_reads(references, 500, 30, 100, 5);
  size_t differ = 0;
  for (size_t i = 0; i < reads.size(); ++i) {
    for (size_t k = 0; k < 30; ++k) differ += changed[i].bases[k] != reads[i].bases[k] ? 1 : 0;
  }
  EXPECT_GT(differ, 0u);
  EXPECT_THROW((void)generated_reads({references[1]}, 1, 30, 0, 5), invalid_argument);
}

TEST(GeneratedReference, HasTheCompositionThatItIsAskedFor) {
  for (const uint32_t percent : {0u, 35u, 50u, 100u}) {
    std::array<size_t, 4> of{};
    for (const uint8_t base : generated_reference(200'000, 3, percent).bases) ++of.at(base);
    const auto near = [](size_t count, double share) {
      return std::abs(static_cast<double>(count) - share * 2000) < 1500;
    };
    EXPECT_TRUE(near(of[1] + of[2], percent)) << of[1] + of[2];
    EXPECT_TRUE(near(of[1], percent / 2.0)) << of[1];
    EXPECT_TRUE(near(of[0], (100 - percent) / 2.0)) << of[0];
  }
  for (const read_benchmark& one : read_benchmarks) EXPECT_TRUE(one.gc_percent > 30 && one.gc_percent < 50) << one.name;
}

TEST(InParallel, DealsOutAllPiecesOnce) {
  for (const unsigned threads : {0u, 1u, 3u, 100u}) {
    for (const size_t count : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      in_parallel(
          count, 7,
          [&](size_t begin, size_t end) {
            EXPECT_LE(end - begin, 7u);
            for (size_t i = begin; i < end; ++i) ++calls[i];
          },
          threads);
      for (const auto& each : calls) ASSERT_EQ(each, 1);
    }
  }
  EXPECT_THROW(in_parallel(
                   100, 1,
                   [](size_t begin, size_t) {
                     if (begin == 50) throw invalid_argument("no");
                   },
                   3),
               invalid_argument);
}

}  // namespace
}  // namespace gpusync::tool
