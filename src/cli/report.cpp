// gpusync report
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "report/report.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"

namespace gpusync::tool {

exit_code run_report(const console_options& console, const std::vector<std::string>& inputs,
                     const std::string& output) {
  std::vector<document> documents;
  for (const std::string& path : inputs) documents.push_back(read_document(path));
  output_file page(output);
  page.write(render_report(documents));
  page.commit();
  if (!page.is_stdout()) say(console, fmt::format("Wrote {}.", page.path()));
  return exit_code::done;
}

}  // namespace gpusync::tool
