#include "workloads/maximal_matches/match_device.hpp"

#include <algorithm>

namespace gpusync::tool {

namespace {

/// Runs only read it.
template <class T>
array_content read_only(const std::vector<T>& values) {
  array_content made;
  made.bytes = values.size() * sizeof(T);
  made.first = std::shared_ptr<const void>(std::shared_ptr<void>(), values.data());
  made.anew = false;
  return made;
}

class match_check : public expected_array {
 public:
  match_check(std::shared_ptr<arrays> memory, std::shared_ptr<arrays> of_shape, size_t bytes)
      : expected_array(std::move(memory), bytes,
                       "the place and the length found for every suffix of every query, as the host found them"),
        of_shape_(std::move(of_shape)) {}

 private:
  const std::shared_ptr<arrays> of_shape_;  ///< as long as the program needs it
};

}  // namespace

uint64_t bytes_of_matching(const match_size& size) {
  // Nodes are more than rows and words; records as they are found and as they should be.
  return size.reference * (sizeof(match_node) + 1) + size.queries * (sizeof(match_query) + sizeof(uint32_t)) +
         (size.bases + size.queries) / 2 + size.records * 2 * sizeof(match_record);
}

uint64_t largest_buffer_of_matching(const match_size& size) {
  return std::max(size.reference * sizeof(match_node), size.records * sizeof(match_record));
}

std::vector<array_content> match_arrays(const match_problem& problem) {
  const reference_index& index = *problem.index;
  array_content records = array_content::filled(problem.batch->records, match_record{UINT32_MAX, UINT32_MAX});
  records.expected = {problem.expected, problem.expected->data()};
  std::vector<array_content> all{records, read_only(problem.batch->queries), read_only(problem.batch->letters)};
  if (problem.method == match_method::tree) {
    all.push_back(read_only(index.tree.nodes));
  } else {
    all.push_back(read_only(index.suffixes.position));
  }
  all.push_back(array_content::once(packed(index.text.bases, MATCH_NOT_IN_REFERENCE)));
  if (problem.method == match_method::array) {
    all.push_back(
        array_content::once(rows_of_words(index, letters_of_words(index.text.bases.size(), problem.batch->least))));
  }
  return all;
}

std::vector<array_content> match_arrays_of_shape(const match_problem& problem, const step_shape& shape) {
  return {array_content::once(problem.batch->most_of_blocks(shape.threads))};
}

std::shared_ptr<run_data> match_result(const match_problem& problem, std::shared_ptr<arrays> memory,
                                       std::shared_ptr<arrays> of_shape) {
  return std::make_shared<match_check>(std::move(memory), std::move(of_shape),
                                       size_t{problem.batch->records} * sizeof(match_record));
}

std::vector<step_method> match_workload::methods() const {
  std::vector<step_method> all;
  for (const barrier_placement& one : barrier_placements) all.push_back({one.name, one.name, {}, method_kind::launch});
  return all;
}

std::vector<match_record> match_workload::records() {
  std::vector<match_record> found(records_);
  memory_->read(0, found.data());
  return found;
}

step_shape shape_for_queries(const match_problem& problem, uint32_t threads) {
  const size_t queries = std::max<size_t>(1, problem.batch->queries.size());
  step_shape shape;
  shape.blocks = static_cast<uint32_t>((queries + threads - 1) / threads);
  shape.threads = threads;
  return shape;
}

}  // namespace gpusync::tool
