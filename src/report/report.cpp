#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "boundary/method_kind.hpp"
#include "embedded/report_chart_js.hpp"
#include "embedded/report_data_js.hpp"
#include "embedded/report_figures_js.hpp"
#include "embedded/report_figures_json.hpp"
#include "embedded/report_page_js.hpp"
#include "embedded/report_style_css.hpp"
#include "embedded/report_tables_js.hpp"
#include "embedded/report_template_html.hpp"
#include "gpusync/core/version.hpp"
#include "report/front_page.hpp"
#include "report/html.hpp"
#include "report/method_colours.hpp"
#include "report/page_parts.hpp"
#include "report/sections.hpp"
#include "results/context.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

constexpr size_t most_data_bytes = 7'500'000, most_contexts = 400;  // of a page

constexpr const char* key_to_figures =
    "<p class=\"hint key\">In the figures <span class=\"swatch own-0\"></span> cold colours are methods of this "
    "library and of "
    "the papers, <span class=\"swatch rival-0\"></span> warm ones what people use without it, <span class=\"swatch "
    "other\"></span> grey others; <span class=\"swatch own-0 printed\"></span> dashed: printed in a paper.</p>\n";

/// The rows of every section as columns, in all no more than the page may carry.
std::vector<std::string> data_of(page_parts& parts) {
  constexpr size_t rows_to_try = 60'000;  // more are never written down in that room
  size_t count = 0;
  for (const section& one : parts.sections) count += one.rows.rows.size();
  double share = count > rows_to_try ? static_cast<double>(rows_to_try) / static_cast<double>(count) : 1;
  while (true) {
    std::vector<std::string> texts;
    size_t bytes = 0;
    for (size_t i = 0; i < parts.sections.size(); ++i) {
      section& one = parts.sections[i];
      const experiment_rows some = share < 1 ? thinned(one.rows, share) : one.rows;
      one.left_out = some.left_out;
      texts.push_back(script_json(columns_of(some, parts.devices)));
      bytes += texts.back().size();
    }
    constexpr double least_share = 1e-6;
    if (bytes <= most_data_bytes || share < least_share) return texts;
    share *= 0.9 * static_cast<double>(most_data_bytes) / static_cast<double>(bytes);
  }
}

std::string context_html(const document& results) {
  constexpr size_t most_facts = 60;
  std::string html = "<div class=\"context\">\n";
  size_t count = 0;
  for (const context_section& part : context_in_words(results)) {
    if (count > most_facts) break;
    html += fmt::format("<section><h4>{}</h4><dl>\n", html_escaped(printable(part.title)));
    for (const auto& [label, value] : part.facts) {
      if (++count > most_facts) break;
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_escaped(printable(label)),
                          html_escaped(printable(value, 400)));
    }
    html += "</dl></section>\n";
  }
  if (count > most_facts) html += "<p class=\"hint\">The document says more.</p>";
  return html + "</div>\n";
}

std::string documents_html(const page_parts& parts) {
  std::string html;
  for (size_t i = 0; i < parts.documents.size() && i < most_contexts; ++i) {
    const document& results = parts.documents[i];
    html += fmt::format(
        "<details id=\"document-{}\"><summary>{}{}</summary>\n{}</details>\n", i, html_escaped(title_of(results)),
        is_incomplete(results) ? " <span class=\"incomplete\">INCOMPLETE</span>" : "", context_html(results));
  }
  if (parts.documents.size() > most_contexts) {
    html += fmt::format("<p class=\"warning\">Left out here: {} more documents.</p>\n",
                        parts.documents.size() - most_contexts);
  }
  return html.empty() ? "" : "<section id=\"documents\"><h2>Where the figures are from</h2>\n" + html + "</section>\n";
}

std::string warnings_html(const page_parts& parts) {
  const auto incomplete = static_cast<size_t>(std::ranges::count_if(parts.documents, is_incomplete));
  if (incomplete == 0) return "";
  constexpr size_t most_named = 3;
  std::vector<std::string> names;
  for (size_t i = 0; i < parts.documents.size() && i < most_contexts && names.size() < most_named; ++i) {
    if (!is_incomplete(parts.documents[i])) continue;
    names.push_back(fmt::format("<a href=\"#document-{}\">{}</a>", i, html_escaped(title_of(parts.documents[i]))));
  }
  return fmt::format(
      "<p class=\"warning\">{} cut short ({}{}): rows are missing, and figures may rest on few samples.</p>\n",
      parts.documents.size() == 1
          ? std::string("The run was")
          : fmt::format("{} of {} runs {}", incomplete, parts.documents.size(), incomplete == 1 ? "was" : "were"),
      fmt::join(names, ", "), incomplete > names.size() ? ", …" : "");
}

std::string navigation_html(const page_parts& parts, bool has_papers, bool has_answers) {
  std::string html;
  if (has_papers) html += "<a href=\"#papers\">The papers</a> ";
  if (has_answers) html += "<a href=\"#answers\">What was found</a> ";
  if (!parts.sections.empty()) html += "<a href=\"#experiments\">Figures and tables</a> ";
  if (!parts.documents.empty()) html += "<a href=\"#documents\">Where the figures are from</a>";
  return html;
}

/// The papers' figures; their methods "floor" are those that do not wait at all.
json figures_of_papers() {
  json figures = json::parse(embedded::report_figures_json);
  for (json& one : figures) {
    if (!one.contains("methods")) continue;
    for (json& method : one["methods"]) {
      if (method == to_string(method_kind::floor)) method = name_of_floor;
    }
  }
  return figures;
}

/// What all sections share: names of devices and documents, colours, the papers' figures.
json shared_data(const page_parts& parts) {
  json documents = json::array(), experiments = json::array();
  for (const document& results : parts.documents) documents.push_back(title_of(results));
  std::vector<const experiment_rows*> rows;
  for (const section& one : parts.sections) {
    experiments.push_back(printable(one.rows.experiment));
    rows.push_back(&one.rows);
  }
  std::vector<size_t> rows_of_device(parts.devices.names().size());
  for (const section& one : parts.sections) {
    for (const auto& [entry, document] : one.rows.rows)
      ++rows_of_device[parts.devices.number_of(document, entry->device)];
  }
  return {{"devices", parts.devices.names()},  {"device_rows", std::move(rows_of_device)},
          {"documents", std::move(documents)}, {"experiments", std::move(experiments)},
          {"colours", method_colours(rows)},   {"figures", figures_of_papers()}};
}

/// The page's own script: one function, whose body stands in several files.
std::string page_script() {
  std::string script = "\"use strict\";\n(() => {\n";
  for (const char* part : {embedded::report_data_js, embedded::report_chart_js, embedded::report_figures_js,
                           embedded::report_tables_js, embedded::report_page_js}) {
    script += part;
  }
  return script + "})();\n";
}

}  // namespace

std::string render_report(const std::vector<document>& documents) {
  page_parts parts = parts_of(documents);
  const std::string papers = papers_html(parts), answers = answers_html(parts), devices = devices_html(parts);
  const std::vector<std::string> columns = data_of(parts);
  std::string data =
      fmt::format("<script type=\"application/json\" id=\"shared\">{}</script>\n", script_json(shared_data(parts)));
  const std::vector<json> judged = verdicts_of(parts);
  for (size_t i = 0; i < columns.size(); ++i) {
    data +=
        fmt::format("<script type=\"application/json\" id=\"verdicts-{}\">{}</script>\n", i, script_json(judged[i]));
    data += fmt::format("<script type=\"application/json\" id=\"rows-{}\">{}</script>\n", i, columns[i]);
  }
  std::string body = devices + warnings_html(parts) + papers + answers;
  if (!parts.sections.empty())
    body += fmt::format("<div id=\"experiments\">\n{}{}</div>\n", key_to_figures, experiments_html(parts, judged));
  body += documents_html(parts);
  if (documents.empty()) {
    body = "<p>No documents were given.</p>\n";
  } else if (parts.sections.empty()) {
    body = "<p class=\"warning\">There is no row in what was given: nothing was measured.</p>\n" + body;
  }
  return fill_template(embedded::report_template_html,
                       {{"style", embedded::report_style_css},
                        {"documents", body},
                        {"version", GPUSYNC_VERSION_STRING},
                        {"data", data},
                        {"script", page_script()},
                        {"navigation", navigation_html(parts, !papers.empty(), !answers.empty())}});
}

}  // namespace gpusync::tool
