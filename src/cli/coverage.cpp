// gpusync coverage
#include "harness/coverage.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"

namespace gpusync::tool {

exit_code run_coverage(const console_options& console, bool as_json) {
  const coverage_list list = build_coverage();
  if (as_json) {
    fmt::print("{}\n", to_json(list).dump(2));
  } else {
    fmt::print("{}", to_table(list, console.color_data));
  }
  return exit_code::done;
}

}  // namespace gpusync::tool
