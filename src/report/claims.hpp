// What the papers say, held against what was measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/device_table.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

/// How a claim stands on the devices that were measured.
enum class claim_state {
  holds,       ///< on every device
  turned,      ///< the other way round on every device
  differs,     ///< on some devices
  even,        ///< it makes no difference any more: within 2 % either way
  lost,        ///< it made no difference, and makes one now
  not_counted  ///< a figure with no direction: then and now stand side by side
};

/// "holds", "turned round", "holds in part", "no difference now", "no longer", "then and now".
std::string_view to_string(claim_state state);

/// One claim of a paper with the figures behind it.
struct judged_claim {
  std::string paper;             ///< "feng-xiao-2010"
  std::string item;              ///< "F9"
  std::string experiment;        ///< whose rows say so
  std::string text;              ///< the claim in a sentence
  std::string then;              ///< the paper's figures, and their device
  std::vector<std::string> now;  ///< ours: a line for each device
  claim_state state = claim_state::not_counted;
};

/// The claims of claims.json (docs/adding.md) whose experiment the documents have measured figures of, in its order.
/// What a paper has printed is taken from the documents' published rows.
std::vector<judged_claim> judged_claims(const std::vector<document>& documents, const device_table& devices);

/// The same from the text of such a file. Throws std::logic_error if it makes no sense; a test sees to it that what the
/// tool carries does.
std::vector<judged_claim> judged_claims(std::string_view claims, const std::vector<document>& documents,
                                        const device_table& devices);

/// A paper's title as claims.json has it: "Feng and Xiao 2010: …"; empty for one that it does not have.
std::string paper_title(const std::string& paper);

}  // namespace gpusync::tool
