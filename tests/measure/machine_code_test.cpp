// Instructions counted in what cuobjdump prints. The snippets are its output for small chains of four operations.
#include "measure/machine_code.hpp"

#include <gtest/gtest.h>

namespace gpusync::tool {
namespace {

/// Four times sync() of a tile of 8 for sm_90: in line nothing but NOP, and a WARPSYNC where divergent lanes go.
constexpr const char* tile_sync = R"sass(
	code for sm_90
	.target	sm_90

		Function : tile_sync_8
	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                                 /* 0x00000a00ff017b82 */
                                                                                          /* 0x000ff00000000800 */
        /*0020*/                   CS2R R4, SR_CLOCKLO ;                                  /* 0x0000000000047805 */
                                                                                          /* 0x000fe20000005000 */
        /*0030*/                   S2R R0, SR_LANEID ;                                    /* 0x0000000000007919 */
        /*0050*/                   VOTEU.ANY UR5, UPT, PT ;                               /* 0x0000000000057886 */
        /*00b0*/              @!P0 BRA.DIV UR4, 0x1a0 ;                                   /* 0x0000000204388947 */
        /*00c0*/                   NOP ;                                                  /* 0x0000000000007918 */
        /*00d0*/                   NOP ;                                                  /* 0x0000000000007918 */
        /*00e0*/                   NOP ;                                                  /* 0x0000000000007918 */
        /*00f0*/                   NOP ;                                                  /* 0x0000000000007918 */
        /*0100*/                   CS2R R6, SR_CLOCKLO ;                                  /* 0x0000000000067805 */
        /*0190*/                   EXIT ;                                                 /* 0x000000000000794d */
        /*01a0*/                   BSSY B0, 0x1f0 ;                                       /* 0x0000004000007945 */
        /*01b0*/                   WARPSYNC.COLLECTIVE R0, 0x1e0 ;                        /* 0x0000000000087348 */
        /*01c0*/                   NOP ;                                                  /* 0x0000000000007918 */
        /*01d0*/                   ENDCOLLECTIVE ;                                        /* 0x000000000000794b */
        /*0200*/                   WARPSYNC.COLLECTIVE R0, 0x230 ;                        /* 0x0000000000087348 */
        /*0250*/                   WARPSYNC.COLLECTIVE R0, 0x280 ;                        /* 0x0000000000087348 */
        /*02a0*/                   WARPSYNC.COLLECTIVE R0, 0x2d0 ;                        /* 0x0000000000087348 */
        /*02f0*/                   BRA 0x2f0;                                             /* 0xfffffffc00fc7947 */
		..........

	code for sm_120
		Function : tile_sync_8
        /*0000*/                   WARPSYNC.ALL ;                                         /* 0x0000000000007948 */
)sass";

/// One barrier of all lanes that odd and even lanes meet in two branches, for sm_75: its WARPSYNC is a routine.
constexpr const char* divergent_sm_75 = R"sass(
	code for sm_75
		Function : divergent
        /*0040*/                   CS2R R2, SR_CLOCKLO ;                                  /* 0x00000000000279c3 */
        /*0050*/                   BSSY B0, 0x150 ;                                       /* 0x000000f000007945 */
        /*0060*/              @!P0 BRA 0xe0 ;                                             /* 0x0000007000008947 */
        /*0070*/                   IADD3 R4, R0, 0x1, RZ ;                                /* 0x0000000100047810 */
        /*0080*/                   BRA.CONV 0xc0 ;                                        /* 0x0000003300007947 */
        /*00b0*/                   CALL.REL.NOINC 0x4e0 ;                                 /* 0x0000042000007944 */
        /*00c0*/                   NOP ;                                                  /* 0x0000000000007918 */
        /*00d0*/                   BRA 0x140 ;                                            /* 0x0000006000007947 */
        /*00e0*/                   IADD3 R4, R0, 0x3, RZ ;                                /* 0x0000000300047810 */
        /*00f0*/                   BRA.CONV 0x130 ;                                       /* 0x0000003300007947 */
        /*0120*/                   CALL.REL.NOINC 0x4e0 ;                                 /* 0x000003b000007944 */
        /*0140*/                   BSYNC B0 ;                                             /* 0x0000000000007941 */
        /*0480*/                   CS2R R5, SR_CLOCKLO ;                                  /* 0x0000000000057805 */
        /*04d0*/                   EXIT ;                                                 /* 0x000000000000794d */
        /*04e0*/                   WARPSYNC R3 ;                                          /* 0x0000000300007348 */
)sass";

timed_code shuffles(size_t operations) {
  timed_code code;
  code.in_line = {"MOV"};
  code.in_line.insert(code.in_line.end(), operations, "SHFL.IDX");
  code.in_line.insert(code.in_line.end(), operations, "IADD3");
  code.elsewhere = {"BAR.SYNC.DEFER_BLOCKING"};
  code.elsewhere.insert(code.elsewhere.end(), operations, "WARPSYNC.COLLECTIVE");
  code.elsewhere.insert(code.elsewhere.end(), operations, "SHFL.IDX");
  return code;
}

TEST(ParseSass, TakesOpcodesWithoutPredicatesAndOperandsWithoutCode) {
  const machine_code code = parse_sass(tile_sync, 90);
  ASSERT_EQ(code.size(), 1u);
  const std::vector<instruction>& function = code.at("tile_sync_8");
  ASSERT_EQ(function.size(), 19u);
  EXPECT_EQ(function[0].opcode, "LDC");
  EXPECT_EQ(function[0].operands, "R1, c[0x0][0x28]");
  EXPECT_EQ(function[4].opcode, "BRA.DIV");
  EXPECT_EQ(function[4].operands, "UR4, 0x1a0");
  EXPECT_EQ(function.back().opcode, "BRA");
  EXPECT_EQ(function.back().operands, "0x2f0");
}

TEST(ParseSass, TakesOneArchitectureWithOrWithoutALetterBehindIt) {
  EXPECT_EQ(parse_sass(tile_sync, 120).at("tile_sync_8").size(), 1u);
  EXPECT_TRUE(parse_sass(tile_sync, 12).empty());
  EXPECT_TRUE(parse_sass(tile_sync, 80).empty());
  EXPECT_EQ(parse_sass("code for sm_90a\nFunction : f\n/*0000*/ EXIT ;\n", 90).at("f").size(), 1u);
  EXPECT_TRUE(parse_sass("", 90).empty());
}

TEST(SplitAtClocks, TellsTheStraightLineFromWhatLiesBehindIt) {
  const auto code = split_at_clocks(parse_sass(tile_sync, 90).at("tile_sync_8"));
  ASSERT_TRUE(code);
  EXPECT_EQ(code->in_line, (std::vector<std::string>{"S2R", "VOTEU.ANY", "BRA.DIV", "NOP", "NOP", "NOP", "NOP"}));
  EXPECT_EQ(code->elsewhere.size(), 10u);
  EXPECT_EQ(count_opcodes(code->in_line, {"WARPSYNC"}), 0u);
  EXPECT_EQ(count_opcodes(code->elsewhere, {"WARPSYNC"}), 4u);
}

TEST(SplitAtClocks, NeedsTwoReadings) {
  EXPECT_FALSE(split_at_clocks({}));
  EXPECT_FALSE(split_at_clocks({{"NOP", ""}, {"CS2R", "R4, SR_CLOCKLO"}}));
  const auto nothing = split_at_clocks({{"CS2R", "R4, SR_CLOCKLO"}, {"CS2R", "R6, SR_CLOCKLO"}});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->in_line.empty());
}

TEST(CountOpcodes, TakesModifiersButNoOtherOpcodeThatBeginsAlike) {
  const std::vector<std::string> opcodes{
      "BAR.SYNC.DEFER_BLOCKING", "BAR.RED.OR", "BARX", "VOTEU.ANY", "BRA.DIV", "BRA"};
  EXPECT_EQ(count_opcodes(opcodes, {"BAR"}), 2u);
  EXPECT_EQ(count_opcodes(opcodes, {"VOTE"}), 0u);
  EXPECT_EQ(count_opcodes(opcodes, {"VOTE", "VOTEU"}), 1u);
  EXPECT_EQ(count_opcodes(opcodes, {"BRA.DIV", "BRA.CONV"}), 1u);
}

TEST(CodeOfOperation, CancelsWhatIsThereOnce) {
  const operation_code code = code_of_operation(shuffles(192), shuffles(64), 128, {"SHFL"});
  EXPECT_DOUBLE_EQ(code.own, 1);
  EXPECT_DOUBLE_EQ(code.elsewhere, 1);
  EXPECT_DOUBLE_EQ(code.guards, 0);
  EXPECT_DOUBLE_EQ(code.all, 2);
  EXPECT_TRUE(code.collective);
  EXPECT_TRUE(is_there(code, false));
}

TEST(CodeOfOperation, ABarrierOfConvergentLanesThatIsNoInstructionIsRemoved) {
  const timed_code four = *split_at_clocks(parse_sass(tile_sync, 90).at("tile_sync_8"));
  timed_code none = four;
  none.in_line.resize(3);
  none.elsewhere.resize(2);
  const operation_code code = code_of_operation(four, none, 4, {"WARPSYNC"});
  EXPECT_DOUBLE_EQ(code.own, 0);
  EXPECT_DOUBLE_EQ(code.elsewhere, 1);
  EXPECT_FALSE(is_there(code, false));
  EXPECT_FALSE(is_there(code, true)) << "one branch for all operations is none for each";
}

TEST(CodeOfOperation, ABarrierOfDivergentLanesIsThereBehindABranch) {
  const timed_code one = *split_at_clocks(parse_sass(divergent_sm_75, 75).at("divergent"));
  timed_code none = one;
  none.in_line.clear();
  const operation_code code = code_of_operation(one, none, 1, {"WARPSYNC"});
  EXPECT_DOUBLE_EQ(code.own, 0);
  EXPECT_DOUBLE_EQ(code.guards, 2);
  EXPECT_TRUE(code.collective);
  EXPECT_TRUE(is_there(code, true));
  EXPECT_FALSE(is_there(code, false));
}

TEST(Disassemble, SaysWhyThereIsNothing) {
  EXPECT_NE(disassemble_this_program({""}, 90).why_not, "");
  const own_machine_code found = disassemble_this_program({"no_such_function"}, 90);
  EXPECT_TRUE(found.functions.empty());
  EXPECT_NE(found.why_not, "") << "this program has no such function";
}

}  // namespace
}  // namespace gpusync::tool
