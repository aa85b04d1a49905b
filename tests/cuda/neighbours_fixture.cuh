// What tests of neighbours on a CUDA device have in common: what blocks read of each other is compared with what one
// launch for each step gives.
#pragma once

#include <gpusync/neighbours/cuda.cuh>

#include <algorithm>
#include <random>

#include "cuda/safety_fixture.cuh"

namespace gpusync::test {
namespace {

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

/// What a buffer holds when all launches have ended.
template <class Word>
std::vector<Word> words_in(const cuda_buffer& buffer) {
  std::vector<Word> values(buffer.bytes() / sizeof(Word));
  check_cuda(cudaMemcpy(values.data(), buffer.address(), buffer.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
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
    const auto found = words_in<Bits>(state_), expected = words_in<Bits>(plain_[done_ % 2]);
    uint64_t wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) wrong += found[i] != expected[i] ? 1 : 0;
    EXPECT_EQ(wrong, 0u) << "words of " << found.size() << ", " << what;
    EXPECT_EQ(words_in<uint32_t>(faults_)[0], 0u) << what;
  }

 private:
  size_t bytes() const { return size_t{who_.blocks()} * words_ * sizeof(Bits); }

  neighbourhood who_;
  uint32_t words_;
  cuda_buffer table_, state_, plain_[2], faults_;
  uint32_t done_ = 0;
};

constexpr uint32_t all_threads[] = {1, 32, 33, 256, 1024};

class CudaNeighbours : public CudaTest {
 protected:
  /// The blocks that are asked for, or as many as run at once.
  template <class Kernel>
  uint32_t fitting(Kernel kernel, uint32_t blocks, uint32_t threads) const {
    return static_cast<uint32_t>(std::min<uint64_t>(blocks, max_co_resident(device(), kernel, {1, threads}).blocks()));
  }
  /// Calls `check(blocks, threads, steps)` for grids of this kernel of any size.
  template <class Kernel, class Check>
  void for_any_size(Kernel kernel, const Check& check) const {
    for (const uint32_t threads : all_threads) {
      for (const uint32_t blocks : {1u, 2u, 3u, 132u, 1056u})
        check(fitting(kernel, blocks, threads), threads, phases(300));
    }
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

}  // namespace
}  // namespace gpusync::test
