#include "models/pace_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpusync::tool {

namespace {

using matrix = std::vector<std::vector<double>>;

/// The inverse by elimination with pivots; empty if there is none, as far as numbers of this kind can tell.
std::optional<matrix> inverse(matrix from) {
  const size_t size = from.size();
  matrix to(size, std::vector<double>(size, 0));
  for (size_t i = 0; i < size; ++i) to[i][i] = 1;
  double largest = 0;
  for (const auto& line : from) {
    for (const double value : line) largest = std::max(largest, std::abs(value));
  }
  for (size_t column = 0; column < size; ++column) {
    size_t pivot = column;
    for (size_t line = column; line < size; ++line) {
      if (std::abs(from[line][column]) > std::abs(from[pivot][column])) pivot = line;
    }
    if (!(std::abs(from[pivot][column]) > 1e-12 * largest)) return std::nullopt;
    std::swap(from[pivot], from[column]);
    std::swap(to[pivot], to[column]);
    const double by = from[column][column];
    for (size_t i = 0; i < size; ++i) {
      from[column][i] /= by;
      to[column][i] /= by;
    }
    for (size_t line = 0; line < size; ++line) {
      if (line == column) continue;
      const double times = from[line][column];
      for (size_t i = 0; i < size; ++i) {
        from[line][i] -= times * from[column][i];
        to[line][i] -= times * to[column][i];
      }
    }
  }
  return to;
}

/// 1 - residuals over the variance about the mean; 1 if nothing varies.
double explained(const std::vector<double>& values, const std::vector<double>& fitted) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double residuals = 0, all = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    residuals += (values[i] - fitted[i]) * (values[i] - fitted[i]);
    all += (values[i] - mean) * (values[i] - mean);
  }
  return all > 0 ? 1 - residuals / all : 1;
}

}  // namespace

bool predicts_gain(const pace_clocks& clocks) {
  return clocks.waiting < clocks.memory - clocks.paced_memory;
}

double predicted_rho(const pace_clocks& clocks) {
  return predicted_rho(clocks, 1, 1);
}

double predicted_rho(const pace_clocks& clocks, double lifetime, double paced_lifetime) {
  const double without = clocks.memory / lifetime, with = (clocks.paced_memory + clocks.waiting) / paced_lifetime;
  return 100 * (without - with) / without;
}

std::vector<double> rho_by_round(const std::vector<double>& times, const std::vector<double>& base) {
  std::vector<double> rho;
  for (size_t i = 0; i < times.size() && i < base.size(); ++i) {
    if (base[i] > 0) rho.push_back(100 * (base[i] - times[i]) / base[i]);
  }
  return rho;
}

std::optional<terms_fit> fit_terms(const std::vector<terms_point>& points) {
  if (points.empty() || points.front().terms.empty()) return std::nullopt;
  const size_t size = points.front().terms.size();
  if (points.size() < size) return std::nullopt;
  matrix products(size, std::vector<double>(size, 0));
  std::vector<double> right(size, 0);
  for (const terms_point& point : points) {
    for (size_t i = 0; i < size; ++i) {
      right[i] += point.terms[i] * point.y;
      for (size_t j = 0; j < size; ++j) products[i][j] += point.terms[i] * point.terms[j];
    }
  }
  const std::optional<matrix> inverted = inverse(products);
  if (!inverted) return std::nullopt;
  terms_fit fit;
  fit.points = points.size();
  for (const auto& line : *inverted) {
    fit.coefficients.push_back(std::inner_product(line.begin(), line.end(), right.begin(), 0.0));
  }
  std::vector<double> values, fitted;
  double residuals = 0;
  for (const terms_point& point : points) {
    values.push_back(point.y);
    fitted.push_back(std::inner_product(point.terms.begin(), point.terms.end(), fit.coefficients.begin(), 0.0));
    residuals += (point.y - fitted.back()) * (point.y - fitted.back());
  }
  fit.r_squared = explained(values, fitted);
  fit.errors.resize(size);
  if (points.size() > size) {
    const double variance = residuals / static_cast<double>(points.size() - size);
    for (size_t i = 0; i < size; ++i) fit.errors[i] = std::sqrt(variance * std::max(0.0, (*inverted)[i][i]));
  }
  return fit;
}

std::optional<terms_fit> fit_one_level(const std::vector<hits_and_clocks>& points) {
  std::vector<terms_point> terms;
  for (const hits_and_clocks& point : points) terms.push_back({{1, 1 - point.l1_hits}, point.clocks});
  return fit_terms(terms);
}

std::optional<terms_fit> fit_two_levels(const std::vector<hits_and_clocks>& points) {
  std::vector<terms_point> terms;
  for (const hits_and_clocks& point : points) {
    const double misses = 1 - point.l1_hits;
    terms.push_back({{1, misses, misses * (1 - point.l2_hits)}, point.clocks});
  }
  return fit_terms(terms);
}

std::optional<decay_fit> fit_decay(const std::vector<std::pair<double, double>>& points) {
  std::vector<fit_point> logarithms;
  std::vector<double> hits, fitted;
  for (const auto& [distance, ratio] : points) {
    if (ratio > 0) logarithms.push_back({distance, std::log(ratio), 1});
  }
  const std::optional<line_fit> line = fit_line(logarithms);
  if (!line) return std::nullopt;
  decay_fit fit;
  fit.at_zero = std::exp(line->intercept);
  fit.rate = -line->slope;
  fit.rate_error = line->slope_error;
  for (const auto& [distance, ratio] : points) {
    hits.push_back(ratio);
    fitted.push_back(fit.at_zero * std::exp(-fit.rate * distance));
  }
  fit.r_squared = explained(hits, fitted);
  return fit;
}

std::optional<decay_fit> fit_drift(std::vector<std::pair<double, double>> points) {
  for (auto& point : points) point.first = std::sqrt(point.first);
  return fit_decay(points);
}

}  // namespace gpusync::tool
