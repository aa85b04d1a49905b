// Memory of a device that the runs of a computation work on. C++17: CUDA sources include it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boundary/program.hpp"

namespace gpusync::tool {

/// One array, and what a run finds in it at first.
struct array_content {
  size_t bytes = 0;
  /// So many bytes; null: `pattern`, again and again. Where it is not owned it must outlive the arrays.
  std::shared_ptr<const void> first = nullptr;
  uint64_t pattern = 0;
  bool anew = true;  ///< before each run, not only before the first
  /// What it must hold behind a run; null: that is not compared.
  std::shared_ptr<const void> expected = nullptr;

  template <class T>
  static array_content of(std::vector<T> first) {
    const auto kept = std::make_shared<const std::vector<T>>(std::move(first));
    return {kept->size() * sizeof(T), {kept, kept->data()}};
  }
  /// What runs only read, or what each hands on to the next.
  template <class T>
  static array_content once(std::vector<T> first) {
    array_content made = of(std::move(first));
    made.anew = false;
    return made;
  }
  /// `count` elements of 4 or 8 bytes that all are `value`, before each run or only before the first.
  template <class T>
  static array_content filled(size_t count, T value, bool anew = true) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "repeated in 8 bytes");
    array_content made;
    made.bytes = count * sizeof(T);
    made.anew = anew;
    std::memcpy(&made.pattern, &value, sizeof(T));
    if (sizeof(T) == 4) made.pattern |= made.pattern << 32;
    return made;
  }
  /// 64-bit words to count in.
  static array_content counts(size_t count = 1) { return filled(count, uint64_t{0}); }
};

/// In how many 32-bit words what was found differs from what the array must hold.
inline uint64_t different_words(const array_content& what, const uint32_t* found) {
  const auto* const right = static_cast<const uint32_t*>(what.expected.get());
  uint64_t different = 0;
  for (size_t i = 0; i < what.bytes / sizeof(uint32_t); ++i) different += found[i] != right[i] ? 1 : 0;
  return different;
}

/// Arrays in a device's memory, numbered as they were given. Blocking. Precondition of all: no run is under way.
class arrays {
 public:
  virtual ~arrays() = default;
  /// Gives them what a run finds at first.
  void reset() {
    for (size_t i = 0; i < content_.size(); ++i) {
      if (content_[i].anew) fill(i);
    }
    finish();
  }
  /// Copies a whole array to the host.
  virtual void read(size_t array, void* to) = 0;
  /// Bytes of an array.
  size_t bytes(size_t array) const { return content_[array].bytes; }
  /// In how many 32-bit words an array differs from what it must hold.
  virtual uint64_t different(size_t array) {
    std::vector<uint32_t> found(content_[array].bytes / sizeof(uint32_t));
    read(array, found.data());
    return different_words(content_[array], found.data());
  }

  /// What an array of one word holds.
  template <class Word = uint32_t>
  Word word(size_t array) {
    if (content_[array].bytes != sizeof(Word)) throw invalid_argument("This array is not one word.");
    Word found = 0;
    read(array, &found);
    return found;
  }

 protected:
  /// Throws invalid_argument if something is to be compared that is not made of words.
  explicit arrays(std::vector<array_content> content) : content_(std::move(content)) {
    for (const array_content& each : content_) {
      if (each.expected == nullptr || each.bytes % sizeof(uint32_t) == 0) continue;
      throw invalid_argument("Arrays are compared in 32-bit words, and this one has " + std::to_string(each.bytes) +
                             " bytes.");
    }
  }

  /// To be called when there is memory for all: gives each what the first run finds.
  void fill_all() {
    for (size_t i = 0; i < content_.size(); ++i) {
      fill(i);
      if (!content_[i].anew) content_[i].first.reset();
    }
    finish();
  }
  /// Begins to give one its first content, and waits until all have theirs.
  virtual void fill(size_t array) = 0;
  virtual void finish() {}

  std::vector<array_content> content_;
};

/// The result of a computation that must leave exactly this in the first of its arrays.
class expected_array : public run_data {
 public:
  expected_array(std::shared_ptr<arrays> memory, size_t bytes, std::string how)
      : memory_(std::move(memory)), words_(bytes / sizeof(uint32_t)), how_(std::move(how)) {}

  void reset() override { memory_->reset(); }
  check_result check(uint64_t) override { return {words_, memory_->different(0)}; }
  std::string how() const override { return how_; }

 private:
  const std::shared_ptr<arrays> memory_;
  const size_t words_;
  const std::string how_;
};

}  // namespace gpusync::tool
