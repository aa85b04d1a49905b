// Task graphs: what they are made of, that every way to wait leaves what it must, and that a fault is seen.
#include "workloads/task_graph/task_graph.hpp"

#include <gtest/gtest.h>

#include <set>

#include "boundary/steps_host.hpp"
#include "support/host_description.hpp"

namespace gpusync::tool {
namespace {

/// The tables of a graph, as devices get them.
class read_graph {
 public:
  explicit read_graph(const task_graph& graph) : memory_(graph.content()), text_(graph.text(memory_)) {}
  const task_tables& at() const { return text_.at; }
  std::vector<uint32_t> before(uint32_t task) const {
    return {at().before + at().before_first[task], at().before + at().before_first[task + 1]};
  }
  std::vector<uint32_t> behind(uint32_t task) const {
    return {at().behind + at().behind_first[task], at().behind + at().behind_first[task + 1]};
  }

 private:
  host_arrays memory_;
  task_graph_text text_;
};

uint32_t level_of(const task_graph& graph, const task_tables& at, uint32_t task) {
  uint32_t level = 0;
  while (level + 1 < graph.levels() && at.level_first[level + 1] <= task) ++level;
  return level;
}

TEST(TaskGraphs, HaveTasksThatNeedOnlyThoseOfTheLevelBefore) {
  for (const auto& [form, tasks, width] : {std::tuple{task_graph_form::layered, 100u, 7u},
                                           {task_graph_form::layered, 5u, 9u},
                                           {task_graph_form::wavefront, 49u, 1u},
                                           {task_graph_form::wavefront, 1u, 1u},
                                           {task_graph_form::chain, 20u, 1u}}) {
    const task_graph graph(form, tasks, width, {});
    const read_graph read(graph);
    EXPECT_EQ(graph.tasks(), tasks);
    uint64_t edges = 0;
    for (uint32_t task = 0; task < graph.tasks(); ++task) {
      const uint32_t level = level_of(graph, read.at(), task);
      const auto before = read.before(task);
      edges += before.size();
      EXPECT_EQ(before.empty(), level == 0);
      EXPECT_EQ(std::set<uint32_t>(before.begin(), before.end()).size(), before.size()) << "each once";
      for (const uint32_t needed : before) {
        EXPECT_EQ(level_of(graph, read.at(), needed) + 1, level);
        const auto behind = read.behind(needed);
        EXPECT_EQ(std::count(behind.begin(), behind.end(), task), 1) << "told by both";
      }
    }
    EXPECT_EQ(graph.edges(), edges);
    EXPECT_EQ(read.at().level_first[graph.levels()], graph.tasks());
  }
}

TEST(TaskGraphs, OfEachFormAreWhatTheirNameSays) {
  const task_graph layered(task_graph_form::layered, 3000, 30, {}), wavefront(task_graph_form::wavefront, 120, 1, {}),
      chain(task_graph_form::chain, 11, 1, {});
  const read_graph of_layered(layered), of_wavefront(wavefront), of_chain(chain);
  EXPECT_EQ(layered.levels(), 100u);
  std::set<size_t> degrees;
  for (uint32_t task = 30; task < 3000; ++task) degrees.insert(of_layered.before(task).size());
  EXPECT_EQ(degrees, (std::set<size_t>{1, 2, 3, 4}));
  EXPECT_EQ(wavefront.tasks(), 100u);
  EXPECT_EQ(wavefront.levels(), 19u);
  EXPECT_EQ(wavefront.edges(), 2u * 10 * 9);
  EXPECT_EQ(chain.levels(), 11u);
  EXPECT_EQ(chain.edges(), 10u);
  EXPECT_EQ(of_chain.before(10), std::vector<uint32_t>{9});
  // The last square of a wavefront needs those above and to the left, the two of the diagonal before.
  EXPECT_EQ(of_wavefront.before(99), (std::vector<uint32_t>{97, 98}));
  EXPECT_EQ(of_wavefront.before(1), std::vector<uint32_t>{0});
  EXPECT_EQ(of_wavefront.before(4), (std::vector<uint32_t>{1, 2}));
}

TEST(TaskGraphs, TellCountersHowManyPublishesTheyGet) {
  const task_graph chain(task_graph_form::chain, 4, 1, {});
  EXPECT_EQ(chain.expected(task_counters::needs), (std::vector<uint32_t>{0, 1, 1, 1}));
  EXPECT_EQ(chain.expected(task_counters::ends), (std::vector<uint32_t>{1, 1, 1, 0}));
}

TEST(TaskGraphs, WorkAsTheyAreAsked) {
  const task_work even{10, false}, unlike{10, true};
  uint32_t least = ~0u, most = 0;
  for (uint32_t task = 0; task < 1000; ++task) {
    EXPECT_EQ(even.of(task), 10u);
    least = std::min(least, unlike.of(task));
    most = std::max(most, unlike.of(task));
  }
  EXPECT_EQ(least, 0u);
  EXPECT_EQ(most, 20u);
}

TEST(TaskGraphs, ThatCannotBeAreRefusedInWords) {
  for (const auto& [tasks, width] : {std::pair{0u, 1u}, {1u, 0u}, {(1u << 24) + 1, 1u}}) {
    EXPECT_THROW(task_graph(task_graph_form::layered, tasks, width, {}), invalid_argument);
  }
  EXPECT_THROW(task_graph(task_graph_form::chain, 1, 1, {(1u << 20) + 1, false}), invalid_argument);
}

TEST(TaskGraphs, ComeOutRightOnHostThreadsByEveryWay) {
  const auto device = open_side<task_graph_device>(test::host_description());
  for (const task_graph_form form : {task_graph_form::layered, task_graph_form::wavefront, task_graph_form::chain}) {
    const task_graph graph(form, 60, 5, {3, true});
    const auto workload = device->running(graph);
    for (const auto& [blocks, threads] : {std::pair{1u, 1u}, {3u, 2u}}) {
      step_shape shape;
      shape.blocks = blocks;
      shape.threads = threads;
      size_t own = 0;
      for (const step_method& method : workload->methods()) {
        if (!method.ordered) continue;
        const auto program = workload->prepare(method, shape);
        (void)program->run();
        (void)program->run(2 * program->steps_unit());
        const verification found = program->verify();
        EXPECT_TRUE(found.performed);
        EXPECT_EQ(found.wrong, 0u) << method.name;
        EXPECT_EQ(found.checked, 3u * graph.tasks() * task_words);
        own += method.kind == method_kind::neighbours ? 1 : 0;
      }
      EXPECT_EQ(own, 2u);
    }
  }
}

/// Levels in another order must show in what is compared.
TEST(TaskGraphs, ShowATaskThatCameTooEarly) {
  for (const task_graph_form form : {task_graph_form::layered, task_graph_form::wavefront, task_graph_form::chain}) {
    const task_graph graph(form, 36, 4, {});
    const auto memory = std::make_shared<host_arrays>(graph.content());
    const auto result = graph.result(memory);
    const task_graph_text text = graph.text(*memory);
    const auto run_with = [&](uint32_t swapped) {
      result->reset();
      launch(host_device{}, {1, 1}, [&] {
        task_graph_text::kept none;
        for (uint32_t level = 0; level < graph.levels(); ++level) {
          const bool early = level + 1 == swapped, late = level == swapped;
          text.step(host_grid::current(), early ? level + 1 : late ? level - 1 : level, none);
        }
      });
      return result->check(graph.levels()).wrong;
    };
    EXPECT_EQ(run_with(~0u), 0u);
    EXPECT_GT(run_with(1), 0u);
    EXPECT_GT(run_with(graph.levels() - 1), 0u);
  }
}

}  // namespace
}  // namespace gpusync::tool
