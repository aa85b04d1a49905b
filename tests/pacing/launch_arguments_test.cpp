// What the command line says of a launch.
#include "pacing/launch_arguments.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include <gpusync/core/error.hpp>

#include "pacing/kernel_text.hpp"
#include "support/refusal.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

template <class Value>
Value as(const std::vector<std::byte>& bytes, size_t place = 0) {
  Value value;
  EXPECT_GE(bytes.size(), (place + 1) * sizeof(value));
  std::memcpy(&value, bytes.data() + place * sizeof(value), sizeof(value));
  return value;
}

TEST(LaunchArguments, ScalarsHaveTheTypeOfTheirSpelling) {
  EXPECT_EQ(as<int32_t>(parse_argument("8192").value), 8192);
  EXPECT_EQ(as<int32_t>(parse_argument("-2147483648").value), INT32_MIN);
  EXPECT_EQ(as<uint32_t>(parse_argument("4294967295u").value), UINT32_MAX);
  EXPECT_EQ(as<int64_t>(parse_argument("-5L").value), -5);
  EXPECT_EQ(as<uint64_t>(parse_argument("18446744073709551615ul").value), UINT64_MAX);
  EXPECT_EQ(as<float>(parse_argument("1.5f").value), 1.5f);
  EXPECT_EQ(as<double>(parse_argument("-2.0").value), -2.0);
  EXPECT_EQ(as<double>(parse_argument("1e-3").value), 1e-3);
  EXPECT_EQ(as<uint8_t>(parse_argument("true").value), 1);
  EXPECT_STREQ(parse_argument("8192").type.name, "int");
  EXPECT_FALSE(parse_argument("8192").is_array);
}

TEST(LaunchArguments, ArraysBeginAsTheySay) {
  const kernel_argument zero = parse_argument("double[3]");
  EXPECT_TRUE(zero.is_array);
  EXPECT_EQ(zero.bytes(), 24u);
  EXPECT_EQ(as<double>(start_contents(zero, 1), 2), 0.0);
  EXPECT_EQ(parse_argument("float[2^26]").count, uint64_t{1} << 26);
  EXPECT_EQ(parse_argument("char[10^3]").count, 1000u);
  EXPECT_EQ(as<int64_t>(start_contents(parse_argument("long[9]=index"), 1), 8), 8);
  EXPECT_EQ(as<float>(start_contents(parse_argument("float[9]=index"), 1), 7), 7.0f);
  EXPECT_EQ(as<float>(start_contents(parse_argument("float[2]=-1.5"), 1), 1), -1.5f);
  EXPECT_EQ(as<int8_t>(start_contents(parse_argument("char[2]=-128"), 1), 1), -128);
  EXPECT_EQ(as<uint32_t>(start_contents(parse_argument("uint[2]=4294967295"), 1), 1), UINT32_MAX);
}

TEST(LaunchArguments, RandomArraysAreSmallWholeNumbersThatDependOnTheSeedAlone) {
  const kernel_argument random = parse_argument("float[1000]=random");
  const auto contents = start_contents(random, 3);
  EXPECT_EQ(contents, start_contents(random, 3));
  EXPECT_NE(contents, start_contents(random, 4));
  std::set<float> seen;
  for (size_t i = 0; i < 1000; ++i) seen.insert(as<float>(contents, i));
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_EQ(*seen.rbegin(), 15.0f);
  const auto below = start_contents(parse_argument("int[1000]=random:2^20"), 3);
  int32_t most = 0;
  for (size_t i = 0; i < 1000; ++i) {
    most = std::max(most, as<int32_t>(below, i));
    EXPECT_GE(as<int32_t>(below, i), 0);
  }
  EXPECT_LT(most, 1 << 20);
  EXPECT_GT(most, 1 << 19);
}

TEST(LaunchArguments, WrongSpellingsAreRefusedByName) {
  for (const char* wrong : {"",
                            "float",
                            "flaot[10]",
                            "float[",
                            "float[]",
                            "float[0]",
                            "float[-1]",
                            "float[2^99]",
                            "float[2^26",
                            "float[4]x",
                            "float[4]=",
                            "float[4]=rnd",
                            "int[4]=1.5",
                            "char[4]=200",
                            "uint[4]=-1",
                            "int[4]=random:0",
                            "int[4]=random:x",
                            "[4]",
                            "4294967296",
                            "1.5x",
                            "1.5l",
                            "1.5u",
                            "5uu",
                            "0x10",
                            "1e999",
                            "1.5ff",
                            "f",
                            "--1",
                            "nan",
                            "inf",
                            "2^26"}) {
    const std::string told = test::refusal<usage_error>([&] { (void)parse_argument(wrong); });
    EXPECT_NE(told.find("--arg '" + std::string(wrong) + "'"), std::string::npos) << wrong << ": " << told;
  }
}

TEST(LaunchArguments, SizesAndIntervalsAndMacros) {
  const dimensions size = parse_dimensions("256x4", "--blocks", 65535);
  EXPECT_EQ(size.x, 256u);
  EXPECT_EQ(size.all(), 1024u);
  EXPECT_EQ(to_string(size), "256x4");
  EXPECT_EQ(to_string(parse_dimensions("2x1x3", "--blocks", 65535)), "2x1x3");
  EXPECT_EQ(to_string(parse_dimensions("7", "--blocks", 65535)), "7");
  for (const char* wrong : {"", "0", "x", "1x", "x1", "1x0", "1x2x3x4", "-1", "1.5", "2147483648", "1x65536", "a"}) {
    EXPECT_NE(test::refusal<usage_error>([&] { (void)parse_dimensions(wrong, "--blocks", 65535); }).find("--blocks"),
              std::string::npos)
        << wrong;
  }
  EXPECT_EQ(parse_intervals("16,4"), (std::vector<uint32_t>{4, 16}));
  for (const char* wrong : {"", "1", "4,", "4,4", "x", "0", "-4"}) {
    EXPECT_NE(test::refusal<usage_error>([&] { (void)parse_intervals(wrong); }), "") << wrong;
  }
  EXPECT_NO_THROW(require_definition("N=4"));
  EXPECT_NO_THROW(require_definition("_n1"));
  for (const char* wrong : {"", "=4", "4N", "a b=1"})
    EXPECT_NE(test::refusal<usage_error>([&] { require_definition(wrong); }), "") << wrong;
}

constexpr const char* ptx = R"(
.visible .entry other(
	.param .u64 other_param_0
)
{ ret; }
	// .weak	_Z1kPf
.weak .entry _Z1kPf(
	.param .u64 .ptr .align 1 k_param_0,
	.param .u32 k_param_1,
	.param .f32 k_param_2,
	.param .u8 k_param_3,
	.param .align 4 .b8 k_param_4[20]
)
{
	.loc 1 2 0
	{
	ld.param.u64 	%rd1, [k_param_0];
	}
	@%p1 ld.global.f32 	%f1, [%rd1];
	ld.global.nc.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd1];
	ld.global.u8 	%rs1, [%rd1];
	ld.global.nc.L2::128B.f64 	%fd1, [%rd1];
	bar.sync 	0;
	ret;
}
.visible .entry k(
)
{
	call.uni f, ();
}
)";

TEST(KernelText, ReadsParametersAndLoadsOfOneKernel) {
  const kernel_text text = read_ptx(ptx, "_Z1kPf");
  ASSERT_EQ(text.parameters.size(), 5u);
  EXPECT_EQ(text.parameters[0].bytes, 8u);
  EXPECT_EQ(text.parameters[1].bytes, 4u);
  EXPECT_FALSE(text.parameters[1].floating);
  EXPECT_TRUE(text.parameters[2].floating);
  EXPECT_EQ(text.parameters[3].bytes, 1u);
  EXPECT_TRUE(text.parameters[4].structure);
  EXPECT_EQ(text.parameters[4].bytes, 20u);
  EXPECT_EQ(text.narrow_loads, 2);
  EXPECT_EQ(text.wide_loads, 2);
  EXPECT_FALSE(text.calls);
  EXPECT_NE(text.body.find("bar.sync"), std::string::npos);
  EXPECT_EQ(text.body.find(".loc"), std::string::npos);
  EXPECT_TRUE(read_ptx(ptx, "k").calls);
  EXPECT_TRUE(read_ptx(ptx, "k").parameters.empty());
  EXPECT_THROW((void)read_ptx(ptx, "_Z1k"), error);
}

TEST(KernelText, ArgumentsThatDoNotFitAreRefused) {
  source_kernel kernel;
  kernel.name = "k";
  kernel.parameters = {"const float* in", "int n", "float x", "size_t m"};
  const std::vector<kernel_parameter> parameters{
      {8, false, false}, {4, false, false}, {4, true, false}, {8, false, false}};
  const auto told = [&](const std::vector<std::string>& words) {
    std::vector<kernel_argument> arguments;
    for (const std::string& word : words) arguments.push_back(parse_argument(word));
    return test::refusal<usage_error>([&] { require_arguments(kernel, parameters, arguments); });
  };
  EXPECT_EQ(told({"float[4]", "1", "1.0f", "1ul"}), "");
  EXPECT_EQ(told({"float[4]", "1u", "1.0f", "1l"}), "");
  EXPECT_EQ(told({"int[4]", "1", "1.0f", "1ul"}), "");  // as many bytes
  const std::vector<std::pair<std::vector<std::string>, std::string>> table{
      {{"float[4]", "1", "1.0f"}, "takes 4 arguments"},
      {{"double[4]", "1", "1.0f", "1l"}, "parameter 1 of k (const float* in)"},
      {{"5l", "1", "1.0f", "1l"}, "a pointer wants an array"},
      {{"float[4]", "1l", "1.0f", "1l"}, "parameter 2"},
      {{"float[4]", "1.0f", "1.0f", "1l"}, "parameter 2"},
      {{"float[4]", "1", "1", "1l"}, "parameter 3"},
      {{"float[4]", "1", "1.0", "1l"}, "parameter 3"},
      {{"float[4]", "1", "1.0f", "long[4]"}, "parameter 4"},
      {{"float[4]", "1", "1.0f", "1"}, "parameter 4"}};
  for (const auto& [words, part] : table) EXPECT_NE(told(words).find(part), std::string::npos) << told(words);
  kernel.parameters = {"vector4 v"};
  EXPECT_NE(test::refusal<usage_error>([&] {
              require_arguments(kernel, {{16, false, true}}, {parse_argument("1")});
            }).find("structures"),
            std::string::npos);
}

}  // namespace
}  // namespace gpusync::tool
