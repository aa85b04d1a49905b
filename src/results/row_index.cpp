#include "results/row_index.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results/groups.hpp"

namespace gpusync::tool {

namespace {

/// Whether two rows have the same figures in all metrics, and the same rounds as far as both have kept them.
bool have_same_figures(const row& one, const row& other) {
  return std::ranges::equal(one.metrics, other.metrics, [](const auto& a, const auto& b) {
    const bool same_rounds = !a.second.samples || !b.second.samples || *a.second.samples == *b.second.samples;
    return a.first == b.first && a.second.value == b.second.value && a.second.n == b.second.n && same_rounds;
  });
}

json begin_of(const document& one) {
  return one.context->is_object() ? one.context->value("started", json()) : json();
}

}  // namespace

row_key key_of(const row& entry) {
  return {entry.experiment, entry.device, entry.axes, entry.method};
}

row_index index_of(const document& results) {
  row_index index;
  for (const row& entry : results.rows) {
    if (!is_published(entry)) index.try_emplace(key_of(entry), &entry);
  }
  return index;
}

const row* find(const row_index& index, const row& wanted) {
  const auto found = index.find(key_of(wanted));
  return found == index.end() ? nullptr : found->second;
}

bool have_common_row(const document& one, const document& other) {
  const row_index known = index_of(one);
  return std::ranges::any_of(other.rows,
                             [&](const row& entry) { return !is_published(entry) && find(known, entry) != nullptr; });
}

bool is_same_run(const document& one, const document& other) {
  const auto has_figures = [](const row& entry) { return !is_published(entry) && headline_value(entry); };
  return begin_of(one) == begin_of(other) && std::ranges::any_of(one.rows, has_figures) &&
         std::ranges::equal(one.rows, other.rows, [](const row& a, const row& b) {
           return key_of(a) == key_of(b) && have_same_figures(a, b);
         });
}

}  // namespace gpusync::tool
