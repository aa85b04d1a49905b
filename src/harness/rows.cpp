#include "harness/rows.hpp"

#include <fmt/format.h>

#include <gpusync/core/error.hpp>

#include "boundary/device_clock.hpp"

namespace gpusync::tool {

row new_row(const char* experiment, const experiment_request& request, const std::string& method, method_kind kind) {
  row entry;
  entry.experiment = experiment;
  entry.device = request.device.id;
  entry.method = method;
  entry.kind = kind;
  return entry;
}

row new_row(const char* experiment, const experiment_request& request, const step_method& method) {
  row entry = new_row(experiment, request, method.name, method.kind);
  entry.items = method.items;
  entry.ordered = method.ordered;
  entry.rival = is_rival(method);
  return entry;
}

metric ratio_of(const std::vector<double>& values, const std::vector<double>& base, double scale) {
  std::vector<double> ratios = by_round(values, base, [](double value, double other) { return value / other; });
  for (size_t i = ratios.size(); i-- > 0;) {
    if (!(base[i] > 0)) ratios.erase(ratios.begin() + static_cast<ptrdiff_t>(i));
  }
  return median_metric(ratios, scale, "1", false);
}

std::optional<double> clock_seen(const device_description& device) try {
  const double mhz = clock_mhz_of(device);
  return mhz > 0 ? std::optional(mhz) : std::nullopt;
} catch (const error&) {
  return std::nullopt;
}

void mark_thrown(row& entry, const std::exception_ptr& thrown) {
  entry.status = row_status::failed;
  try {
    std::rethrow_exception(thrown);
  } catch (const not_co_resident& refusal) {
    mark_skipped(entry, refusal.what());
  } catch (const invalid_argument& refusal) {
    mark_skipped(entry, refusal.what());
  } catch (const behind_stuck_launch& refusal) {
    mark_skipped(entry, refusal.what());
  } catch (const std::exception& failure) {
    entry.reason = failure.what();
  } catch (...) {
    entry.reason = "An unknown failure.";
  }
}

void mark_not_prepared(row& entry, const std::exception_ptr& thrown) {
  mark_thrown(entry, thrown);
  try {
    std::rethrow_exception(thrown);
  } catch (const runtime_failure&) {  // failed
  } catch (const error&) {
    entry.status = row_status::skipped;
  } catch (...) {  // failed
  }
}

void mark_skipped(row& entry, const std::string& reason) {
  entry.status = row_status::skipped;
  entry.reason = reason;
}

void mark_interrupted(row& entry, const std::string& before) {
  mark_skipped(entry, "Interrupted before " + before + ".");
  entry.interrupted = true;
}

void fill_in(row& entry, const std::function<void()>& work) try {
  require_not_stuck(entry.device);
  work();
} catch (const error&) {
  mark_thrown(entry, std::current_exception());
}

void mark_verified(row& entry, bool right, const std::string& reason) {
  entry.verified = right;
  if (right) return;
  entry.status = row_status::failed;
  entry.reason = reason;
}

void mark_checked(row& entry, uint64_t checked, uint64_t wrong, const std::string& how) {
  entry.verification = fmt::format("{} words: {}", checked, how);
  mark_verified(entry, wrong == 0,
                fmt::format("Wrong results: {} of {} checked words ({:.3g} %).{}", wrong, checked,
                            100.0 * static_cast<double>(wrong) / static_cast<double>(checked),
                            entry.ordered ? "" : " This method orders no data, so it may read stale words."));
}

}  // namespace gpusync::tool
