// A million small histories of objects on host threads, each checked for an order of its calls.
#include <gtest/gtest.h>

#include <barrier>
#include <chrono>

#include "models/linearizability.hpp"
#include "support/rmw_crews.hpp"

namespace gpusync {
namespace {

using operation = rmw::named_operation<uint32_t>;
using call = tool::recorded_call<operation, uint32_t>;

bool perform(uint32_t& state, const call& made) {
  const bool right = !made.ended || made.answer == state;
  state = made.operation(state);
  return right;
}

/// Participants that stay for many histories. A history is one fresh object on which each makes up to three calls; all
/// begin it together, if the cores are theirs. Batches of histories are checked, by all participants, before the next
/// batch.
template <uint32_t N, class Consensus>
class history_crew {
 public:
  explicit history_crew(uint32_t histories) : batches_((histories + batch - 1) / batch), rest_(N) {
    for (auto& storage : storages_) storage = std::make_unique<storage_type>();
  }

  void run() {
    test::in_threads(N, [this](uint32_t i) { take_part(i); });
    EXPECT_EQ(wrong_.load(), 0u) << "of " << uint64_t{batches_} * batch << " histories";
    const double part = static_cast<double>(overlapping_.load()) / (batches_ * static_cast<double>(batch));
    std::printf("%u participants, %s: %u histories, %.0f %% with calls that overlap\n", N, Consensus::name,
                batches_ * batch, part * 100);
    // Otherwise they would prove nothing.
    EXPECT_GT(overlapping_.load(), 10u);
  }

 private:
  using machine = test::probed_machine;
  using storage_type = host_rmw_storage<uint32_t, N, Consensus, operation, machine>;
  static constexpr uint32_t batch = 500;
  static constexpr uint32_t most_calls = 3;

  struct history {
    call calls[N][most_calls];
    uint32_t made[N];
  };

  void take_part(uint32_t self) {
    uint64_t random = 0x9e3779b97f4a7c15u * (self + 1);
    const auto any = [&random](uint32_t count) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      return static_cast<uint32_t>(random >> 33) % count;
    };
    test::access_probe probe;
    machine on;
    on.probe = &probe;
    tool::linearizability<uint32_t, call> search;
    std::vector<call> joined;
    for (uint32_t i = 0; i < batches_; ++i) {
      for (uint32_t h = self; h < batch; h += N) storages_[h]->reset();
      rest_.arrive_and_wait();
      const auto begin = std::chrono::steady_clock::now();
      const uint32_t stride = stride_;
      for (uint32_t h = 0; h < batch; ++h) {
        probe.pauses = any(2) == 0 ? random | 1 : 0;
        probe.yields = 4 + any(40);
        if (h % stride == 0) meet(self, i * batch + h);
        make_calls(self, h, on, any);
      }
      rest_.arrive_and_wait();
      // Where other programs have the cores, to meet is to wait for a turn: then meet less often.
      const bool slow = std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(60);
      if (self == 0) stride_ = slow ? std::min(stride * 4, batch) : std::max(stride / 2, 1u);
      for (uint32_t h = self; h < batch; h += N) check(h, search, joined);
    }
  }

  /// Waits until all have come to history number `number`: as close together as threads can.
  void meet(uint32_t self, uint32_t number) {
    arrived_[self].number.store(number + 1, std::memory_order_release);
    for (const auto& other : arrived_) {
      for (uint32_t polls = 1; other.number.load(std::memory_order_acquire) <= number; ++polls) {
        if (polls % 256 == 0) std::this_thread::yield();
      }
    }
  }

  template <class Any>
  void make_calls(uint32_t self, uint32_t h, const machine& on, Any&& any) {
    auto me = storages_[h]->object().join(self, on);
    history& of = histories_[h];
    of.made[self] = any(most_calls + 1);
    for (uint32_t i = 0; i < of.made[self]; ++i) {
      // Mostly additions, whose answers say the most.
      const auto kind = any(2) == 0 ? rmw::operation_kind::add : static_cast<rmw::operation_kind>(any(8));
      call& made = of.calls[self][i];
      made.operation = operation::make(kind, any(4), any(4));
      made.begin = clock_.fetch_add(1);
      made.answer = me.apply(made.operation);
      made.end = clock_.fetch_add(1);
    }
  }

  void check(uint32_t h, tool::linearizability<uint32_t, call>& search, std::vector<call>& joined) {
    joined.clear();
    for (uint32_t i = 0; i < N; ++i) {
      joined.insert(joined.end(), histories_[h].calls[i], histories_[h].calls[i] + histories_[h].made[i]);
    }
    if (!search.holds(0, joined, perform)) wrong_.fetch_add(1);
    bool overlaps = false;
    for (const call& one : joined) {
      for (const call& other : joined) overlaps = overlaps || (one.begin < other.begin && other.begin < one.end);
    }
    if (overlaps) overlapping_.fetch_add(1);
  }

  struct alignas(64) place {
    std::atomic<uint32_t> number{0};
  };

  const uint32_t batches_;
  std::barrier<> rest_;
  uint32_t stride_ = 1;  ///< they meet before every so many histories
  place arrived_[N];
  std::unique_ptr<storage_type> storages_[batch];
  history histories_[batch];
  alignas(64) std::atomic<uint64_t> clock_{0};
  alignas(64) std::atomic<uint64_t> wrong_{0};
  std::atomic<uint64_t> overlapping_{0};
};

template <uint32_t N, class Consensus>
void check_histories(uint32_t histories) {
  const auto crew = std::make_unique<history_crew<N, Consensus>>(test::scaled(histories));
  crew->run();
}

TEST(RmwHistories, OfTwoParticipantsAreLinearizable) {
  check_histories<2, rmw::cas<>>(400'000);
  check_histories<2, rmw::cas128<>>(200'000);
  check_histories<2, rmw::cas<rmw::publication::ordered, 2>>(100'000);
  check_histories<2, test::global_store>(200'000);
}

TEST(RmwHistories, OfThreeAndFourParticipantsAreLinearizable) {
  check_histories<3, rmw::cas<>>(50'000);
  check_histories<3, test::global_store>(30'000);
  check_histories<4, rmw::cas<rmw::publication::tagged, 2>>(20'000);
}

}  // namespace
}  // namespace gpusync
