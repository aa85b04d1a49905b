// Workload "Smith-Waterman" on host threads.
#include "boundary/steps_host.hpp"
#include "workloads/smith_waterman/wavefront.hpp"

namespace gpusync::tool {

namespace {

class host_data : public run_data {
 public:
  explicit host_data(const alignment_problem& problem)
      : problem_(problem),
        reference_(letters_of_reference(problem.reference)),
        down_(2 * problem.query.size()),
        on_(problem.query.size()),
        best_(problem.query.size()) {}

  void reset() override {
    // What a run hands on must not come from the run before.
    std::fill(down_.begin(), down_.end(), handed_down{0, no_score});
    std::fill(on_.begin(), on_.end(), handed_on{no_score, 0});
    std::fill(best_.begin(), best_.end(), row_best{});
  }
  check_result check(uint64_t) override { return compare_rows(problem_, best_); }
  std::string how() const override { return how_alignments_are_checked(); }
  findings found() const override { return findings_of(best_); }

  wavefront_steps text() {
    return {wavefront_problem::of(problem_, problem_.query.data(), reference_.data()), down_.data(), on_.data(),
            best_.data()};
  }

 private:
  const alignment_problem& problem_;
  const std::vector<uint8_t> reference_;
  std::vector<handed_down> down_;
  std::vector<handed_on> on_;
  std::vector<row_best> best_;
};

class host_smith_waterman : public smith_waterman_device {
 public:
  std::unique_ptr<workload> aligning(const alignment_problem& problem, alignment_form form) override {
    if (!has(form)) throw invalid_argument("Host threads keep the rows of an alignment in memory only.");
    const auto data = std::make_shared<host_data>(problem);
    const wavefront_steps text = data->text();
    return workload_on_host({host_text::of(text), step_sequence::of_whole(text.steps()), data});
  }
  bool has(alignment_form form) const override { return form == alignment_form::memory; }
  uint64_t memory() const override { return 0; }
};

const register_side<smith_waterman_device> registered(device_kind::host, [](const device_description&) {
  return std::make_unique<host_smith_waterman>();
});

}  // namespace

}  // namespace gpusync::tool
