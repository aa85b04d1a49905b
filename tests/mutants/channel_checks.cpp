// Channels: who may go on when, and whose word is taken. Without the luck of schedules: one thread plays both ends.
#include <gpusync/neighbours/channel_host.hpp>

#include "check.hpp"

namespace gpusync::test {
namespace {

using namespace gpusync::literals;

/// A block of one thread that both sends and receives; `use` gets both ends of a channel to itself.
template <class Use>
void alone(uint64_t chunk, uint64_t depth, uint64_t before, Use use) {
  host_channel_storage<int> storage({{0, 0}}, chunk, depth, before);
  launch(
      host_device{}, {1, 1},
      [&](host_channels<int> channels) {
        auto out = channels.sender(0);
        auto in = channels.receiver(0);
        use(out, in);
      },
      storage.channels());
}

void a_full_ring_has_no_room() {
  for (const uint64_t before : {0, 5}) {
    alone(1, 2, before, [](auto& out, auto&) {
      for (int i = 0; i < 2; ++i) {
        expect(out.put_for(0, i, 10_s) == wait_status::completed, "there is room for as many chunks as the ring has");
        out.next();
      }
      expect(out.put_for(0, 2, 1_ms) == wait_status::timed_out, "and not for one more");
    });
  }
}

void credit_may_be_more_than_is_needed() {
  alone(1, 3, 0, [](auto& out, auto& in) {
    for (int i = 0; i < 3; ++i) {
      out.put(0, i);
      out.next();
    }
    for (int i = 0; i < 3; ++i) {
      expect(in.get(0) == i, "chunks come in order");
      in.next();
    }
    // Three have been taken since the sender last asked, and it needs one.
    expect(out.put_for(0, 3, 10_s) == wait_status::completed, "more credit than needed is enough");
  });
}

void a_word_of_the_lap_before_is_none() {
  for (const uint64_t before : {uint64_t{0}, (uint64_t{2} << 32) - 4}) {
    for (int chunks = 0; chunks < 6; ++chunks) {
      alone(2, 2, before, [&](auto& out, auto& in) {
        int value = -1;
        for (int i = 0; i < chunks; ++i) {
          out.put(0, 2 * i);
          out.put(1, 2 * i + 1);
          out.next();
          expect(in.get(1) == 2 * i + 1 && in.get(0) == 2 * i, "each word is in its place");
          in.next();
        }
        expect(in.get_for(0, value, 1_ms) == wait_status::timed_out && value == -1, "the next one has not come");
      });
    }
  }
}

void halves_prove_themselves() {
  using tagged = gpusync::detail::tagged_word<uint64_t>;
  word_pair word = tagged::of(0x1111111122222222u, 7);
  expect(tagged::proves(word, 7), "both halves are there");
  word.second = tagged::of(0, 6).second;
  expect(!tagged::proves(word, 7), "the second is not");
  word = tagged::of(0x1111111122222222u, 7);
  word.first = tagged::of(0, 6).first;
  expect(!tagged::proves(word, 7), "the first is not");
  expect(tagged::value(tagged::of(0x1111111122222222u, 7)) == 0x1111111122222222u, "values come as they went");
}

void a_block_that_is_not_at_the_end_is_refused() {
  host_channel_storage<int> storage({{0, 1}}, 1, 1);
  bool refused = false;
  try {
    launch(
        host_device{}, {2, 1},
        [](host_channels<int> channels) {
          if (host_grid::current().block() == 1) (void)channels.sender(0);
        },
        storage.channels());
  } catch (const invalid_argument&) {
    refused = true;
  }
  expect(refused, "block 1 receives");
}

void a_word_beyond_the_chunk_is_refused() {
  bool refused = false;
  try {
    alone(3, 2, 0, [](auto& out, auto&) { out.put(3, 1); });
  } catch (const invalid_argument&) {
    refused = true;
  }
  expect(refused, "there are words 0, 1 and 2");
}

void a_reset_keeps_who_is_at_the_ends() {
  host_channel_storage<int> storage({{1, 1}}, 1, 1);
  storage.reset();
  int got = 0;
  launch(
      host_device{}, {2, 1},
      [&](host_channels<int> channels) {
        if (host_grid::current().block() != 1) return;
        auto out = channels.sender(0);
        auto in = channels.receiver(0);
        out.put(0, 7);
        got = in.get(0);
      },
      storage.channels());
  expect(got == 7, "a channel goes on after a reset");
}

constexpr named_check checks[] = {
    GPUSYNC_CHECK(a_full_ring_has_no_room),
    GPUSYNC_CHECK(credit_may_be_more_than_is_needed),
    GPUSYNC_CHECK(a_word_of_the_lap_before_is_none),
    GPUSYNC_CHECK(halves_prove_themselves),
    GPUSYNC_CHECK(a_block_that_is_not_at_the_end_is_refused),
    GPUSYNC_CHECK(a_word_beyond_the_chunk_is_refused),
    GPUSYNC_CHECK(a_reset_keeps_who_is_at_the_ends),
};

}  // namespace
}  // namespace gpusync::test

int main(int words, char** word) {
  return gpusync::test::run_checks(gpusync::test::checks, words, word);
}
