// The equations of Shen 2013 as lines through rows, measured or published.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/crossing.hpp"
#include "models/line_fit.hpp"
#include "results/document.hpp"

namespace gpusync::tool {

/// What one method's rows say of one metric along one axis.
struct thesis_series {
  std::string method;
  std::vector<std::string> items;
  std::vector<fit_point> points;  ///< by rising x
};

/// Weights of points. `even`: as drawn in a figure with linear axes. `relative`: an error of 1 % counts the same
/// everywhere, or that of the quartiles where they lie further apart; for times that span decades.
enum class fit_weights { even, relative };

/// A series for each method, in the rows' order. Only rows that are ok, and verified or published, have a say; the work
/// alone is among them.
std::vector<thesis_series> thesis_series_of(const std::vector<row>& rows, const std::string& axis,
                                            const std::string& metric, fit_weights weights);

/// A row for the line through a series. Its axes are those of `like` without `axis`, and `fit`, which says what was
/// fitted; its metrics the slope (under the name `slope`), `intercept` and `r_squared`, and the last point's value as
/// `at_largest`. Skipped, with the reason, if there are no two points to lay a line through. `scale` turns the unit of
/// y into that of the slope.
row thesis_fit_row(const row& like, const thesis_series& series, const std::string& axis, const std::string& fit,
                   const std::string& slope, const std::string& slope_unit, double scale, const std::string& unit);

/// The method of the thesis that a row is about, "launch-wait", "centralized" or "decentralized": published, or
/// measured with the default ordering. Empty for others.
std::string thesis_method_of(const std::string& method);

/// Adds the metric `place` to the rows of the three methods of the thesis: 1 for the least `value`. Nothing unless all
/// three have one, so that places of then and now mean the same.
void add_thesis_places(std::vector<row>& fits, const std::function<std::optional<double>(const row&)>& value);

/// Value of a metric; empty if there is none.
std::optional<double> value_of(const row& entry, const std::string& metric);

/// A series as a curve.
std::vector<curve_point> curve_of(const thesis_series& series);

/// The rows of thesis_series_of() for one method; null if there are none.
const thesis_series* find_series(const std::vector<thesis_series>& all, const std::string& method);

/// The published rows of an experiment.
std::vector<row> thesis_published(const std::string& experiment);

}  // namespace gpusync::tool
