#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "embedded/chart_js.hpp"
#include "embedded/report_chart_groups_js.hpp"
#include "embedded/report_charts_js.hpp"
#include "embedded/report_style_css.hpp"
#include "embedded/report_tables_js.hpp"
#include "embedded/report_template_html.hpp"
#include "gpusync/core/version.hpp"
#include "report/html.hpp"
#include "report/row_table.hpp"
#include "results/context.hpp"
#include "results/json.hpp"
#include "results/text.hpp"
#include "results/verdict.hpp"

namespace gpusync::tool {
namespace {

/// A verdict with what is behind it.
std::string verdict_html(const verdict& found) {
  return fmt::format("<b>{}</b> {}", html_escaped(found.text), html_escaped(found.behind));
}

std::string verdicts_html(const document& results) {
  const std::vector<verdict> main = main_verdicts(results);
  const std::vector<verdict> all = verdicts(results);
  if (main.empty()) return "<p>The document has no times of steps or runs to judge.</p>\n";
  std::string html;
  for (const verdict& found : main) html += fmt::format("<p class=\"answer\">{}</p>\n", verdict_html(found));
  if (all.size() == main.size()) return html;
  html += fmt::format("<details><summary>The verdict on each of the {} shapes</summary>\n<ul>\n", all.size());
  for (const verdict& found : all) html += fmt::format("<li>{}</li>\n", verdict_html(found));
  return html + "</ul></details>\n";
}

std::string context_html(const document& results) {
  std::string html = "<div class=\"context\">\n";
  for (const context_section& part : context_in_words(results)) {
    html += fmt::format("<section><h4>{}</h4><dl>\n", html_escaped(part.title));
    for (const auto& [label, value] : part.facts) {
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_escaped(label), html_escaped(value));
    }
    html += "</dl></section>\n";
  }
  return html + "</div>\n";
}

std::string context_string(const document& results, const char* key) {
  const auto found = results.context->find(key);
  return found != results.context->end() && found->is_string() ? found->get<std::string>() : "";
}

/// What tells a document from the others: its experiments, and when it was made.
std::string title_of(const document& results, size_t number, size_t count) {
  const std::string started = context_string(results, "started");
  const std::string when = started.empty() ? "Results" : "Results of " + started;
  if (count == 1) return when;
  std::vector<std::string> experiments;
  for (const row& entry : results.rows) {
    if (std::ranges::find(experiments, entry.experiment) == experiments.end()) experiments.push_back(entry.experiment);
  }
  return fmt::format("{}{}{} ({} of {})", join_words(experiments), experiments.empty() ? "" : ": ", when, number + 1,
                     count);
}

std::string document_html(const document& results, size_t number, size_t count) {
  const std::string problems = problems_html(results);
  std::string html = fmt::format("<article id=\"document-{}\">\n<h2>{}{}</h2>\n", number,
                                 html_escaped(title_of(results, number, count)),
                                 is_incomplete(results) ? " <span class=\"incomplete\">INCOMPLETE</span>" : "");
  if (is_incomplete(results)) {
    html +=
        "<p class=\"warning\">The run was cut short: rows are missing, and figures may rest on few "
        "samples.</p>\n";
  }
  html += fmt::format("<section class=\"verdicts\"><h3 id=\"verdicts-{0}\">Verdicts</h3>\n{1}</section>\n", number,
                      verdicts_html(results));
  html += fmt::format(
      "<section><h3 id=\"charts-{0}\">Charts</h3>\n<noscript><p>The charts need JavaScript; the tables below "
      "hold the "
      "same figures.</p></noscript>\n<div class=\"charts\" data-document=\"{0}\"></div></section>\n",
      number);
  if (!problems.empty()) {
    html += fmt::format("<section><h3 id=\"problems-{}\">Failed and skipped</h3>\n{}</section>\n", number, problems);
  }
  html += fmt::format(
      "<section><h3 id=\"rows-{}\">All rows</h3>\n<p class=\"hint\">Values are medians, ± half the "
      "interquartile range "
      "over n samples; the ratio is to the fastest method with verified results.</p>\n{}</section>\n",
      number, row_tables_html(results));
  html += fmt::format("<section><h3 id=\"context-{}\">Context</h3>\n{}</section>\n</article>\n", number,
                      context_html(results));
  return html;
}

/// What the script draws from: the documents without samples, and the devices' names.
json chart_data(const std::vector<document>& documents) {
  json data = json::array();
  for (const document& results : documents) {
    document slim = results;
    json titles = json::object();
    for (row& entry : slim.rows) {
      for (auto& measured : entry.metrics) measured.second.samples.reset();
      titles[entry.device] = device_title(results, entry.device);
    }
    data.push_back({{"device_titles", std::move(titles)}, {"results", to_json(slim)}});
  }
  return data;
}

/// Chart.js without the scheme of the address in its licence comment, so that the page names no address at
/// all.
std::string chart_library() {
  std::string text = embedded::chart_js;
  for (const std::string scheme : {"https://", "http://"}) {
    for (size_t at = text.find(scheme); at != std::string::npos; at = text.find(scheme, at)) {
      text.erase(at, scheme.size());
    }
  }
  return text;
}

/// The page's own script: one function, whose body stands in several files.
std::string page_script() {
  std::string script = "\"use strict\";\n(() => {\n";
  for (const char* part : {embedded::report_tables_js, embedded::report_chart_groups_js, embedded::report_charts_js}) {
    script += part;
  }
  return script + "})();\n";
}

/// Links to the parts of the only document, or to each of several.
std::string navigation_html(const std::vector<document>& documents) {
  if (documents.size() < 2) {
    return "<a href=\"#verdicts-0\">Verdicts</a> <a href=\"#charts-0\">Charts</a> <a href=\"#rows-0\">All rows</a> "
           "<a href=\"#context-0\">Context</a>";
  }
  std::string html;
  for (size_t i = 0; i < documents.size(); ++i) {
    html +=
        fmt::format("<a href=\"#document-{}\">{}</a> ", i, html_escaped(title_of(documents[i], i, documents.size())));
  }
  return html;
}

}  // namespace

std::string render_report(const std::vector<document>& documents) {
  std::string body;
  for (size_t i = 0; i < documents.size(); ++i) body += document_html(documents[i], i, documents.size());
  if (documents.empty()) body = "<p>No documents were given.</p>\n";
  return fill_template(embedded::report_template_html, {{"style", embedded::report_style_css},
                                                        {"documents", body},
                                                        {"version", GPUSYNC_VERSION_STRING},
                                                        {"data", script_json(chart_data(documents))},
                                                        {"chart_library", chart_library()},
                                                        {"script", page_script()},
                                                        {"navigation", navigation_html(documents)}});
}

}  // namespace gpusync::tool
