#include "workloads/conjugate_gradients/conjugate_gradients.hpp"

#include <algorithm>
#include <cmath>

namespace gpusync::tool {

namespace {

constexpr double on_the_diagonal = 4.05;
constexpr double wanted_residual = 1e-10;  ///< of r'r'
/// What each x may differ by from the host's, of the largest: the limits of either type's arithmetic over some hundred
/// iterations.
constexpr double single_tolerance = 1e-3, double_tolerance = 1e-6;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

conjugate_problem::conjugate_problem(uint32_t side) : side_(side) {
  const size_t n = rows();
  columns_.resize(conjugate::width * n);
  values_.resize(conjugate::width * n);
  b_.resize(n);
  for (uint32_t y = 0; y < side; ++y) {
    for (uint32_t x = 0; x < side; ++x) {
      const uint32_t row = y * side + x;
      const auto entry = [&](uint32_t k, bool there, uint32_t column, double value) {
        columns_[k * n + row] = there ? column : row;
        values_[k * n + row] = there ? value : 0;
      };
      entry(0, true, row, on_the_diagonal);
      entry(1, x > 0, row - 1, -1);
      entry(2, x + 1 < side, row + 1, -1);
      entry(3, y > 0, row - side, -1);
      entry(4, y + 1 < side, row + side, -1);
      b_[row] = static_cast<float>(1 + (row * 2654435761u >> 8) % 1000 / 1000.0);
    }
  }
  x_.assign(n, 0);
  std::vector<double> r = b_, p = b_;
  double rr = first_rr_ = product(r, r);
  while (rr > wanted_residual * first_rr_) {
    const std::vector<double> q = times(p);
    const double pq = product(p, q);
    if (iterations_ == 0) first_pq_ = pq;
    const double alpha = rr / pq;
    for (size_t i = 0; i < n; ++i) {
      x_[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double next = product(r, r);
    limit_ = std::sqrt(rr * next);
    for (size_t i = 0; i < n; ++i) p[i] = r[i] + next / rr * p[i];
    rr = next;
    ++iterations_;
  }
}

std::vector<double> conjugate_problem::times(const std::vector<double>& p) const {
  const size_t n = rows();
  std::vector<double> q(n, 0);
  for (size_t k = 0; k < conjugate::width; ++k) {
    for (size_t i = 0; i < n; ++i) q[i] += values_[k * n + i] * p[columns_[k * n + i]];
  }
  return q;
}

double conjugate_problem::residual(const std::vector<double>& x) const {
  std::vector<double> r = times(x);
  for (size_t i = 0; i < r.size(); ++i) r[i] = b_[i] - r[i];
  return product(r, r);
}

step_method conjugate_votes_method() {
  step_method method;
  method.name = method_by_votes;
  method.title = "sums in fixed point that come with the barrier";
  method.kind = method_kind::barrier;
  method.needs_co_residency = true;
  return method;
}

check_result conjugate_result::check(uint64_t steps) {
  const size_t rows = problem_->rows();
  std::vector<double> x(rows);
  if (is_double_) {
    memory_->read(conjugate_array::x, x.data());
  } else {
    std::vector<float> found(rows);
    memory_->read(conjugate_array::x, found.data());
    std::copy(found.begin(), found.end(), x.begin());
  }
  std::vector<double> partials(size_t{4} * contributions_);
  memory_->read(conjugate_array::partials, partials.data());
  const auto rr = [&](uint32_t iteration) {
    double sum = 0;
    for (uint32_t i = 0; i < contributions_; ++i) sum += partials[size_t{2 + iteration % 2} * contributions_ + i];
    return sum;
  };
  check_result result{rows + 3, 0};
  const std::vector<double>& right = problem_->solution();
  const double most = *std::max_element(right.begin(), right.end());
  const double allowed = most * (is_double_ ? double_tolerance : single_tolerance);
  // Not "more than", which says nothing of what is no number.
  for (size_t i = 0; i < rows; ++i) result.wrong += std::abs(x[i] - right[i]) <= allowed ? 0 : 1;
  const auto iterations = static_cast<uint32_t>(steps / 2);
  result.wrong += problem_->residual(x) <= (is_double_ ? 2 : 100) * wanted_residual * problem_->first_rr() ? 0 : 1;
  result.wrong += rr(iterations) <= problem_->limit() ? 0 : 1;
  result.wrong += rr(iterations - 1) > problem_->limit() ? 0 : 1;
  return result;
}

std::string conjugate_result::how() const {
  return is_double_
             ? "each x within 1e-6 of the largest of the host's; the residual computed on the host; the same number "
               "of iterations"
             : "each x within 1e-3 of the largest of the host's; the residual computed on the host; the same number "
               "of iterations";
}

}  // namespace gpusync::tool
