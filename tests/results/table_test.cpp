#include "results/table.hpp"

#include <gtest/gtest.h>

#include "results/text.hpp"
#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

TEST(table, golden) {
  const document results = h200_document({skipped_row("cooperative-relaunch", "no memory"), barrier_row("cg", 1.28),
                                          wrong_row("lock-based-none", 0.9), barrier_row("lock-based-fence", 1.2),
                                          barrier_row("no-barrier", 0.31)});
  EXPECT_EQ(to_table(results, false),
            "barrier-cost on NVIDIA H200, 132 blocks of 256 threads, stores in flight\n"
            "  method                step time  spread   n      ratio  verified\n"
            "  no-barrier             0.310 us  ±0.010  25      floor       yes\n"
            "  lock-based-none        0.900 us  ±0.010  25  unordered     WRONG  failed: 12 of 100 values "
            "are wrong\n"
            "  lock-based-fence        1.20 us  ±0.010  25      1.00x       yes\n"
            "  cg                      1.28 us  ±0.010  25      1.07x       yes\n"
            "  cooperative-relaunch                                           -  skipped: no memory\n");
}

TEST(table, colours_only_if_asked_for_and_never_from_the_document) {
  const document results = h200_document({barrier_row("\x1b[31mcg", 1)});
  EXPECT_EQ(to_table(results, false).find('\x1b'), std::string::npos);
  EXPECT_NE(to_table(results, true).find("\x1b[1;32m"), std::string::npos);
  EXPECT_EQ(to_table(results, true).find("\x1b[31m"), std::string::npos);
}

TEST(text, figures_have_three_significant_digits) {
  for (const auto& [value, shown] : std::initializer_list<std::pair<double, const char*>>{{0, "0"},
                                                                                          {1.2, "1.20"},
                                                                                          {9.999, "10.0"},
                                                                                          {0.0996, "0.0996"},
                                                                                          {134.4, "134"},
                                                                                          {1e6, "1000000"},
                                                                                          {5e-5, "5.00e-05"},
                                                                                          {-2.5, "-2.50"},
                                                                                          {0.001, "0.00100"}}) {
    EXPECT_EQ(figure(value), shown);
  }
}

TEST(text, printable_cuts_between_characters) {
  EXPECT_EQ(printable("ab\tc"), "ab?c");
  EXPECT_EQ(printable("üüü", 3), "ü...");
  EXPECT_EQ(printable("üüü", 4), "üü...");
  EXPECT_EQ(printable("üüü", 6), "üüü");
}

}  // namespace
}  // namespace gpusync::tool
