// What checks of grid barriers share: host threads on which nothing depends on time, and errors in words.
#pragma once

#include <gpusync/grid/host_storage.hpp>
#include <gpusync/grid/lock_based.hpp>
#include <gpusync/launch/host.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <utility>

#include "check.hpp"

namespace gpusync::test {

using algorithm = grid::lock_based<ordering::acquire_release>;

/// Looks at the clock and pauses that the calling thread has made; the pauses that it may make.
inline thread_local uint64_t looks = 0;
inline thread_local uint64_t pauses = 0;
inline thread_local uint64_t most_pauses = ~uint64_t{0};

struct endless : std::runtime_error {
  endless() : std::runtime_error("a wait that should have ended at once goes on") {}
};

/// Host threads whose clock goes on by 1 ns with each look: how long a wait lasts does not depend on the machine.
class ticking_grid : public host_grid {
 public:
  static ticking_grid current() { return ticking_grid(host_grid::current()); }
  uint64_t now() const { return ++looks; }
  void pause() const {
    if (++pauses > most_pauses) throw endless();
    host_grid::pause();
  }

 protected:
  explicit ticking_grid(const host_grid& grid) : host_grid(grid) {}
};

using storage = host_barrier_storage<algorithm, ticking_grid>;
using barrier = basic_grid_barrier<algorithm, ticking_grid>;
using part_barrier = basic_grid_barrier<algorithm, ticking_grid, block_range>;
using dropping_barrier = basic_grid_barrier<algorithm, ticking_grid, dropping_blocks>;

inline constexpr timeout soon{20}, late{20'000};

inline void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

/// Each block, of one thread, runs `kernel(barrier, block)`. Not a template over the kernel: a launch for each of them
/// would be most of what there is to compile.
template <class Barrier>
using kernel_of = std::function<void(Barrier&, uint32_t)>;
template <class Barrier>
void run_blocks(uint32_t blocks, const Barrier& given, const kernel_of<Barrier>& kernel) {
  launch(
      host_device{}, {blocks, 1}, [&](Barrier b) { kernel(b, ticking_grid::current().block()); }, given);
}

/// What an action throws, if that is an Error and nothing derived from it.
template <class Error>
std::string thrown_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& thrown) {
    return typeid(thrown) == typeid(Error) ? thrown.what() : std::string("another error: ") + thrown.what();
  }
  return "nothing";
}

/// Expects `words` to be the sentence for what a block has done.
inline void expect_sentence(const std::string& words, misuse reason, uint32_t block, const char* what) {
  expect(words == misuse_in_words(reason, block, 0), what);
  if (words != misuse_in_words(reason, block, 0)) std::printf("  thrown: %s\n", words.c_str());
}

static_assert(is_grid<ticking_grid>);

}  // namespace gpusync::test
