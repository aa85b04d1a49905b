// What the page is made of: its documents, the experiments that they have rows of, and what was found.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.hpp"
#include "report/columns.hpp"
#include "report/device_table.hpp"

namespace gpusync::tool {

/// An experiment of the page: its rows, what is known of it, and what was found.
struct section {
  experiment_rows rows;
  const experiment* known = nullptr;  ///< null for one that this program does not have
  std::string paper;                  ///< the first that it repeats something of; empty for our own
  std::vector<std::string> items;     ///< of papers
  std::vector<std::string> answers;   ///< the first of each device: that of the document with most rows of it
  std::vector<std::string> more_answers;
  size_t left_out = 0;  ///< rows that the page does not carry
};

/// A page's content. Papers' experiments come first, in the papers' order, then our own in the documents'.
struct page_parts {
  const std::vector<document>& documents;
  std::vector<section> sections;
  device_table devices;
  size_t experiments_left_out = 0;  ///< of very many
};

/// The content of a page of documents, which must outlive it.
page_parts parts_of(const std::vector<document>& documents);

/// The number of an experiment's section; that of sections if it has none.
size_t section_of(const page_parts& parts, const std::string& experiment);

/// The name by which links lead to a section.
std::string anchor_of(size_t section);

/// What tells a document from the others: its experiments, and when it was made.
std::string title_of(const document& results);

}  // namespace gpusync::tool
