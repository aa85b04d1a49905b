#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>

#include "embedded/report_chart_js.hpp"
#include "embedded/report_data_js.hpp"
#include "embedded/report_figures_js.hpp"
#include "embedded/report_figures_json.hpp"
#include "embedded/report_page_js.hpp"
#include "embedded/report_style_css.hpp"
#include "embedded/report_tables_js.hpp"
#include "embedded/report_template_html.hpp"
#include "experiments/answers.hpp"
#include "experiments/coverage.hpp"
#include "gpusync/core/version.hpp"
#include "report/claims.hpp"
#include "report/columns.hpp"
#include "report/device_table.hpp"
#include "report/html.hpp"
#include "report/method_colours.hpp"
#include "results/context.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"
#include "results/verdict.hpp"

namespace gpusync::tool {
namespace {

/// What the page carries at most; sections beyond are named, not drawn.
constexpr size_t most_sections = 200, most_answers = 400, most_data_bytes = 7'500'000, most_contexts = 400;

/// An experiment of the page: its rows, what is known of it, and what was found.
struct section {
  experiment_rows rows;
  const experiment* known = nullptr;  ///< null for one that this program does not have
  std::string paper;                  ///< the first that it repeats something of; empty for our own
  std::vector<std::string> items;
  std::vector<std::string> answers;  ///< the first of each device: that of the document with most rows of it
  std::vector<std::string> more_answers;
};

struct page_parts {
  const std::vector<document>& documents;
  std::vector<section> sections;
  device_table devices;
  size_t experiments_left_out = 0;
};

template <class List, class Value>
void add_once(List& list, const Value& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

std::string plural(size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string context_string(const document& results, const char* key) {
  if (!results.context->is_object()) return "";
  const auto found = results.context->find(key);
  return found != results.context->end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

std::vector<std::string> experiments_of(const document& results) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const row& entry : results.rows) {
    if (seen.insert(entry.experiment).second && names.size() < most_sections)
      names.push_back(printable(entry.experiment));
  }
  return names;
}

/// What tells a document from the others: its experiments, and when it was made.
std::string title_of(const document& results) {
  const std::string started = context_string(results, "started");
  const std::vector<std::string> names = experiments_of(results);
  constexpr size_t most_names = 4;
  std::string what = names.empty() ? "no rows" : join_words(names);
  if (names.size() > most_names) what = plural(names.size(), "experiment");
  return started.empty() ? what : fmt::format("{}, {}", what, started);
}

size_t number_of(const page_parts& parts, const std::string& experiment) {
  const auto found =
      std::ranges::find(parts.sections, experiment, [](const section& one) { return one.rows.experiment; });
  return static_cast<size_t>(found - parts.sections.begin());
}

/// Papers' experiments first, in the papers' order, then our own in the documents'.
void order_sections(std::vector<section>& sections) {
  std::map<std::string, size_t> place;
  std::map<std::string, std::string> paper;
  const coverage_list coverage = build_coverage();
  for (const covered_item& item : coverage.items) {
    for (const std::string& name : item.by) {
      if (place.try_emplace(name, place.size()).second) paper[name] = item.paper;
    }
  }
  for (section& one : sections) {
    one.paper = paper[one.rows.experiment];
    for (const covered_item& item : coverage.items) {
      if (std::ranges::find(item.by, one.rows.experiment) != item.by.end()) one.items.push_back(item.id);
    }
  }
  std::ranges::stable_sort(sections, {}, [&](const section& one) {
    const auto found = place.find(one.rows.experiment);
    return found == place.end() ? place.size() : found->second;
  });
}

/// An answer of one document.
struct placed_answer {
  size_t section, device, rows;  ///< rows: of the document on the device, for the experiment
  std::string text;
};

std::vector<placed_answer> answers_in(const page_parts& parts, size_t document) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const row& entry : parts.documents[document].rows) ++counts[{entry.experiment, entry.device}];
  if (counts.size() > most_answers) return {};
  std::vector<placed_answer> found;
  for (const found_answer& one : found_answers(parts.documents[document])) {
    const size_t section = number_of(parts, one.experiment);
    if (section == parts.sections.size()) continue;
    const std::string& name = parts.devices.name_of(document, one.device);
    found.push_back({section, parts.devices.number_of(document, one.device), counts[{one.experiment, one.device}],
                     name.ends_with("(OpenCL)") ? one.text + " By OpenCL." : one.text});
  }
  return found;
}

/// Answers of devices and documents with many rows come first.
void add_answers(page_parts& parts) {
  std::vector<placed_answer> all;
  for (size_t i = 0; i < parts.documents.size(); ++i) {
    for (placed_answer& one : answers_in(parts, i)) all.push_back(std::move(one));
  }
  std::map<size_t, size_t> rows_of_device;
  for (const placed_answer& one : all) rows_of_device[one.device] += one.rows;
  std::ranges::stable_sort(all, std::greater(), [&](const placed_answer& one) {
    return std::pair{rows_of_device[one.device], one.rows};
  });
  std::set<std::pair<size_t, size_t>> answered;
  for (placed_answer& one : all) {
    section& of = parts.sections[one.section];
    add_once(answered.emplace(one.section, one.device).second ? of.answers : of.more_answers, one.text);
  }
}

page_parts parts_of(const std::vector<document>& documents) {
  page_parts parts{documents, {}, device_table(documents)};
  const std::vector<const experiment*> all = all_experiments();
  for (experiment_rows& rows : rows_by_experiment(documents)) {
    if (parts.sections.size() == most_sections) {
      ++parts.experiments_left_out;
      continue;
    }
    const auto known = std::ranges::find(all, rows.experiment, [](const experiment* one) { return one->name; });
    parts.sections.push_back({std::move(rows), known == all.end() ? nullptr : *known, {}, {}, {}, {}});
  }
  order_sections(parts.sections);
  add_answers(parts);
  return parts;
}

/// The verdicts on every shape, [text, what is behind] by section; nothing of documents with very many rows.
std::vector<json> verdicts_of(const page_parts& parts) {
  constexpr size_t most_rows = 10'000, most_verdicts = 400;  // of a document; of a section
  std::vector<json> found(parts.sections.size(), json::array());
  for (const document& results : parts.documents) {
    if (results.rows.size() > most_rows) continue;
    for (const verdict& one : verdicts(results)) {
      const size_t section = number_of(parts, one.experiment);
      if (section == found.size() || found[section].size() == most_verdicts) continue;
      found[section].push_back({printable(one.text, 400), printable(one.behind, 800)});
    }
  }
  return found;
}

/// The rows of every section as columns, in all no more than the page may carry.
std::vector<std::string> data_of(page_parts& parts) {
  std::vector<experiment_rows> whole;
  for (section& one : parts.sections) whole.push_back(one.rows);
  constexpr size_t rows_to_try = 60'000;  // more are never written down in that room
  size_t count = 0;
  for (const experiment_rows& one : whole) count += one.rows.size();
  double share = count > rows_to_try ? static_cast<double>(rows_to_try) / static_cast<double>(count) : 1;
  while (true) {
    std::vector<std::string> texts;
    size_t bytes = 0;
    for (size_t i = 0; i < whole.size(); ++i) {
      parts.sections[i].rows = share < 1 ? thinned(whole[i], share) : whole[i];
      texts.push_back(script_json(columns_of(parts.sections[i].rows, parts.devices)));
      bytes += texts.back().size();
    }
    constexpr double least_share = 1e-6;
    if (bytes <= most_data_bytes || share < least_share) return texts;
    share *= 0.9 * static_cast<double>(most_data_bytes) / static_cast<double>(bytes);
  }
}

std::string anchor_of(size_t section) {
  return fmt::format("experiment-{}", section);
}

// The front page.

/// What was measured where: a line for each device that is not a paper's.
std::string devices_html(const page_parts& parts) {
  struct facts {
    size_t rows = 0;
    std::set<std::string> experiments;
  };
  std::vector<facts> devices(parts.devices.names().size());
  for (const section& one : parts.sections) {
    for (const auto& [entry, document] : one.rows.rows) {
      if (is_published(*entry)) continue;
      facts& device = devices[parts.devices.number_of(document, entry->device)];
      ++device.rows;
      device.experiments.insert(one.rows.experiment);
    }
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].rows > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return devices[i].rows; });
  constexpr size_t most_devices = 40;
  std::string html;
  for (const size_t i : order | std::views::take(most_devices)) {
    html += fmt::format("<li><b>{}</b> <span>{}, {}</span></li>\n", html_escaped(parts.devices.names()[i]),
                        plural(devices[i].experiments.size(), "experiment"), plural(devices[i].rows, "row"));
  }
  if (order.size() > most_devices) html += fmt::format("<li>and {} more devices</li>\n", order.size() - most_devices);
  return html.empty() ? "" : "<ul class=\"devices\" aria-label=\"Devices\">\n" + html + "</ul>\n";
}

const char* class_of(claim_state state) {
  switch (state) {
    case claim_state::holds: return "holds";
    case claim_state::turned: return "turned";
    case claim_state::differs: return "differs";
    case claim_state::even: return "gone";
    case claim_state::lost: return "turned";
    case claim_state::not_counted: return "figure";
  }
  return "figure";
}

std::string claim_html(const page_parts& parts, const judged_claim& claim) {
  std::string now;
  for (const std::string& line : claim.now) now += fmt::format("<li>{}</li>", html_escaped(line));
  return fmt::format(
      "<li class=\"claim {}\"><p><span class=\"state\">{}</span> {} <a href=\"#{}\">{}</a></p>"
      "<dl><dt>then</dt><dd>{}</dd><dt>now</dt><dd><ul>{}</ul></dd></dl></li>\n",
      class_of(claim.state), to_string(claim.state), html_escaped(claim.text),
      anchor_of(number_of(parts, claim.experiment)), html_escaped(claim.item), html_escaped(claim.then), now);
}

/// "4 hold, 2 turned round".
std::string tally_of(const std::vector<judged_claim>& claims) {
  std::vector<std::string> said;
  struct word {
    claim_state state;
    const char *one, *many;
  };
  for (const auto& [state, one, many] : {word{claim_state::holds, "holds", "hold"},
                                         {claim_state::turned, "turned round", "turned round"},
                                         {claim_state::differs, "holds in part", "hold in part"},
                                         {claim_state::even, "makes no difference now", "make no difference now"},
                                         {claim_state::lost, "holds no longer", "hold no longer"}}) {
    const auto count = std::ranges::count(claims, state, &judged_claim::state);
    if (count > 0) said.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  }
  return join_words(said);
}

std::string papers_html(const page_parts& parts) {
  std::vector<std::pair<std::string, std::vector<judged_claim>>> papers;
  for (judged_claim& claim : judged_claims(parts.documents, parts.devices)) {
    if (number_of(parts, claim.experiment) == parts.sections.size()) continue;
    if (papers.empty() || papers.back().first != claim.paper) papers.push_back({claim.paper, {}});
    papers.back().second.push_back(std::move(claim));
  }
  std::string html;
  for (const auto& [paper, claims] : papers) {
    std::string list;
    for (const judged_claim& claim : claims) list += claim_html(parts, claim);
    const std::string tally = tally_of(claims);
    html += fmt::format(
        "<article class=\"paper\" id=\"{0}\"><div><h3>{1}</h3>\n<p class=\"tally\">{2}</p>\n"
        "<ul class=\"claims\">\n{3}</ul></div>\n<div class=\"front\" data-paper=\"{0}\"></div></article>\n",
        html_escaped(paper), html_escaped(paper_title(paper)), html_escaped(tally), list);
  }
  if (html.empty()) return "";
  return "<section id=\"papers\"><h2>The papers, then and now</h2>\n<p class=\"hint\">Figures from the papers beside "
         "those "
         "measured here, at the nearest size; differences of up to 2 % are none.</p>\n" +
         html + "</section>\n";
}

/// The first answers of every experiment, with links; nothing for a page of one.
std::string answers_html(const page_parts& parts) {
  std::string html;
  for (size_t i = 0; i < parts.sections.size(); ++i) {
    const section& one = parts.sections[i];
    if (one.answers.empty()) continue;
    html += fmt::format("<li><a href=\"#{}\">{}</a> {}</li>\n", anchor_of(i),
                        html_escaped(printable(one.rows.experiment, 60)), html_escaped(one.answers.front()));
  }
  if (html.empty() || parts.sections.size() < 2) return "";
  return "<section id=\"answers\"><h2>What was found</h2>\n<ul class=\"answers\">\n" + html + "</ul></section>\n";
}

// The experiments.

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
  if (one.rows.left_out == 0) return "";
  return fmt::format(
      "<p class=\"warning\">Left out here to keep the page small: {} of {} rows, evenly among the shapes. "
      "The sentences above are from all rows; so is what <code>gpusync compare</code> reads.</p>\n",
      one.rows.left_out, one.rows.left_out + one.rows.rows.size());
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
      problems_of(one), left_out_of(one), plural(one.rows.rows.size(), "row"), judged);
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

// Where the figures are from.

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
  return fmt::format("<p class=\"warning\">{} cut short: rows are missing, and figures may rest on few samples.</p>\n",
                     parts.documents.size() == 1 ? std::string("The run was")
                                                 : fmt::format("{} of {} runs {}", incomplete, parts.documents.size(),
                                                               incomplete == 1 ? "was" : "were"));
}

std::string navigation_html(const page_parts& parts, bool has_papers, bool has_answers) {
  std::string html;
  if (has_papers) html += "<a href=\"#papers\">The papers</a> ";
  if (has_answers) html += "<a href=\"#answers\">What was found</a> ";
  if (!parts.sections.empty()) html += "<a href=\"#experiments\">Figures and tables</a> ";
  if (!parts.documents.empty()) html += "<a href=\"#documents\">Where the figures are from</a>";
  return html;
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
          {"colours", method_colours(rows)},   {"figures", json::parse(embedded::report_figures_json)}};
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
    body += fmt::format("<div id=\"experiments\">\n{}</div>\n", experiments_html(parts, judged));
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
