// gpusync report
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "models/fits.hpp"
#include "report/report.hpp"
#include "results/context.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"

namespace gpusync::tool {

exit_code run_report(const console_options& console, const std::vector<std::string>& inputs,
                     const std::string& output) {
  std::vector<document> documents;
  for (const std::string& path : inputs) {
    document& read = documents.emplace_back(read_document(path));
    // What models say of old rows is what they say today; of a sweep that was cut short they say nothing.
    if (!is_incomplete(read)) read = refitted(read);
  }
  output_file page(output);
  page.write(render_report(documents));
  page.commit();
  if (!page.is_stdout()) say(console, fmt::format("Wrote {}.", page.path()));
  return exit_code::done;
}

}  // namespace gpusync::tool
