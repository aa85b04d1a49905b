// A thread of control with a stack of its own, which can be put back to where it was before.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace gpusync::verify {

/// Runs a function on a stack at a fixed place. Between two resume() the stack's used part can be saved and, any number
/// of times, restored: this is how a search goes back without running everything again. What the function owns must
/// live on its stack: a heap allocation would not be saved.
class fiber {
 public:
  /// Where a fiber stood.
  struct image {
    std::jmp_buf context;
    size_t from;  ///< offset in the stack
    std::vector<std::byte> bytes;
  };

  explicit fiber(std::function<void()> body);
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// From outside any fiber: runs the body up to its next leave().
  void resume();
  /// From within the body: back to whoever resumed it. A body must not return before it has left for good.
  void leave();

  /// Precondition: resumed at least once.
  void save(image& to) const;
  void restore(const image& from);

 private:
  static void enter(unsigned high, unsigned low);

  static constexpr size_t stack_bytes = 256 * 1024;
  static constexpr size_t margin = 256;  ///< more than the frame of leave() and its callee

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;
  size_t from_ = 0;
  bool started_ = false;
  std::jmp_buf outside_;
  std::jmp_buf inside_;
};

}  // namespace gpusync::verify
