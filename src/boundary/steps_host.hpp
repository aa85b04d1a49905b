// Computations in steps on host threads, under every way to pass from step to step: the engine.
#pragma once

#include <functional>
#include <memory>

#include <gpusync/gpusync.hpp>

#include "boundary/computation.hpp"
#include "boundary/program.hpp"
#include "boundary/word_memory.hpp"

namespace gpusync::tool {

/// A computation's text (boundary/computation.hpp) for host threads, compiled once for all barriers.
struct host_text {
  /// All steps of a run, with `boundary(s)` behind the s-th.
  std::function<void(host_grid, uint32_t steps, const std::function<bool(uint32_t s)>& boundary)> all;
  /// The step that is told `number`.
  std::function<void(host_grid, uint32_t number)> once;

  template <class Text>
  static host_text of(const Text& text) {
    return {[text](host_grid grid, uint32_t steps, const std::function<bool(uint32_t)>& boundary) {
              typename Text::kept kept = text.load(grid, 0);
              all_steps(text, grid, steps, kept, boundary);
              text.save(grid, kept);
            },
            [text](host_grid grid, uint32_t number) {
              typename Text::kept kept = text.load(grid, number);
              text.step(grid, number, kept);
              text.save(grid, kept);
            }};
  }
};

/// An array for host threads, made with these words, and a count on a line of its own.
class host_words : public word_memory {
 public:
  explicit host_words(std::vector<uint32_t> first) : words_(std::move(first)) {}

  uint32_t* address() { return words_.data(); }
  uint32_t* count_address() { return &count_.word; }

  void clear_count() override { count_.word = 0; }
  uint32_t count() override { return count_.word; }
  std::vector<uint32_t> words() override { return words_; }

 private:
  std::vector<uint32_t> words_;
  struct alignas(128) line {
    uint32_t word = 0;
  };
  line count_;  // what is added to must not share its line with what is read
};

/// What differs between programs is how the steps of a run are carried out.
class host_program : public checked_program {
 public:
  host_program(const step_shape& shape, std::shared_ptr<run_data> data, step_sequence steps)
      : checked_program(std::move(data), std::move(steps)), shape_{shape.blocks, shape.threads} {}

 protected:
  virtual void carry_out(uint32_t steps) = 0;

  const host_device device_{};
  const launch_shape shape_;

 private:
  double compute(uint32_t steps) override;
};

/// One computation.
struct host_computation {
  host_text text;
  step_sequence steps;
  std::shared_ptr<run_data> data;
};

/// Every method that a computation has on host threads; the floor, threads that wait for nothing, only if `floor`.
std::vector<step_method> methods_on_host(bool floor);

/// The program of one of these methods, or of no_barrier_method; see workload::prepare().
std::unique_ptr<program> prepare_on_host(const step_method& method, const step_shape& shape,
                                         host_computation computation);

/// The workload of a computation that is the same for all shapes.
std::unique_ptr<workload> workload_on_host(host_computation computation);

/// See workload::max_co_resident().
uint64_t max_co_resident_on_host(uint32_t threads);

}  // namespace gpusync::tool
