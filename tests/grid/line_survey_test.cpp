#include <gpusync/grid/line_survey.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpusync::grid {
namespace {

using partitions = std::vector<unsigned char>;

/// A made-up L2 cache. A round trip takes `near` cycles and what is added for its sm, its line, its slice and
/// the way to the far partition; then there is noise.
struct cache {
  static constexpr unsigned char unseen = 2;

  partitions sms;  ///< 0, 1 or `unseen`
  partitions lines;
  std::vector<uint32_t> slice_of = {};  ///< each line's slice; without, there are none
  std::vector<float> line_cycles = {};  ///< of each line; without, random ones
  float near = 250;
  float surcharge = 150;
  float most_processor_cycles = 20;
  float most_line_cycles = 20;
  float most_slice_cycles = 0;  ///< for each pair of a slice and a sm
  float noise = 3;
  unsigned seed = 1;

  uint32_t processor_count() const { return static_cast<uint32_t>(sms.size()); }
  uint32_t line_count() const { return static_cast<uint32_t>(lines.size()); }

  std::vector<float> round_trips() const {
    std::mt19937 random(seed);
    const auto up_to = [&random](float most) { return std::uniform_real_distribution<float>(0, most + 1e-9f)(random); };
    std::vector<float> of_sm(sms.size()), of_line = line_cycles;
    for (float& cycles : of_sm) cycles = up_to(most_processor_cycles);
    if (of_line.empty()) {
      for (size_t l = 0; l < lines.size(); ++l) of_line.push_back(up_to(most_line_cycles));
    }
    const size_t slices = slice_of.empty() ? 0 : *std::max_element(slice_of.begin(), slice_of.end()) + size_t{1};
    std::vector<float> of_slice(slices * sms.size());
    for (float& cycles : of_slice) cycles = up_to(most_slice_cycles);
    std::vector<float> all;
    for (size_t p = 0; p < sms.size(); ++p) {
      for (size_t l = 0; l < lines.size(); ++l) {
        const float way = sms[p] == lines[l] ? 0 : surcharge;
        const float slice = slices == 0 ? 0 : of_slice[slice_of[l] * sms.size() + p];
        const float cycles = near + of_sm[p] + of_line[l] + slice + way + up_to(noise);
        all.push_back(sms[p] == unseen ? 0 : cycles);
      }
    }
    return all;
  }

  line_survey survey() const { return line_survey(round_trips(), processor_count(), line_count()); }

  /// What a survey should say: partition 0 is that of the first sm seen, sms that were not seen are on it.
  partitions expected_sides() const {
    partitions expected;
    for (const unsigned char partition : sms) expected.push_back(partition == unseen ? 0 : partition ^ first());
    return expected;
  }
  partitions expected_homes() const {
    partitions expected;
    for (const unsigned char partition : lines) expected.push_back(partition ^ first());
    return expected;
  }

 private:
  unsigned char first() const {
    return *std::find_if(sms.begin(), sms.end(), [](unsigned char partition) { return partition != unseen; });
  }
};

/// `count` partitions: the pattern over and over. '-' is a sm that is not seen.
partitions repeated(const std::string& pattern, size_t count) {
  partitions made;
  for (size_t i = 0; i < count; ++i) {
    const char c = pattern[i % pattern.size()];
    made.push_back(c == '-' ? cache::unseen : static_cast<unsigned char>(c - '0'));
  }
  return made;
}

void expect_found(const cache& made, const std::string& what) {
  SCOPED_TRACE(what);
  const line_survey survey = made.survey();
  ASSERT_TRUE(survey.has_partitions());
  EXPECT_EQ(survey.partitions(), made.expected_sides());
  EXPECT_EQ(survey.homes(), made.expected_homes());
  EXPECT_LT(survey.near(), survey.far());
}

bool never(uint32_t, uint32_t) {
  return false;
}
bool always(uint32_t, uint32_t) {
  return true;
}

/// Line l is on partition l % 2; within a partition, each line costs `step` cycles more than the one before, which puts
/// each into a slice of its own.
cache graded(uint32_t lines, float step = 10) {
  cache made{repeated("01", 16), repeated("01", lines)};
  for (uint32_t l = 0; l < lines; ++l) made.line_cycles.push_back(static_cast<float>(l / 2) * step);
  made.noise = 0;
  made.surcharge = 400;
  return made;
}

TEST(LineSurvey, FindsTwoPartitionsUnderNoiseAndOffsetsOfProcessorsAndLines) {
  expect_found({repeated("01", 132), repeated("01", 256)}, "in turn");
  expect_found({repeated("10", 132), repeated("01", 256)}, "partition 0 is that of the first sm");
  expect_found({repeated("0011111100000011", 132), repeated("0110100110010110", 256)}, "shuffled, as on an H200");
  expect_found({repeated("00111", 132), repeated("0001", 256)}, "unequal partitions");
  expect_found({repeated("01111", 130), repeated("11110", 250)}, "a fifth against the rest");
  expect_found({repeated("0011", 4), repeated("01", 8)}, "four sms");
}

TEST(LineSurvey, IsNotMisledByOffsetsLargerThanTheSurcharge) {
  cache lines{repeated("01101", 132), repeated("0110100", 256)};
  lines.most_line_cycles = 300;
  expect_found(lines, "of lines");
  cache sms{repeated("01101", 132), repeated("0110100", 256)};
  sms.most_processor_cycles = 300;
  expect_found(sms, "of sms");
}

TEST(LineSurvey, TakesProcessorsThatWereNotSeenForNone) {
  for (const char* pattern : {"01-", "--0011", "1--0-", "-0011111100000011"}) {
    cache made{repeated(pattern, 512), repeated("01101", 64)};
    expect_found(made, pattern);
    const line_survey survey = made.survey();
    const auto of = [&](unsigned char partition) {
      return static_cast<size_t>(std::count(made.sms.begin(), made.sms.end(), partition));
    };
    EXPECT_EQ(survey.sms(), of(0) + of(1)) << pattern;
    EXPECT_EQ(survey.sms_on(0) + survey.sms_on(1), survey.sms()) << pattern;
    EXPECT_EQ(std::min(survey.sms_on(0), survey.sms_on(1)), std::min(of(0), of(1))) << pattern;
  }
}

TEST(LineSurvey, NearAndFarAreTheAveragesOfTheRoundTrips) {
  const cache made{repeated("0-011", 60), repeated("0110", 64)};
  const std::vector<float> round_trips = made.round_trips();
  double sum[2] = {0, 0};
  size_t pairs[2] = {0, 0};
  for (size_t p = 0; p < made.sms.size(); ++p) {
    if (made.sms[p] == cache::unseen) continue;
    for (size_t l = 0; l < made.lines.size(); ++l) {
      const size_t far = made.sms[p] == made.lines[l] ? 0 : 1;
      sum[far] += round_trips[p * made.lines.size() + l];
      ++pairs[far];
    }
  }
  const line_survey survey = made.survey();
  EXPECT_NEAR(survey.near(), sum[0] / static_cast<double>(pairs[0]), 1e-6);
  EXPECT_NEAR(survey.far(), sum[1] / static_cast<double>(pairs[1]), 1e-6);
}

TEST(LineSurvey, WithoutTwoSidesSaysSoAndPicksNothing) {
  cache flat{repeated("01", 132), repeated("01", 64)};
  flat.surcharge = 0;
  cache small = flat;
  small.surcharge = 20;
  cache handful{repeated("0", 132), repeated("01", 64)};
  for (size_t p = 0; p < 10; ++p) handful.sms[p * 13] = 1;
  const cache one_side_of_lines{repeated("01", 132), repeated("0", 64)};
  const cache three{repeated("01-", 4), repeated("01", 64)};
  const cache nobody{repeated("-", 8), repeated("01", 64)};
  const std::vector<std::pair<cache, std::string>> all = {
      {flat, "no surcharge"},     {small, "a surcharge below what can be told from noise"},
      {handful, "a few odd sms"}, {one_side_of_lines, "all lines on one partition"},
      {three, "too few sms"},     {nobody, "nothing was seen"}};
  for (const auto& [made, what] : all) {
    SCOPED_TRACE(what);
    const line_survey survey(made.round_trips(), made.processor_count(), made.line_count());
    EXPECT_FALSE(survey.has_partitions());
    EXPECT_EQ(survey.partitions(), partitions(made.sms.size(), 0));
    EXPECT_EQ(survey.homes(), partitions(made.lines.size(), 0));
    EXPECT_TRUE(survey.pick(1, std::vector<bool>(made.lines.size(), true), never).empty());
  }
  EXPECT_FALSE(line_survey().has_partitions());
  EXPECT_TRUE(line_survey().pick(1, {}, never).empty());
}

TEST(LineSurvey, PicksTheCheapestLinesOfEachSideFirst) {
  cache made = graded(32);
  EXPECT_EQ(made.survey().pick(3, std::vector<bool>(32, true), never), (std::vector<uint32_t>{0, 2, 4, 1, 3, 5}));
  std::reverse(made.line_cycles.begin(), made.line_cycles.end());
  EXPECT_EQ(made.survey().pick(2, std::vector<bool>(32, true), never), (std::vector<uint32_t>{30, 28, 31, 29}));
}

TEST(LineSurvey, PicksOnlyFreeLinesAndNoneIfThereAreTooFew) {
  const line_survey survey = graded(16).survey();
  std::vector<bool> free(16, true);
  free[0] = free[3] = false;
  EXPECT_EQ(survey.pick(2, free, never), (std::vector<uint32_t>{2, 4, 1, 5}));
  EXPECT_EQ(survey.pick(7, free, never).size(), 14u);
  EXPECT_TRUE(survey.pick(8, free, never).empty()) << "each partition has 7";
  std::fill(free.begin(), free.end(), false);
  for (uint32_t l = 0; l < 16; l += 2) free[l] = true;
  EXPECT_TRUE(survey.pick(1, free, never).empty()) << "one partition is taken";
}

TEST(LineSurvey, PicksLinesThatDoNotConflictWhereItCan) {
  const line_survey survey = graded(32).survey();
  const auto mirrored = [](uint32_t a, uint32_t b) { return a / 2 == b / 2; };
  const std::vector<uint32_t> picked = survey.pick(4, std::vector<bool>(32, true), mirrored);
  ASSERT_EQ(picked.size(), 8u);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 4; j < 8; ++j) EXPECT_FALSE(mirrored(picked[i], picked[j])) << picked[i] << " and " << picked[j];
  }
  EXPECT_EQ(picked[0], 0u);
  EXPECT_EQ(picked[4], 3u) << "the cheapest that does not conflict with line 0";
}

TEST(LineSurvey, FallsBackToTheCheapestWhereEverythingConflicts) {
  EXPECT_EQ(graded(32).survey().pick(2, std::vector<bool>(32, true), always), (std::vector<uint32_t>{0, 2, 1, 3}));
}

TEST(LineSurvey, AsksForConflictsOfTheTwoSidesOnlyAndNotForEver) {
  const line_survey survey = graded(128, 5).survey();
  size_t questions = 0;
  const auto refuses = [&](uint32_t a, uint32_t b) {
    EXPECT_NE(a % 2, b % 2) << a << " and " << b << " are on the same partition";
    ++questions;
    return true;
  };
  EXPECT_EQ(survey.pick(8, std::vector<bool>(128, true), refuses).size(), 16u);
  EXPECT_LE(questions, 16u * (48u + 8u)) << "each takes a quarter of a millisecond on a device";
}

TEST(LineSurvey, TakesTheFewestConflictsWhereNoneIsFreeOfThem) {
  const line_survey survey = graded(32, 5).survey();
  // Every line of one partition is in conflict with every one of the other; those divisible by 7 with half of them
  // only.
  const auto conflict = [](uint32_t a, uint32_t b) { return (a % 7 != 0 && b % 7 != 0) || (a + b) % 4 == 1; };
  const auto conflicts = [&](const std::vector<uint32_t>& lines) {
    size_t count = 0;
    for (size_t i = 0; i < lines.size() / 2; ++i) {
      for (size_t j = lines.size() / 2; j < lines.size(); ++j) count += conflict(lines[i], lines[j]) ? 1 : 0;
    }
    return count;
  };
  const std::vector<bool> free(32, true);
  EXPECT_LT(conflicts(survey.pick(3, free, conflict)), conflicts(survey.pick(3, free, never)));
}

TEST(LineSurvey, PicksFromDifferentSlicesWhereItCan) {
  // Slices of four lines, and of the two partitions in turn; those of low numbers are the cheapest.
  cache made{repeated("0011", 64), {}};
  for (uint32_t l = 0; l < 64; ++l) {
    made.slice_of.push_back(l / 4);
    made.lines.push_back(l / 4 % 2);
    made.line_cycles.push_back(static_cast<float>(l / 4) * 3);
  }
  made.most_slice_cycles = 24;
  made.noise = 1;
  const line_survey survey = made.survey();
  ASSERT_TRUE(survey.has_partitions());
  for (uint32_t per_partition = 1; per_partition <= 8; ++per_partition) {
    const std::vector<uint32_t> picked = survey.pick(per_partition, std::vector<bool>(64, true), never);
    ASSERT_EQ(picked.size(), 2 * per_partition);
    std::set<uint32_t> slices;
    for (const uint32_t line : picked) slices.insert(line / 4);
    EXPECT_EQ(slices.size(), picked.size()) << per_partition << " lines of each partition, from 8 slices";
  }
  const std::vector<uint32_t> all = survey.pick(32, std::vector<bool>(64, true), never);
  EXPECT_EQ(std::set<uint32_t>(all.begin(), all.end()).size(), 64u) << "with fewer slices than lines, every line once";
}

/// `count` partitions, at least a fifth on each, in any order.
rc::Gen<partitions> any_sides(size_t count) {
  return rc::gen::exec([count] {
    const size_t fifth = (count + 4) / 5;
    const size_t ones = *rc::gen::inRange<size_t>(fifth, count - fifth + 1);
    partitions made(count, 0);
    std::fill(made.begin(), made.begin() + static_cast<long>(ones), static_cast<unsigned char>(1));
    for (size_t i = count; i > 1; --i) std::swap(made[i - 1], made[*rc::gen::inRange<size_t>(0, i)]);
    return made;
  });
}

cache any_cache() {
  cache made;
  made.sms = *any_sides(*rc::gen::inRange<size_t>(4, 40));
  made.lines = *any_sides(*rc::gen::inRange<size_t>(4, 40));
  const auto absent = *rc::gen::inRange<size_t>(0, 10);
  for (size_t i = 0; i < absent; ++i) {
    const auto where = *rc::gen::inRange<size_t>(0, made.sms.size() + 1);
    made.sms.insert(made.sms.begin() + static_cast<long>(where), cache::unseen);
  }
  made.near = static_cast<float>(*rc::gen::inRange(100, 600));
  made.surcharge = made.near * 0.5f + 50;
  made.seed = *rc::gen::arbitrary<unsigned>();
  return made;
}

RC_GTEST_PROP(LineSurvey, FindsAnySidesExactly, ())
{
  const cache made = any_cache();
  const line_survey survey = made.survey();
  RC_ASSERT(survey.has_partitions());
  RC_ASSERT(survey.partitions() == made.expected_sides());
  RC_ASSERT(survey.homes() == made.expected_homes());
  RC_ASSERT(survey.near() < survey.far());
}

RC_GTEST_PROP(LineSurvey, FindsNoSidesWhereThereAreNone, ())
{
  cache made = any_cache();
  made.surcharge = 0;
  made.near = 300;
  RC_ASSERT(!made.survey().has_partitions());
}

RC_GTEST_PROP(LineSurvey, PicksDistinctFreeLinesOfEachSide, ())
{
  const cache made = any_cache();
  const line_survey survey = made.survey();
  const auto per_partition = *rc::gen::inRange<uint32_t>(1, 9);
  const auto free = *rc::gen::container<std::vector<bool>>(made.lines.size(), rc::gen::arbitrary<bool>());
  const auto modulus = *rc::gen::inRange<uint32_t>(1, 8);
  const std::vector<uint32_t> picked =
      survey.pick(per_partition, free, [modulus](uint32_t a, uint32_t b) { return a % modulus == b % modulus; });
  size_t available[2] = {0, 0};
  for (size_t l = 0; l < free.size(); ++l) available[survey.homes()[l]] += free[l] ? 1 : 0;
  if (std::min(available[0], available[1]) < per_partition) {
    RC_ASSERT(picked.empty());
    return;
  }
  RC_ASSERT(picked.size() == 2 * per_partition);
  RC_ASSERT(std::set<uint32_t>(picked.begin(), picked.end()).size() == picked.size());
  for (size_t i = 0; i < picked.size(); ++i) {
    RC_ASSERT(free[picked[i]]);
    RC_ASSERT(survey.homes()[picked[i]] == (i < per_partition ? 0 : 1));
  }
}

}  // namespace
}  // namespace gpusync::grid
