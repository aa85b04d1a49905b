// Mutants of the wait-free objects: the shipped text on machines that break one of the things it stands on.
#pragma once

#include "rmw_machine.hpp"

namespace gpusync::verify {

/// A compare-and-swap that is a load and a store.
template <class State, uint32_t N, class Consensus, class Operation>
struct torn_compare_exchange : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  template <memory_order Order>
  uint64_t compare_exchange(uint64_t* address, uint64_t expected, uint64_t desired) const {
    const uint64_t before = base::template load<memory_order::relaxed>(address);
    if (before == expected) base::template store<memory_order::relaxed>(address, desired);
    return before;
  }
};

/// The words of a record are taken for those of the round that the reader looks for.
template <class State, uint32_t N, class Consensus, class Operation>
struct no_validation : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  template <memory_order Order>
  uint64_t load(const uint64_t* address) const {
    const uint64_t word = base::template load<Order>(address);
    if (!rmw_now.exploring || !base::is_record(address)) return word;
    return rmw::detail::tagged(rmw::detail::payload_of(word), explorer::active().noted());
  }
  template <class Participant>
  void milestone(uint32_t pass, const Participant& participant) const {
    base::milestone(pass, participant);
    if (rmw_now.exploring) explorer::active().noted() = participant.known().stamp();
  }
};

/// What a proposal has applied itself is taken for decided, decided or not.
template <class State, uint32_t N, class Consensus, class Operation>
struct takes_proposals_for_decided : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  using layout = typename base::layout;
  template <memory_order Order>
  uint64_t load(const uint64_t* address) const {
    const uint64_t word = base::template load<Order>(address);
    if (!rmw_now.exploring || !base::is_record(address)) return word;
    const auto offset = (static_cast<uint32_t>(address - rmw_now.words) - layout::records) % layout::record_stride;
    const bool number = offset >= layout::numbers && offset < layout::answers;
    return number ? word & ~uint64_t{layout::fresh} : word;
  }
};

/// Each participant has one record only.
template <class State, uint32_t N, class Consensus, class Operation>
struct one_record : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  using layout = typename base::layout;
  template <class Word>
  static Word* folded(Word* address) {
    if (!base::is_record(address)) return address;
    const auto offset = static_cast<uint32_t>(address - rmw_now.words) - layout::records;
    return address - offset / layout::record_stride % 2 * layout::record_stride;
  }
  template <memory_order Order>
  uint64_t load(const uint64_t* address) const {
    if (rmw_now.exploring && base::is_record(address))
      base::may_read() |= base::may_read() << 1 | base::may_read() >> 1;
    return base::template load<Order>(folded(address));
  }
  template <memory_order Order>
  void store(uint64_t* address, uint64_t word) const {
    (void)explorer::active().perform(action::store, Order, folded(address), 8, word);
  }
};

/// The two records are written in turn, though a change without a record may have kept the one whose turn it is. (The
/// release 0.1 of cas128 did so.)
struct overwrites_kept_record : rmw::cas128<> {
  template <class Head>
  static uint32_t next_buffer(uint32_t, const Head&, uint32_t other) {
    return other;
  }
};

/// A record's numbers are written before the answers to them.
template <class State, uint32_t N, class Consensus, class Operation>
struct numbers_first : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  using layout = typename base::layout;
  template <memory_order Order>
  void store(uint64_t* address, uint64_t word) const {
    const auto offset = (static_cast<uint32_t>(address - rmw_now.words) - layout::records) % layout::record_stride;
    const bool number = base::is_record(address) && offset >= layout::numbers && offset < layout::answers;
    if (base::is_record(address) && !number) {
      addresses_[kept_] = address;
      words_[kept_++] = word;
      return;
    }
    base::template store<Order>(address, word);
    if (!number || offset + 1 != layout::answers) return;
    for (uint32_t i = 0; i < kept_; ++i) base::template store<Order>(addresses_[i], words_[i]);
    kept_ = 0;
  }

 private:
  // On the fiber's stack, with the participant: the search puts it back.
  mutable uint64_t* addresses_[layout::record_words] = {};
  mutable uint64_t words_[layout::record_words] = {};
  mutable uint32_t kept_ = 0;
};

/// The rows of an announcement are put together, whichever announcements they are of.
template <class State, uint32_t N, class Consensus, class Operation>
struct joins_announcements : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  using layout = typename base::layout;
  template <memory_order Order>
  uint64_t load(const uint64_t* address) const {
    const uint64_t word = base::template load<Order>(address);
    const auto offset = static_cast<uint32_t>(address - rmw_now.words);
    if (!rmw_now.exploring || offset < layout::announcements || offset >= layout::responses) return word;
    const bool first_row = offset - layout::announcements < N;
    if (first_row) explorer::active().noted() = rmw::detail::tag_of(word);
    return first_row ? word : rmw::detail::tagged(rmw::detail::payload_of(word), explorer::active().noted());
  }
};

/// Winners do not look at what others have announced.
template <class State, uint32_t N, class Consensus, class Operation>
struct never_helps : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  using layout = typename base::layout;
  template <memory_order Order>
  uint64_t load(const uint64_t* address) const {
    const auto offset = static_cast<uint32_t>(address - rmw_now.words);
    if (rmw_now.exploring && offset >= layout::announcements && offset < layout::responses) return 0;
    return base::template load<Order>(address);
  }
};

/// A masked store that is one store per cell.
template <class State, uint32_t N, class Consensus, class Operation>
struct torn_store : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  template <class AddressOf, class WordOf>
  void assign(uint32_t count, AddressOf&& address_of, WordOf&& word_of) const {
    for (uint32_t i = 0; i < count; ++i) {
      base::assign(
          1, [&](uint32_t) { return address_of(i); }, [&](uint32_t) { return word_of(i); });
    }
  }
};

/// No fence between a masked store and the loads behind it.
template <class State, uint32_t N, class Consensus, class Operation>
struct no_fence_for_stores : model_machine<State, N, Consensus, Operation> {
  void fence() const {}
};

/// A fence behind a masked store, but none between two looks at the own cells.
template <class State, uint32_t N, class Consensus, class Operation>
struct one_look_for_stores : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  template <class AddressOf, class WordOf>
  void assign(uint32_t count, AddressOf&& address_of, WordOf&& word_of) const {
    base::assign(count, address_of, word_of);
    base::fence();
  }
  void fence() const {}
};

/// The own cells and the shared ones are read in any order.
template <class State, uint32_t N, class Consensus, class Operation>
struct no_acquire_of_cells : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  template <memory_order Order, class Cell>
  Cell load_cell(const Cell* address) const {
    return base::template load_cell<memory_order::relaxed>(address);
  }
};

/// A pair's cell is taken for one of the reader's round, whichever round it is of.
template <class State, uint32_t N, class Consensus, class Operation>
struct no_round_check : model_machine<State, N, Consensus, Operation> {
  using base = model_machine<State, N, Consensus, Operation>;
  template <memory_order Order, class Cell>
  Cell load_cell(const Cell* address) const {
    const Cell cell = base::template load_cell<Order>(address);
    if (!rmw_now.exploring) return cell;
    uint32_t& newest = explorer::active().noted();
    if (base::owner_of(address) < N) {
      newest = std::max(newest, static_cast<uint32_t>(Consensus::round_of(cell)));
      return cell;
    }
    return Consensus::pair_cell(newest, Consensus::writer_of(cell));
  }
  void fence() const {
    base::fence();
    explorer::active().noted() = 0;
  }
};

}  // namespace gpusync::verify
