// Rows for tests.
#pragma once

#include <string>
#include <utility>

#include "results/document.hpp"
#include "results/first_version.hpp"

namespace gpusync::tool {

/// A step time with quartiles `spread` to either side.
inline metric step_time(double value, double spread = 0.01) {
  metric measured;
  measured.value = value;
  measured.unit = "us";
  measured.n = 25;
  measured.q1 = value - spread;
  measured.median = value;
  measured.q3 = value + spread;
  measured.stddev = spread;
  measured.stop = "spread";
  return measured;
}

/// A verified barrier-cost row on cuda:0, of a method that is what its name says.
inline row barrier_row(std::string method, double value, double spread = 0.01, int64_t blocks = 132,
                       int64_t threads = 256, int64_t stores = 1) {
  row entry;
  entry.experiment = "barrier-cost";
  entry.items = {"F1"};
  entry.device = "cuda:0";
  entry.axes = {{"blocks", blocks}, {"threads", threads}, {"stores", stores}};
  entry.method = std::move(method);
  entry.metrics = {{"step_time", step_time(value, spread)}};
  entry.verified = true;
  derive_method(entry);
  return entry;
}

/// The same, but what it computed was wrong.
inline row wrong_row(std::string method, double value) {
  row entry = barrier_row(std::move(method), value);
  entry.verified = false;
  entry.status = row_status::failed;
  entry.reason = "12 of 100 values are wrong";
  return entry;
}

/// A row that could not run.
inline row skipped_row(std::string method, std::string reason) {
  row entry = barrier_row(std::move(method), 0);
  entry.metrics.clear();
  entry.verified.reset();
  entry.status = row_status::skipped;
  entry.reason = std::move(reason);
  return entry;
}

/// A document with a context that names cuda:0 "NVIDIA H200".
inline document h200_document(std::vector<row> rows) {
  document results;
  results.context = json::parse(R"({"complete": true, "devices": [{"id": "cuda:0", "name": "NVIDIA H200"}]})");
  results.rows = std::move(rows);
  return results;
}

}  // namespace gpusync::tool
