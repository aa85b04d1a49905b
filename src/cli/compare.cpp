// gpusync compare
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "results/comparison_table.hpp"
#include "results/context.hpp"
#include "results/row_index.hpp"
#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

/// What makes the figures of two documents differ besides the program, in words.
void warn(const console_options& console, const document& before, const document& after) {
  for (const document* one : {&before, &after}) {
    if (is_incomplete(*one)) {
      say(console, fmt::format("The document {} was cut short.", one == &before ? "before" : "after"));
    }
  }
  std::string differing;
  for (const row& entry : before.rows) {
    const std::string here = device_title(before, entry.device), there = device_title(after, entry.device);
    if (here == there || here == entry.device || there == entry.device || differing == entry.device) continue;
    differing = entry.device;
    say(console,
        fmt::format("{} was {} before and is {} after: what differs may be the machine.", entry.device, here, there));
  }
}

/// Refuses a run that stands in two pairs: they would count as independent.
void require_each_once(const std::vector<std::string>& paths) {
  if (paths.size() == 2) return;
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      std::error_code error;
      if (paths[i] != paths[k] && !std::filesystem::equivalent(paths[i], paths[k], error)) continue;
      throw usage_error(
          fmt::format("'{}' is given twice: pairs tell more only if each is of runs of its own.", printable(paths[i])));
    }
  }
}

/// The same for copies: what they hold is the same, whatever they are called.
void require_own_runs(const std::vector<std::string>& paths, const std::vector<document>& documents) {
  if (documents.size() == 2) return;
  for (size_t i = 0; i < documents.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!is_same_run(documents[i], documents[k])) continue;
      throw usage_error(fmt::format("'{}' is the same run as '{}': pairs tell more only if each is of runs of its own.",
                                    printable(paths[i]), printable(paths[k])));
    }
  }
}

void require_common_rows(const std::vector<std::string>& paths, const std::vector<document>& documents) {
  for (size_t i = 0; i < documents.size(); i += 2) {
    if (have_common_row(documents[i], documents[i + 1])) continue;
    throw usage_error(fmt::format("'{}' and '{}' have no row in common: the same experiment, device, axes and method.",
                                  printable(paths[i]), printable(paths[i + 1])));
  }
}

}  // namespace

exit_code run_compare(const console_options& console, const compare_options& options) {
  if (options.documents.size() % 2 != 0) {
    throw usage_error(fmt::format("compare takes pairs of documents, BEFORE AFTER BEFORE AFTER…: there are {}.",
                                  options.documents.size()));
  }
  require_each_once(options.documents);
  std::vector<document> documents;
  for (const std::string& path : options.documents) documents.push_back(read_document(path));
  require_own_runs(options.documents, documents);
  require_common_rows(options.documents, documents);
  std::vector<std::pair<const document*, const document*>> pairs;
  for (size_t i = 0; i < documents.size(); i += 2) {
    pairs.emplace_back(&documents[i], &documents[i + 1]);
    warn(console, documents[i], documents[i + 1]);
  }
  const comparison_rule rule{options.least_effect_percent / 100, options.confidence_percent / 100};
  const document_comparison found = compare_documents(pairs, rule);
  if (options.as_json) {
    fmt::print("{}\n", to_json(found, rule).dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    const std::string table = to_table(found, documents.front(), console.color_data);
    fmt::print("{}{}{}\n", table, table.empty() ? "" : "\n", in_words(found));
  }
  return has_regressed(found) || !has_compared(found) ? exit_code::failed : exit_code::done;
}

}  // namespace gpusync::tool
