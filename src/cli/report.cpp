// gpusync report
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "models/fits.hpp"
#include "report/report.hpp"
#include "results/context.hpp"
#include "results/json.hpp"
#include "results/output_file.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

exit_code run_report(const console_options& console, const std::vector<std::string>& inputs, const std::string& output,
                     bool refit) {
  output_file page(output);
  for (const std::string& path : inputs) {
    if (!page.goes_to(path)) continue;
    throw usage_error(fmt::format("The page would take the place of the document '{}': give -o another name.", path));
  }
  std::vector<document> documents = read_documents(inputs);
  for (document& read : documents) {
    if (refit && !is_incomplete(read)) read = refitted(read);  // of a sweep that was cut short models say nothing
  }
  page.write(render_report(documents));
  if (page.is_stdout()) {
    (void)std::fwrite(page.contents().data(), 1, page.contents().size(), stdout);  // main looks whether it was taken
  } else {
    page.commit();
    size_t rows = 0;
    for (const document& each : documents) rows += each.rows.size();
    say(console,
        fmt::format("Wrote {}: {} of {}.", page.path(), plural(rows, "row"), plural(inputs.size(), "document")));
  }
  return exit_code::done;
}

}  // namespace gpusync::tool
