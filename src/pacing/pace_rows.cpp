#include "pacing/pace_rows.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "measure/statistics.hpp"
#include "pacing/pace_judgement.hpp"
#include "results/metrics.hpp"

namespace gpusync::tool {

namespace {

metric gain_metric(const gain& one, uint64_t rounds) {
  metric found = plain_metric(one.percent, "%", rounds);
  found.median = one.percent;
  found.bounds = one.between;
  return found;
}

row row_of(const kernel_variant& one, const kernel_variant& plain) {
  row entry;
  entry.experiment = "pace";
  entry.method = one.what.name;
  entry.rival = one.what.form == variant_form::none;
  if (!one.reason.empty()) entry.reason = one.reason;
  if (one.found == kernel_variant::state::refused) {
    entry.status = one.end ? row_status::failed : row_status::skipped;
    if (one.end == trial_end::mismatch) entry.verified = false;
    return entry;
  }
  entry.metrics.emplace_back(kernel_time, median_metric(one.nanoseconds, 1e-3, "us", true));
  if (one.what.form != variant_form::none) {
    entry.metrics.emplace_back(
        "gain", gain_metric(gain_of(one.nanoseconds, plain.nanoseconds, usual_confidence), one.nanoseconds.size()));
  }
  entry.metrics.emplace_back("blocks_per_sm", count_metric(static_cast<uint64_t>(one.room.blocks_per_sm)));
  entry.metrics.emplace_back("registers", count_metric(static_cast<uint64_t>(one.room.registers)));
  entry.metrics.emplace_back("static_shared", count_metric(one.room.static_shared, "B"));
  entry.verified = true;
  entry.verification =
      fmt::format("{} bytes compared in {} runs, 0 wrong", one.bytes_compared, one.nanoseconds.size() + 1);
  return entry;
}

json in_json(const gain& one) {
  json value{{"percent", one.percent}, {"interval", nullptr}};
  if (one.between) value["interval"] = {one.between->low, one.between->high};
  return value;
}

}  // namespace

std::vector<row> rows_of(const paced_source& source, const paced_launch& launch, const std::string& device,
                         const std::vector<kernel_variant>& variants) {
  std::vector<row> rows;
  for (const kernel_variant& each : variants) {
    rows.push_back(row_of(each, variants.front()));
    rows.back().device = device;
    rows.back().axes = {
        {"kernel", source.asked.kernel}, {"blocks", to_string(launch.blocks)}, {"threads", to_string(launch.threads)}};
    if (launch.shared_bytes > 0) rows.back().axes.emplace_back("shared", int64_t{launch.shared_bytes});
  }
  return rows;
}

json in_json(const pace_verdict& verdict, const std::vector<std::string>& cures) {
  const auto known = [](const std::string& text) { return text.empty() ? json(nullptr) : json(text); };
  const bool is_judged = !verdict.best.empty();
  const auto share = [&](const gain& one) { return is_judged ? in_json(one) : json(nullptr); };
  return {{"finding", to_string(verdict.finding)},
          {"best", known(verdict.best)},
          {"base", known(verdict.base)},
          {"total", share(verdict.total)},
          {"compilers_share", share(verdict.compilers)},
          {"barriers_share", share(verdict.barriers)},
          {"rounds", verdict.rounds},
          {"sentence", verdict.sentence},
          {"other_cures", cures}};
}

bool remark_on_short_runs(const std::vector<kernel_variant>& variants) {
  constexpr double short_ns = 20e3;
  const std::vector<double>& plain = variants.front().nanoseconds;
  return !plain.empty() && summarize(plain).median < short_ns;
}

}  // namespace gpusync::tool
