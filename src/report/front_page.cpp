#include "report/front_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "report/claims.hpp"
#include "report/html.hpp"
#include "results/groups.hpp"
#include "results/text.hpp"

namespace gpusync::tool {
namespace {

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
      anchor_of(section_of(parts, claim.experiment)), html_escaped(claim.item), html_escaped(claim.then), now);
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

}  // namespace

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
  for (size_t k = 0; k < std::min(order.size(), most_devices); ++k) {
    const size_t i = order[k];
    const size_t ones = parts.devices.different_ones(i);
    html += fmt::format("<li><b>{}</b> <span>{}, {}{}</span></li>\n", html_escaped(parts.devices.names()[i]),
                        plural(devices[i].experiments.size(), "experiment"), plural(devices[i].rows, "row"),
                        ones > 1 ? fmt::format(", on {} cards", ones) : "");
  }
  if (order.size() > most_devices) html += fmt::format("<li>and {} more devices</li>\n", order.size() - most_devices);
  return html.empty() ? "" : "<ul class=\"devices\" aria-label=\"Devices\">\n" + html + "</ul>\n";
}

std::string papers_html(const page_parts& parts) {
  std::vector<std::pair<std::string, std::vector<judged_claim>>> papers;
  for (judged_claim& claim : judged_claims(parts.documents, parts.devices)) {
    if (section_of(parts, claim.experiment) == parts.sections.size()) continue;
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

}  // namespace gpusync::tool
