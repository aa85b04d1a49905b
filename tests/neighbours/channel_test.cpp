// What channels promise, on blocks that are host threads: the text that also runs on GPUs.
#include <gpusync/neighbours/channel_host.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace gpusync {
namespace {

using namespace literals;

/// What word `i` of the chunk `chunk` of a channel holds.
template <class T>
T content(uint32_t channel, uint64_t chunk, uint32_t i) {
  return static_cast<T>((chunk + 1) * 0x9e3779b97f4a7c15u + channel * 0x85ebca6bu + i * 77777u);
}

/// One stream: how often it went wrong.
struct stream {
  uint32_t chunks = 20;     ///< of each launch
  uint32_t sender_lag = 0;  ///< microseconds after every 7th chunk
  uint32_t receiver_lag = 0;
};

/// A launch in which block b sends chunks to block b + 1, from the number `first` on. Counts wrong words.
template <class T>
uint32_t run(host_channel_storage<T>& storage, uint32_t blocks, uint32_t threads, const stream& what, uint64_t first) {
  std::atomic<uint32_t> wrong{0};
  const auto linger = [](uint32_t microseconds, uint32_t chunk) {
    if (microseconds != 0 && chunk % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  };
  launch(
      host_device{}, {blocks, threads},
      [&](host_channels<T> channels) {
        const host_grid grid = host_grid::current();
        const uint32_t block = grid.block(), last = channels.size();
        const auto send = [&](auto& out, uint32_t chunk) {
          linger(what.sender_lag, chunk);
          for (uint32_t i = grid.thread(); i < channels.chunk(); i += threads)
            out.put(i, content<T>(block, first + chunk, i));
          out.next();
        };
        const auto receive = [&](auto& in, uint32_t chunk) {
          linger(what.receiver_lag, chunk);
          for (uint32_t i = grid.thread(); i < channels.chunk(); i += threads) {
            if (in.get(i) != content<T>(block - 1, first + chunk, i)) ++wrong;
          }
          in.next();
        };
        if (block == 0) {
          auto out = channels.sender(0);
          for (uint32_t chunk = 0; chunk < what.chunks; ++chunk) send(out, chunk);
        } else if (block == last) {
          auto in = channels.receiver(block - 1);
          for (uint32_t chunk = 0; chunk < what.chunks; ++chunk) receive(in, chunk);
        } else {
          auto in = channels.receiver(block - 1);
          auto out = channels.sender(block);
          for (uint32_t chunk = 0; chunk < what.chunks; ++chunk) {
            receive(in, chunk);
            send(out, chunk);
          }
        }
      },
      storage.channels());
  return wrong;
}

std::vector<channel_ends> a_row_of(uint32_t blocks) {
  std::vector<channel_ends> all;
  for (uint32_t b = 0; b + 1 < blocks; ++b) all.push_back({b, b + 1});
  return all;
}

template <class T>
void carries_every_word() {
  const uint32_t blocks = *rc::gen::inRange(2u, 4u), threads = *rc::gen::inRange(1u, 3u);
  const uint32_t chunk = *rc::gen::inRange(1u, 9u), depth = *rc::gen::inRange(1u, 6u);
  const uint64_t before = *rc::gen::element<uint64_t>(0, 0, 1, 7, (uint64_t{1} << 32) * depth - 3,
                                                      (uint64_t{1} << 32) - 2, ~uint64_t{0} - 20);
  host_channel_storage<T> storage(a_row_of(blocks), chunk, depth, before);
  uint64_t first = 0;
  for (int launches = 0; launches < 2; ++launches) {
    const stream what{*rc::gen::inRange(0u, 40u), *rc::gen::element(0u, 50u), *rc::gen::element(0u, 50u)};
    RC_ASSERT(run<T>(storage, blocks, threads, what, first) == 0u);
    first += what.chunks;
  }
  RC_ASSERT(storage.missing().empty());
}

RC_GTEST_PROP(HostChannel, CarriesEveryWordOf4BytesInOrderWhateverTheShapeAndHoweverOftenItWasUsed, ())
{ carries_every_word<uint32_t>(); }

RC_GTEST_PROP(HostChannel, CarriesEveryWordOf8BytesInOrderWhateverTheShapeAndHoweverOftenItWasUsed, ())
{ carries_every_word<uint64_t>(); }

TEST(HostChannel, CarriesFloatsAndStructs) {
  struct pair {
    float a;
    int16_t b, c;
  };
  host_channel_storage<pair> storage({{1, 0}}, 2, 2);
  float sum = 0;
  launch(
      host_device{}, {2, 1},
      [&](host_channels<pair> channels) {
        if (host_grid::current().block() == 1) {
          auto out = channels.sender(0);
          out.put(1, {2.5f, -3, 4});
          out.put(0, {0.25f, 5, 6});
          return;
        }
        auto in = channels.receiver(0);
        const pair one = in.get(0), other = in.get(1), again = in.get(1);
        sum = one.a + other.a + static_cast<float>(other.b * 100 + other.c + again.b);
      },
      storage.channels());
  EXPECT_EQ(sum, 2.75f - 300 + 4 - 3);
}

TEST(HostChannel, LetsTheSenderBeAheadAsFarAsItsRingIsDeepAndNoFurther) {
  constexpr uint32_t depth = 3;
  host_channel_storage<int> storage({{0, 1}}, 1, depth);
  std::atomic<uint32_t> sent{0}, most{0};
  launch(
      host_device{}, {2, 1},
      [&](host_channels<int> channels) {
        if (host_grid::current().block() == 0) {
          auto out = channels.sender(0);
          for (int chunk = 0; chunk < 9; ++chunk) {
            out.put(0, chunk);
            ++sent;
            out.next();
          }
          return;
        }
        while (sent < depth) std::this_thread::yield();  // so far it comes by itself
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        most = sent.load();
        auto in = channels.receiver(0);
        for (int chunk = 0; chunk < 9; ++chunk) {
          EXPECT_EQ(in.get(0), chunk);
          in.next();
        }
      },
      storage.channels());
  EXPECT_EQ(most, depth);
}

TEST(HostChannel, KeepsWhatWasSentAndNotTakenForTheNextLaunch) {
  host_channel_storage<int> storage({{0, 1}}, 1, 4);
  const auto run = [&](int from, int to, bool receives) {
    launch(
        host_device{}, {2, 1},
        [&](host_channels<int> channels) {
          if (host_grid::current().block() == 0) {
            auto out = channels.sender(0);
            for (int value = from; value < to; ++value) {
              out.put(0, value);
              out.next();
            }
          } else if (receives) {
            auto in = channels.receiver(0);
            for (int value = 0; value < to; ++value) {
              EXPECT_EQ(in.get(0), value);
              in.next();
            }
          }
        },
        storage.channels());
  };
  run(0, 3, false);
  run(3, 9, true);
}

TEST(HostChannel, AnEndThatIsMadeAnewGoesOnWhereTheOneBeforeHasStopped) {
  host_channel_storage<int> storage({{0, 1, 2}, {1, 0, 1}}, 3, 7);
  std::atomic<int> wrong{0};
  launch(
      host_device{}, {2, 2},
      [&](host_channels<int> channels) {
        const host_grid grid = host_grid::current();
        for (int chunk = 0; chunk < 12; ++chunk) {
          for (uint32_t channel = 0; channel < 2; ++channel) {
            if (grid.block() == channel) {
              auto out = channels.sender(channel);
              for (uint32_t i = grid.thread(); i < 3; i += 2) out.put(i, chunk * 10 + static_cast<int>(i));
              out.next();
            } else {
              auto in = channels.receiver(channel);
              for (uint32_t i = 0; i < 3; ++i) wrong += in.get(i) != chunk * 10 + static_cast<int>(i);
              in.next();
            }
          }
        }
      },
      storage.channels());
  EXPECT_EQ(wrong, 0);
}

TEST(HostChannel, AChunkWithoutItsNextDoesNotCount) {
  host_channel_storage<int> storage({{0, 1}}, 1, 4);
  const auto run = [&](int put, bool sent, int expected, bool taken) {
    launch(
        host_device{}, {2, 1},
        [&](host_channels<int> channels) {
          if (host_grid::current().block() == 0) {
            auto out = channels.sender(0);
            out.put(0, put);
            if (sent) out.next();
          } else {
            auto in = channels.receiver(0);
            EXPECT_EQ(in.get(0), expected);
            if (taken) in.next();
          }
        },
        storage.channels());
  };
  run(7, false, 7, false);  // neither end counts it
  run(7, true, 7, false);   // put and got a second time; the receiver does not count it
  run(8, true, 7, true);
  run(9, true, 8, true);
}

TEST(HostChannel, ADeadlineNamesTheSenderThatDoesNotComeAndTheChunk) {
  host_channel_storage<int> storage({{0, 1}}, 2, 2);
  std::atomic<int> timed_out{0};
  int value = 77;
  launch(
      host_device{}, {2, 1},
      [&](host_channels<int> channels) {
        if (host_grid::current().block() == 0) {
          auto out = channels.sender(0);
          out.put(0, 1);
          out.put(1, 2);
          out.next();
          out.put(0, 3);
          return;  // half a chunk
        }
        auto in = channels.receiver(0);
        EXPECT_EQ(in.get_for(0, value, 10_s), wait_status::completed);
        EXPECT_EQ(in.get_for(1, value, 10_s), wait_status::completed);
        in.next();
        EXPECT_EQ(in.get_for(0, value, 10_s), wait_status::completed);
        EXPECT_EQ(value, 3);
        if (in.get_for(1, value, 20_ms) == wait_status::timed_out) ++timed_out;
        if (in.get_for(1, value, 60_s) == wait_status::timed_out) ++timed_out;  // nobody waits for what is lost
      },
      storage.channels());
  EXPECT_EQ(timed_out, 2);
  EXPECT_EQ(value, 3);
  ASSERT_EQ(storage.missing(), (std::vector<missing_block>{{0, 1}}));
  EXPECT_NE(storage.report().find("this channel timed out in chunk 1 of an earlier launch, missing block 0"),
            std::string::npos)
      << storage.report();
  EXPECT_NE(storage.report().find("missing block 0"), std::string::npos) << storage.report();
  EXPECT_THROW(launch(
                   host_device{}, {2, 1}, [](host_channels<int>) {}, storage.channels()),
               broken_barrier);
  storage.reset();
  EXPECT_EQ(storage.report(), "");
  EXPECT_EQ((run<int>(storage, 2, 1, {}, 0)), 0u);
}

TEST(HostChannel, ADeadlineNamesTheReceiverThatGivesNoCredit) {
  host_channel_storage<uint64_t> storage({{2, 1}}, 1, 3);
  std::atomic<int> sent{0};
  launch(
      host_device{}, {3, 1},
      [&](host_channels<uint64_t> channels) {
        if (host_grid::current().block() != 2) return;
        auto out = channels.sender(0);
        while (out.put_for(0, 1, 20_ms) == wait_status::completed) {
          out.next();
          ++sent;
        }
      },
      storage.channels());
  EXPECT_EQ(sent, 3);
  const std::vector<missing_block> missing = storage.missing();
  ASSERT_EQ(missing, (std::vector<missing_block>{{1, 3}}));
  EXPECT_FALSE(missing[0].started) << "block 1 took nothing";
}

TEST(HostChannel, AWaitWithoutADeadlineOnLostChannelsEndsTheLaunch) {
  host_channel_storage<int> storage({{0, 1}, {0, 2}}, 1, 1);
  const auto lost = [&] {
    launch(
        host_device{}, {3, 1},
        [&](host_channels<int> channels) {
          const uint32_t block = host_grid::current().block();
          if (block == 0) return;
          auto in = channels.receiver(block - 1);
          int value = 0;
          if (block == 1) {
            (void)in.get_for(0, value, 10_ms);
          } else {
            (void)in.get(0);
          }
        },
        storage.channels());
  };
  EXPECT_THROW(lost(), broken_barrier);
}

template <class Kernel>
void expect_refused(uint32_t blocks, host_channel_storage<int>& storage, const char* word, Kernel kernel) {
  try {
    launch(host_device{}, {blocks, 1}, kernel, storage.channels());
    ADD_FAILURE() << "not refused: " << word;
  } catch (const invalid_argument& refusal) {
    EXPECT_NE(std::string(refusal.what()).find(word), std::string::npos) << refusal.what();
  }
  storage.reset();
}

TEST(HostChannel, RefusesEndsOfOtherBlocksAndWordsBeyondTheChunkInWords) {
  host_channel_storage<int> storage({{0, 1}}, 4, 2);
  const auto only = [](uint32_t block) { return host_grid::current().block() == block; };
  expect_refused(2, storage, "Block 1 took an end of channel 0", [&](host_channels<int> all) {
    if (only(1)) (void)all.sender(0);
  });
  expect_refused(2, storage, "Block 0 took an end of channel 0", [&](host_channels<int> all) {
    if (only(0)) (void)all.receiver(0);
  });
  expect_refused(2, storage, "channel 1", [&](host_channels<int> all) {
    if (only(0)) (void)all.sender(1);
  });
  expect_refused(2, storage, "word 4", [&](host_channels<int> all) {
    if (only(0)) all.sender(0).put(4, 1);
  });
  expect_refused(2, storage, "word 7", [&](host_channels<int> all) {
    if (only(1)) (void)all.receiver(0).get(7);
  });
  expect_refused(1, storage, "blocks up to number 1", [&](host_channels<int>) {});
}

TEST(HostChannel, RefusesChannelsThatThereCannotBe) {
  EXPECT_THROW(host_channel_storage<int>({}, 1, 1), invalid_argument);
  EXPECT_THROW(host_channel_storage<int>({{0, 1}}, 0, 1), invalid_argument);
  EXPECT_THROW(host_channel_storage<int>({{0, 1}}, 1, 0), invalid_argument);
  EXPECT_THROW(host_channel_storage<int>({{0, 1}}, uint64_t{1} << 32, 1), invalid_argument);
  EXPECT_THROW(host_channel_storage<int>({{0, 1}}, uint64_t{1} << 31, uint64_t{1} << 31), invalid_argument);
  EXPECT_NO_THROW(host_channel_storage<int>({{3, 3, 5}}, 1, 0));
  EXPECT_THROW(host_channel_storage<int>({{~0u, 0}}, 1, 1), invalid_argument);
  EXPECT_THROW(host_channel_storage<int>({{0, 1}, {0, 1u << 24}}, 1, 1), invalid_argument);
}

}  // namespace
}  // namespace gpusync
