#include "boundary/steps_host.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "boundary/barrier_methods.hpp"
#include "measure/host_timer.hpp"

namespace gpusync::tool {

namespace {

/// What the programs of one computation have in common.
class steps_program : public host_program {
 public:
  steps_program(const step_shape& shape, host_computation computation)
      : host_program(shape, std::move(computation.data), std::move(computation.steps)),
        text_(std::move(computation.text)),
        goes_on_(std::move(computation.goes_on)) {}

 protected:
  /// Steps at most: what ends by itself is not told how many there are.
  uint32_t most_of(uint32_t count) const { return goes_on_ ? steps().limit() : count; }

  const host_text text_;
  const std::function<bool(uint32_t)> goes_on_;
};

/// Threads that start for each step and end with it: the host's counterpart of a kernel launch and a wait.
class launch_wait_program : public steps_program {
 public:
  using steps_program::steps_program;

 private:
  void carry_out(uint32_t count) override {
    const uint32_t most = most_of(count);
    for (uint32_t s = 0; s < most && !is_interrupted(); ++s) {
      const uint32_t number = steps().number_of(s, count);
      launch(device_, shape_, [this, number] {
        if (number != step_sequence::idle) text_.once(host_grid::current(), number);
      });
      if (goes_on_ && !goes_on_(number)) return;
    }
  }
};

/// Threads that stay, with a barrier of the library between steps.
template <class Algorithm>
class barrier_program : public steps_program {
 public:
  barrier_program(const step_shape& shape, host_computation computation)
      : steps_program(shape, std::move(computation)), storage_(shape.blocks) {}

 private:
  void carry_out(uint32_t count) override {
    // All threads must leave before the same step, or one waits for the others. Who is told to end says so some steps
    // ahead: by then all know, whatever the barrier orders.
    const uint32_t most = most_of(count);
    std::atomic<uint32_t> end{most};
    launch(
        device_, shape_,
        [this, most, &end](basic_grid_barrier<Algorithm, host_grid> barrier) {
          const host_grid grid = host_grid::current();
          const bool asks = grid.block() == 0 && grid.thread() == 0;
          text_.all(grid, most, [&](uint32_t s) {
            if (asks && most - s > steps_ahead && is_interrupted() && end.load(std::memory_order_relaxed) == most) {
              end.store(s + steps_ahead, std::memory_order_relaxed);
            }
            barrier.sync();
            return s + 1 < end.load(std::memory_order_relaxed);
          });
        },
        storage_.barrier());
  }

  static constexpr uint32_t steps_ahead = 64;

  host_barrier_storage<Algorithm> storage_;
};

/// Threads that stay and wait for nothing.
class alone_program : public steps_program {
 public:
  using steps_program::steps_program;

 private:
  void carry_out(uint32_t count) override {
    launch(device_, shape_, [this, count] { text_.all(host_grid::current(), count, [](uint32_t) { return true; }); });
  }
};

/// A method that only this computation has.
class own_program : public host_program {
 public:
  own_program(const step_shape& shape, host_computation computation, const host_own_method& method)
      : host_program(shape, std::move(computation.data), std::move(computation.steps)),
        carry_out_(method.make(shape)) {}

 private:
  void carry_out(uint32_t count) override { carry_out_(count); }

  const std::function<void(uint32_t)> carry_out_;
};

}  // namespace

void host_arrays::fill(size_t array) {
  const array_content& what = content_[array];
  if (what.first != nullptr) {
    if (what.bytes != 0) std::memcpy(address<void>(array), what.first.get(), what.bytes);
    return;
  }
  auto* const words = address<uint64_t>(array);
  std::fill(words, words + (what.bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t), what.pattern);
}

void host_arrays::read(size_t array, void* to) {
  if (content_[array].bytes != 0) std::memcpy(to, address<void>(array), content_[array].bytes);
}

double host_program::compute(uint32_t steps) {
  const host_timer timer;
  carry_out(steps);
  const double elapsed = timer.nanoseconds();
  if (is_interrupted()) throw run_interrupted();  // some steps may be missing
  return elapsed;
}

std::vector<step_method> methods_on_host(bool floor) {
  std::vector<step_method> all;
  if (floor) all.push_back({method_names::none, "no barrier (the work alone)", {"F12"}, method_kind::floor});
  all.push_back({method_names::host_wait, "threads started and joined for each step", {"F1"}, method_kind::host_wait});
  for (step_method& method : barrier_methods<grid::portable_algorithms>("barrier")) all.push_back(std::move(method));
  return all;
}

std::vector<step_method> methods_of(const host_computation& what) {
  std::vector<step_method> all = methods_on_host(false);
  for (const host_own_method& one : what.own) all.push_back(one.method);
  return all;
}

std::unique_ptr<program> prepare_program(const step_method& method, const step_shape& shape,
                                         host_computation computation) {
  require_co_resident(host_device{}, {shape.blocks, shape.threads});
  for (const host_own_method& one : computation.own) {
    if (one.method.name == method.name) {
      const host_own_method found = one;
      return std::make_unique<own_program>(shape, std::move(computation), found);
    }
  }
  if (method.name == method_names::none) return std::make_unique<alone_program>(shape, std::move(computation));
  if (method.name == method_names::host_wait) {
    return std::make_unique<launch_wait_program>(shape, std::move(computation));
  }
  auto made = with_algorithm<std::unique_ptr<program>, grid::portable_algorithms>(method, [&](auto algorithm) {
    return std::make_unique<barrier_program<decltype(algorithm)>>(shape, std::move(computation));
  });
  if (!made) throw invalid_argument("There is no method " + method.name + " on the host.");
  return made;
}

uint64_t max_co_resident_on_host(uint32_t threads) {
  return host_device{}.max_threads().threads / threads;
}

}  // namespace gpusync::tool
