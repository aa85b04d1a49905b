#include "harness/axis.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/refusal.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

const std::vector<axis> axes{{"blocks", "blocks in the grid", 1, 65535, false},
                             {"elements", "", 0, int64_t{1} << 40, false},
                             {"method", "", 0, 0, true},
                             {"calls", "one of them", 1, 9, false, "", true}};

std::vector<int64_t> numbers(const std::string& text) {
  axis_choice choice;
  parse_axis(text, axes, choice);
  return choice.numbers.begin()->second;
}

std::string complaint(const std::string& text) {
  axis_choice choice;
  return test::refusal<usage_error>([&] { parse_axis(text, axes, choice); });
}

TEST(Axis, TakesListsRangesAndPowersOfTwo) {
  EXPECT_EQ(numbers("blocks=1,2,4"), (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(numbers("blocks=1:132:50"), (std::vector<int64_t>{1, 51, 101}));
  EXPECT_EQ(numbers("blocks=3:5"), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(numbers("elements=2^16:2^19"), (std::vector<int64_t>{65536, 131072, 262144, 524288}));
  EXPECT_EQ(numbers("blocks=7,2^3,1:2"), (std::vector<int64_t>{7, 8, 1, 2}));
  EXPECT_EQ(numbers("blocks=2,2,1:3"), (std::vector<int64_t>{2, 1, 3})) << "duplicates are dropped";
}

TEST(Axis, AddsUpWhenGivenAgain) {
  axis_choice choice;
  parse_axis("blocks=1", axes, choice);
  parse_axis("blocks=4,1", axes, choice);
  parse_axis("method=cg,graph", axes, choice);
  EXPECT_EQ(choice.numbers["blocks"], (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(choice.words["method"], (std::vector<std::string>{"cg", "graph"}));
}

TEST(Axis, NamesTheCulpritAndWhatIsAllowed) {
  for (const std::string text : {"blocks=0", "blocks=x", "blocks=", "blocks=1,,2", "blocks=65536", "blocks=-1",
                                 "blocks=1:2:3:4", "blocks=2^70", "blocks=99999999999999999999", "blocks=1.5"}) {
    const std::string sentence = complaint(text);
    EXPECT_NE(sentence.find("blocks"), std::string::npos) << text << ": " << sentence;
    EXPECT_NE(sentence.find("1 to 65535"), std::string::npos) << text << ": " << sentence;
  }
  EXPECT_NE(complaint("blocks=9:1").find("9:1 is empty"), std::string::npos);
  EXPECT_NE(complaint("blocks=1:9:0").find("step"), std::string::npos);
  EXPECT_NE(complaint("colour=1").find("the axes are blocks, elements, method, calls"), std::string::npos);
  EXPECT_NE(complaint("blocks").find("NAME=VALUES"), std::string::npos);
  EXPECT_EQ(complaint("calls=1"), "");
  EXPECT_EQ(complaint("calls=1,2"), "Axis calls takes one value.");
  EXPECT_NE(complaint("=3").find("NAME=VALUES"), std::string::npos);
  EXPECT_NE(complaint("elements=0:2^40").find("more than 10000"), std::string::npos);
}

RC_GTEST_PROP(Axis, ARangeHoldsEveryStepFromFirstToLast, ())
{
  const auto first = *rc::gen::inRange<int64_t>(1, 1000);
  const auto count = *rc::gen::inRange<int64_t>(1, 100);
  const auto step = *rc::gen::inRange<int64_t>(1, 50);
  const auto beyond = *rc::gen::inRange<int64_t>(0, step);
  const auto last = first + (count - 1) * step + beyond;
  const auto values =
      numbers("blocks=" + std::to_string(first) + ":" + std::to_string(last) + ":" + std::to_string(step));
  RC_ASSERT(values.size() == static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) RC_ASSERT(values[static_cast<size_t>(i)] == first + i * step);
}

RC_GTEST_PROP(Axis, AnyTextIsTakenOrRefusedInOneLine, (const std::string& text))
{
  axis_choice choice;
  try {
    parse_axis(text, axes, choice);
  } catch (const usage_error& wrong) {
    RC_ASSERT(std::string(wrong.what()).size() > 10u);
  }
}

}  // namespace
}  // namespace gpusync::tool
