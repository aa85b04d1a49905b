// Maximal matches: the tree, the text that devices run, and the list.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "../support/brute_matches.hpp"
#include "check.hpp"
#include "workloads/maximal_matches/match_batch.cpp"
#include "workloads/maximal_matches/match_list.cpp"
#include "workloads/maximal_matches/reference_index.cpp"
#include "workloads/maximal_matches/suffix_array.cpp"
#include "workloads/maximal_matches/suffix_tree.cpp"

namespace gpusync::tool {
namespace {

using test::expect;

/// A thread of a block whose others need not be there: it counts what it passes.
struct lone_grid {
  uint32_t of, number;
  uint32_t* passed;

  uint32_t blocks() const { return 1; }
  uint32_t block() const { return 0; }
  uint32_t threads() const { return of; }
  uint32_t thread() const { return number; }
  void sync_block() const { ++*passed; }
  bool sync_block_or(bool value) const { return value; }
  static lone_grid current();
};
lone_grid one_thread{};
lone_grid lone_grid::current() {
  return one_thread;
}

/// The records that the device's text leaves, by one thread.
template <class Index>
std::vector<match_record> by_text(const reference_index& index, const match_batch& batch, const Index& where) {
  std::vector<match_record> records(batch.records, {99, 99});
  const auto most = batch.most_of_blocks(1);
  const match_reads reads{batch.letters.data(),
                          batch.queries.data(),
                          most.data(),
                          records.data(),
                          static_cast<uint32_t>(batch.queries.size()),
                          batch.least};
  uint32_t passed = 0;
  const match_text<Index, pace_kind::nothing, pace_kind::nothing> text{{}, where, reads};
  computation::kept kept;
  one_thread = {1, 0, &passed};
  text.step(one_thread, 0, kept);
  (void)index;
  return records;
}

std::vector<match_record> by_device(const reference_index& index, const match_batch& batch, match_method method) {
  const std::vector<uint32_t> text = packed(index.text.bases, MATCH_NOT_IN_REFERENCE);
  if (method == match_method::tree) {
    return by_text(index, batch, match_tree{index.tree.nodes.data(), text.data()});
  }
  const uint32_t word = letters_of_words(index.text.bases.size(), batch.least);
  const std::vector<match_rows> words = rows_of_words(index, word);
  return by_text(index, batch, match_array{index.suffixes.position.data(), text.data(), words.data(), word});
}

/// Matches by the device's text and by the list beside a direct search.
void compare(const std::vector<sequence>& references, const std::vector<sequence>& queries, uint32_t least,
             const char* what) {
  const reference_index index = reference_index::of(references, node_order::breadth);
  const match_batch batch = match_batch::of(queries, least);
  for (const match_method method : {match_method::tree, match_method::array}) {
    const auto records = by_device(index, batch, method);
    // A place that a fault has made up may lie anywhere.
    const bool in_range = std::all_of(records.begin(), records.end(), [&](const match_record& one) {
      return (one.place & ~MATCH_LEAF) < index.text.bases.size() && one.length <= index.text.bases.size();
    });
    expect(in_range, "a place is one of the reference");
    if (!in_range) return;
    const auto found = matches_of(index, queries, batch, method, records);
    for (size_t i = 0; i < queries.size(); ++i) expect(found[i] == brute_matches(references, queries[i], least), what);
  }
}

std::vector<sequence> random_sequences(const std::string& letters, size_t count, size_t length, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<sequence> made(count);
  for (sequence& one : made) {
    std::string text;
    while (text.size() < length) text += letters[random() % letters.size()];
    one = sequence_of(text);
  }
  return made;
}

void links_lead_to_the_letters_without_the_first() {
  const reference_index index = reference_index::of(random_sequences("ACGT", 1, 2000, 1), node_order::breadth);
  const std::vector<uint8_t>& text = index.text.bases;
  for (uint32_t node = 1; node < index.tree.nodes.size(); ++node) {
    const match_node &from = index.tree.nodes[node], &to = index.tree.nodes[from.link];
    expect(to.depth + 1 == from.depth &&
               std::equal(text.begin() + to.begin, text.begin() + to.begin + to.depth, text.begin() + from.begin + 1),
           "a link leads to the same letters without the first");
    if (test::failures > 0) return;
  }
}

void devices_find_the_longest_pieces() {
  for (const char* letters : {"AC", "ACGT"}) {
    const auto references = random_sequences(letters, 2, 300, 2), queries = random_sequences(letters, 8, 40, 3);
    const reference_index index = reference_index::of(references, node_order::breadth);
    const match_batch batch = match_batch::of(queries, 3);
    for (const match_method method : {match_method::tree, match_method::array}) {
      const auto found = by_device(index, batch, method);
      for (size_t i = 0; i < queries.size(); ++i) {
        const std::vector<uint8_t>& query = queries[i].bases;
        for (uint32_t first = 0; first < batch.queries[i].suffixes; ++first) {
          size_t longest = 0;
          for (const sequence& one : references) {
            for (size_t at = 0; at < one.bases.size(); ++at) {
              size_t length = 0;
              while (at + length < one.bases.size() && first + length < query.size() &&
                     one.bases[at + length] == query[first + length]) {
                ++length;
              }
              longest = std::max(longest, length);
            }
          }
          expect(found[batch.queries[i].records + first].length == (longest < 3 ? 0 : longest),
                 "as many letters match as the reference has of the suffix anywhere");
        }
      }
    }
  }
}

void unknown_letters_match_nothing() {
  compare({sequence_of("ACGTNNACGTNACGTNNNACGA"), sequence_of("ACGTNNACG")},
          {sequence_of("ACGTNNACGTN"), sequence_of("NNNN"), sequence_of("TNNA"), sequence_of("ACGA")}, 2,
          "an unknown letter ends a match");
}

void matches_are_maximal() {
  compare(random_sequences("ACGT", 2, 200, 4), random_sequences("ACGT", 6, 40, 5), 3,
          "no match that is listed goes on");
}

void matches_are_all_found() {
  compare(random_sequences("AC", 2, 100, 6), random_sequences("AC", 6, 30, 7), 4, "every match is listed");
}

void threads_pass_as_many_barriers_as_their_block() {
  const auto references = random_sequences("ACGT", 1, 100, 8);
  std::vector<sequence> queries = random_sequences("ACGT", 2, 10, 9);
  queries.push_back(sequence_of("ACGTACGTACGTACGTACGTACGTACGT"));
  const reference_index index = reference_index::of(references, node_order::breadth);
  const match_batch batch = match_batch::of(queries, 3);
  std::vector<match_record> records(batch.records);
  constexpr uint32_t threads = 4;
  const auto most = batch.most_of_blocks(threads);
  const std::vector<uint32_t> packed_text = packed(index.text.bases, MATCH_NOT_IN_REFERENCE);
  const match_reads reads{batch.letters.data(), batch.queries.data(), most.data(), records.data(), 3, 3};
  const match_text<match_tree, pace_kind::nothing, pace_kind::barrier> text{
      {}, {index.tree.nodes.data(), packed_text.data()}, reads};
  for (uint32_t thread = 0; thread < threads; ++thread) {
    uint32_t passed = 0;
    computation::kept kept;
    one_thread = {threads, thread, &passed};
    text.step(one_thread, 0, kept);
    expect(passed == 26, "a thread passes a barrier for each suffix of the longest query of its block");
  }
}

constexpr test::named_check checks[] = {
    GPUSYNC_CHECK(links_lead_to_the_letters_without_the_first),
    GPUSYNC_CHECK(devices_find_the_longest_pieces),
    GPUSYNC_CHECK(unknown_letters_match_nothing),
    GPUSYNC_CHECK(matches_are_maximal),
    GPUSYNC_CHECK(matches_are_all_found),
    GPUSYNC_CHECK(threads_pass_as_many_barriers_as_their_block),
};

}  // namespace
}  // namespace gpusync::tool

int main(int words, char** word) {
  return gpusync::test::run_checks(gpusync::tool::checks, words, word);
}
