// The suffix tree of a text of bases, as devices walk it.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/maximal_matches/match_types.hpp"
#include "workloads/maximal_matches/suffix_array.hpp"

namespace gpusync::tool {

/// How nodes are numbered. The root is 0.
enum class node_order {
  breadth,  ///< by their distance from the root: its first levels, which all walks pass, stand together
  depth     ///< each before those below it, in the order of the suffix array
};

/// The nodes that are no leaves: the root, and each piece of text behind which different letters follow, or behind
/// which a suffix ends that is not the only one to begin so. A leaf has no node, but a number in its parent's
/// (match_node::child), unless its suffix ends at its parent: then it has none, and only its row tells of it.
struct suffix_tree {
  std::vector<match_node> nodes;
  std::vector<uint32_t> end_row;  ///< of a node: behind its last row of the suffix array
};

/// The tree of a text and its suffixes, sort_suffixes(text), with the link of every node. Time and memory are linear: a
/// node is found from its link's parent, and no node is passed more than once for each of the four letters that may
/// stand before.
suffix_tree build_suffix_tree(const std::vector<uint8_t>& text, const suffix_array& suffixes, node_order order);

}  // namespace gpusync::tool
