#include "measure/machine_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "measure/child_process.hpp"

namespace gpusync::tool {

namespace {

std::string_view without_leading_spaces(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\r;"));
}

/// "sm_90a" for 90.
bool is_of(std::string_view name, int architecture) {
  const std::string plain = fmt::format("sm_{}", architecture);
  if (!name.starts_with(plain)) return false;
  return std::ranges::none_of(name.substr(plain.size()), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The instruction of a line, "/*00c0*/ @!P0 BRA.DIV UR4, 0x1a0 ; /* … */"; empty if it has none. Lines that go on with
/// an instruction's code begin with "/* 0x".
std::optional<instruction> instruction_in(std::string_view line) {
  line = without_leading_spaces(line);
  if (!line.starts_with("/*") || line.size() < 3 || std::isxdigit(static_cast<unsigned char>(line[2])) == 0) return {};
  const size_t end = line.find("*/");
  if (end == std::string_view::npos) return {};
  line = without_leading_spaces(line.substr(end + 2));
  line = line.substr(0, line.find(';'));
  if (line.starts_with('@')) line = without_leading_spaces(line.substr(first_word(line).size()));
  const std::string_view opcode = first_word(line);
  if (opcode.empty() || std::isupper(static_cast<unsigned char>(opcode[0])) == 0) return {};
  std::string_view operands = without_leading_spaces(line.substr(opcode.size()));
  operands = operands.substr(0, operands.find_last_not_of(" \t\r") + 1);
  return instruction{std::string(opcode), std::string(operands)};
}

bool reads_clock(const instruction& one) {
  return one.operands.find("SR_CLOCK") != std::string::npos;
}

/// The folder of an executable cuobjdump; empty if there is none.
std::filesystem::path folder_of_cuobjdump() {
  const char* const path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  folders += ":/usr/local/cuda/bin";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::filesystem::path folder = folders.substr(begin, end - begin);
    if (!folder.empty() && access((folder / "cuobjdump").c_str(), X_OK) == 0) return folder;
    begin = end + 1;
  }
  return {};
}

/// One call of cuobjdump; its output.
child_outcome dump(const std::filesystem::path& folder, const std::string& program,
                   const std::vector<std::string>& functions, int architecture) {
  const char* const path = std::getenv("PATH");
  // It calls nvdisasm, which lies beside it.
  const std::string paths = fmt::format("PATH={}:{}", folder.string(), path == nullptr ? "" : path);
  // It warns on its standard error of each part of the program that lacks a function.
  return run_child({"sh", "-c", R"(exec "$0" "$@" 2>/dev/null)", (folder / "cuobjdump").string(), "-sass", "-arch",
                    fmt::format("sm_{}", architecture), "-fun", fmt::format("{}", fmt::join(functions, ",")), program},
                   {std::chrono::minutes(2)}, false, {paths});
}

}  // namespace

machine_code parse_sass(std::string_view dump, int architecture) {
  machine_code found;
  std::vector<instruction>* function = nullptr;
  bool wanted = false;
  while (!dump.empty()) {
    const size_t end = std::min(dump.find('\n'), dump.size());
    const std::string_view line = without_leading_spaces(dump.substr(0, end));
    dump.remove_prefix(std::min(end + 1, dump.size()));
    constexpr std::string_view code_for = "code for ", function_name = "Function : ";
    if (line.starts_with(code_for)) {
      wanted = is_of(first_word(line.substr(code_for.size())), architecture);
      function = nullptr;
    } else if (line.starts_with(function_name)) {
      function = wanted ? &found[std::string(first_word(line.substr(function_name.size())))] : nullptr;
      if (function != nullptr) function->clear();
    } else if (function != nullptr) {
      if (auto one = instruction_in(line)) function->push_back(std::move(*one));
    }
  }
  return found;
}

std::optional<timed_code> split_at_clocks(const std::vector<instruction>& function) {
  const auto first = std::ranges::find_if(function, reads_clock);
  const auto last = std::ranges::find_if(function.rbegin(), function.rend(), reads_clock);
  if (first == function.end() || &*first == &*last) return std::nullopt;
  timed_code code;
  const auto end = last.base() - 1;
  for (auto at = function.begin(); at != function.end(); ++at) {
    if (at == first || at == end) continue;
    (first < at && at < end ? code.in_line : code.elsewhere).push_back(at->opcode);
  }
  return code;
}

uint64_t count_opcodes(const std::vector<std::string>& opcodes, const std::vector<std::string>& kinds) {
  return static_cast<uint64_t>(std::ranges::count_if(opcodes, [&](const std::string& opcode) {
    return std::ranges::find(kinds, opcode.substr(0, opcode.find('.'))) != kinds.end() ||
           std::ranges::find(kinds, opcode) != kinds.end();
  }));
}

operation_code code_of_operation(const timed_code& longer, const timed_code& shorter, uint64_t operations,
                                 const std::vector<std::string>& own) {
  const auto each = [&](uint64_t more, uint64_t fewer) {
    return (static_cast<double>(more) - static_cast<double>(fewer)) / static_cast<double>(operations);
  };
  const std::vector<std::string> guards{"BRA.DIV", "BRA.CONV"};
  operation_code code;
  code.own = each(count_opcodes(longer.in_line, own), count_opcodes(shorter.in_line, own));
  code.elsewhere = each(count_opcodes(longer.elsewhere, own), count_opcodes(shorter.elsewhere, own));
  code.guards = each(count_opcodes(longer.in_line, guards), count_opcodes(shorter.in_line, guards));
  code.all = each(longer.in_line.size(), shorter.in_line.size());
  code.collective = count_opcodes(longer.elsewhere, {"WARPSYNC"}) != 0;
  return code;
}

bool is_there(const operation_code& code, bool divergent) {
  return code.own >= 1 || (divergent && code.guards >= 1 && code.collective);
}

own_machine_code disassemble_this_program(const std::vector<std::string>& functions, int architecture) try {
  own_machine_code found;
  if (functions.empty() || std::ranges::find(functions, "") != functions.end()) {
    found.why_not = "The CUDA runtime does not say what functions are called in the machine code; 12.3 and later do.";
    return found;
  }
  const std::filesystem::path folder = folder_of_cuobjdump();
  if (folder.empty()) {
    found.why_not =
        "There is no cuobjdump in PATH or in /usr/local/cuda/bin, so that instructions were not counted: an operation "
        "that the compiler has removed is not told from a fast one.";
    return found;
  }
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  constexpr size_t at_once = 100;  // their names are one argument, which may have 128 KiB
  for (size_t first = 0; first < functions.size(); first += at_once) {
    const auto begin = functions.begin() + static_cast<ptrdiff_t>(first);
    const auto count = static_cast<ptrdiff_t>(std::min(at_once, functions.size() - first));
    const child_outcome outcome = dump(folder, program, {begin, begin + count}, architecture);
    if (!outcome.ended || outcome.exit_code != 0) {
      found.why_not = fmt::format("cuobjdump has {}, so that instructions were not counted.",
                                  outcome.ended ? fmt::format("ended with exit code {}", outcome.exit_code)
                                                : std::string("not ended in two minutes"));
      return found;
    }
    found.functions.merge(parse_sass(outcome.output, architecture));
  }
  if (found.functions.empty()) {
    found.why_not = fmt::format(
        "This program holds no machine code of these functions for sm_{}: the driver has made it from PTX, and its "
        "instructions were not counted.",
        architecture);
  }
  return found;
} catch (const std::exception& failure) {
  return {{}, fmt::format("The machine code could not be read: {}", failure.what())};
}

}  // namespace gpusync::tool
