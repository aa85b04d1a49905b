// Votes and sums of grid barriers on a CUDA device: every answer of every phase, in all threads.
#include "cuda/barrier_fixture.cuh"

namespace gpusync {
namespace {

using namespace test;

template <class Algorithm>
using votes_barrier = basic_grid_barrier<Algorithm, cuda_grid>;

/// Hashes an answer into what a thread keeps; what blocks bring hangs on it, so whoever got a wrong answer ends with
/// another word.
__host__ __device__ constexpr uint32_t hashed(uint32_t word, uint32_t answer) {
  const uint32_t one = (word ^ answer) * 0x9e3779b1u + 0x7f4a7c15u;
  return one ^ one >> 15;
}
__host__ __device__ constexpr uint32_t brought(uint32_t word, uint32_t block) {
  return block * (word | 1u) + (word >> 7);
}

/// What a phase is, by its number: all forms in turn, with others between them.
constexpr uint32_t kinds = 11;

/// Plain data of each thread crosses the phases that order it.
template <class Algorithm>
__global__ void __launch_bounds__(1024)
    votes(votes_barrier<Algorithm> barrier, uint32_t phases, uint32_t* words, uint32_t* data, uint32_t* wrong) {
  const cuda_grid grid;
  const uint32_t threads = grid.blocks() * grid.threads();
  const uint32_t mine = grid.block() * grid.threads() + grid.thread();
  uint32_t word = 1, ordered = 0, random = mine * 747796405u + 1, stale = 0;
  for (uint32_t phase = 0; phase < phases; ++phase) {
    if (phase % 64 == 63) dawdle(random);
    const uint32_t kind = phase % kinds;
    const uint32_t value = grid.thread() == 0 ? brought(word, grid.block()) : 0xdeadbeefu;
    const bool says = (mine + word) % 5 == 0, is_one = word % (2 * threads) == mine;
    const bool orders = kind < 5 || kind == 9;
    uint32_t* const half = data + ordered % 2 * threads;
    if (orders) half[mine] = phase;
    uint32_t answer = 0;
    switch (kind) {
      case 0: answer = barrier.sync_add(value); break;
      case 1: answer = barrier.sync_or(is_one) ? 1 : 0; break;
      case 2: answer = barrier.sync_count(says); break;
      case 3: {
        auto token = barrier.arrive_add(value);
        if (word & 1u) barrier.ask(token);
        answer = barrier.wait(static_cast<decltype(token)&&>(token));
        break;
      }
      case 4: barrier.sync(); break;
      case 5: answer = barrier.vote_add(value); break;
      case 6: answer = barrier.vote_or(is_one) ? 1 : 0; break;
      case 7: answer = barrier.vote_count(says); break;
      case 8: {
        auto token = barrier.cast_add(value);
        if (word & 1u) barrier.ask(token);
        answer = barrier.wait(static_cast<decltype(token)&&>(token));
        break;
      }
      case 9: {
        auto token = barrier.arrive_count(says);
        answer = barrier.wait(static_cast<decltype(token)&&>(token));
        break;
      }
      default: {
        auto token = barrier.cast_or(is_one);
        answer = barrier.wait(static_cast<decltype(token)&&>(token)) ? 1 : 0;
      }
    }
    if (orders) {
      // A thread of another block, and of many others in the course of time.
      if (half[(mine + grid.threads() * (1 + phase % 97)) % threads] != phase) ++stale;
      ++ordered;
    }
    word = hashed(word, answer);
  }
  words[mine] = word;
  if (stale != 0) atomicAdd(wrong, stale);
}

/// What all threads end with.
uint32_t expected(uint32_t blocks, uint32_t per_block, uint32_t phases) {
  const uint32_t threads = blocks * per_block;
  uint32_t word = 1;
  for (uint32_t phase = 0; phase < phases; ++phase) {
    uint32_t answer = 0;
    switch (phase % kinds) {
      case 0:
      case 3:
      case 5:
      case 8:
        answer = static_cast<uint32_t>(uint64_t{blocks} * (blocks - 1) / 2) * (word | 1u) + blocks * (word >> 7);
        break;
      case 1:
      case 6:
      case 10: answer = word % (2 * threads) < threads ? 1 : 0; break;
      case 2:
      case 7:
      case 9:
        // mine + word may wrap: counted on both sides of it.
        for (uint32_t first = 0; first < threads;) {
          const uint32_t until_wrap = ~0u - (first + word);
          const uint32_t count = threads - first - 1 <= until_wrap ? threads - first : until_wrap + 1;
          const uint32_t from = first + word;
          answer += (from + (count - 1)) / 5 - (from == 0 ? 0 : (from - 1) / 5) + (from == 0 ? 1 : 0);
          first += count;
        }
        break;
      default: break;
    }
    word = hashed(word, answer);
  }
  return word;
}

template <class Algorithm>
class CudaVotes : public CudaTest {
 protected:
  uint32_t most(uint32_t threads) const {
    return static_cast<uint32_t>(max_co_resident(device(), votes<Algorithm>, {1, threads}).blocks());
  }

  void expect_right(cuda_barrier_storage<Algorithm>& storage, launch_shape shape, uint32_t phases,
                    cudaStream_t stream = nullptr) {
    const auto blocks = static_cast<uint32_t>(shape.blocks.count());
    const auto threads = static_cast<uint32_t>(shape.threads.count());
    const auto last = words(size_t{blocks} * threads), data = words(size_t{2} * blocks * threads), wrong = words(1);
    launch(device(), stream, shape, votes<Algorithm>, storage.barrier(), phases, address(last), address(data),
           address(wrong));
    synchronize(device(), stream);
    EXPECT_EQ(contents(wrong)[0], 0u) << blocks << " x " << threads << ": stale data";
    const uint32_t right = expected(blocks, threads, phases);
    uint64_t others = 0;
    for (const uint32_t word : contents(last)) others += word != right ? 1 : 0;
    EXPECT_EQ(others, 0u) << blocks << " x " << threads << ": threads with a wrong answer";
  }
};
using voting_algorithms =
    ::testing::Types<grid::placed_counters<ordering::acquire_release>, grid::lock_based<ordering::acquire_release>,
                     grid::lock_based<ordering::fence>>;
TYPED_TEST_SUITE(CudaVotes, voting_algorithms, algorithm_names);

TYPED_TEST(CudaVotes, EveryAnswerIsRightInAllShapes) {
  const uint32_t sms = this->sms();
  cuda_barrier_storage<TypeParam> storage(this->device(), 8 * sms, 0xffe0);
  for (const uint32_t threads : {1u, 32u, 33u, 96u, 256u, 512u, 1024u}) {
    for (const uint32_t blocks : {1u, 2u, 3u, 31u, sms, 2 * sms, 4 * sms, 8 * sms}) {
      if (blocks <= this->most(threads)) this->expect_right(storage, {blocks, threads}, phases(300));
    }
  }
  EXPECT_TRUE(storage.report().empty());
}

/// Votes lie beside the counters: any number of them, and of copies.
using CudaPlacedVotes = CudaVotes<default_algorithm>;
TEST_F(CudaPlacedVotes, AreRightUnderAnyPlanAndWithWrongPlaces) {
  under_any_plan(device(), 2 * sms(), [this](auto& storage, const std::string& plan) {
    SCOPED_TRACE(plan);
    for (const launch_shape shape : {launch_shape{2 * sms(), 256}, {sms(), 1}, {sms(), 33}, {3, 64}, {1, 512}}) {
      expect_right(storage, shape, phases(300));
    }
    EXPECT_TRUE(storage.report().empty());
  });
}

/// Both halves of both words wrap on the way.
TYPED_TEST(CudaVotes, HundredThousandPhases) {
  const uint32_t sms = this->sms();
  cuda_barrier_storage<TypeParam> storage(this->device(), 8 * sms);
  this->expect_right(storage, {sms, 256}, phases(200'000));
  this->expect_right(storage, {std::min(8 * sms, this->most(128)), 128}, phases(100'000));
  this->expect_right(storage, {sms, 1024}, phases(50'000));
}

TYPED_TEST(CudaVotes, TwoStoragesOnTwoStreams) {
  const uint32_t few = this->sms() / 4;
  cuda_barrier_storage<TypeParam> one(this->device(), few), other(this->device(), few);
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  }
  const auto last = this->words(size_t{2} * few * 64), data = this->words(size_t{4} * few * 64), wrong = this->words(1);
  const uint32_t count = phases(20'000);
  for (int i = 0; i < 2; ++i) {
    launch(this->device(), streams[i], {few, 64}, votes<TypeParam>, (i == 0 ? one : other).barrier(), count,
           this->address(last) + i * few * 64, this->address(data) + i * 2 * few * 64, this->address(wrong));
  }
  for (cudaStream_t stream : streams) {
    synchronize(this->device(), stream);
    check_cuda(cudaStreamDestroy(stream), "destroy");
  }
  EXPECT_EQ(this->contents(wrong)[0], 0u);
  for (const uint32_t word : this->contents(last)) ASSERT_EQ(word, expected(few, 64, count));
}

TYPED_TEST(CudaVotes, GraphsAreReplayed) {
  const uint32_t sms = this->sms();
  cuda_barrier_storage<TypeParam> storage(this->device(), sms);
  const auto last = this->words(size_t{sms} * 128), data = this->words(size_t{2} * sms * 128), wrong = this->words(1);
  replay(50, [&](cudaStream_t stream) {
    launch(this->device(), stream, {sms, 128}, votes<TypeParam>, storage.barrier(), 101u, this->address(last),
           this->address(data), this->address(wrong));
  });
  EXPECT_EQ(this->contents(wrong)[0], 0u);
  for (const uint32_t word : this->contents(last)) ASSERT_EQ(word, expected(sms, 128, 101));
}

/// Votes of two barriers in one kernel, each begun before the other has ended.
template <class Algorithm>
__global__ void two_vote(votes_barrier<Algorithm> one, votes_barrier<Algorithm> other, uint32_t phases,
                         uint32_t* wrong) {
  const cuda_grid grid;
  for (uint32_t phase = 0; phase < phases; ++phase) {
    const uint32_t yes = phase % (grid.threads() + 1);
    auto counted = one.arrive_count(grid.thread() < yes);
    auto some = other.cast_count(grid.thread() == yes);  // nobody, in one of threads + 1 phases
    const uint32_t found = other.wait(static_cast<decltype(some)&&>(some));
    if (found != (yes != grid.threads() ? grid.blocks() : 0)) atomicAdd(wrong, 1u);
    if (other.sync_or(false)) atomicAdd(wrong, 1u);
    if (one.wait(static_cast<decltype(counted)&&>(counted)) != yes * grid.blocks()) atomicAdd(wrong, 1u);
    if (one.vote_count(true) != grid.threads() * grid.blocks()) atomicAdd(wrong, 1u);
    auto first = one.arrive_add(phase);
    auto second = other.arrive_add(3 * phase + 1);
    if (other.wait(static_cast<decltype(second)&&>(second)) != (3 * phase + 1) * grid.blocks()) atomicAdd(wrong, 1u);
    if (one.wait(static_cast<decltype(first)&&>(first)) != phase * grid.blocks()) atomicAdd(wrong, 1u);
  }
}

TYPED_TEST(CudaVotes, OfTwoBarriersDoNotMix) {
  const uint32_t sms = this->sms();
  cuda_barrier_storage<TypeParam> one(this->device(), 4 * sms), other(this->device(), 4 * sms);
  const auto wrong = this->words(1);
  for (const launch_shape shape : {launch_shape{sms, 48}, launch_shape{4 * sms, 256}, launch_shape{1, 1}}) {
    launch(this->device(), nullptr, shape, two_vote<TypeParam>, one.barrier(), other.barrier(), phases(2'000),
           this->address(wrong));
    synchronize(this->device(), nullptr);
  }
  EXPECT_EQ(this->contents(wrong)[0], 0u);
}

/// One block never comes to a phase with this number.
template <class Algorithm>
__global__ void one_stays_away(votes_barrier<Algorithm> barrier, uint32_t absent, uint32_t from, uint32_t* struck) {
  const cuda_grid grid;
  const timeout long_enough(10'000'000'000), span(20'000'000);
  for (uint32_t phase = 0; phase < from; ++phase) {
    if (barrier.sync_add_for(1, long_enough).status == wait_status::timed_out) return;
  }
  if (grid.block() == absent) return;
  if (barrier.vote_or_for(false, span).status == wait_status::timed_out) atomicAdd(struck, 1u);
  if (barrier.sync_count_for(true, long_enough).status == wait_status::timed_out) atomicAdd(struck, 1u);
}

TYPED_TEST(CudaVotes, NamesTheMissingBlockAndIsAsNewAfterAReset) {
  const uint32_t sms = this->sms();
  cuda_barrier_storage<TypeParam> storage(this->device(), sms);
  for (const uint32_t from : {0u, 1u, 100u}) {
    this->expect_right(storage, {sms, 256}, phases(1'000));
    const auto struck = this->words(1);
    launch(this->device(), nullptr, {sms, 64}, one_stays_away<TypeParam>, storage.barrier(), sms / 2, from,
           this->address(struck));
    synchronize(this->device(), nullptr);
    EXPECT_EQ(this->contents(struck)[0], 2 * 64 * (sms - 1));
    ASSERT_EQ(storage.missing(), (std::vector<missing_block>{{sms / 2, from}}));
    EXPECT_EQ(storage.missing()[0].started, from != 0);
    storage.reset();
  }
}

/// The blocks from 1 on vote by themselves.
template <class Algorithm>
__global__ void a_part_votes(basic_grid_barrier<Algorithm, cuda_grid, block_range> barrier, uint32_t phases,
                             uint32_t* wrong) {
  const cuda_grid grid;
  if (grid.block() == 0) return;
  const uint32_t members = grid.blocks() - 1;
  for (uint32_t phase = 0; phase < phases; ++phase) {
    if (barrier.vote_add(phase + grid.block()) != members * phase + members * (members + 1) / 2) atomicAdd(wrong, 1u);
    if (barrier.sync_count(grid.thread() < phase % 32) != members * (phase % 32)) atomicAdd(wrong, 1u);
  }
}

TYPED_TEST(CudaVotes, PartsOfAGridVote) {
  const uint32_t sms = this->sms();
  cuda_barrier_storage<TypeParam> storage(this->device(), sms);
  const auto wrong = this->words(1);
  launch(this->device(), nullptr, {sms, 64}, a_part_votes<TypeParam>, storage.barrier(block_range{1, sms - 1}), 2'000u,
         this->address(wrong));
  synchronize(this->device(), nullptr);
  EXPECT_EQ(this->contents(wrong)[0], 0u);
}

}  // namespace
}  // namespace gpusync
