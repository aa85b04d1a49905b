// Whether the calls that were made of a shared object could have taken place one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpusync::tool {

/// One call of an object. Times are of one clock that all callers share; what counts is their order alone. A call that
/// has not ended (its caller crashed, or was stopped) may have taken place at any time after its begin, or never; its
/// answer means nothing.
template <class Operation, class Answer>
struct recorded_call {
  Operation operation{};
  Answer answer{};
  uint64_t begin = 0;
  uint64_t end = 0;
  bool ended = true;
};

/// Looks for an order of calls in which each takes place between its begin and its end and gets the answer that it got
/// (Herlihy and Wing 1990). The search is that of Wing and Gong (1993): of the calls that nothing ended before, try
/// each one next. Lowe's (2017) addition keeps it short: a set of calls that have taken place, with the state that they
/// led to, is not tried again once it has been found to lead nowhere.
///
/// Time grows with the calls and with how many overlap; in the worst case exponentially with those. An object may be
/// used for many histories, which spares it allocations.
template <class State, class Call>
class linearizability {
 public:
  /// The order, as indices into `calls`; calls that have not ended may be missing from it. Nothing if there is none:
  /// then the object is not linearizable. `apply(state, call)` performs the call on the state and returns whether its
  /// answer is right; of a call that has not ended the answer must not be looked at. A call that ended at the time at
  /// which another one began does not come before it. State: copyable, with ==.
  template <class Apply>
  std::optional<std::vector<size_t>> order_of(const State& first, const std::vector<Call>& calls, Apply&& apply) {
    start(calls);
    State state = first;
    size_t at = events_[head].next;
    while (unanswered_ != 0) {
      const event& now = events_[at];
      if (at != head && !now.is_end) {
        State next = state;
        if (apply(next, calls[now.call]) && !leads_nowhere(now.call, next)) {
          done_[now.call / 64] |= bit(now.call);
          path_.push_back({at, std::exchange(state, std::move(next))});
          take_out(calls[now.call], at);
          at = events_[head].next;
        } else {
          at = now.next;
        }
        continue;
      }
      // Everything that may come next has been tried: a call ends here that has not taken place.
      if (path_.empty()) return std::nullopt;
      note_dead_end(state);
      const size_t last = path_.back().at;
      const size_t call = events_[last].call;
      state = std::move(path_.back().before);
      path_.pop_back();
      done_[call / 64] &= ~bit(call);
      put_back(calls[call], last);
      at = events_[last].next;
    }
    std::vector<size_t> order;
    order.reserve(path_.size());
    for (const step& taken : path_) order.push_back(events_[taken.at].call);
    return order;
  }

  template <class Apply>
  bool holds(const State& first, const std::vector<Call>& calls, Apply&& apply) {
    return order_of(first, calls, std::forward<Apply>(apply)).has_value();
  }

 private:
  /// The begin or the end of a call, in a list that is in the order of time.
  struct event {
    uint64_t time = 0;
    size_t call = 0;
    bool is_end = false;
    size_t end = 0;  ///< of a begin: the event of its end
    size_t next = 0;
    size_t previous = 0;
  };
  struct step {
    size_t at;  ///< the begin of the call that took place
    State before;
  };
  struct dead_end {
    std::vector<uint64_t> done;
    State state;
  };

  static constexpr size_t head = 0;  ///< of the list, which is a ring
  static uint64_t bit(size_t call) { return uint64_t{1} << call % 64; }

  void start(const std::vector<Call>& calls) {
    events_.assign(1, event{});
    unanswered_ = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      events_.push_back({calls[i].begin, i, false, 0, 0, 0});
      if (!calls[i].ended) continue;
      events_.push_back({calls[i].end, i, true, 0, 0, 0});
      ++unanswered_;
    }
    std::stable_sort(events_.begin() + 1, events_.end(), [](const event& one, const event& other) {
      return std::pair(one.time, one.is_end) < std::pair(other.time, other.is_end);
    });
    begins_.assign(calls.size(), 0);
    for (size_t i = 0; i < events_.size(); ++i) {
      events_[i].next = (i + 1) % events_.size();
      events_[i].previous = (i + events_.size() - 1) % events_.size();
      if (i == head) continue;
      if (events_[i].is_end) {
        events_[begins_[events_[i].call]].end = i;
      } else {
        begins_[events_[i].call] = i;
      }
    }
    done_.assign(calls.size() / 64 + 1, 0);
    path_.clear();
    if (!dead_ends_.empty()) dead_ends_.clear();
  }

  void unlink(size_t at) {
    events_[events_[at].previous].next = events_[at].next;
    events_[events_[at].next].previous = events_[at].previous;
  }
  void link(size_t at) {
    events_[events_[at].previous].next = at;
    events_[events_[at].next].previous = at;
  }
  void take_out(const Call& call, size_t begin) {
    unlink(begin);
    if (!call.ended) return;
    unlink(events_[begin].end);
    --unanswered_;
  }
  /// In the reverse order, for an event knows only the neighbours that it had.
  void put_back(const Call& call, size_t begin) {
    if (call.ended) {
      link(events_[begin].end);
      ++unanswered_;
    }
    link(begin);
  }

  uint64_t hash_of_done() const {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (const uint64_t word : done_) hash = (hash ^ word) * 0xd6e8feb86659fd93u ^ hash >> 29;
    return hash;
  }
  bool leads_nowhere(size_t call, const State& state) {
    if (dead_ends_.empty()) return false;
    done_[call / 64] |= bit(call);
    const auto [from, to] = dead_ends_.equal_range(hash_of_done());
    const bool known = std::any_of(
        from, to, [&](const auto& entry) { return entry.second.done == done_ && entry.second.state == state; });
    done_[call / 64] &= ~bit(call);
    return known;
  }
  void note_dead_end(const State& state) { dead_ends_.emplace(hash_of_done(), dead_end{done_, state}); }

  std::vector<event> events_;
  std::vector<size_t> begins_;
  std::vector<uint64_t> done_;
  std::vector<step> path_;
  std::unordered_multimap<uint64_t, dead_end> dead_ends_;
  size_t unanswered_ = 0;
};

}  // namespace gpusync::tool
