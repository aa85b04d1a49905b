// The machine on which the explorer runs the text of the wait-free objects.
#pragma once

#include <gpusync/rmw/object.hpp>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "explorer/explorer.hpp"

namespace gpusync::verify {

/// Thrown at a participant's access to memory that is never to be made: it has stopped for ever.
struct crashed {};

/// What a search of an object sets for the machines that its participants run on.
struct rmw_search {
  uint64_t* words = nullptr;  ///< the object's memory
  bool exploring = false;     ///< otherwise accesses are plain: participants join before the search
  bool reduces = true;        ///< accesses that no other participant has to do with are no steps of their own
  bool merges = true;         ///< milestones forget how a participant came there
  bool bounded = true;        ///< passes are counted, which tells states apart
  uint32_t most_passes = 0;   ///< seen
  uint64_t crash_in = 0;      ///< the call, by its bit, in which its participant stops for ever
  uint32_t crash_at = 0;      ///< at the call's access of this number, from 1
  uint64_t crashes = 0;       ///< seen
  void (*caller)(std::vector<uint64_t>& live) = nullptr;  ///< adds what the caller's next steps depend on
};
inline rmw_search rmw_now;

/// Values of more than 64 bits stand in a word of the model as the number of their first appearance.
template <class Value>
class interned {
 public:
  static uint64_t number(const Value& value) {
    auto& all = instance();
    const auto [at, added] = all.numbers_.try_emplace(value, all.values_.size());
    if (added) all.values_.push_back(value);
    return at->second;
  }
  static const Value& value(uint64_t number) { return instance().values_[number]; }

 private:
  static interned& instance() {
    static interned all;
    return all;
  }
  std::map<Value, uint64_t> numbers_;
  std::vector<Value> values_;
};

/// Every access is a step, but for two kinds that no step of another participant depends on: stores to a record that
/// nobody can be reading, until it is proposed, and loads of a participant's own cell. Which records a participant may
/// be reading is noted from what it has learned of the heads, and checked at each load.
template <class State, uint32_t N, class Consensus, class Operation>
struct model_machine : rmw::single_lane {
  using layout = rmw::detail::object_layout<State, N, Consensus, Operation>;
  static constexpr bool imitates_masked_store = true;

  template <memory_order Order>
  uint64_t load(const uint64_t* address) const {
    if (!rmw_now.exploring) return *address;
    before_access();
    if (is_record(address)) {
      const uint32_t own = 3u << 2 * explorer::active().fiber_index();
      if (((may_read() | own) & record_bit(address)) == 0)
        throw std::logic_error("A record is read that no head has named.");
    }
    const uint64_t value = explorer::active().perform(action::load, Order, address, 8, 0);
    if constexpr (!Consensus::uses_cells) {
      if (address == rmw_now.words) names(value);
    }
    return value;
  }
  template <memory_order Order>
  uint64_t load_one(const uint64_t* address) const {
    return load<Order>(address);
  }
  template <memory_order Order>
  void store(uint64_t* address, uint64_t word) const {
    before_access();
    if (rmw_now.reduces && is_record(address) && (explorer::active().others_may_read() & record_bit(address)) == 0) {
      explorer::active().store_at_once(Order, address, 8, word);
    } else {
      (void)explorer::active().perform(action::store, Order, address, 8, word);
    }
  }
  template <memory_order Order>
  uint64_t compare_exchange(uint64_t* address, uint64_t expected, uint64_t desired) const {
    before_access();
    const uint64_t before = explorer::active().modify(
        Order, address, 8, [](uint64_t was, uint64_t from, uint64_t to) { return was == from ? to : was; }, expected,
        desired);
    names(before == expected ? desired : before);
    return before;
  }

  template <memory_order Order>
  rmw::wide load_wide(rmw::wide* address) const {
    if (!rmw_now.exploring) return *address;
    before_access();
    const uint64_t number = explorer::active().perform(action::load, Order, &address->low, 8, 0);
    const rmw::wide value = wide_of(number, *address);
    names(value.high);
    return value;
  }
  template <memory_order Order>
  rmw::wide compare_exchange_wide(rmw::wide* address, rmw::wide expected, rmw::wide desired) const {
    before_access();
    first_wide = *address;
    const uint64_t number = explorer::active().modify(
        Order, &address->low, 8,
        [](uint64_t was, uint64_t from, uint64_t to) {
          return wide_of(was, first_wide) == wide_of(from, first_wide) ? to : was;
        },
        number_of(expected), number_of(desired));
    const rmw::wide before = wide_of(number, *address);
    names((before == expected ? desired : before).high);
    return before;
  }

  void fence() const {
    before_access();
    if (explorer::active().form().fences) explorer::active().fence();
  }

  template <class AddressOf, class WordOf>
  void assign(uint32_t count, AddressOf&& address_of, WordOf&& word_of) const {
    before_access();
    const void* addresses[N];
    uint64_t values[N];
    for (uint32_t i = 0; i < count; ++i) {
      addresses[i] = address_of(i);
      values[i] = word_of(i);
    }
    explorer::active().store_several(count, addresses, sizeof(*address_of(0)), values);
  }
  template <memory_order Order, class Cell>
  Cell load_cell(const Cell* address) const {
    if (!rmw_now.exploring) return *address;
    before_access();
    const uint32_t owner = owner_of(address);
    explorer& active = explorer::active();
    if (rmw_now.reduces && owner == active.fiber_index()) {
      return static_cast<Cell>(active.load_at_once(Order, address, sizeof(Cell)));
    }
    const auto value = static_cast<Cell>(active.perform(action::load, Order, address, sizeof(Cell), 0));
    if (owner < N) {
      const uint32_t buffer = Consensus::buffer_of(value);
      may_read() = (may_read() & ~(3u << 2 * owner)) | 1u << (2 * owner + buffer);
    }
    return value;
  }

  [[noreturn]] void refuse(uint32_t, uint32_t) const { std::abort(); }
  [[noreturn]] void rounds_exhausted(uint64_t) const { std::abort(); }

  template <class Participant>
  void milestone(uint32_t pass, const Participant& participant) const {
    if (!rmw_now.exploring) return;
    if (pass == 0) may_read() = 0;
    rmw_now.most_passes = std::max(rmw_now.most_passes, pass);
    if (rmw_now.bounded && pass > Consensus::max_passes) {
      explorer::active().require(false, failure::not_wait_free, "pass " + std::to_string(pass) + " of one call");
    }
    if (!rmw_now.merges) return;
    std::vector<uint64_t> live;
    const auto put = [&](uint64_t value) { live.push_back(value); };
    participant.visit(put);
    // Where it will stop depends on how many accesses it has made.
    if (rmw_now.crash_at != 0) live.push_back(explorer::active().call().steps);
    if (rmw_now.caller != nullptr) rmw_now.caller(live);
    const auto call = static_cast<uint32_t>(explorer::active().call().mask);
    const uint32_t at = rmw_now.bounded ? pass : pass != 0;
    explorer::active().checkpoint(call * 16 + at, live.data(), live.size() * sizeof(uint64_t));
  }

 protected:
  static uint32_t& may_read() { return explorer::active().may_read(); }

  static void before_access() {
    const call_state& call = explorer::active().call();
    if (call.mask == rmw_now.crash_in && call.steps + 1 == rmw_now.crash_at) {
      ++rmw_now.crashes;
      throw crashed{};
    }
  }

  /// The participant whose own cell this is; N if it is one of two participants.
  template <class Cell>
  static uint32_t owner_of(const Cell* address) {
    for (uint32_t i = 0; i < N; ++i) {
      if (address == reinterpret_cast<const Cell*>(rmw_now.words) + Consensus::cell(i, i)) return i;
    }
    return N;
  }

  static bool is_record(const uint64_t* address) {
    return address >= rmw_now.words + layout::records && address < rmw_now.words + layout::total;
  }
  static uint32_t record_bit(const uint64_t* address) {
    return 1u << (static_cast<uint32_t>(address - rmw_now.words) - layout::records) / layout::record_stride;
  }
  /// The calling participant has learned of this head.
  static void names(uint64_t bits) {
    if constexpr (!Consensus::uses_cells) may_read() = 1u << (bits & 0xffff);  // winner * 2 + buffer
  }

 private:
  static rmw::wide wide_of(uint64_t number, const rmw::wide& first) {
    if (number == first.low) return first;
    const auto& [high, low] = interned<std::pair<uint64_t, uint64_t>>::value(number - wide_numbers);
    return {low, high};
  }
  static uint64_t number_of(const rmw::wide& value) {
    return interned<std::pair<uint64_t, uint64_t>>::number({value.high, value.low}) + wide_numbers;
  }
  static constexpr uint64_t wide_numbers = 1000;  ///< more than any low half that memory begins with
  static inline rmw::wide first_wide{};
};

}  // namespace gpusync::verify
