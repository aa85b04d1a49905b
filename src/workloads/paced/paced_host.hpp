// Paced texts on host threads.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gpusync/gpusync.hpp>
#include <gpusync/pace/host.hpp>

#include "boundary/steps_host.hpp"
#include "measure/host_timer.hpp"
#include "workloads/paced/paced_text.hpp"

namespace gpusync::tool {

/// A text's program on host threads. A test may give it a text that is wrong.
template <class Text>
class host_paced_program : public paced_program {
 public:
  /// Throws as paced_device::program() does.
  explicit host_paced_program(const paced_problem& problem)
      : problem_(checked(problem)), sizes_(Text::arrays(problem_)) {
    text_.emplace(text_on_arrays());
    for (uint32_t array = 0; array + 1 < sizes_.count; ++array) {
      for (uint64_t i = 0; i < sizes_.words[array]; ++i) arrays_[array][i] = text_->word(array, i);
    }
    expected_.resize(sizes_.output_words());
    for (uint64_t i = 0; i < expected_.size(); ++i) expected_[i] = text_->expected(i);
    Text::variants::for_each([&](auto kind) {
      kernels_.push_back({variant_of(kind), decltype(kind)::instrumented, made<block_of<decltype(kind)>>});
    });
    if constexpr (rival_of_text<Text>::there) {
      kernels_.push_back({rival_variant<Text>(), false, made<block_of_rival<Text>>});
    }
  }

  std::vector<paced_variant> variants() const override { return those(false); }
  std::vector<paced_variant> clocked() const override { return those(true); }
  uint64_t trips() const override { return text_->trips(); }
  uint64_t bytes() const override { return text_->bytes(); }
  paced_resources resources(const paced_variant&) override { return {}; }

  double run(const paced_variant& which) override {
    kernel& one = find(which, false);
    clear_output();
    const host_timer timer;
    run(one, nullptr);
    const double elapsed = timer.nanoseconds();
    check(one);
    return elapsed;
  }
  paced_clocks run_clocked(const paced_variant& which) override {
    kernel& one = find(which, true);
    clear_output();
    std::vector<warp_clocks> clocks(elements_of(problem_.shape));
    run(one, clocks.data());
    check(one);
    return mean_clocks(clocks, "ns");
  }
  verification verify(const paced_variant& which, bool instrumented) const override {
    for (const kernel& one : kernels_) {
      if (one.about.name == which.name && one.instrumented == instrumented) {
        return {true, one.checked, one.wrong, paced_check};
      }
    }
    return {};
  }

 private:
  /// What a block shares, and what each of its threads does.
  struct block {
    explicit block(const Text& its_text) : text(its_text) {}
    virtual ~block() = default;
    virtual void run(const host_grid& grid, warp_clocks* clocks) = 0;
    const Text& text;
  };
  template <class Kind>
  struct block_of : block {
    using form = typename Kind::form;
    using block::block;
    void run(const host_grid& grid, warp_clocks* clocks) override {
      const uint64_t begin = grid.now();
      host_block_pace<form> pace(pace_memory);
      if constexpr (Kind::instrumented) {
        stop_watch watch;
        this->text.template run<Kind::every>(grid, pace, memory, watch);
        clocks[size_t{grid.block()} * grid.threads() + grid.thread()] = {
            {watch.parts[0], watch.parts[1], watch.parts[2]}, watch.visits, begin, grid.now()};
      } else {
        no_watch watch;
        this->text.template run<Kind::every>(grid, pace, memory, watch);
      }
    }
    host_pace_memory<form> pace_memory{};
    typename Text::shared memory{};
  };
  template <class AnyText>  // which not every text has
  struct block_of_rival : block {
    using block::block;
    void run(const host_grid& grid, warp_clocks*) override { this->text.run_rival(grid, memory); }
    typename AnyText::rival_shared memory{};
  };
  template <class Block>
  static std::unique_ptr<block> made(const Text& text) {
    return std::unique_ptr<block>(new Block(text));
  }
  struct kernel {
    paced_variant about;
    bool instrumented;
    std::unique_ptr<block> (*made_block)(const Text&);
    uint64_t checked = 0, wrong = 0;
  };

  static paced_problem checked(paced_problem problem) {
    (void)elements_of(problem.shape);
    if (problem.shape.threads > most_threads) {
      throw invalid_argument("On the host these blocks have at most 32 threads, each of which stands for a warp.");
    }
    problem.warp_size = host_grid::warp_size;
    require_co_resident(host_device{}, {problem.shape.blocks, problem.shape.threads});
    return problem;
  }
  Text text_on_arrays() {
    uint32_t* addresses[6] = {};
    require_room(sizes_.bytes(), most_bytes, "for a workload on the host");
    for (uint32_t i = 0; i < sizes_.count; ++i) {
      arrays_.emplace_back(sizes_.words[i]);
      addresses[i] = arrays_.back().data();
    }
    return Text(problem_, addresses);
  }
  static constexpr uint32_t most_threads = 32;
  static constexpr uint64_t most_bytes = uint64_t{4} << 30;

  std::vector<paced_variant> those(bool instrumented) const {
    std::vector<paced_variant> all;
    for (const kernel& one : kernels_) {
      if (one.instrumented == instrumented) all.push_back(one.about);
    }
    return all;
  }
  kernel& find(const paced_variant& which, bool instrumented) {
    for (kernel& one : kernels_) {
      if (one.about.name == which.name && one.instrumented == instrumented) return one;
    }
    throw invalid_argument("There is no variant " + which.name + ".");
  }
  void clear_output() {
    for (uint32_t& word : arrays_.back()) word = UINT32_MAX;
  }
  void check(kernel& one) {
    for (uint64_t i = 0; i < expected_.size(); ++i) one.wrong += arrays_.back()[i] == expected_[i] ? 0 : 1;
    one.checked += expected_.size();
  }

  /// Runs a kernel, whose threads all call their block's run().
  void run(const kernel& one, warp_clocks* clocks) {
    std::vector<std::unique_ptr<block>> blocks;
    for (uint32_t i = 0; i < problem_.shape.blocks; ++i) blocks.push_back(one.made_block(*text_));
    launch(host_device{}, {problem_.shape.blocks, problem_.shape.threads}, [&] {
      const host_grid grid = host_grid::current();
      blocks[grid.block()]->run(grid, clocks);
    });
  }

  const paced_problem problem_;
  const paced_arrays sizes_;
  std::vector<std::vector<uint32_t>> arrays_;
  std::optional<Text> text_;
  std::vector<uint32_t> expected_;
  std::vector<kernel> kernels_;
};

/// The device side of a text on host threads.
template <class Text>
class host_paced_device : public paced_device {
 public:
  std::vector<paced_variant> variants() const override { return variants_of<Text>(); }
  std::unique_ptr<paced_program> program(const paced_problem& problem) override {
    return std::make_unique<host_paced_program<Text>>(problem);
  }
};

}  // namespace gpusync::tool
