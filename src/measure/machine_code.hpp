// The machine code of what is measured: which instructions really stand there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpusync::tool {

/// One instruction, without its predicate: "SHFL.IDX" of "PT, R2, R2, R5, 0x1f".
struct instruction {
  std::string opcode, operands;
};

/// The instructions of functions, by the functions' names.
using machine_code = std::map<std::string, std::vector<instruction>>;

/// What `cuobjdump -sass` has printed of functions for one architecture: 90 takes "sm_90", "sm_90a" and "sm_90f". What
/// is no function or no instruction is passed over.
machine_code parse_sass(std::string_view dump, int architecture);

/// Where the opcodes of a function stand.
struct timed_code {
  std::vector<std::string> in_line;    ///< between its first and its last reading of the clock
  std::vector<std::string> elsewhere;  ///< before and behind: among others what divergent lanes branch to
};

/// Empty if the function does not read the clock twice.
std::optional<timed_code> split_at_clocks(const std::vector<instruction>& function);

/// How many opcodes are one of `kinds`, with or without modifiers: "BAR" is "BAR.SYNC.DEFER_BLOCKING" too.
uint64_t count_opcodes(const std::vector<std::string>& opcodes, const std::vector<std::string>& kinds);

/// Instructions for one operation, from the difference of a longer and a shorter chain.
struct operation_code {
  double own = 0;           ///< the operation's own, in line
  double elsewhere = 0;     ///< the same where only divergent lanes come
  double guards = 0;        ///< branches to there (BRA.DIV, BRA.CONV), in line
  double all = 0;           ///< all in line
  bool collective = false;  ///< there is a WARPSYNC where divergent lanes come
};

/// What `operations` more operations have added to a chain.
operation_code code_of_operation(const timed_code& longer, const timed_code& shorter, uint64_t operations,
                                 const std::vector<std::string>& own);

/// Whether each operation is still there: its instruction in line, or, where lanes are divergent, a branch to a
/// WARPSYNC. If not, the compiler has removed it, and what the chain takes is not its cost.
bool is_there(const operation_code& code, bool divergent);

/// What could be found of this program's own machine code.
struct own_machine_code {
  machine_code functions;
  std::string why_not;  ///< a sentence if it is not all there
};

/// Runs cuobjdump, from PATH or /usr/local/cuda/bin, on this program.
own_machine_code disassemble_this_program(const std::vector<std::string>& functions, int architecture);

}  // namespace gpusync::tool
