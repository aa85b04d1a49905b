// Machines for tests of the wait-free objects: the shipped text runs on them, and they count, delay or stop it.
#pragma once

#include <gpusync/rmw/fault_tolerant_host.hpp>
#include <gpusync/rmw/host.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace gpusync::test {

/// Thrown at an access to memory that is never to be made: the participant has stopped for ever.
struct crashed {};

/// What a probed machine has seen of its participant, and what it is to do.
struct access_probe {
  uint64_t accesses = 0;       ///< of the call that is under way
  uint64_t most_accesses = 0;  ///< of one call
  uint32_t most_passes = 0;
  uint64_t crash_at = 0;  ///< the call's access, from 1, at which it stops; 0: it does not
  uint64_t pauses = 0;    ///< a state of pseudo-random numbers; 0: it does not pause
  uint32_t yields = 512;  ///< it gives the processor away at one access in so many, if it pauses

  void before_access() {
    ++accesses;
    most_accesses = std::max(most_accesses, accesses);
    if (accesses == crash_at) throw crashed{};
    if (pauses == 0) return;
    pauses ^= pauses << 13;
    pauses ^= pauses >> 7;
    pauses ^= pauses << 17;
    // Now and then so long that others overtake it by whole calls.
    if ((pauses >> 32) % yields == 0) std::this_thread::yield();
    if (pauses % 8 != 0) return;
    for (uint64_t i = pauses / 8 % 64; i != 0; --i) __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
};

/// A host thread whose accesses to memory go by a probe.
struct probed_machine : rmw::host_machine {
  using base = rmw::host_machine;
  access_probe* probe = nullptr;

  template <memory_order Order, class Word>
  Word load(const Word* address) const {
    note();
    return base::load<Order>(address);
  }
  template <memory_order Order, class Word>
  Word load_one(const Word* address) const {
    return load<Order>(address);
  }
  template <memory_order Order>
  void store(uint64_t* address, uint64_t word) const {
    note();
    base::store<Order>(address, word);
  }
  template <memory_order Order, class Word>
  Word compare_exchange(Word* address, Word expected, Word desired) const {
    note();
    return base::compare_exchange<Order>(address, expected, desired);
  }
  template <memory_order Order>
  rmw::wide load_wide(rmw::wide* address) const {
    note();
    return base::load_wide<Order>(address);
  }
  template <memory_order Order>
  rmw::wide compare_exchange_wide(rmw::wide* address, rmw::wide expected, rmw::wide desired) const {
    note();
    return base::compare_exchange_wide<Order>(address, expected, desired);
  }
  void fence() const {
    note();
    base::fence();
  }
  template <class AddressOf, class WordOf>
  void assign(uint32_t count, AddressOf&& address_of, WordOf&& word_of) const {
    note();
    base::assign(count, address_of, word_of);
  }
  template <memory_order Order, class Cell>
  Cell load_cell(const Cell* address) const {
    note();
    return base::load_cell<Order>(address);
  }
  template <class Participant>
  void milestone(uint32_t pass, const Participant&) const {
    if (probe == nullptr) return;
    if (pass == 0) probe->accesses = 0;
    probe->most_passes = std::max(probe->most_passes, pass);
  }

 private:
  void note() const {
    if (probe != nullptr) probe->before_access();
  }
};

/// What the blocks of a fault-tolerant barrier share in a test: a deadline is over as soon as somebody who is still a
/// member has died and all others have arrived, and not before. So nobody is removed who lives.
struct survivor_watch {
  struct alignas(64) place {
    std::atomic<uint32_t> arrivals{0};
    std::atomic<bool> dead{false};
  };
  explicit survivor_watch(uint32_t count) : blocks(count) {}

  std::vector<place> blocks;
  std::atomic<uint32_t> deaths{0};

  void die(uint32_t block) {
    blocks[block].dead = true;
    deaths.fetch_add(1);
  }
  /// For a block that has arrived in so many phases and knows of so many losses.
  bool may_give_up(uint32_t arrivals, uint32_t known_losses) const {
    if (deaths.load() <= known_losses) return false;
    return std::all_of(blocks.begin(), blocks.end(),
                       [&](const place& other) { return other.dead.load() || other.arrivals.load() >= arrivals; });
  }
};

/// What a thread of a fault-tolerant barrier does besides what it is to do.
struct survivor_probe {
  access_probe accesses;
  survivor_watch* watch = nullptr;  ///< nullptr: deadlines are of time
  uint32_t self = 0;
  uint32_t arrivals = 0;
  uint32_t known_losses = 0;
};
inline thread_local survivor_probe this_survivor;

/// A thread that acts for its block, whose accesses go by the probe of the thread. Polls are not counted.
struct probed_survivor : probed_machine {
  probed_survivor() { probe = &this_survivor.accesses; }

  uint64_t arrive(uint64_t* flag, uint64_t mark, uint64_t* word) const {
    probe->before_access();
    host_memory::store<memory_order::release, scope::system>(flag, mark);
    probe->before_access();
    const uint64_t before = host_memory::fetch_add<memory_order::acq_rel, scope::system>(word, uint64_t{1});
    survivor_probe& self = this_survivor;
    if (self.watch != nullptr) self.watch->blocks[self.self].arrivals = ++self.arrivals;
    return before;
  }
  uint64_t poll(const uint64_t* word, uint64_t) const { return host_machine::load<memory_order::relaxed>(word); }
  void acquire(const uint64_t* word) const { (void)load<memory_order::acquire>(word); }
  template <class Grid>
  bool late(Grid grid, deadline& limit) const {
    const survivor_probe& self = this_survivor;
    return self.watch != nullptr ? self.watch->may_give_up(self.arrivals, self.known_losses) : limit.passed(grid.now());
  }
  template <class Participant>
  void milestone(uint32_t, const Participant&) const {}
};

/// A barrier that tells the calling thread's probe what it knows of losses.
template <class Barrier>
struct counting_losses : Barrier {
  explicit counting_losses(const Barrier& of) : Barrier(detail::for_one_thread{}, of) {}
  phase_outcome wait(timeout spin_limit) {
    const phase_outcome outcome = Barrier::wait(spin_limit);
    this_survivor.known_losses = this->blocks() - this->members().count;
    return outcome;
  }
  phase_outcome arrive_and_wait(timeout spin_limit) {
    this->arrive();
    return wait(spin_limit);
  }
};

/// What the lanes of one participant share.
template <uint32_t Lanes>
class lane_team {
 public:
  /// The words of all lanes. All of them call together.
  std::array<uint64_t, Lanes> gather(uint32_t lane, uint64_t word) {
    words_[lane] = word;
    sync_lanes();
    const std::array<uint64_t, Lanes> all = words_;
    sync_lanes();
    return all;
  }

 private:
  void sync_lanes() {
    const uint32_t phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == Lanes - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      return;
    }
    for (uint32_t polls = 0; phase_.load(std::memory_order_acquire) == phase; ++polls) {
      if (polls % 16 == 15) std::this_thread::yield();
    }
  }

  std::array<uint64_t, Lanes> words_{};
  std::atomic<uint32_t> arrived_{0};
  std::atomic<uint32_t> phase_{0};
};

/// A participant of several lanes, each a host thread: as a warp of a GPU runs the text, with its votes and shuffles.
template <uint32_t Lanes>
struct lanes_machine : rmw::host_machine {
  using base = rmw::host_machine;
  static constexpr uint32_t lanes = Lanes;
  lane_team<Lanes>* team = nullptr;
  uint32_t own = 0;

  uint32_t lane() const { return own; }
  void sync_lanes() const { (void)team->gather(own, 0); }
  bool any(bool value) const { return ballot(value) != 0; }
  bool all(bool value) const { return ballot(value) == (uint64_t{1} << Lanes) - 1; }
  uint32_t ballot(bool value) const {
    uint32_t bits = 0;
    const auto all_lanes = team->gather(own, value ? 1 : 0);
    for (uint32_t i = 0; i < Lanes; ++i) bits |= static_cast<uint32_t>(all_lanes[i]) << i;
    return bits;
  }
  uint32_t merge(uint32_t bits) const {
    uint64_t merged = 0;
    for (const uint64_t word : team->gather(own, bits)) merged |= word;
    return static_cast<uint32_t>(merged);
  }
  uint64_t most(uint64_t word) const {
    const auto all_lanes = team->gather(own, word);
    return *std::max_element(all_lanes.begin(), all_lanes.end());
  }
  uint32_t broadcast(uint32_t word, uint32_t from) const { return static_cast<uint32_t>(broadcast_word(word, from)); }
  template <uint32_t Used, class T>
  T sum_before(T amount, T& total) const {
    static_assert(Used <= Lanes);
    T before{};
    total = T{};
    const auto all_lanes = team->gather(own, static_cast<uint64_t>(amount));
    for (uint32_t i = 0; i < Lanes; ++i) {
      if (i == own) before = total;
      total = static_cast<T>(total + static_cast<T>(all_lanes[i]));
    }
    return before;
  }

  template <memory_order Order, class Word>
  Word load_one(const Word* address) const {
    return static_cast<Word>(broadcast_word(own == 0 ? base::load<Order>(address) : Word{}, 0));
  }
  template <memory_order Order, class Word>
  Word compare_exchange(Word* address, Word expected, Word desired) const {
    (void)team->gather(own, 0);
    return static_cast<Word>(
        broadcast_word(own == 0 ? base::compare_exchange<Order>(address, expected, desired) : Word{}, 0));
  }
  template <memory_order Order>
  rmw::wide load_wide(rmw::wide* address) const {
    return broadcast_wide(own == 0 ? base::load_wide<Order>(address) : rmw::wide{});
  }
  template <memory_order Order>
  rmw::wide compare_exchange_wide(rmw::wide* address, rmw::wide expected, rmw::wide desired) const {
    (void)team->gather(own, 0);
    return broadcast_wide(own == 0 ? base::compare_exchange_wide<Order>(address, expected, desired) : rmw::wide{});
  }
  template <class AddressOf, class WordOf>
  void assign(uint32_t count, AddressOf&& address_of, WordOf&& word_of) const {
    (void)team->gather(own, 0);
    if (own == 0) base::assign(count, address_of, word_of);
    (void)team->gather(own, 0);
  }

 private:
  uint64_t broadcast_word(uint64_t word, uint32_t from) const { return team->gather(own, word)[from]; }
  rmw::wide broadcast_wide(const rmw::wide& value) const {
    const uint64_t low = broadcast_word(value.low, 0);
    return {low, broadcast_word(value.high, 0)};
  }
};

/// The imitated store of coalesced_store, in the memories that it is made for.
using global_store = rmw::coalesced_store<rmw::litmus::imitated, rmw::space::global>;
using shared_store = rmw::coalesced_store<rmw::litmus::imitated, rmw::space::shared>;
using narrow_store = rmw::coalesced_store<rmw::litmus::imitated, rmw::space::global, uint32_t>;

}  // namespace gpusync::test
