#include "harness/shapes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/refusal.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

std::string complaint(const std::string& word) {
  return test::refusal<usage_error>([&] { parse_shapes({word}); });
}

std::vector<std::string> words_of(const std::vector<step_shape>& shapes) {
  std::vector<std::string> words;
  for (const step_shape& shape : shapes) words.push_back(to_word(shape));
  return words;
}

TEST(Shapes, AreBlocksTimesThreadsInTheOrderGiven) {
  const std::vector<step_shape> shapes = parse_shapes({"132x256", "1x1", "65535x1024"});
  ASSERT_EQ(shapes.size(), 3u);
  EXPECT_EQ(shapes[0].blocks, 132u);
  EXPECT_EQ(shapes[0].threads, 256u);
  EXPECT_FALSE(shapes[0].stores);
  EXPECT_EQ(shapes[1].blocks, 1u);
  EXPECT_EQ(shapes[1].threads, 1u);
  EXPECT_EQ(shapes[2].blocks, 65535u);
  EXPECT_EQ(shapes[2].threads, 1024u);
  EXPECT_TRUE(parse_shapes({}).empty());
}

TEST(Shapes, NameTheCulpritAndWhatIsAllowed) {
  for (const std::string word : {"",
                                 "x",
                                 "132",
                                 "132x",
                                 "x256",
                                 "0x256",
                                 "132x0",
                                 "65536x1",
                                 "1x1025",
                                 "132x256x1",
                                 "132xx256",
                                 "-1x32",
                                 "1x-32",
                                 "+1x32",
                                 " 132x256",
                                 "132x256 ",
                                 "132 x 256",
                                 "132X256",
                                 "132*256",
                                 "1.5x32",
                                 "1e3x32",
                                 "0x10x32",
                                 "99999999999999999999x1",
                                 "1x4294967297",
                                 "axb"}) {
    const std::string sentence = complaint(word);
    EXPECT_NE(sentence.find("'" + word + "'"), std::string::npos) << word << ": " << sentence;
    EXPECT_NE(sentence.find("shape=132x256"), std::string::npos) << word << ": " << sentence;
    EXPECT_NE(sentence.find("1 to 65535 blocks of 1 to 1024 threads"), std::string::npos) << word << ": " << sentence;
  }
}

TEST(Shapes, OneBadWordSpoilsAllAndIsTheOneNamed) {
  try {
    parse_shapes({"132x256", "132x4096", "264x32"});
    FAIL() << "132x4096 was taken";
  } catch (const usage_error& wrong) {
    EXPECT_NE(std::string(wrong.what()).find("'132x4096'"), std::string::npos) << wrong.what();
  }
}

TEST(Shapes, TheUsersOnesReplaceTheUsualOnes) {
  experiment_request request;
  EXPECT_EQ(words_of(shapes_or(request, {"132x32", "66x256"})), (std::vector<std::string>{"132x32", "66x256"}));
  request.axes.words["shape"] = {"7x64"};
  EXPECT_EQ(words_of(shapes_or(request, {"132x32", "66x256"})), (std::vector<std::string>{"7x64"}));
  request.axes.words["shape"] = {"7by64"};
  EXPECT_THROW(shapes_or(request, {"132x32"}), usage_error);
}

TEST(Shapes, TheUsualOnesAreShapesAndOneIsEnoughForAQuickLook) {
  EXPECT_EQ(words_of(parse_shapes(usual_shapes(true))), usual_shapes(true));
  EXPECT_EQ(words_of(parse_shapes(usual_shapes(false))), usual_shapes(false));
  EXPECT_EQ(usual_shapes(true).size(), 1u);
  EXPECT_GT(usual_shapes(false).size(), 1u);
}

TEST(Shapes, TheirAxisTakesWords) {
  axis_choice choice;
  parse_axis("shape=132x256,264x1024", {shape_axis()}, choice);
  EXPECT_THROW(parse_axis("shape=132by256", {shape_axis()}, choice), usage_error);
  EXPECT_EQ(choice.words["shape"], (std::vector<std::string>{"132x256", "264x1024"}));
}

RC_GTEST_PROP(Shapes, AnyShapeIsReadAsItWasWritten, ())
{
  step_shape shape;
  shape.blocks = *rc::gen::inRange<uint32_t>(1, 65536);
  shape.threads = *rc::gen::inRange<uint32_t>(1, 1025);
  const std::vector<step_shape> read = parse_shapes({to_word(shape)});
  RC_ASSERT(read.size() == 1u);
  RC_ASSERT(read[0].blocks == shape.blocks);
  RC_ASSERT(read[0].threads == shape.threads);
}

RC_GTEST_PROP(Shapes, AnyWordIsTakenOrRefused, (const std::string& word))
{
  try {
    const std::vector<step_shape> read = parse_shapes({word});
    RC_ASSERT(read.size() == 1u);
    RC_ASSERT(read[0].blocks >= 1u && read[0].blocks <= 65535u);
    RC_ASSERT(read[0].threads >= 1u && read[0].threads <= 1024u);
  } catch (const usage_error& wrong) {
    RC_ASSERT(std::string(wrong.what()).find(word) != std::string::npos);
  }
}

}  // namespace
}  // namespace gpusync::tool
