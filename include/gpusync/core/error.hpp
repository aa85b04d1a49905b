// Everything that the host side of the library throws. Device code throws nothing and prints nothing.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace gpusync {

/// The root of the family. what() is one sentence or two: what failed, with the numbers, and what to do.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument outside what the function takes.
class invalid_argument : public error {
 public:
  using error::error;
};

/// There is no such device, or it cannot be used.
class no_such_device : public error {
 public:
  using error::error;
};

/// A launch whose blocks cannot all run at once: a barrier across them would wait for ever, so it was not started.
class not_co_resident : public error {
 public:
  /// With the sentence, the blocks asked for and the most that run at once.
  not_co_resident(const std::string& what, uint64_t requested, uint64_t limit)
      : error(what), requested_(requested), limit_(limit) {}

  /// Blocks asked for.
  uint64_t requested() const { return requested_; }
  /// The most blocks of this kernel and block size that run at once; 0 if not one does.
  uint64_t limit() const { return limit_; }

 private:
  uint64_t requested_;
  uint64_t limit_;
};

/// A barrier storage that still holds a phase in which a wait timed out.
class broken_barrier : public error {
 public:
  using error::error;
};

/// A storage that launches on another stream may still be using.
class storage_in_use : public error {
 public:
  using error::error;
};

/// A call of a runtime (CUDA, OpenCL, the operating system) failed.
class runtime_failure : public error {
 public:
  /// With the sentence and the runtime's own error code.
  runtime_failure(const std::string& what, int code) : error(what), code_(code) {}
  /// The runtime's own error code.
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace gpusync
