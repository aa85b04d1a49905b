#include "workloads/thesis_average/thesis_expectation.hpp"

#include <bit>
#include <cstddef>

namespace gpusync::tool {

namespace {

/// A float in [1, 2).
float input(uint32_t element, uint32_t iteration) {
  const uint32_t word = (element + 1) * 0x9e3779b1u + (iteration + 1) * 0x85ebca77u;
  return std::bit_cast<float>(0x3f800000u | (word & 0x7fffffu));
}

}  // namespace

thesis_expectation::thesis_expectation(uint32_t groups, uint32_t items, bool crosses_groups)
    : groups_(groups), items_(items), crosses_groups_(crosses_groups) {
  restart();
}

void thesis_expectation::restart() {
  const size_t elements = size_t{groups_} * items_;
  done_ = 0;
  values_.assign(elements, 0.0f);
  read_.resize(elements);
  for (uint32_t i = 0; i < elements; ++i) read_[i] = input(i, ~0u);
  traces_.assign(elements, 0);
  traces_before_last_.assign(elements, 0);
}

void thesis_expectation::iterate() {
  const uint32_t elements = groups_ * items_;
  for (uint32_t i = 0; i < elements; ++i) values_[i] = (read_[i] + input(i, done_)) / 2;
  traces_before_last_ = traces_;
  for (uint32_t group = 0; group < groups_; ++group) {
    const uint32_t apart = 1 + done_ % 4 * ((groups_ - 1) / 4);
    const uint32_t source = (crosses_groups_ ? (group + apart) % groups_ : group) * items_;
    const uint32_t own = group * items_;
    for (uint32_t item = 0; item < items_; ++item) {
      read_[own + item] = values_[source + item];
      traces_[own + item] = traces_[own + item] * 31 + std::bit_cast<uint32_t>(values_[source + item]);
    }
  }
  ++done_;
}

const thesis_result& thesis_expectation::after(uint32_t iterations) {
  const auto known = known_.find(iterations);
  if (known != known_.end()) return known->second;
  if (iterations < done_) restart();
  while (done_ < iterations) iterate();
  if (known_.size() * values_.size() > most_remembered) known_.clear();
  thesis_result& result = known_[iterations];
  result.values.resize(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) result.values[i] = std::bit_cast<uint32_t>(values_[i]);
  result.traces = traces_;
  result.traces_before_last = traces_before_last_;
  return result;
}

}  // namespace gpusync::tool
