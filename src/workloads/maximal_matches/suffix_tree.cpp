#include "workloads/maximal_matches/suffix_tree.hpp"

#include <utility>

#include "workloads/sequences/sequence.hpp"

namespace gpusync::tool {

namespace {

class tree_builder {
 public:
  tree_builder(const std::vector<uint8_t>& text, const suffix_array& suffixes) : text_(text), suffixes_(suffixes) {}

  suffix_tree build(node_order order) {
    join_rows();
    number(order);
    link();
    return std::move(tree_);
  }

 private:
  /// A leaf or a node that has no parent yet.
  struct part {
    uint32_t row;   ///< its first
    uint32_t node;  ///< MATCH_NO_CHILD: the leaf of that row
  };

  uint32_t depth(uint32_t node) const { return tree_.nodes[node].depth; }

  uint32_t new_node(uint32_t depth, uint32_t row) {
    tree_.nodes.push_back({{}, row < suffixes_.rows() ? suffixes_.position[row] : 0, depth, MATCH_ROOT, row});
    tree_.end_row.push_back(row);
    return static_cast<uint32_t>(tree_.nodes.size()) - 1;
  }

  void hang(const part& below, uint32_t parent) {
    const uint32_t begin = suffixes_.position[below.row];
    const uint8_t letter = text_[begin + depth(parent)];
    if (letter == unknown_base) return;  // the suffix ends here
    tree_.nodes[parent].child[letter] = below.node == MATCH_NO_CHILD ? MATCH_LEAF | begin : below.node;
  }

  /// Rows from left to right; open are the nodes from the root down to the last row's parent.
  void join_rows() {
    std::vector<uint32_t> open{new_node(0, 0)};
    const uint32_t rows = suffixes_.rows();
    for (uint32_t row = 1; row <= rows; ++row) {
      const uint32_t common = row < rows ? suffixes_.common[row] : 0;
      part last{row - 1, MATCH_NO_CHILD};
      while (depth(open.back()) > common) {
        const uint32_t closed = open.back();
        hang(last, closed);
        tree_.end_row[closed] = row;
        last = {tree_.nodes[closed].row, closed};
        open.pop_back();
      }
      if (depth(open.back()) < common) open.push_back(new_node(common, last.row));
      hang(last, open.back());
    }
    tree_.end_row[0] = rows;
  }

  /// Calls `visit(parent, child)` for all nodes but the root in that order, a node's children by their letters.
  template <class Visit>
  void in_breadth(const Visit& visit) const {
    std::vector<uint32_t> level{0}, next;
    while (!level.empty()) {
      for (const uint32_t node : level) {
        for (const uint32_t child : tree_.nodes[node].child) {
          if (child == MATCH_NO_CHILD || (child & MATCH_LEAF) != 0) continue;
          visit(node, child);
          next.push_back(child);
        }
      }
      level.swap(next);
      next.clear();
    }
  }
  template <class Visit>
  void in_depth(const Visit& visit) const {
    std::vector<std::pair<uint32_t, uint32_t>> open{{0, 0}};
    while (!open.empty()) {
      const auto [parent, node] = open.back();
      open.pop_back();
      if (node != 0) visit(parent, node);
      for (int letter = 3; letter >= 0; --letter) {
        const uint32_t child = tree_.nodes[node].child[letter];
        if (child != MATCH_NO_CHILD && (child & MATCH_LEAF) == 0) open.emplace_back(node, child);
      }
    }
  }

  void number(node_order order) {
    std::vector<uint32_t> numbers(tree_.nodes.size());
    std::vector<uint32_t> old{0};
    old.reserve(tree_.nodes.size());
    const auto visit = [&](uint32_t, uint32_t child) {
      numbers[child] = static_cast<uint32_t>(old.size());
      old.push_back(child);
    };
    if (order == node_order::breadth) {
      in_breadth(visit);
    } else {
      in_depth(visit);
    }
    suffix_tree numbered;
    numbered.nodes.reserve(old.size());
    numbered.end_row.reserve(old.size());
    for (const uint32_t from : old) {
      match_node node = tree_.nodes[from];
      for (uint32_t& child : node.child) {
        if (child != MATCH_NO_CHILD && (child & MATCH_LEAF) == 0) child = numbers[child];
      }
      numbered.nodes.push_back(node);
      numbered.end_row.push_back(tree_.end_row[from]);
    }
    tree_ = std::move(numbered);
  }

  /// A node's letters without the first are a node too, below the one of its parent's, or at it.
  void link() {
    in_depth([&](uint32_t parent, uint32_t child) {
      match_node& node = tree_.nodes[child];
      uint32_t at = parent == MATCH_ROOT ? MATCH_ROOT : tree_.nodes[parent].link;
      while (depth(at) + 1 < node.depth) at = tree_.nodes[at].child[text_[node.begin + 1 + depth(at)]];
      node.link = at;
    });
  }

  const std::vector<uint8_t>& text_;
  const suffix_array& suffixes_;
  suffix_tree tree_;
};

}  // namespace

suffix_tree build_suffix_tree(const std::vector<uint8_t>& text, const suffix_array& suffixes, node_order order) {
  return tree_builder(text, suffixes).build(order);
}

}  // namespace gpusync::tool
