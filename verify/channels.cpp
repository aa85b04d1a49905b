// Channels: every order in which a sender and a receiver can go, and mutants that must be found out.
#include <gpusync/neighbours/channel_host.hpp>

#include "checks.hpp"

// Words whose proof is wrong, one way each; otherwise as shipped.
namespace gpusync::verify {
struct any_tag {
  uint32_t value;
};
struct no_earlier_tag {
  uint32_t value;
};
struct one_half {
  uint32_t low, high;
};
struct whole_pair {
  uint32_t low, high;
};
}  // namespace gpusync::verify

namespace gpusync::detail {

/// Takes whatever was put there, in whatever lap.
template <>
struct tagged_word<verify::any_tag, 4> : tagged_word<uint32_t> {
  static type of(const verify::any_tag& value, uint32_t tag) { return tagged_word<uint32_t>::of(value.value, tag); }
  static bool proves(const type& word, uint32_t) { return word >> 32 != 0; }
  static verify::any_tag value(const type& word) { return {tagged_word<uint32_t>::value(word)}; }
};
/// Compares tags as numbers: right until they wrap.
template <>
struct tagged_word<verify::no_earlier_tag, 4> : tagged_word<uint32_t> {
  static type of(const verify::no_earlier_tag& value, uint32_t tag) {
    return tagged_word<uint32_t>::of(value.value, tag);
  }
  static bool proves(const type& word, uint32_t tag) { return static_cast<uint32_t>(word >> 32) >= tag; }
  static verify::no_earlier_tag value(const type& word) { return {tagged_word<uint32_t>::value(word)}; }
};
/// Takes the second half as proven by the first.
template <>
struct tagged_word<verify::one_half, 8> : tagged_word<verify::whole_pair> {
  static type of(const verify::one_half& value, uint32_t tag) {
    return tagged_word<verify::whole_pair>::of({value.low, value.high}, tag);
  }
  static bool proves(const type& word, uint32_t tag) { return static_cast<uint32_t>(word.first >> 32) == tag; }
  static verify::one_half value(const type& word) {
    const verify::whole_pair pair = tagged_word<verify::whole_pair>::value(word);
    return {pair.low, pair.high};
  }
};

}  // namespace gpusync::detail

namespace gpusync::verify {

namespace {

struct stream_program {
  uint32_t chunks = 3;  ///< of each launch
  uint32_t launches = 1;
  uint32_t chunk = 1;
  uint32_t depth = 1;
  uint32_t threads = 1;
  uint64_t before = 0;  ///< chunks that had been sent and taken before, for the wrap
  bool weak = false;    ///< the sender leaves weak data too, before its last word, which the receiver reads
};

/// What a word holds: of 4 bytes a number; of 8 the same in both halves.
template <class T>
T made_of(uint32_t number) {
  if constexpr (sizeof(T) == 8)
    return {number, number};
  else
    return T{number};
}
template <class T>
bool holds(const T& value, uint32_t number) {
  if constexpr (sizeof(T) == 8)
    return value.low == number && value.high == number;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return value == number;
  else
    return value.value == number;
}

template <class T, class Memory>
exploration explore_stream(const stream_program& what, bool stale) {
  using grid = model_grid<Memory>;
  shape form;
  form.blocks = 2;
  form.threads = what.threads;
  // A poll of two words is two steps, and looks round behind them. It may go on to find what has been overwritten.
  form.looking = sizeof(T) == 8;
  form.may_hang = form.looking && stale;
  form.stale = stale;
  form.most_states = states_allowed(300'000);
  host_channel_storage<T, grid> storage({{0, 1}}, what.chunk, what.depth, what.before);
  Memory::knows(storage.state());
  explorer search(form, [&] {
    explorer& active = explorer::active();
    const auto channels = storage.channels();
    const uint32_t first = active.thread(), step = what.threads;
    const auto from_sender = [](uint32_t block) { return block == 0; };
    const auto from_receiver = [](uint32_t block) { return block == 1; };
    uint32_t number = 0;
    for (uint32_t launch = 0; launch < what.launches; ++launch) {  // an end is made anew for each
      if (active.block() == 0) {
        auto out = channels.sender(0);
        for (uint32_t q = 0; q < what.chunks; ++q, ++number) {
          if (what.weak) {
            // The credit is asked for first: the data may be written when it is there.
            out.put(0, made_of<T>(2 * number * what.chunk));
            active.write_slot(number % 2, from_receiver);
          }
          for (uint32_t i = first + (what.weak ? 1 : 0); i < what.chunk; i += step) {
            out.put(i, made_of<T>(2 * number * what.chunk + i));
          }
          active.arriving(number);
          out.next();
        }
      } else {
        auto in = channels.receiver(0);
        for (uint32_t q = 0; q < what.chunks; ++q, ++number) {
          for (uint32_t i = first; i < what.chunk; i += step) {
            const T found = in.get(i);
            active.require(holds(found, 2 * number * what.chunk + i), failure::disagreement,
                           "what was got is not what was put in its place");
          }
          if (what.weak) active.read_slots(number % 2, from_sender);
          in.next();
        }
      }
    }
  });
  search.name_words(storage.state());
  return search.run();
}

struct stream_memory : model_memory {
  static void knows(const uint64_t*) {}
};

/// What the storage's words are, for mutants that change an operation on one of them.
inline const uint64_t* stream_words = nullptr;
struct knows_words : model_memory {
  static void knows(const uint64_t* words) { stream_words = words; }
  static bool is_credit(const void* address) {
    return address == stream_words + gpusync::detail::channel_layout::taken(0);
  }
};

/// The sender finds credit whenever it asks.
struct no_credit : knows_words {
  using model_memory::load;
  template <memory_order Order, scope Scope>
  static uint64_t load(const uint64_t* address) {
    if (is_credit(address) && explorer::active().block() == 0) return uint64_t{1} << 40;
    return model_memory::load<Order, Scope>(address);
  }
};

/// All loads acquire, and all stores release but, perhaps, the credit: a channel for weak data, which the shipped one
/// is not.
template <bool CreditReleases>
struct for_weak_data : knows_words {
  template <memory_order, scope Scope, class T>
  static T load(const T* address) {
    return model_memory::load<memory_order::acquire, Scope>(address);
  }
  template <memory_order, scope Scope, class T>
  static void store(T* address, T value) {
    if (!CreditReleases && is_credit(address)) {
      return model_memory::store<memory_order::relaxed, Scope>(address, value);
    }
    model_memory::store<memory_order::release, Scope>(address, value);
  }
};

template <class T, class Memory = stream_memory>
void add_stream(const std::string& name, const stream_program& what) {
  add_check("channel", name, [=] {
    for (const bool stale : {true, false}) {
      if (!stale && sizeof(T) != 8) continue;  // of all the orders with stale loads these are some
      const exploration result = explore_stream<T, Memory>(what, stale);
      print(name + (stale ? "" : ", latest values"), result);
      EXPECT_EQ(result.found, failure::none) << to_string(result.found) << "\n" << result.trace;
    }
  });
}

template <class T, class Memory = stream_memory>
void add_mutant(const std::string& name, failure expected, const stream_program& what, bool stale = true) {
  add_check("channel_mutant", name, [=] { expect_found(name, explore_stream<T, Memory>(what, stale), expected); });
}

}  // namespace

void add_channel_checks() {
  const uint64_t laps = uint64_t{1} << 32;
  add_stream<uint32_t>("one_word_one_deep", {4, 1, 1, 1});
  add_stream<uint32_t>("two_words_two_deep", {4, 1, 2, 2});
  add_stream<uint32_t>("three_deep", {5, 1, 1, 3});
  add_stream<uint32_t>("two_threads", {2, 1, 2, 1, 2});
  add_stream<uint32_t>("ends_made_anew", {2, 2, 1, 2});
  add_stream<uint32_t>("ends_made_anew_by_two_threads", {1, 2, 2, 1, 2});
  add_stream<uint32_t>("tags_that_wrap", {4, 1, 1, 2, 1, 2 * laps - 3});
  add_stream<uint32_t>("counts_that_wrap", {4, 1, 1, 2, 1, ~uint64_t{0} - 1});
  add_stream<whole_pair>("values_of_8_bytes", {3, 1, 1, 1});
  add_stream<whole_pair>("values_of_8_bytes_two_deep", {3, 1, 1, 2});
  add_stream<uint32_t, for_weak_data<true>>("weak_data_where_all_is_released", {4, 1, 2, 2, 1, 0, true});

  add_mutant<uint32_t, no_credit>("no_credit", failure::deadlock, {3, 1, 1, 1}, false);
  add_mutant<any_tag>("any_lap", failure::disagreement, {3, 1, 1, 1});
  add_mutant<any_tag>("any_lap_two_deep", failure::disagreement, {4, 1, 1, 2});
  add_mutant<no_earlier_tag>("tags_compared_as_numbers", failure::disagreement, {4, 1, 1, 1, 1, laps - 2});
  add_mutant<one_half>("torn_word", failure::disagreement, {2, 1, 1, 1});
  add_mutant<uint32_t>("weak_data", failure::data_race, {3, 1, 2, 2, 1, 0, true});
  add_mutant<uint32_t, for_weak_data<false>>("relaxed_credit_for_weak_data", failure::data_race,
                                             {4, 1, 2, 2, 1, 0, true});
}

}  // namespace gpusync::verify
