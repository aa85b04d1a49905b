// Halos on a CUDA device: in their forms, of all types, placed, across the wrap.
#include <map>
#include <string>

#include "cuda/neighbours_fixture.cuh"

namespace gpusync::test {
namespace {

TEST_F(CudaNeighbours, HalosOfRingsAndToriOfAnySize) {
  const auto check = [this](uint32_t blocks, uint32_t threads, uint32_t steps) {
    const uint32_t count = std::min(threads, 64u);
    halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::ring(blocks), threads, count, steps, false);
    halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::ring(blocks), threads, count, steps, true);
    if (blocks % 4 != 0 || threads < 33) return;
    halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::torus({blocks / 4, 4}, corners::yes), threads, count,
                                              steps, true);
    halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::grid({blocks / 4, 2, 2}), threads, count, steps, false);
  };
  for_any_size(halo_steps<uint32_t, uint32_t, halo_form::words>, check);
}

TEST_F(CudaNeighbours, HalosOfAllWaysAndTypesAndAcrossTheWrap) {
  for (const way how : {way::single, way::several, way::pairs, way::bounded}) {
    for (const uint32_t first : {0u, 0xffffff80u}) {
      const auto who = neighbourhood::torus({12, 11});
      halo_is_right_in_both<uint32_t, uint32_t>(who, 128, 64, phases(500), true, how, first);
      halo_is_right_in_both<double, uint64_t>(who, 128, 64, phases(500), true, how, first);
      halo_is_right_in_both<double, uint64_t>(neighbourhood::line(3), 33, 200, phases(500), false, how, first);
    }
  }
}

TEST_F(CudaNeighbours, HalosOfRandomLists) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const auto who = random_lists(17 + 20 * seed, 2 + 5 * seed, seed);
    halo_is_right_in_both<uint32_t, uint32_t>(who, 64, 10 * seed, phases(300), seed % 2 == 0);
    halo_is_right_in_both<double, uint64_t>(who, 64, 10 * seed, phases(300), seed % 2 == 1);
  }
}

TEST_F(CudaNeighbours, HalosForAHundredThousandSteps) {
  for (const bool late : {false, true}) {
    const uint32_t few = fitting(halo_steps<uint32_t, uint32_t, halo_form::words>, sms(), 256);
    halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::ring(few), 256, 256, phases(100'000), late);
    const uint32_t many = fitting(halo_steps<double, uint64_t, halo_form::words>, 8 * sms(), 256);
    halo_is_right_in_both<double, uint64_t>(neighbourhood::torus({many / 8, 8}), 256, 32, phases(100'000), late);
  }
}

/// Of one page a block, of several, of several launches, with pairs of neighbours on both partitions.
TEST_F(CudaNeighbours, HalosWhoseWordsASurveyHasPlaced) {
  const l2_survey survey(device());
  for (const uint32_t first : {0u, 0xffffff80u}) {
    for (const uint32_t count : {1u, 64u, 256u, 257u, 600u}) {
      for (const way how : {way::several, way::pairs, way::bounded}) {
        if (how == way::pairs && count % 2 != 0) continue;
        const auto ring = neighbourhood::ring(sms()), torus = neighbourhood::torus({12, 11}, corners::yes);
        halo_is_right<uint32_t, uint32_t, halo_form::words>(ring, 256, count, phases(500), true, how, {}, first,
                                                            &survey);
        halo_is_right<uint32_t, uint32_t, halo_form::flags>(ring, 256, count, phases(500), true, how, {}, first,
                                                            &survey);
        halo_is_right<double, uint64_t, halo_form::words>(torus, 256, count, phases(500), false, how, {}, first,
                                                          &survey);
      }
    }
  }
}

/// The pages of a block are of the other partition if one of its readers is there, else of its own, and each is one
/// block's. That is so for where blocks were when the storage was made: on some devices a few blocks change places from
/// launch to launch.
TEST_F(CudaNeighbours, ASurveyPlacesWordsNearWhoReadsThem) {
  const l2_survey survey(device());
  if (!survey.figures().has_partitions()) GTEST_SKIP() << "the L2 cache of this device has no partitions";
  const auto who = neighbourhood::ring(sms());
  halo_storage<uint32_t> storage(device(), who, 600, survey);
  constexpr uint32_t page = 2 * detail::halo_argument<uint32_t>::page_words;
  auto* const words = reinterpret_cast<uint32_t*>(storage.state());
  const std::vector<uint32_t> pages = storage.pages();
  ASSERT_EQ(pages.size(), 3 * size_t{sms()});
  uint32_t first = ~0u, last = 0;
  for (const uint32_t at : pages) {
    first = std::min(first, at);
    last = std::max(last, at);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(words + 2 * size_t{at}) % 4096, 0u);
  }
  const auto found = survey.survey_of(words + 2 * size_t{first}, 1024, (last - first) / page + 1);
  ASSERT_TRUE(found.has_partitions());
  std::vector<bool> taken((last - first) / page + 1);
  for (size_t i = 0; i < pages.size(); ++i) {
    const uint32_t number = (pages[i] - first) / page;
    EXPECT_FALSE(taken[number]) << "page " << number << " of block " << i / 3;
    taken[number] = true;
  }
  const auto misplaced_if = [&](const std::vector<uint32_t>& sms_of_blocks) {
    const auto side = [&](uint32_t block) { return found.partitions()[sms_of_blocks[block]]; };
    std::string misplaced;
    for (size_t i = 0; i < pages.size(); ++i) {
      const uint32_t number = (pages[i] - first) / page;
      const auto block = static_cast<uint32_t>(i / 3);
      const bool all_near =
          side((block + 1) % sms()) == side(block) && side((block + sms() - 1) % sms()) == side(block);
      if ((found.homes()[number] == side(block)) != all_near) {
        misplaced += "page " + std::to_string(number) + " of block " + std::to_string(block) + "\n";
      }
    }
    return misplaced;
  };
  std::string misplaced = "not looked at";
  for (int launches = 0; launches < 9 && !misplaced.empty(); ++launches) misplaced = misplaced_if(survey.sms_of(sms()));
  EXPECT_EQ(misplaced, "");
  EXPECT_LT((size_t{last} + page) * 8, storage.bytes());
}

/// Steps of a halo of as many words as threads, between two slots. Each block notes its multiprocessor and how many
/// nanoseconds it took.
__global__ void noting_steps(halo<uint32_t, halo_form::words> exchange, uint32_t* state, uint32_t steps,
                             uint32_t* places, uint64_t* taken) {
  const cuda_grid grid = cuda_grid::current();
  uint32_t& own = state[blockIdx.x * blockDim.x + threadIdx.x];
  const uint64_t begin = grid.now();
  for (uint32_t step = 0; step < steps; ++step) {
    exchange.put(threadIdx.x, own);
    exchange.send();
    exchange.receive();
    const halo_word from[2] = {exchange.word(0, threadIdx.x), exchange.word(1, threadIdx.x)};
    uint32_t got[2];
    exchange.get(from, got);
    own = mixed(mixed(own, got[0]), got[1]);
    exchange.next();
  }
  if (threadIdx.x != 0) return;
  taken[blockIdx.x] = grid.now() - begin;
  places[blockIdx.x] = grid.sm_id();
}

/// Words lie where they should for one order of blocks; on some devices they start in others, too, in turns. A step
/// takes as long in each.
TEST_F(CudaNeighbours, APlacedHaloIsAsFastInAnyOrderOfItsBlocks) {
  const l2_survey survey(device());
  if (!survey.figures().has_partitions()) GTEST_SKIP() << "the L2 cache of this device has no partitions";
  constexpr uint32_t threads = 64, steps = 2000;
  const auto who = neighbourhood::ring(sms());
  halo_storage<uint32_t> storage(device(), who, threads, survey);
  steps_beside_plain_ones<uint32_t> chains(device(), who, threads);
  const cuda_buffer places = words(sms()), taken = words(2 * size_t{sms()});
  std::map<std::vector<uint32_t>, std::vector<double>> times;
  constexpr uint32_t launches = 120;
  for (uint32_t count = 0; count < launches; ++count) {
    launch(device(), nullptr, {sms(), threads}, noting_steps, storage.halo<halo_form::words>(), chains.state(), steps,
           address(places), static_cast<uint64_t*>(taken.address()));
    const auto nanoseconds = words_in<uint64_t>(taken);
    times[words_in<uint32_t>(places)].push_back(
        static_cast<double>(*std::max_element(nanoseconds.begin(), nanoseconds.end())) / steps);
  }
  double least = 1e9, most = 0;
  for (auto& [order, found] : times) {
    std::nth_element(found.begin(), found.begin() + found.size() / 2, found.end());
    const double median = found[found.size() / 2];
    std::printf("%zu launches, a step of %.1f ns, blocks 0 to 7 on SM", found.size(), median);
    for (uint32_t block = 0; block < std::min(sms(), 8u); ++block) std::printf(" %u", order[block]);
    std::printf("\n");
    if (found.size() < launches / 8) continue;  // of a device that others use
    least = std::min(least, median);
    most = std::max(most, median);
  }
  EXPECT_LT(most, 1.05 * least);
  chains.expect_equal_after(launches * steps, "a placed ring");
  EXPECT_EQ(storage.report(), "");
}

TEST_F(CudaNeighbours, AHaloOfManyPagesIsNotPlaced) {
  const l2_survey survey(device());
  EXPECT_FALSE(halo_storage<uint32_t>(device(), neighbourhood::ring(4097), 1, survey).placed());
  EXPECT_FALSE(halo_storage<uint64_t>(device(), neighbourhood::ring(2), 128 * 2048 + 1, survey).placed());
  EXPECT_EQ(halo_storage<uint32_t>(device(), neighbourhood::ring(4096), 1, survey).placed(),
            survey.figures().has_partitions());
}

TEST_F(CudaNeighbours, AHaloTakesTheFormThatItsRuleSays) {
  const auto who = neighbourhood::ring(12);
  halo_rule rule;
  for (const uint64_t bytes : {12u * 2 * 64 * 8 - 1u, 12u * 2 * 64 * 8u}) {
    rule.most_polled_bytes = bytes;
    EXPECT_EQ(halo_storage<uint32_t>(device(), who, 64, rule).form_for(64),
              bytes % 2 == 1 ? halo_form::flags : halo_form::words);
    halo_is_right<uint32_t, uint32_t, halo_form::automatic>(who, 64, 64, phases(200), true, way::several, rule);
    halo_is_right<uint32_t, uint32_t, halo_form::automatic>(who, 31, 64, phases(200), true, way::several, rule);
  }
}

TEST_F(CudaNeighbours, AHaloChangesItsFormFromLaunchToLaunch) {
  const auto who = neighbourhood::torus({6, 5});
  halo_rule rule;
  rule.most_words_a_thread = 1;
  halo_storage<uint32_t> storage(device(), who, 64, rule, 0xfffffff0u);
  steps_beside_plain_ones<uint32_t> chains(device(), who, 64);
  for (uint32_t round = 0; round < 20; ++round) {
    const uint32_t threads = round % 3 == 0 ? 32 : 64, steps = 1 + round % 4;
    launch(device(), nullptr, {who.blocks(), threads}, halo_steps<uint32_t, uint32_t, halo_form::automatic>,
           storage.halo(), chains.state(), steps, true, way::several,
           static_cast<uint32_t>(threads == 32 ? halo_form::flags : halo_form::words), chains.faults());
    chains.expect_equal_after(steps, "round " + std::to_string(round));
  }
}

}  // namespace
}  // namespace gpusync::test
