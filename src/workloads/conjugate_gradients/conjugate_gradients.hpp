// Workload "conjugate-gradients", whatever device it runs on. C++17: CUDA sources include it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boundary/arrays.hpp"
#include "boundary/device_side.hpp"
#include "boundary/program.hpp"
#include "workloads/conjugate_gradients/conjugate_text.hpp"

namespace gpusync::tool {

/// A x = b on a square of points: 4.05 on the diagonal, -1 for each neighbour (one step of implicit heat conduction),
/// solved by the host as well. The number of iterations is the first after which r'r' is 1e-10 of what it was.
class conjugate_problem {
 public:
  explicit conjugate_problem(uint32_t side);

  uint32_t side() const { return side_; }
  uint32_t rows() const { return side_ * side_; }
  uint32_t iterations() const { return iterations_; }
  /// r'r' before the first iteration, and p'q of it.
  double first_rr() const { return first_rr_; }
  double first_pq() const { return first_pq_; }
  /// Between r'r' after the last iteration and after the one before: which of them it is that a device ends with.
  double limit() const { return limit_; }
  const std::vector<uint32_t>& columns() const { return columns_; }
  const std::vector<double>& values() const { return values_; }
  const std::vector<double>& right_side() const { return b_; }
  const std::vector<double>& solution() const { return x_; }
  /// |b - A x|^2.
  double residual(const std::vector<double>& x) const;

 private:
  std::vector<double> times(const std::vector<double>& p) const;

  uint32_t side_;
  uint32_t iterations_ = 0;
  double first_rr_ = 0, first_pq_ = 0, limit_ = 0;
  std::vector<uint32_t> columns_;
  std::vector<double> values_, b_, x_;
};

inline constexpr const char* method_by_votes = "votes";
/// Sums that come with the barriers.
step_method conjugate_votes_method();

/// Arrays of a run, by number.
namespace conjugate_array {
inline constexpr size_t columns = 0, values = 1, r = 2, p = 4, q = 6, x = 7, partials = 8, sums = 9;
}
template <class Real>
std::vector<array_content> conjugate_arrays(const conjugate_problem& problem, uint32_t contributions) {
  const auto as_real = [](const std::vector<double>& from) { return std::vector<Real>(from.begin(), from.end()); };
  const size_t rows = problem.rows();
  const auto zeros = [&] { return array_content::filled(rows, Real{0}); };
  std::vector<double> partials(size_t{4} * contributions, 0);
  partials[size_t{2} * contributions] = problem.first_rr();
  return {array_content::once(problem.columns()), array_content::once(as_real(problem.values())),
          array_content::of(as_real(problem.right_side())), zeros(), zeros(), zeros(), zeros(), zeros(),
          array_content::of(partials),
          // Before the first iteration there is no direction: beta is 0.
          array_content::of(std::vector<double>{1, 1e300})};
}
template <class Real, class Arrays>
conjugate_data<Real> conjugate_data_in(Arrays& memory, const conjugate_problem& problem, uint32_t contributions) {
  namespace at = conjugate_array;
  const auto real = [&](size_t array) { return memory.template address<Real>(array); };
  return {memory.template address<uint32_t>(at::columns),
          real(at::values),
          real(at::r),
          real(at::r + 1),
          real(at::p),
          real(at::p + 1),
          real(at::q),
          real(at::x),
          memory.template address<double>(at::partials),
          memory.template address<double>(at::sums),
          problem.rows(),
          contributions,
          problem.first_rr(),
          problem.first_pq()};
}

/// Compares what a run has left with the host's solution: each x, the residual of all, and the iteration in which r'r'
/// has come below the limit.
class conjugate_result : public run_data {
 public:
  conjugate_result(std::shared_ptr<const conjugate_problem> problem, bool is_double, uint32_t contributions,
                   std::shared_ptr<arrays> memory)
      : problem_(std::move(problem)),
        is_double_(is_double),
        contributions_(contributions),
        memory_(std::move(memory)) {}
  void reset() override { memory_->reset(); }
  check_result check(uint64_t steps) override;
  std::string how() const override;

 private:
  const std::shared_ptr<const conjugate_problem> problem_;
  const bool is_double_;
  const uint32_t contributions_;
  const std::shared_ptr<arrays> memory_;
};

/// The device side.
class conjugate_device {
 public:
  virtual ~conjugate_device() = default;
  /// It must not outlive this object.
  virtual std::unique_ptr<workload> solving(std::shared_ptr<const conjugate_problem> problem, bool is_double) = 0;
};

}  // namespace gpusync::tool
