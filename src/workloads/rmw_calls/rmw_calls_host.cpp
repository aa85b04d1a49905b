// Workload "rmw calls" on host threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <gpusync/rmw/host.hpp>
#include "workloads/rivals/atomic_word.hpp"
#include "workloads/rmw_calls/call_script.hpp"
#include "workloads/rmw_calls/rmw_calls.hpp"

namespace gpusync::tool {

namespace {

using host_clock = std::chrono::steady_clock;

double nanoseconds(host_clock::time_point from, host_clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

/// What a thread leaves behind.
struct thread_record {
  host_clock::time_point begin, end;
  double longest = 0;  // ns, one call
  call_tally tally;
};

template <class Storage>
class thread_program : public run_program {
 public:
  using state = typename Storage::object_type::state_type;

  thread_program(const call_setup& setup, uint32_t participants) : setup_(setup), participants_(participants) {}

  double run_once() override {
    const uint32_t all = participants_ * setup_.calls;
    const bool timed = runs_ == 0;
    storage_.reset(static_cast<state>(call_script<state>::first_state(setup_.kind, all)));
    std::vector<thread_record> records(participants_);
    std::atomic<uint32_t> waiting{participants_};
    std::vector<std::thread> threads;
    for (uint32_t self = 0; self < participants_; ++self) {
      threads.emplace_back([&, self] {
        auto participant = storage_.object().join(self);
        waiting.fetch_sub(1);
        while (waiting.load() != 0) std::this_thread::yield();
        call(participant, self, timed, records[self]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return judge(records, all, timed);
  }

  verification verify() override {
    verification found;
    found.performed = runs_ > 0;
    found.checked = runs_ * participants_ * uint64_t{setup_.calls};
    found.wrong = wrong_;
    found.how = "answers, of " + std::to_string(runs_) + " runs: " + call_check_in_words;
    return found;
  }

  findings found() const override { return {{"slowest_over_mean", slowest_}, {"longest_call", longest_}}; }

 private:
  template <class Participant>
  void call(Participant& participant, uint32_t self, bool timed, thread_record& record) const {
    call_script<state> script(setup_.kind, self, participants_, setup_.calls);
    record.begin = host_clock::now();
    auto called = record.begin;
    for (uint32_t i = 0; i < setup_.calls; ++i) {
      script.note(participant.apply(script.operation(i)));
      if (!timed) continue;
      const auto answered = host_clock::now();
      record.longest = std::max(record.longest, nanoseconds(called, answered));
      called = answered;
    }
    record.end = host_clock::now();
    record.tally = script.tally();
  }

  double judge(const std::vector<thread_record>& records, uint32_t all, bool timed) {
    call_tally sum;
    auto begin = records[0].begin, end = records[0].end;
    double longest = 0, slowest = 0, total = 0;
    for (const thread_record& one : records) {
      sum.add(one.tally);
      begin = std::min(begin, one.begin);
      end = std::max(end, one.end);
      longest = std::max(longest, one.longest);
      slowest = std::max(slowest, nanoseconds(one.begin, one.end));
      total += nanoseconds(one.begin, one.end);
    }
    runs_ += 1;
    wrong_ += check_calls(setup_.kind, all, sum, static_cast<uint32_t>(storage_.state()));
    if (timed) longest_ = longest * 1e-3;
    slowest_ = slowest * static_cast<double>(records.size()) / total;
    return nanoseconds(begin, end);
  }

  const call_setup setup_;
  const uint32_t participants_;
  Storage storage_;
  uint64_t runs_ = 0, wrong_ = 0;
  double slowest_ = 0, longest_ = 0;
};

template <class State, uint32_t N>
class thread_calls : public workload {
 public:
  explicit thread_calls(const call_setup& setup) : setup_(setup) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all;
    for_each_policy([&](auto policy, const std::string& name) {
      using consensus = decltype(policy);
      step_method method;
      method.name = method.title = name;
      method.kind = method_kind::object;
      method.rival = std::is_same_v<consensus, rivals::hardware> || std::is_same_v<consensus, rivals::cas_loop>;
      if (name != "cas-loop") method.items = {"H3", "H4"};
      all.push_back(method);
    });
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_countable(shape.blocks, N, setup_.calls);
    std::unique_ptr<program> made;
    for_each_policy([&](auto policy, const std::string& name) {
      if (made || method.name != name) return;
      using storage = host_rmw_storage<State, N, decltype(policy)>;
      made = std::make_unique<thread_program<storage>>(setup_, shape.blocks);
    });
    return made;
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return N; }

 private:
  template <class Visit>
  static void for_each_policy(Visit&& visit) {
    visit(rivals::hardware{}, "hardware");
    visit(rivals::cas_loop{}, "cas-loop");
    visit(rmw::cas<>{}, "cas");
    visit(rmw::cas<rmw::publication::tagged, 16>{}, "cas-mail-16");
    visit(rmw::cas128<>{}, "cas128");
    visit(rmw::coalesced_store<rmw::litmus::imitated>{}, "coalesced-store");
  }

  const call_setup setup_;
};

class host_rmw_calls : public rmw_calls_device {
 public:
  std::vector<uint32_t> capacities(rmw::space where) const override {
    return where == rmw::space::global ? std::vector<uint32_t>{5} : std::vector<uint32_t>{};
  }
  std::vector<std::string> types(rmw::space, uint32_t) const override { return {"uint32", "float64"}; }
  std::unique_ptr<workload> open(const call_setup& setup) override {
    if (setup.type == "float64") return std::make_unique<thread_calls<double, 5>>(setup);
    return std::make_unique<thread_calls<uint32_t, 5>>(setup);
  }
};

const register_side<rmw_calls_device> registered(device_kind::host, [](const device_description&) {
  return std::make_unique<host_rmw_calls>();
});

}  // namespace

}  // namespace gpusync::tool
