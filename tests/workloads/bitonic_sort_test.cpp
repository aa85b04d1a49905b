// Workload "bitonic sort": its network and what it is compared with. Devices: applications_test.cpp.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <compare>
#include <cstring>

#include <gpusync/core/error.hpp>
#include "workloads/bitonic_sort/bitonic_steps.hpp"
#include "workloads/bitonic_sort/sort_input.hpp"

namespace gpusync::tool {
namespace {

/// A grid whose threads run one after the other: right for steps in which no two threads touch the same element.
struct one_by_one {
  uint32_t block_count, thread_count, at;
  uint32_t blocks() const { return block_count; }
  uint32_t block() const { return at / thread_count; }
  uint32_t threads() const { return thread_count; }
  uint32_t thread() const { return at % thread_count; }
};

template <class Element>
void sort_one_by_one(std::vector<Element>& elements, const key_order& order, uint32_t blocks, uint32_t threads) {
  const auto count = static_cast<uint32_t>(elements.size());
  const bitonic_steps<Element> work{{}, elements.data(), count, merges_of(count), order};
  for (uint32_t step = 0; step < work.steps(); ++step) {
    for (uint32_t at = 0; at < blocks * threads; ++at) {
      const one_by_one grid{blocks, threads, at};
      auto kept = work.load(grid, step);
      work.step(grid, step, kept);
    }
  }
}

TEST(BitonicSort, SortsEveryInputOfZerosAndOnesAndSoEverything) {  // Knuth, TAOCP 3, 5.3.4, theorem Z
  for (uint32_t count = 0; count <= 11; ++count) {
    for (uint32_t bits = 0; bits < 1u << count; ++bits) {
      std::vector<uint32_t> elements(count);
      for (uint32_t i = 0; i < count; ++i) elements[i] = bits >> i & 1;
      sort_one_by_one(elements, {}, 1, 1);
      ASSERT_TRUE(std::is_sorted(elements.begin(), elements.end())) << count << " elements, bits " << bits;
      ASSERT_EQ(std::count(elements.begin(), elements.end(), 1u), std::popcount(bits));
    }
  }
}

TEST(BitonicSort, HasAsManyStepsAsThePaper) {
  const bitonic_steps<uint32_t> work{{}, nullptr, 1u << 20, merges_of(1u << 20), {}};
  EXPECT_EQ(work.steps(), 20u * 21 / 2);
  EXPECT_EQ(merges_of(0), 0u);
  EXPECT_EQ(merges_of(1), 0u);
  EXPECT_EQ(merges_of(1025), 11u);
}

RC_GTEST_PROP(BitonicSort, SortsAnyNumbersOnGridsOfAnyShape, ())
{
  auto elements = *rc::gen::container<std::vector<uint64_t>>(rc::gen::arbitrary<uint64_t>());
  auto sorted = elements;
  std::sort(sorted.begin(), sorted.end());
  sort_one_by_one(elements, {}, *rc::gen::inRange(1u, 5u), *rc::gen::inRange(1u, 9u));
  RC_ASSERT(elements == sorted);
}

/// IEEE 754's totalOrder, by another way than ours.
template <class Float, class Bits>
bool in_total_order(const std::vector<uint32_t>& words) {
  std::vector<Float> keys(words.size() * sizeof(uint32_t) / sizeof(Float));
  if (!keys.empty()) std::memcpy(keys.data(), words.data(), words.size() * sizeof(uint32_t));
  return std::is_sorted(keys.begin(), keys.end(), [](Float a, Float b) { return std::strong_order(a, b) < 0; });
}

TEST(SortInput, PutsFloatingPointKeysInTotalOrder) {
  for (const char* input : {"random", "special", "few", "equal", "sorted", "reversed"}) {
    EXPECT_TRUE((in_total_order<float, uint32_t>(make_sort_input({500, "float32", false, input}).sorted))) << input;
    EXPECT_TRUE((in_total_order<double, uint64_t>(make_sort_input({500, "float64", false, input}).sorted))) << input;
  }
}

TEST(SortInput, OfSpecialKeysHasThoseThatAreMistreated) {
  const sort_input input = make_sort_input({1000, "float32", false, "special"});
  const auto has = [&](float key) {
    return std::find(input.sorted.begin(), input.sorted.end(), std::bit_cast<uint32_t>(key)) != input.sorted.end();
  };
  EXPECT_TRUE(has(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_TRUE(has(-0.0f));
  EXPECT_TRUE(has(0.0f));
  EXPECT_TRUE(has(-std::numeric_limits<float>::infinity()));
}

TEST(SortInput, OrdersWholeNumbersByTheirSign) {
  const sort_input narrow = make_sort_input({300, "int32", false, "random"});
  EXPECT_TRUE(std::is_sorted(narrow.sorted.begin(), narrow.sorted.end(),
                             [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b); }));
  EXPECT_FALSE(std::is_sorted(narrow.sorted.begin(), narrow.sorted.end()));
  EXPECT_FALSE(std::is_sorted(narrow.unsorted.begin(), narrow.unsorted.end()));
}

TEST(SortInput, CarriesValuesWithTheirKeys) {
  for (const char* type : {"float32", "int64", "float64"}) {
    const sort_input input = make_sort_input({300, type, true, "few"});
    EXPECT_EQ(input.element_bytes, std::string(type) == "float32" ? 8u : 16u);
    EXPECT_EQ(input.sorted.size(), 300u * input.element_bytes / 4);
  }
  // Few keys: those that are equal stand in the order of their values, that is, of the input.
  const sort_input input = make_sort_input({300, "uint32", true, "few"});
  for (size_t i = 2; i < input.sorted.size(); i += 2) {
    const bool equal = input.sorted[i + 1] == input.sorted[i - 1];
    EXPECT_TRUE(!equal || input.sorted[i - 2] < input.sorted[i]) << i;
  }
}

RC_GTEST_PROP(SortElements, OutOfOrderUndoesInOrder, (uint64_t bits))
{
  for (const key_order& order :
       {key_order{0, 0}, key_order{0, uint64_t{1} << 63}, key_order{~(uint64_t{1} << 63), uint64_t{1} << 63}}) {
    RC_ASSERT(out_of_order(in_order(bits, order), order) == bits);
    const auto half = static_cast<uint32_t>(bits);
    const key_order narrow{order.negative >> 32, order.all >> 32};
    RC_ASSERT(out_of_order(in_order(half, narrow), narrow) == half);
  }
}

TEST(SortInput, RefusesWhatCannotBeSorted) {
  EXPECT_THROW(make_sort_input({most_elements + 1, "uint32", false, "random"}), invalid_argument);
  EXPECT_THROW(make_sort_input({10, "uint16", false, "random"}), invalid_argument);
  EXPECT_THROW(make_sort_input({10, "uint32", false, "shuffled"}), invalid_argument);
}

TEST(SortInput, ComparisonCountsWhatIsOutOfPlace) {
  const sort_input input = make_sort_input({100, "uint32", false, "random"});
  std::vector<uint32_t> found = input.sorted;
  EXPECT_EQ(different_words(elements_of(input), found.data()), 0u);
  std::swap(found[3], found[50]);
  EXPECT_EQ(different_words(elements_of(input), found.data()), 2u);
}

}  // namespace
}  // namespace gpusync::tool
