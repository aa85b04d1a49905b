// What halos on host threads refuse, in both forms.
#include <gtest/gtest.h>

#include <gpusync/neighbours/host.hpp>

#include <atomic>
#include <thread>

#include "support/halo_forms.hpp"
#include "support/refusal.hpp"

namespace gpusync {
namespace {

using test::refusal;

template <class Form>
class HaloRefusals : public ::testing::Test {};
TYPED_TEST_SUITE(HaloRefusals, test::forms_of_halo);

TYPED_TEST(HaloRefusals, CallsOutOfTurn) {
  using halo = typename TypeParam::halo;
  const auto alone = [](void (*wrong)(halo&)) {
    typename TypeParam::storage storage(neighbourhood::ring(1), 2);
    return refusal([&] {
      launch(
          host_device{}, {1, 1}, [wrong](halo h) { wrong(h); }, storage.template halo<halo::form_of>());
    });
  };
  const std::string words =
      "Block 0 used a halo out of turn. In each step: put() its words, send() once, receive() once, get() the "
      "neighbours' words, next() once.";
  EXPECT_EQ(alone([](halo& h) { h.receive(); }), words);
  EXPECT_EQ(alone([](halo& h) { h.next(); }), words);
  EXPECT_EQ(alone([](halo& h) { (void)h.get(h.word(0, 0)); }), words);
  EXPECT_EQ(alone([](halo& h) { (void)h.next_for(wait_status::completed); }), words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.send();
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.put(0, 1.0);
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.put_pair(0, 1.0, 2.0);
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              (void)h.get(h.word(0, 0));
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.next();
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.receive();
              h.receive();
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.send();
              h.receive();
              h.put(0, 1.0);
            }),
            words);
  EXPECT_EQ(alone([](halo& h) {
              h.put(0, 1.0);
              h.put(1, 1.0);
              h.send();
              h.receive();
              (void)h.get(h.word(0, 1));
              h.next();
            }),
            "");
}

TYPED_TEST(HaloRefusals, AGridOfAnotherSizeAndStoragesThatAreGoneOrShared) {
  using halo = typename TypeParam::halo;
  auto storage = std::make_unique<typename TypeParam::storage>(neighbourhood::ring(3), 2);
  for (const uint32_t blocks : {1u, 2u, 4u}) {
    EXPECT_EQ(refusal([&] {
                launch(
                    host_device{}, {blocks, 1}, [](halo) {}, storage->template halo<halo::form_of>());
              }),
              "The grid has " + std::to_string(blocks) +
                  " blocks, but a handle among its arguments says who waits for whom in a grid of 3. Make its storage "
                  "for this grid.");
  }
  EXPECT_NE(refusal([&] {
              launch(
                  host_device{}, {3, 1}, [](halo, halo) {}, storage->template halo<halo::form_of>(),
                  storage->template halo<halo::form_of>());
            }).find("share one storage"),
            std::string::npos);
  auto shared = storage->template halo<halo::form_of>();
  EXPECT_NE(refusal([&] {
              launch(
                  host_device{}, {3, 1}, [&](halo) { shared.put(0, 1.0); }, storage->template halo<halo::form_of>());
            }).find("all threads share"),
            std::string::npos);
  storage.reset();
  EXPECT_NE(refusal([&] {
              launch(
                  host_device{}, {3, 1}, [](halo) {}, shared);
            }).find("has been destroyed"),
            std::string::npos);
}

TEST(HaloStorageRefusals, NoWordsOrTooMany) {
  const auto of = [](uint32_t blocks, uint64_t words) {
    return refusal([=] { host_halo_storage<float> storage(neighbourhood::line(blocks), words); });
  };
  EXPECT_EQ(of(3, 0), "A halo of 3 blocks has 1 to 715827712 words a block, not 0.");
  EXPECT_EQ(of(3, 715827713), "A halo of 3 blocks has 1 to 715827712 words a block, not 715827713.");
  EXPECT_EQ(of(1 << 20, 1793), "A halo of 1048576 blocks has 1 to 1792 words a block, not 1793.");
  EXPECT_EQ(of(3, ~uint64_t{0}), "A halo of 3 blocks has 1 to 715827712 words a block, not 18446744073709551615.");
}

/// Who gets no word of a neighbour does not wait for it and overwrites what it has not got: named, and no hang.
TEST(HaloStorageRefusals, AWordThatWasOverwritten) {
  using halo = host_halo<uint64_t, halo_form::words>;
  host_halo_storage<uint64_t> storage(neighbourhood::line(2), 1);
  std::atomic<bool> gone{false};
  EXPECT_EQ(refusal([&] {
              launch(
                  host_device{}, {2, 1},
                  [&](halo h) {
                    const uint32_t own = host_grid::current().block();
                    for (uint64_t step = 0; step < 5; ++step) {
                      h.put(0, step);
                      h.send();
                      h.receive();
                      if (own == 1) {
                        while (!gone) std::this_thread::yield();
                        (void)h.get(h.word(0, 0));
                      }
                      h.next();
                    }
                    gone = true;
                  },
                  storage.halo<halo_form::words>());
            }),
            "Block 1 came too late for a word of a neighbour, which had gone on and overwritten it. In each step of a "
            "halo a block must get() at least one word of each of its neighbours.");
}

TEST(HaloStorageRefusals, AWordThatIsNotThere) {
  using halo = host_halo<uint32_t>;
  host_halo_storage<uint32_t> storage(neighbourhood::line(1), 3);
  for (const auto& [slot, word] : {std::pair{2u, 0u}, {0u, 3u}}) {
    storage.reset();
    EXPECT_NE(refusal([&, slot = slot, word = word] {
                launch(
                    host_device{}, {1, 1}, [&](halo h) { (void)h.word(slot, word); }, storage.halo());
              }).find("asked a halo for slot or word " + std::to_string(slot + word)),
              std::string::npos);
  }
}

TEST(HaloStorageRefusals, AWordThatIsNotThereToBePut) {
  using halo = host_halo<uint32_t>;
  host_halo_storage<uint32_t> storage(neighbourhood::line(2), 3);
  const auto says = [&](auto put, uint32_t word) {
    storage.reset();
    EXPECT_NE(refusal([&] {
                launch(
                    host_device{}, {2, 1},
                    [&](halo h) {
                      if (host_grid::current().block() == 1) put(h, word);
                    },
                    storage.halo());
              }).find("Block 1 asked a halo for slot or word " + std::to_string(word)),
              std::string::npos);
  };
  for (const uint32_t word : {3u, 4u, 6'000'000u, ~0u}) {
    says([](halo& h, uint32_t i) { (void)h.own(i); }, word);
    says([](halo& h, uint32_t i) { (void)h.own_pair(i); }, word);
    says([](halo& h, uint32_t i) { h.put(i, 1); }, word);
    says([](halo& h, uint32_t i) { h.put_pair(i, 1, 2); }, word);
  }
  says([](halo& h, uint32_t i) { (void)h.own_pair(i); }, 1);
  says([](halo& h, uint32_t i) { (void)h.own_pair(i); }, 2);
  says([](halo& h, uint32_t i) { h.put_pair(i, 1, 2); }, 1);  // odd
  says([](halo& h, uint32_t i) { h.put_pair(i, 1, 2); }, 2);  // there is no word 3
}

}  // namespace
}  // namespace gpusync
