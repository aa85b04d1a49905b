// Workload "rmw calls" on host threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <gpusync/rmw/host.hpp>
#include "workloads/rmw_calls/counted_calls.hpp"
#include "workloads/rmw_calls/policy_method.hpp"

namespace gpusync::tool {

namespace {

using host_clock = std::chrono::steady_clock;

uint64_t now() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(host_clock::now().time_since_epoch()).count());
}

template <class Storage>
class thread_program : public counted_calls {
 public:
  using state = typename Storage::object_type::state_type;

  using counted_calls::counted_calls;

  double run_once() override {
    storage_.reset(static_cast<state>(call_script<state>::first_state(setup().kind, all_calls())));
    std::vector<call_record> records(participants());
    std::atomic<uint32_t> waiting{participants()};
    std::vector<std::thread> threads;
    for (uint32_t self = 0; self < participants(); ++self) {
      threads.emplace_back([&, self] {
        auto participant = storage_.object().join(self);
        waiting.fetch_sub(1);
        while (waiting.load() != 0) std::this_thread::yield();
        call(participant, self, records[self]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return judge(records, static_cast<uint32_t>(storage_.state()));
  }

 private:
  template <class Participant>
  void call(Participant& participant, uint32_t self, call_record& record) const {
    call_script<state> script(setup().kind, self, participants(), setup().calls);
    record.longest = 0;
    record.begin = now();
    uint64_t called = record.begin;
    for (uint32_t i = 0; i < setup().calls; ++i) {
      script.note(participant.apply(script.operation(i)));
      if (!times_each_call()) continue;
      const uint64_t answered = now();
      record.longest = std::max(record.longest, answered - called);
      called = answered;
    }
    record.end = now();
    record.tally = script.tally();
  }

  Storage storage_;
};

template <class State, uint32_t N>
class thread_calls : public workload {
 public:
  explicit thread_calls(const call_setup& setup) : setup_(setup) {}

  std::vector<step_method> methods() const override {
    std::vector<step_method> all;
    for_each_policy([&](auto policy) {
      using consensus = decltype(policy);
      all.push_back(policy_method<consensus>(policy_name<consensus>(), {"H3", "H4"}));
    });
    return all;
  }

  std::unique_ptr<program> prepare(const step_method& method, const step_shape& shape) override {
    require_countable(shape.blocks, setup_);
    std::unique_ptr<program> made;
    for_each_policy([&](auto policy) {
      using consensus = decltype(policy);
      if (method.name != policy_name<consensus>()) return;
      made = std::make_unique<thread_program<host_rmw_storage<State, N, consensus>>>(setup_, shape.blocks);
    });
    return made;
  }

  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return N; }

 private:
  template <class Visit>
  static void for_each_policy(Visit&& visit) {
    visit(rivals::hardware{});
    visit(rivals::cas_loop{});
    visit(rmw::cas<>{});
    visit(rmw::cas<rmw::publication::tagged, 16>{});
    visit(rmw::cas128<>{});
    visit(rmw::coalesced_store<rmw::litmus::imitated>{});
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

const register_side<rmw_calls_device> rmw_calls_registered(device_kind::host, [](const device_description&) {
  return std::make_unique<host_rmw_calls>();
});

}  // namespace

}  // namespace gpusync::tool
