#include "report/sections.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/claims.hpp"
#include "report/html.hpp"
#include "results/text.hpp"
#include "results/verdict.hpp"

namespace gpusync::tool {
namespace {

std::string answers_of(const section& one) {
  std::string html;
  for (const std::string& answer : one.answers)
    html += fmt::format("<p class=\"answer\">{}</p>\n", html_escaped(answer));
  if (one.more_answers.empty()) return html;
  html +=
      fmt::format("<details><summary>{} of other runs</summary>\n<ul>\n", plural(one.more_answers.size(), "answer"));
  for (const std::string& answer : one.more_answers) html += fmt::format("<li>{}</li>\n", html_escaped(answer));
  return html + "</ul></details>\n";
}

/// How many rows failed or were skipped, with the first reason of each.
std::string problems_of(const section& one) {
  std::string html;
  for (const row_status status : {row_status::failed, row_status::skipped}) {
    size_t count = 0;
    const row* first = nullptr;
    for (const placed_row& each : one.rows.rows) {
      if (each.entry->status != status) continue;
      if (count++ == 0) first = each.entry;
    }
    if (count == 0) continue;
    html +=
        fmt::format("<p class=\"problem {0}\"><b>{1} {0}</b>{2}: {3}: {4}</p>\n", to_string(status),
                    plural(count, "row"), count > 1 ? ", for example" : "", html_escaped(printable(first->method, 60)),
                    html_escaped(printable(first->reason.value_or("no reason given"))));
  }
  return html;
}

std::string left_out_of(const section& one) {
  if (one.left_out == 0) return "";
  return fmt::format(
      "<p class=\"warning\">Left out here to keep the page small: {} of {} rows, evenly among the shapes. "
      "The sentences above are from all rows; so is what <code>gpusync compare</code> reads.</p>\n",
      one.left_out, one.rows.rows.size());
}

std::string section_html(const section& one, size_t number, size_t verdicts_found) {
  const std::string judged =
      verdicts_found == 0
          ? ""
          : fmt::format("<details class=\"verdicts\"><summary>The verdict on {}</summary></details>\n",
                        verdicts_found == 1 ? "the shape" : fmt::format("each of {} shapes", verdicts_found));
  const std::string question = one.known == nullptr ? "" : one.known->question;
  std::string items;
  for (const std::string& item : one.items) items += fmt::format(" <span class=\"item\">{}</span>", html_escaped(item));
  return fmt::format(
      "<section class=\"experiment\" id=\"{0}\" data-number=\"{1}\">\n<h3>{2}{3}</h3>\n{4}{5}{6}{7}"
      "<div class=\"figures\"></div>\n{9}"
      "<details class=\"rows\"><summary>All {8} as a table</summary></details>\n</section>\n",
      anchor_of(number), number, html_escaped(printable(one.rows.experiment, 80)), items,
      question.empty() ? "" : fmt::format("<p class=\"question\">{}</p>\n", html_escaped(question)), answers_of(one),
      problems_of(one), left_out_of(one), plural(one.rows.rows.size() - one.left_out, "row"), judged);
}

}  // namespace

std::vector<json> verdicts_of(const page_parts& parts) {
  constexpr size_t most_rows = 10'000, most_verdicts = 2000;  // of a document; of a section
  std::vector<json> found(parts.sections.size(), json::array());
  for (const document& results : parts.documents) {
    if (results.rows.size() > most_rows) continue;
    for (const verdict& one : verdicts(results)) {
      const size_t section = section_of(parts, one.experiment);
      if (section == found.size() || found[section].size() == most_verdicts) continue;
      found[section].push_back({printable(one.text, 400), printable(one.behind, 800)});
    }
  }
  return found;
}

std::string experiments_html(const page_parts& parts, const std::vector<json>& judged) {
  std::string html;
  const std::string* paper = nullptr;
  for (size_t i = 0; i < parts.sections.size(); ++i) {
    const section& one = parts.sections[i];
    if (paper == nullptr || *paper != one.paper) {
      const std::string title = one.paper.empty() ? "Our own experiments" : paper_title(one.paper);
      html += fmt::format("{}<section class=\"group\"><h2>{}</h2>\n", paper == nullptr ? "" : "</section>\n",
                          html_escaped(title));
      paper = &one.paper;
    }
    html += section_html(one, i, judged[i].size());
  }
  if (paper != nullptr) html += "</section>\n";
  if (parts.experiments_left_out > 0) {
    html += fmt::format("<p class=\"warning\">Left out here to keep the page small: {} more experiments.</p>\n",
                        parts.experiments_left_out);
  }
  return html;
}

}  // namespace gpusync::tool
