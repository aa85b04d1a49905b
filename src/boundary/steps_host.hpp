// Computations in steps on host threads, under every way to pass from step to step: the engine.
#pragma once

#include <functional>
#include <memory>

#include <gpusync/gpusync.hpp>

#include "boundary/arrays.hpp"
#include "boundary/computation.hpp"
#include "boundary/program.hpp"

namespace gpusync::tool {

/// A computation's text (boundary/computation.hpp) for host threads, compiled once for all barriers.
struct host_text {
  /// All steps of a run, with `boundary(s)` behind the s-th.
  std::function<void(host_grid, uint32_t steps, const std::function<bool(uint32_t s)>& boundary)> all;
  /// The step that is told `number`.
  std::function<void(host_grid, uint32_t number)> once;

  template <class Text>
  static host_text of(const Text& text) {
    host_text made = of_all(text);
    made.once = [text](host_grid grid, uint32_t number) {
      typename Text::kept kept = text.load(grid, number);
      text.step(grid, number, kept);
      text.save(grid, kept);
    };
    return made;
  }
  /// For threads that stay alone: of a text that has no single steps.
  template <class Text>
  static host_text of_all(const Text& text) {
    return {[text](host_grid grid, uint32_t steps, const std::function<bool(uint32_t)>& boundary) {
              typename Text::kept kept = text.load(grid, 0);
              all_steps(text, grid, steps, kept, boundary);
              text.save(grid, kept);
            },
            {}};
  }
};

/// Arrays for host threads, each on lines of its own: what is added to must not share its line with what is read.
class host_arrays : public arrays {
 public:
  explicit host_arrays(std::vector<array_content> content) : arrays(std::move(content)), memory_(content_.size()) {
    for (size_t i = 0; i < memory_.size(); ++i) memory_[i].resize(content_[i].bytes / sizeof(line) + 1);
    fill_all();
  }

  template <class T>
  T* address(size_t array) {
    return static_cast<T*>(static_cast<void*>(memory_[array].data()));
  }

  void read(size_t array, void* to) override;

 private:
  struct alignas(128) line {
    unsigned char bytes[128] = {};
  };
  void fill(size_t array) override;

  std::vector<std::vector<line>> memory_;
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

/// A way to pass from step to step that only one computation has.
struct host_own_method {
  step_method method;
  /// For a shape, what carries out so many steps. Throws what a storage throws.
  std::function<std::function<void(uint32_t steps)>(const step_shape&)> make;
};

/// One computation.
struct host_computation {
  host_text text;
  step_sequence steps;
  std::shared_ptr<run_data> data;
  std::vector<host_own_method> own = {};  ///< methods besides those of the engine
  /// For a computation that ends by itself: whether another step is to come behind the one told `number`. Null: `steps`
  /// says how many there are.
  std::function<bool(uint32_t number)> goes_on = nullptr;
};

/// Every method that a computation has on host threads; the floor, threads that wait for nothing, only if `floor`.
std::vector<step_method> methods_on_host(bool floor);

/// The program of one of these methods, or of method_names::none, listed or not; see workload::prepare().
std::unique_ptr<program> prepare_program(const step_method& method, const step_shape& shape,
                                         host_computation computation);

/// See workload::max_co_resident().
uint64_t max_co_resident_on_host(uint32_t threads);

// What workload_of() asks of a computation.
std::vector<step_method> methods_of(const host_computation& what);
inline uint64_t max_co_resident_of(const host_computation&, const std::vector<step_method>&, uint32_t threads) {
  return max_co_resident_on_host(threads);
}

}  // namespace gpusync::tool
