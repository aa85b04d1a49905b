// Tests of GoogleTest that a program makes when it runs.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace gpusync::test {

/// A test whose body is a function.
class run_time_test : public ::testing::Test {
 public:
  explicit run_time_test(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

/// Adds one; names get underscores for dashes.
inline void add_check(const char* suite, std::string name, std::function<void()> body) {
  for (char& c : name) c = c == '-' ? '_' : c;
  ::testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body = std::move(body)]() -> run_time_test* { return new run_time_test(body); });
}

}  // namespace gpusync::test
