#include "experiments/lo_2014/paced_code.hpp"

#include <algorithm>
#include <optional>

#include "measure/machine_code.hpp"

namespace gpusync::tool {

counted_code count_code(const std::vector<std::string>& opcodes) {
  counted_code found;
  found.instructions = opcodes.size() - count_opcodes(opcodes, {"NOP"});
  found.barriers = count_opcodes(opcodes, {"BAR"});
  found.arrivals = static_cast<uint64_t>(
      std::ranges::count_if(opcodes, [](const std::string& opcode) { return opcode.starts_with("BAR.ARV"); }));
  found.fences = count_opcodes(opcodes, {"MEMBAR"});
  found.loads = count_opcodes(opcodes, {"LDG"});
  return found;
}

std::vector<row> code_rows(const char* experiment, const experiment_request& request, const paced_device& device,
                           const paced_program& program, const std::vector<paced_variant>& variants) {
  const auto fresh = [&](const std::string& method) {
    row entry = new_row(experiment, request, method, method_kind::floor);
    entry.kind.reset();
    return entry;
  };
  std::vector<std::string> functions;
  for (const paced_variant& one : variants) functions.push_back(program.function_of(one));
  own_machine_code code;
  if (device.architecture() == 0) {
    code.why_not = "The device's machine code cannot be read.";
  } else {
    code = disassemble_this_program(functions, device.architecture());
  }
  std::vector<row> rows;
  std::optional<uint64_t> plain;
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto function = code.functions.find(functions[i]);
    if (function == code.functions.end()) continue;
    std::vector<std::string> opcodes;
    for (const instruction& one : function->second) opcodes.push_back(one.opcode);
    const counted_code found = count_code(opcodes);
    if (variants[i].role == paced_role::plain) plain = found.instructions;
    row& entry = rows.emplace_back(fresh(variants[i].name));
    entry.metrics = {{"instructions", count_metric(found.instructions)},
                     {"barrier_instructions", count_metric(found.barriers)},
                     {"arrive_instructions", count_metric(found.arrivals)},
                     {"fence_instructions", count_metric(found.fences)},
                     {"load_instructions", count_metric(found.loads)}};
    if (plain) {
      const double added = static_cast<double>(found.instructions) - static_cast<double>(*plain);
      entry.metrics.emplace_back("added_instructions", plain_metric(added, "1", 1));
    }
  }
  if (!code.why_not.empty()) mark_skipped(rows.emplace_back(fresh("machine-code")), code.why_not);
  return rows;
}

}  // namespace gpusync::tool
