// Experiment reduction on a GPU that is made up: ratios, and what the process does before it measures.
#include <gtest/gtest.h>

#include "boundary/program.hpp"
#include "harness/experiment.hpp"
#include "results/groups.hpp"
#include "usage_error.hpp"
#include "workloads/graph_states/graph_states.hpp"
#include "workloads/reduction/reduction.hpp"

namespace gpusync::tool::reduction_test {
namespace {

/// What has been carried out, and how many of those who did it are there.
std::vector<std::string> carried_out;
int states_kept = 0;

class known_states : public graph_states_device {
 public:
  known_states() { ++states_kept; }
  ~known_states() override { --states_kept; }
  void carry_out(const process_history& history) override { carried_out.emplace_back(history.name); }
};

/// Sums that take so long.
class known_sums : public program {
 public:
  explicit known_sums(double nanoseconds) : nanoseconds_(nanoseconds) {}
  double run(uint64_t steps) override {
    checked_ += steps;
    return static_cast<double>(steps + 3) * nanoseconds_;
  }
  uint64_t steps_unit() const override { return 1; }
  verification verify() override { return {true, checked_, 0, "known"}; }

 private:
  const double nanoseconds_;
  uint64_t checked_ = 0;
};

/// As on an H200: nodes of graphs take longer while there is a history, and CUB has two of them.
class known_workload : public workload {
 public:
  std::vector<step_method> methods() const override {
    std::vector<step_method> all(2);
    all[0].name = "gpusync";
    all[1].name = "cub-int";
    return all;
  }
  std::unique_ptr<program> prepare(const step_method& method, const step_shape&) override {
    const double slower = states_kept == 0 ? 0 : 200;
    if (method.name == "gpusync") return std::make_unique<known_sums>(2400 + slower);
    return std::make_unique<known_sums>(3000 + 2 * slower);
  }
  uint64_t max_co_resident(const std::vector<step_method>&, uint32_t) override { return UINT64_MAX; }
};

class known_device : public reduction_device {
 public:
  std::unique_ptr<workload> summing(const reduction_problem&) override { return std::make_unique<known_workload>(); }
  uint64_t most_cached_bytes() const override { return 1 << 20; }
};

/// Takes the place of a device side while it exists.
template <class Side>
class in_place {
 public:
  explicit in_place(side_opener<Side> opener) : before_(side_openers<Side>()[key()]) {
    side_openers<Side>()[key()] = std::move(opener);
  }
  ~in_place() {
    if (before_) {
      side_openers<Side>()[key()] = before_;
    } else {
      side_openers<Side>().erase(key());
    }
  }
  in_place(const in_place&) = delete;
  in_place& operator=(const in_place&) = delete;

 private:
  static std::pair<std::string, device_kind> key() { return {"", device_kind::cuda}; }
  const side_opener<Side> before_;
};

class Reduction : public ::testing::Test {
 protected:
  Reduction() {
    carried_out.clear();
    request_.device.id = "cuda:0";
    request_.device.kind = device_kind::cuda;
    request_.quick = true;
    request_.axes.numbers["bytes"] = {1 << 20};
    request_.axes.words["input"] = {"cold"};
    request_.axes.words["method"] = {"gpusync", "cub-int"};
    sink_.interrupted = [] { return false; };
    sink_.progress = [](double, const std::string&) {};
    sink_.add = [this](const row& entry, bool) { rows_.push_back(entry); };
  }

  const row& row_of(const std::string& method) {
    experiment_.run(request_, sink_);
    for (const row& entry : rows_) {
      if (entry.method == method) return entry;
    }
    throw std::runtime_error("There is no row of " + method + ".");
  }
  static std::string history_in(const row& entry) {
    for (const auto& [name, value] : entry.axes) {
      if (name == "history") return std::get<std::string>(value);
    }
    return "none";
  }

  const experiment& experiment_ = find_experiment("reduction");
  experiment_request request_;

 private:
  const in_place<reduction_device> sums_{make_side<known_device>};
  const in_place<graph_states_device> states_{make_side<known_states>};
  experiment_sink sink_;
  std::vector<row> rows_;
};

TEST_F(Reduction, MeasuresInAProcessThatHasDoneNothing) {
  const row& ours = row_of("gpusync");
  EXPECT_NEAR(*value_of(ours, "step_time_over_cub"), 0.8, 1e-6);
  EXPECT_EQ(history_in(ours), "none") << "rows are compared with those of older documents";
  EXPECT_TRUE(carried_out.empty());
}

TEST_F(Reduction, MeasuresBehindAHistoryThatStays) {
  request_.axes.words["history"] = {"graph-uploaded"};
  const row& ours = row_of("gpusync");
  EXPECT_EQ(carried_out, std::vector<std::string>{"graph-uploaded"});
  EXPECT_NEAR(*value_of(ours, "step_time_over_cub"), 2600.0 / 3400, 1e-6) << "the graph that waits is gone too early";
  EXPECT_EQ(history_in(ours), "graph-uploaded");
  EXPECT_EQ(states_kept, 0);
}

TEST_F(Reduction, RefusesHistoriesThatThereAreNot) {
  request_.axes.words["history"] = {"graph-eaten"};
  EXPECT_THROW(experiment_.request.check(request_), usage_error);
  request_.axes.words["history"] = {"graph-uploaded"};
  EXPECT_NO_THROW(experiment_.request.check(request_));
  axis_choice two;
  EXPECT_THROW(parse_axis("history=clean,graph-uploaded", experiment_.axes, two), usage_error);
  request_.device.id = "host";
  request_.device.kind = device_kind::host;
  request_.axes.words.erase("method");
  EXPECT_THROW(experiment_.request.check(request_), usage_error);
}

}  // namespace
}  // namespace gpusync::tool::reduction_test
