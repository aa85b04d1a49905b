// Neighbours on a CUDA device: what blocks read of each other is compared with what one launch for each step gives.
#include <gpusync/neighbours/cuda.cuh>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "cuda/safety_fixture.cuh"

namespace gpusync::test {
namespace {

using named = std::vector<missing_block>;
constexpr uint32_t none = neighbourhood::none;

template <class Bits>
__device__ Bits mixed(Bits chain, Bits with) {
  return (chain ^ with) * static_cast<Bits>(0x9e3779b97f4a7c15u) + static_cast<Bits>(0x7f4a7c15u);
}

/// A neighbourhood where kernels read it.
struct seen_table {
  const uint32_t* blocks;
  uint32_t slots;
  __device__ uint32_t at(uint32_t block, uint32_t slot) const { return blocks[block * slots + slot]; }
};

/// One step of all blocks, each of which has so many words: each takes in the same word of its neighbours.
template <class Bits>
__global__ void plain_step(seen_table who, const Bits* from, Bits* to, uint32_t words) {
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
    Bits chain = from[blockIdx.x * words + i];
    for (uint32_t slot = 0; slot < who.slots; ++slot) {
      const uint32_t other = who.at(blockIdx.x, slot);
      chain = mixed(chain, other == none ? Bits{0} : from[other * words + i]);
    }
    to[blockIdx.x * words + i] = chain;
  }
}

/// Many steps in one launch, a word for each thread, through plain data in two buffers and a barrier of neighbours.
/// split: arrive() and wait(). bounded: with deadlines, which must not be met.
__global__ void __launch_bounds__(1024)
    barrier_steps(neighbour_barrier barrier, seen_table who, uint32_t* buffers, uint32_t* state, uint32_t steps,
                  bool late, bool split, bool bounded, uint32_t* faults) {
  const uint32_t all = gridDim.x * blockDim.x, own = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t random = blockIdx.x * 747796405u + 1 + (threadIdx.x / 32) * 2891336453u;
  uint32_t chain = state[own];
  for (uint32_t step = 0; step < steps; ++step) {
    uint32_t* const buffer = buffers + barrier.parity() * all;
    if (late) dawdle(random);
    buffer[own] = chain;
    wait_status status = wait_status::completed;
    if (split) {
      auto token = barrier.arrive();
      if (late) dawdle(random);
      if (bounded) {
        status = barrier.wait_for(static_cast<decltype(token)&&>(token), timeout(20'000'000'000));
      } else {
        barrier.wait(static_cast<decltype(token)&&>(token));
      }
    } else if (bounded) {
      status = barrier.sync_for(timeout(20'000'000'000));
    } else {
      barrier.sync();
    }
    if (status != wait_status::completed) {
      atomicAdd(faults, 1u);
      return;
    }
    for (uint32_t slot = 0; slot < who.slots; ++slot) {
      const uint32_t other = who.at(blockIdx.x, slot);
      chain = mixed(chain, other == none ? 0u : buffer[other * blockDim.x + threadIdx.x]);
    }
  }
  state[own] = chain;
}

enum class way : uint32_t { single, several, pairs, bounded };

template <class T, class Bits>
__device__ T value_of(Bits bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class Bits, class T>
__device__ Bits bits_of(T value) {
  Bits bits;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// The same through a halo.
template <class T, class Bits, halo_form Form>
__global__ void __launch_bounds__(1024) halo_steps(halo<T, Form> exchange, Bits* state, uint32_t steps, bool late,
                                                   way how, uint32_t form, uint32_t* faults) {
  const uint32_t words = exchange.words();
  Bits* const own = state + size_t{blockIdx.x} * words;
  uint32_t random = blockIdx.x * 747796405u + 1 + (threadIdx.x / 32) * 2891336453u;
  if (static_cast<uint32_t>(exchange.form()) != form) atomicAdd(faults, 1u);
  for (uint32_t step = 0; step < steps; ++step) {
    if (late) dawdle(random);
    const bool two = how == way::pairs;
    const uint32_t width = two ? 2 : 1;
    for (uint32_t i = threadIdx.x * width; i < words; i += blockDim.x * width) {
      if (two) {
        exchange.put_pair(i, value_of<T>(own[i]), value_of<T>(own[i + 1]));
      } else {
        exchange.put(i, value_of<T>(own[i]));
      }
    }
    exchange.send();
    if (late) dawdle(random);
    wait_status status = wait_status::completed;
    if (how == way::bounded) {
      status = exchange.receive_for(timeout(20'000'000'000));
    } else {
      exchange.receive();
    }
    for (uint32_t i = threadIdx.x * width; i < words && status == wait_status::completed; i += blockDim.x * width) {
      Bits chain[2] = {own[i], two ? own[i + 1] : Bits{0}};
      for (uint32_t slot = 0; slot < exchange.slots(); ++slot) {
        if (two) {
          const halo_word from[1] = {exchange.word(slot, i)};
          T got[1][2];
          exchange.get_pairs(from, got);
          chain[0] = mixed(chain[0], bits_of<Bits>(got[0][0]));
          chain[1] = mixed(chain[1], bits_of<Bits>(got[0][1]));
        } else if (how == way::single) {
          chain[0] = mixed(chain[0], bits_of<Bits>(exchange.get(exchange.word(slot, i))));
        } else {
          // Two slots at once, the last one alone.
          const bool more = slot + 1 < exchange.slots();
          const halo_word from[2] = {exchange.word(slot, i), more ? exchange.word(slot + 1, i) : halo_word{}};
          T got[2];
          if (how == way::bounded) {
            status = exchange.get_for(from, got, timeout(20'000'000'000));
          } else {
            exchange.get(from, got);
          }
          chain[0] = mixed(chain[0], bits_of<Bits>(got[0]));
          if (more) chain[0] = mixed(chain[0], bits_of<Bits>(got[1]));
          slot += more ? 1 : 0;
        }
      }
      own[i] = chain[0];
      if (two) own[i + 1] = chain[1];
    }
    if (how == way::bounded) {
      if (exchange.next_for(status) != wait_status::completed) {
        atomicAdd(faults, 1u);
        return;
      }
    } else {
      exchange.next();
    }
  }
}

/// Lists in which block b and the next are neighbours, and some others, up to so many of each.
neighbourhood random_lists(uint32_t blocks, uint32_t most, uint32_t seed) {
  std::vector<std::vector<uint32_t>> lists(blocks);
  std::minstd_rand random(seed);
  const auto join = [&](uint32_t a, uint32_t b) {
    if (a == b || lists[a].size() >= most || lists[b].size() >= most) return;
    if (std::find(lists[a].begin(), lists[a].end(), b) != lists[a].end()) return;
    lists[a].push_back(b);
    lists[b].push_back(a);
  };
  for (uint32_t block = 0; block + 1 < blocks; ++block) join(block, block + 1);
  for (uint32_t i = 0; i < blocks * most; ++i) {
    const auto a = static_cast<uint32_t>(random() % blocks), b = static_cast<uint32_t>(random() % blocks);
    join(a, b);
  }
  return neighbourhood::of(lists);
}

/// Words of all blocks, which go through steps in launches of the library and in plain ones.
template <class Bits>
class steps_beside_plain_ones {
 public:
  steps_beside_plain_ones(const cuda_device& device, const neighbourhood& who, uint32_t words)
      : who_(who),
        words_(words),
        table_(device, who.table().size() * sizeof(uint32_t)),
        state_(device, bytes()),
        plain_{cuda_buffer(device, bytes()), cuda_buffer(device, bytes())},
        faults_(device, sizeof(uint32_t)) {
    check_cuda(cudaMemcpy(table_.address(), who.table().data(), table_.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    std::vector<Bits> first(size_t{who.blocks()} * words);
    for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<Bits>((i + 1) * 0x9e3779b97f4a7c15u);
    for (const cuda_buffer* buffer : {&state_, &plain_[0]}) {
      check_cuda(cudaMemcpy(buffer->address(), first.data(), buffer->bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
  }

  seen_table table() const { return {static_cast<const uint32_t*>(table_.address()), who_.slots()}; }
  Bits* state() const { return static_cast<Bits*>(state_.address()); }
  uint32_t* faults() const { return static_cast<uint32_t*>(faults_.address()); }

  /// After all launches have ended, in which there were `steps` more.
  void expect_equal_after(uint32_t steps, const std::string& what) {
    check_cuda(cudaDeviceSynchronize(), what.c_str());
    for (uint32_t i = 0; i < steps; ++i, ++done_) {
      plain_step<Bits>
          <<<who_.blocks(), std::min(words_, 256u)>>>(table(), static_cast<const Bits*>(plain_[done_ % 2].address()),
                                                      static_cast<Bits*>(plain_[(done_ + 1) % 2].address()), words_);
    }
    check_cuda(cudaGetLastError(), "plain_step");
    check_cuda(cudaDeviceSynchronize(), "plain_step");
    const auto found = read<Bits>(state_), expected = read<Bits>(plain_[done_ % 2]);
    uint64_t wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) wrong += found[i] != expected[i] ? 1 : 0;
    EXPECT_EQ(wrong, 0u) << "words of " << found.size() << ", " << what;
    EXPECT_EQ(read<uint32_t>(faults_)[0], 0u) << what;
  }

 private:
  size_t bytes() const { return size_t{who_.blocks()} * words_ * sizeof(Bits); }
  template <class Word>
  static std::vector<Word> read(const cuda_buffer& buffer) {
    std::vector<Word> values(buffer.bytes() / sizeof(Word));
    check_cuda(cudaMemcpy(values.data(), buffer.address(), buffer.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

  neighbourhood who_;
  uint32_t words_;
  cuda_buffer table_, state_, plain_[2], faults_;
  uint32_t done_ = 0;
};

class CudaNeighbours : public CudaTest {
 protected:
  /// The blocks that are asked for, or as many as run at once.
  template <class Kernel>
  uint32_t fitting(Kernel kernel, uint32_t blocks, uint32_t threads) const {
    return static_cast<uint32_t>(std::min<uint64_t>(blocks, max_co_resident(device(), kernel, {1, threads}).blocks()));
  }
  std::string words_for(const neighbourhood& who, uint32_t threads) const {
    return std::to_string(who.blocks()) + " x " + std::to_string(threads) + ", " + std::to_string(who.slots()) +
           " slots";
  }

  void barrier_is_right(const neighbourhood& who, uint32_t threads, uint32_t steps, bool late, uint32_t form = 0,
                        uint32_t first = 0) {
    neighbour_barrier_storage storage(device(), who, first);
    steps_beside_plain_ones<uint32_t> chains(device(), who, threads);
    const cuda_buffer buffers = words(2 * size_t{who.blocks()} * threads);
    for (const uint32_t part : {steps / 2, steps - steps / 2}) {
      launch(device(), nullptr, {who.blocks(), threads}, barrier_steps, storage.barrier(), chains.table(),
             address(buffers), chains.state(), part, late, (form & 1) != 0, (form & 2) != 0, chains.faults());
    }
    chains.expect_equal_after(steps, words_for(who, threads) + ", form " + std::to_string(form));
    EXPECT_EQ(storage.report(), "");
  }

  template <class T, class Bits, halo_form Form>
  void halo_is_right(const neighbourhood& who, uint32_t threads, uint32_t count, uint32_t steps, bool late,
                     way how = way::several, const halo_rule& rule = {}, uint32_t first = 0,
                     const l2_survey* survey = nullptr) {
    halo_storage<T> storage = survey == nullptr ? halo_storage<T>(device(), who, count, rule, first)
                                                : halo_storage<T>(device(), who, count, *survey, rule, first);
    EXPECT_EQ(storage.placed(), survey != nullptr && survey->figures().has_partitions());
    steps_beside_plain_ones<Bits> chains(device(), who, count);
    const halo_form form = Form == halo_form::automatic ? storage.form_for(threads) : Form;
    for (const uint32_t part : {steps / 2, steps - steps / 2}) {
      launch(device(), nullptr, {who.blocks(), threads}, halo_steps<T, Bits, Form>, storage.template halo<Form>(),
             chains.state(), part, late, how, static_cast<uint32_t>(form), chains.faults());
    }
    chains.expect_equal_after(steps, words_for(who, threads) + ", " + std::to_string(count) + " words of " +
                                         std::to_string(sizeof(T)) + " bytes, form " +
                                         std::to_string(static_cast<uint32_t>(form)) + ", way " +
                                         std::to_string(static_cast<uint32_t>(how)));
    EXPECT_EQ(storage.report(), "");
  }
  /// In both forms.
  template <class T, class Bits>
  void halo_is_right_in_both(const neighbourhood& who, uint32_t threads, uint32_t count, uint32_t steps, bool late,
                             way how = way::several, uint32_t first = 0) {
    halo_is_right<T, Bits, halo_form::words>(who, threads, count, steps, late, how, {}, first);
    halo_is_right<T, Bits, halo_form::flags>(who, threads, count, steps, late, how, {}, first);
  }
};

constexpr uint32_t all_threads[] = {1, 32, 33, 256, 1024};

// ---- The barrier ----

TEST_F(CudaNeighbours, BarrierOfRingsAndToriOfAnySize) {
  for (const uint32_t threads : all_threads) {
    const uint32_t steps = phases(300);
    for (const uint32_t blocks : {1u, 2u, 3u, 132u, 1056u}) {
      const uint32_t fit = fitting(barrier_steps, blocks, threads);
      barrier_is_right(neighbourhood::ring(fit), threads, steps, false);
      barrier_is_right(neighbourhood::ring(fit), threads, steps, true);
      if (fit % 4 == 0) {
        barrier_is_right(neighbourhood::torus({fit / 4, 4}, corners::yes), threads, steps, true);
        barrier_is_right(neighbourhood::torus({fit / 4, 2, 2}), threads, steps, false);
        barrier_is_right(neighbourhood::grid({fit / 4, 2, 2}, corners::yes), threads, steps, false);
      }
    }
  }
}

TEST_F(CudaNeighbours, BarrierOfRandomLists) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const uint32_t threads = all_threads[seed % 5], blocks = fitting(barrier_steps, 17 + 40 * seed, threads);
    barrier_is_right(random_lists(blocks, 2 + 5 * seed, seed), threads, phases(300), seed % 2 == 0, seed % 4);
  }
}

TEST_F(CudaNeighbours, BarrierInItsFormsAndAcrossTheWrap) {
  for (const uint32_t form : {0u, 1u, 2u, 3u}) {
    for (const uint32_t first : {0u, 0xffffff80u}) {
      barrier_is_right(neighbourhood::torus({12, 11}), 256, phases(1000), form % 2 == 0, form, first);
      barrier_is_right(neighbourhood::line(5), 33, phases(1000), form % 2 == 1, form, first);
    }
  }
}

TEST_F(CudaNeighbours, BarrierForAHundredThousandPhases) {
  for (const bool late : {false, true}) {
    barrier_is_right(neighbourhood::ring(fitting(barrier_steps, sms(), 256)), 256, phases(100'000), late);
    barrier_is_right(neighbourhood::torus({fitting(barrier_steps, 8 * sms(), 256) / 8, 8}), 256, phases(100'000), late);
  }
}

// ---- Halos ----

TEST_F(CudaNeighbours, HalosOfRingsAndToriOfAnySize) {
  for (const uint32_t threads : all_threads) {
    const uint32_t steps = phases(300);
    for (const uint32_t blocks : {1u, 2u, 3u, 132u, 1056u}) {
      const uint32_t fit = fitting(halo_steps<uint32_t, uint32_t, halo_form::words>, blocks, threads);
      const uint32_t count = std::min(threads, 64u);
      halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::ring(fit), threads, count, steps, false);
      halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::ring(fit), threads, count, steps, true);
      if (fit % 4 == 0 && threads >= 33) {
        halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::torus({fit / 4, 4}, corners::yes), threads, count,
                                                  steps, true);
        halo_is_right_in_both<uint32_t, uint32_t>(neighbourhood::grid({fit / 4, 2, 2}), threads, count, steps, false);
      }
    }
  }
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
/// block's.
TEST_F(CudaNeighbours, ASurveyPlacesWordsNearWhoReadsThem) {
  const l2_survey survey(device());
  if (!survey.figures().has_partitions()) GTEST_SKIP() << "the L2 cache of this device has no partitions";
  const auto who = neighbourhood::ring(sms());
  halo_storage<uint32_t> storage(device(), who, 600, survey);
  constexpr uint32_t page = 2 * detail::halo_argument<uint32_t>::page_words;
  auto* const words = reinterpret_cast<uint32_t*>(storage.state());
  const std::vector<uint32_t> pages = storage.pages(), sms_of_blocks = survey.sms_of(sms());
  ASSERT_EQ(pages.size(), 3 * size_t{sms()});
  uint32_t first = ~0u, last = 0;
  for (const uint32_t at : pages) {
    first = std::min(first, at);
    last = std::max(last, at);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(words + 2 * size_t{at}) % 4096, 0u);
  }
  const auto found = survey.survey_of(words + 2 * size_t{first}, 1024, (last - first) / page + 1);
  ASSERT_TRUE(found.has_partitions());
  const auto side = [&](uint32_t block) { return found.partitions()[sms_of_blocks[block]]; };
  std::vector<bool> taken((last - first) / page + 1);
  for (size_t i = 0; i < pages.size(); ++i) {
    const uint32_t number = (pages[i] - first) / page;
    EXPECT_FALSE(taken[number]) << "page " << number << " of block " << i / 3;
    taken[number] = true;
    const auto block = static_cast<uint32_t>(i / 3);
    const bool all_near = side((block + 1) % sms()) == side(block) && side((block + sms() - 1) % sms()) == side(block);
    EXPECT_EQ(found.homes()[number] == side(block), all_near) << "page " << number << " of block " << block;
  }
  EXPECT_LT((size_t{last} + page) * 8, storage.bytes());
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

// ---- Streams and graphs ----

TEST_F(CudaNeighbours, TwoStoragesOnTwoStreams) {
  const uint32_t blocks = std::max(1u, sms() / 2), steps = phases(20'000);
  const auto who = neighbourhood::ring(blocks);
  std::vector<std::unique_ptr<other_stream>> streams;
  std::vector<std::unique_ptr<neighbour_barrier_storage>> barriers;
  std::vector<std::unique_ptr<halo_storage<uint32_t>>> halos;
  std::vector<std::unique_ptr<steps_beside_plain_ones<uint32_t>>> chains;
  const cuda_buffer buffers = words(2 * 2 * size_t{blocks} * 64);
  for (uint32_t i = 0; i < 2; ++i) {
    streams.push_back(std::make_unique<other_stream>());
    barriers.push_back(std::make_unique<neighbour_barrier_storage>(device(), who));
    halos.push_back(std::make_unique<halo_storage<uint32_t>>(device(), who, 64));
    chains.push_back(std::make_unique<steps_beside_plain_ones<uint32_t>>(device(), who, 64));
  }
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (uint32_t i = 0; i < 2; ++i) {
    launch(device(), *streams[i], {blocks, 64u}, barrier_steps, barriers[i]->barrier(), chains[i]->table(),
           address(buffers) + i * 2 * blocks * 64, chains[i]->state(), steps, i == 0, false, false,
           chains[i]->faults());
    launch(device(), *streams[i], {blocks, 64u}, halo_steps<uint32_t, uint32_t, halo_form::words>,
           halos[i]->halo<halo_form::words>(), chains[i]->state(), steps, i == 1, way::several,
           static_cast<uint32_t>(halo_form::words), chains[i]->faults());
  }
  for (uint32_t i = 0; i < 2; ++i) chains[i]->expect_equal_after(2 * steps, "stream " + std::to_string(i));
}

TEST_F(CudaNeighbours, AGraphReplayedAHundredTimes) {
  const auto who = neighbourhood::torus({10, 5});
  neighbour_barrier_storage barrier(device(), who, 0xffffff00u);
  halo_storage<uint32_t> exchange(device(), who, 64, {}, 0xffffff00u);
  steps_beside_plain_ones<uint32_t> chains(device(), who, 64);
  const cuda_buffer buffers = words(2 * size_t{who.blocks()} * 64);
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  replay(100, [&](cudaStream_t stream) {
    launch(device(), stream, {who.blocks(), 64u}, barrier_steps, barrier.barrier(), chains.table(), address(buffers),
           chains.state(), 3u, true, false, false, chains.faults());
    launch(device(), stream, {who.blocks(), 64u}, halo_steps<uint32_t, uint32_t, halo_form::automatic>, exchange.halo(),
           chains.state(), 2u, true, way::several, static_cast<uint32_t>(exchange.form_for(64)), chains.faults());
  });
  chains.expect_equal_after(500, "a graph");
}

// ---- Time-outs ----

/// Block `absent` leaves before phase `last`. Its neighbours give up after `span`, the others not of themselves.
__global__ void __launch_bounds__(1024) barrier_misses(neighbour_barrier barrier, seen_table who, uint32_t absent,
                                                       uint32_t last, uint64_t span, uint32_t* told) {
  bool near = false;
  for (uint32_t slot = 0; slot < who.slots; ++slot) near = near || who.at(blockIdx.x, slot) == absent;
  for (uint32_t phase = 0; phase < last + gridDim.x; ++phase) {
    if (phase == last && blockIdx.x == absent) return;
    const timeout mine(near && phase == last ? span : 20'000'000'000);
    if (barrier.sync_for(mine) == wait_status::timed_out) {
      atomicAdd(told, 1u);
      return;
    }
  }
}
template <halo_form Form>
__global__ void __launch_bounds__(1024) halo_misses(halo<uint32_t, Form> exchange, seen_table who, uint32_t absent,
                                                    uint32_t last, uint64_t span, uint32_t* told) {
  bool near = false;
  for (uint32_t slot = 0; slot < who.slots; ++slot) near = near || who.at(blockIdx.x, slot) == absent;
  if (exchange.try_enter() == wait_status::timed_out) {
    atomicAdd(told, 1u);
    return;
  }
  for (uint32_t step = 0; step < last + gridDim.x; ++step) {
    if (step == last && blockIdx.x == absent) return;
    const timeout mine(near && step == last ? span : 20'000'000'000);
    if (threadIdx.x < exchange.words()) exchange.put(threadIdx.x, step);
    exchange.send();
    wait_status status = exchange.receive_for(mine);
    if (status == wait_status::completed) {
      for (uint32_t slot = 0; slot < exchange.slots() && status == wait_status::completed; ++slot) {
        const halo_word from[1] = {threadIdx.x < exchange.words() ? exchange.word(slot, threadIdx.x) : halo_word{}};
        uint32_t got[1];
        status = exchange.get_for(from, got, mine);
      }
      status = exchange.next_for(status);
    }
    if (status == wait_status::timed_out) {
      atomicAdd(told, 1u);
      return;
    }
  }
}

TEST_F(CudaNeighbours, ATimeOutNamesTheNeighbourAndThePhase) {
  for (const uint32_t last : {0u, 1u, 7u}) {
    const auto who = neighbourhood::torus({6, 5});
    const uint32_t threads = last == 1 ? 33 : 64, absent = 13;
    steps_beside_plain_ones<uint32_t> chains(device(), who, 1);
    const auto expect = [&](auto& storage, const cuda_buffer& told, const std::string& what) {
      EXPECT_EQ(contents(told)[0], (who.blocks() - 1) * threads) << what;
      EXPECT_EQ(storage.missing(), (named{{absent, last}})) << what << ": " << storage.report();
      EXPECT_NE(storage.report().find("missing block 13"), std::string::npos) << storage.report();
    };
    neighbour_barrier_storage barrier(device(), who);
    const auto start = [&](uint32_t missing) {
      const cuda_buffer told = words(1);
      launch(device(), nullptr, {who.blocks(), threads}, barrier_misses, barrier.barrier(), chains.table(), missing,
             last, uint64_t{50'000'000}, address(told));
      check_cuda(cudaDeviceSynchronize(), "barrier_misses");
      return contents(told)[0];
    };
    EXPECT_EQ(start(none), 0u);
    EXPECT_EQ(start(absent), (who.blocks() - 1) * threads);
    EXPECT_EQ(barrier.missing(), (named{{absent, last}})) << barrier.report();
    EXPECT_THROW(start(none), broken_barrier);
    barrier.reset();
    EXPECT_EQ(start(none), 0u);
    const auto of_halo = [&](auto form) {
      halo_storage<uint32_t> storage(device(), who, 16);
      const auto go = [&](uint32_t missing, const cuda_buffer& told) {
        launch(device(), nullptr, {who.blocks(), threads}, halo_misses<decltype(form)::value>,
               storage.template halo<decltype(form)::value>(), chains.table(), missing, last, uint64_t{50'000'000},
               address(told));
        check_cuda(cudaDeviceSynchronize(), "halo_misses");
      };
      const cuda_buffer told = words(1), later = words(1);
      go(none, told);
      EXPECT_EQ(contents(told)[0], 0u);
      go(absent, told);
      expect(storage, told, "form " + std::to_string(static_cast<uint32_t>(decltype(form)::value)));
      EXPECT_THROW(go(none, told), broken_barrier);
      storage.reset();
      go(none, later);
      EXPECT_EQ(contents(later)[0], 0u);
    };
    of_halo(std::integral_constant<halo_form, halo_form::words>());
    of_halo(std::integral_constant<halo_form, halo_form::flags>());
  }
}

TEST_F(CudaNeighbours, LaunchesQueuedBehindATimeOutAreTold) {
  const auto who = neighbourhood::ring(20);
  steps_beside_plain_ones<uint32_t> chains(device(), who, 1);
  neighbour_barrier_storage barrier(device(), who);
  halo_storage<uint32_t> exchange(device(), who, 16);
  const cuda_buffer told = words(2);
  for (const uint32_t missing : {3u, none, none}) {
    launch(device(), nullptr, {20u, 64u}, barrier_misses, barrier.barrier(), chains.table(), missing, 2u,
           uint64_t{100'000'000}, address(told));
  }
  for (const uint32_t missing : {3u, none, none}) {
    launch(device(), nullptr, {20u, 64u}, halo_misses<halo_form::words>, exchange.halo<halo_form::words>(),
           chains.table(), missing, 2u, uint64_t{100'000'000}, address(told) + 1);
  }
  const auto counts = contents(told);
  EXPECT_EQ(counts[0], (19u + 20 + 20) * 64);
  EXPECT_EQ(counts[1], (19u + 20 + 20) * 64);
  EXPECT_EQ(barrier.missing(), (named{{3, 2}}));
  EXPECT_EQ(exchange.missing(), (named{{3, 2}}));
}

// ---- What is refused ----

__global__ void two_barriers(neighbour_barrier, neighbour_barrier) {}
__global__ void one_barrier(neighbour_barrier) {}
__global__ void one_halo(halo<uint32_t>) {}

TEST_F(CudaNeighbours, WhatDoesNotFitIsRefused) {
  const auto who = neighbourhood::ring(4);
  auto barrier = std::make_unique<neighbour_barrier_storage>(device(), who);
  halo_storage<uint32_t> exchange(device(), who, 8);
  for (const uint32_t blocks : {1u, 3u, 5u}) {
    EXPECT_THROW(launch(device(), nullptr, {blocks, 32u}, one_barrier, barrier->barrier()), invalid_argument);
    EXPECT_THROW(launch(device(), nullptr, {blocks, 32u}, one_halo, exchange.halo()), invalid_argument);
  }
  EXPECT_THROW(launch(device(), nullptr, {4u, 32u}, two_barriers, barrier->barrier(), barrier->barrier()),
               invalid_argument);
  other_stream first, second;
  launch(device(), first, {4u, 32u}, one_barrier, barrier->barrier());
  EXPECT_THROW(launch(device(), second, {4u, 32u}, one_barrier, barrier->barrier()), storage_in_use);
  check_cuda(cudaStreamSynchronize(first), "cudaStreamSynchronize");
  barrier->hand_over();
  launch(device(), second, {4u, 32u}, one_barrier, barrier->barrier());
  check_cuda(cudaStreamSynchronize(second), "cudaStreamSynchronize");
  const neighbour_barrier left_behind(barrier->barrier().given(), barrier->barrier().who());
  barrier.reset();
  EXPECT_THROW(launch(device(), nullptr, {4u, 32u}, one_barrier, left_behind), invalid_argument);
  const uint32_t most = fitting(one_barrier, 1u << 20, 1024);
  neighbour_barrier_storage large(device(), neighbourhood::ring(most + 1));
  EXPECT_THROW(launch(device(), nullptr, {most + 1, 1024u}, one_barrier, large.barrier()), not_co_resident);
  EXPECT_THROW(halo_storage<double>(device(), who, 0), invalid_argument);
}

// ---- As long as one likes ----

/// Every word says its phase and its place: checked where it is read.
__global__ void __launch_bounds__(1024) barrier_stress(neighbour_barrier barrier, seen_table who, uint32_t* buffers,
                                                       uint32_t first, uint32_t steps, bool late, uint32_t* wrong) {
  const uint32_t all = gridDim.x * blockDim.x, own = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t random = blockIdx.x * 747796405u + 1 + first;
  for (uint32_t step = first; step < first + steps; ++step) {
    uint32_t* const buffer = buffers + barrier.parity() * all;
    if (late && step % 16 == 0) dawdle(random);
    buffer[own] = word_of(step, own);
    barrier.sync();
    for (uint32_t slot = 0; slot < who.slots; ++slot) {
      const uint32_t theirs = who.at(blockIdx.x, slot) * blockDim.x + threadIdx.x;
      if (buffer[theirs] != word_of(step, theirs)) atomicAdd(wrong, 1u);
    }
  }
}
template <halo_form Form>
__global__ void __launch_bounds__(1024) halo_stress(halo<uint32_t, Form> exchange, seen_table who, uint32_t first,
                                                    uint32_t steps, bool late, uint32_t* wrong) {
  uint32_t random = blockIdx.x * 747796405u + 1 + first;
  for (uint32_t step = first; step < first + steps; ++step) {
    if (late && step % 16 == 0) dawdle(random);
    exchange.put(threadIdx.x, word_of(step, blockIdx.x * blockDim.x + threadIdx.x));
    exchange.send();
    exchange.receive();
    const halo_word from[2] = {exchange.word(0, threadIdx.x), exchange.word(1, threadIdx.x)};
    uint32_t got[2];
    exchange.get(from, got);
    for (uint32_t slot = 0; slot < 2; ++slot) {
      if (got[slot] != word_of(step, who.at(blockIdx.x, slot) * blockDim.x + threadIdx.x)) atomicAdd(wrong, 1u);
    }
    exchange.next();
  }
}

/// GPUSYNC_STRESS_PHASES=100000000 makes it as long as that.
TEST_F(CudaNeighbours, StressOfAsManyPhasesAsAreAskedFor) {
  const char* asked = std::getenv("GPUSYNC_STRESS_PHASES");
  const uint64_t all = asked == nullptr ? phases(50'000) : std::strtoull(asked, nullptr, 10);
  const uint32_t blocks = fitting(barrier_stress, sms(), 256), threads = 256;
  const auto who = neighbourhood::ring(blocks);
  steps_beside_plain_ones<uint32_t> chains(device(), who, 1);
  neighbour_barrier_storage barrier(device(), who, 0xfffff000u);
  halo_storage<uint32_t> exchange(device(), who, threads, {}, 0xfffff000u);
  const cuda_buffer buffers = words(2 * size_t{blocks} * threads), wrong = words(3);
  constexpr uint32_t part = 1'000'000;
  for (uint64_t done = 0; done < all; done += part) {
    const auto steps = static_cast<uint32_t>(std::min<uint64_t>(part, all - done));
    const auto first = static_cast<uint32_t>(done);
    const bool late = done / part % 2 == 1;
    launch(device(), nullptr, {blocks, threads}, barrier_stress, barrier.barrier(), chains.table(), address(buffers),
           first, steps, late, address(wrong));
    launch(device(), nullptr, {blocks, threads}, halo_stress<halo_form::words>, exchange.halo<halo_form::words>(),
           chains.table(), first, steps, late, address(wrong) + 1);
    launch(device(), nullptr, {blocks, threads}, halo_stress<halo_form::flags>, exchange.halo<halo_form::flags>(),
           chains.table(), first, steps, late, address(wrong) + 2);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  EXPECT_EQ(contents(wrong), (std::vector<uint32_t>{0, 0, 0})) << all << " phases of barrier, words and flags";
}

}  // namespace
}  // namespace gpusync::test
