// What of many experiments is measured in a given time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gpusync::tool {

/// One way to carry out an experiment: the cases that it has then, in words, and about the longest that one takes.
struct planned_sweep {
  std::vector<std::string> cases;
  double longest = 0;  ///< seconds
};

/// An experiment: its full sweep, and the quick one. They may have cases in common.
struct planned_job {
  planned_sweep full, quick;
};

/// Deals out time to jobs that follow each other. Each gets an equal part of what is left, so that what one does not
/// need goes to those behind it. A job that has time for enough cases of its full sweep, and for no fewer than its
/// quick one has, takes cases from all over the full sweep, both ends among them; another takes its quick sweep, as far
/// as there is time. How long cases take it learns from those that were measured.
class time_plan {
 public:
  /// `clock`: seconds since whenever.
  time_plan(std::vector<planned_job> jobs, double seconds, std::function<double()> clock);

  /// The next job begins, in their order. Whether it takes its quick sweep; always if `only_quick`.
  bool begin(size_t job, bool only_quick);
  /// Asked before a case of that job, in their order; cases may be passed over that have been measured before. Whether
  /// it is left out. What is measured until the next call is the case.
  bool leaves_out(const std::string& what);
  /// Nothing more is measured.
  void end();

  /// Seconds that have gone since the plan was made.
  double gone() const { return clock_() - begin_; }
  double seconds() const { return seconds_; }
  /// Cases that were measured, and that the sweeps have besides.
  size_t measured() const { return measured_; }
  size_t left_out() const { return left_out_; }
  /// Jobs none of whose cases there was time for.
  const std::vector<size_t>& unreached() const { return unreached_; }

 private:
  static constexpr size_t enough = 4;  ///< cases of a sweep that show how it goes

  double expected(const planned_sweep& sweep) const { return sweep.longest * pace_; }
  /// What a further case of this job takes.
  double next_takes() const;
  void close_case();
  void close_job();

  const std::vector<planned_job> jobs_;
  const double seconds_;
  const std::function<double()> clock_;
  const double begin_;
  double pace_ = 0.5;  ///< of the longest that cases may take, what they do take
  double took_ = 0, could_take_ = 0;
  size_t job_ = 0;
  const planned_sweep* sweep_ = nullptr;  ///< of the job that has begun
  std::vector<bool> chosen_;
  size_t next_ = 0;       ///< case of the sweep
  size_t of_job_ = 0;     ///< cases that were measured
  double job_since_ = 0;  ///< begun
  double share_ = 0;      ///< of the time, for this job
  bool refused_ = false;  ///< a case of the job, for there was no time
  double case_since_ = -1;
  size_t measured_ = 0, left_out_ = 0;
  std::vector<size_t> unreached_;
};

}  // namespace gpusync::tool
