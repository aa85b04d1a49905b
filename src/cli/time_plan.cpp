#include "cli/time_plan.hpp"

#include <algorithm>
#include <cmath>

namespace gpusync::tool {

namespace {

/// `count` of so many, from all over: the last, the first too, and those between in equal distances.
std::vector<bool> spread(size_t count, size_t all) {
  std::vector<bool> chosen(all, count >= all);
  if (count >= all || count == 0) return chosen;
  chosen[all - 1] = true;
  for (size_t k = 0; k + 1 < count; ++k) chosen[k * (all - 1) / (count - 1)] = true;
  return chosen;
}

}  // namespace

time_plan::time_plan(std::vector<planned_job> jobs, double seconds, std::function<double()> clock)
    : jobs_(std::move(jobs)), seconds_(seconds), clock_(std::move(clock)), begin_(clock_()) {}

void time_plan::close_case() {
  if (case_since_ < 0) return;
  took_ += clock_() - case_since_;
  could_take_ += sweep_->longest;
  // A few cases more of the first guess, or the first one measured would speak for all.
  constexpr double guessed = 5;
  pace_ = (took_ + 0.5 * guessed) / (could_take_ + guessed);
  case_since_ = -1;
  ++measured_;
  ++of_job_;
}

void time_plan::close_job() {
  close_case();
  if (sweep_ != nullptr && of_job_ == 0 && refused_) unreached_.push_back(job_);
  sweep_ = nullptr;
}

double time_plan::next_takes() const {
  return of_job_ == 0 ? expected(*sweep_) : (gone() - job_since_) / static_cast<double>(of_job_);
}

bool time_plan::begin(size_t job, bool only_quick) {
  close_job();
  job_ = job;
  const planned_job& one = jobs_[job];
  job_since_ = gone();
  share_ = std::max(0.0, seconds_ - job_since_) / static_cast<double>(jobs_.size() - job);
  const auto affordable = [&](const planned_sweep& sweep) {
    const double cases = expected(sweep) > 0 ? share_ / expected(sweep) : static_cast<double>(sweep.cases.size());
    return std::min(sweep.cases.size(), static_cast<size_t>(std::floor(cases)));
  };
  const size_t of_full = affordable(one.full);
  const bool quick = only_quick || of_full < std::min(one.full.cases.size(), std::max(enough, one.quick.cases.size()));
  sweep_ = quick ? &one.quick : &one.full;
  chosen_ = spread(std::max<size_t>(1, quick ? affordable(one.quick) : of_full), sweep_->cases.size());
  next_ = of_job_ = 0;
  refused_ = false;
  return quick;
}

bool time_plan::leaves_out(const std::string& what) {
  close_case();
  // Cases between were measured before, and nobody asked for them.
  const auto found = std::find(sweep_->cases.begin() + static_cast<std::ptrdiff_t>(next_), sweep_->cases.end(), what);
  const auto place = static_cast<size_t>(found - sweep_->cases.begin());
  const bool is_chosen = place < chosen_.size() ? chosen_[place] : true;
  if (place < chosen_.size()) next_ = place + 1;
  const double then = gone() + next_takes();
  // Cases that take longer than was thought take nothing from other jobs.
  const bool has_time = then <= seconds_ && (of_job_ == 0 || then - job_since_ <= 1.5 * share_);
  if (is_chosen && has_time) {
    case_since_ = clock_();
    return false;
  }
  refused_ = refused_ || !has_time;
  ++left_out_;
  return true;
}

void time_plan::end() {
  close_job();
}

}  // namespace gpusync::tool
