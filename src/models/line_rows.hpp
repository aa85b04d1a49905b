// Lines through rows, measured or published, as rows of their own.
#pragma once

#include <string>
#include <vector>

#include "models/crossing.hpp"
#include "models/line_fit.hpp"
#include "results/row.hpp"

namespace gpusync::tool {

/// What one method's rows say of one metric along one axis.
struct method_series {
  row like;                       ///< the first of these rows, which says what the method is
  std::vector<fit_point> points;  ///< by rising x
};

/// Weights of points. `even`: as drawn in a figure with linear axes. `relative`: an error of 1 % counts the same
/// everywhere, or that of the quartiles where they lie further apart; for times that span decades.
enum class fit_weights { even, relative };

/// Which rows have a say. `checked`: those that are ok, and verified or published; `drawn`: those that are ok, for they
/// are drawn from others that were checked, and a method without any has an empty series.
enum class fit_rows { checked, drawn };

/// A series for each method, in the rows' order. The work alone is among them.
std::vector<method_series> series_of(const std::vector<row>& rows, const std::string& axis, const std::string& metric,
                                     fit_weights weights, fit_rows which = fit_rows::checked);

/// What is fitted, and what a line's slope is called.
struct line_names {
  std::string axis;   ///< x
  std::string fit;    ///< the value of axis `fit`: what was fitted over what
  std::string slope;  ///< the slope's metric
  std::string slope_unit;
  std::string unit;  ///< of y
  double scale = 1;  ///< turns the unit of y into that of the slope
};

/// A row for the line through a series. Its axes are those of the series' rows without x, and `fit`; its metrics the
/// slope, `intercept` and `r_squared`, and the last point's value as `at_largest`. Skipped, with the reason, if there
/// are no two points to lay a line through.
row line_row(const method_series& series, const line_names& names);

/// A row of the same experiment, device and method as `like`, about which nothing else is known.
row row_like(const row& like);

/// A series as a curve.
std::vector<curve_point> curve_of(const method_series& series);

}  // namespace gpusync::tool
