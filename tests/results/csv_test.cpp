#include "results/csv.hpp"

#include <gtest/gtest.h>

#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

TEST(csv, golden) {
  row odd = skipped_row("a, \"b\"", "two\nlines");
  odd.items = {"F1", "S1"};
  odd.axes = {{"status", std::string("x")}};
  EXPECT_EQ(to_csv(h200_document({barrier_row("cg", 0.5, 0.25), odd})),
            "experiment,items,device,blocks,threads,stores,axis_status,method,step_time_value,step_time_unit,"
            "step_time_n,step_time_q1,step_time_median,step_time_q3,step_time_stddev,step_time_stop,verified,"
            "verification,clock_mhz,status,reason,kind,ordered,rival\r\n"
            "barrier-cost,F1,cuda:0,132,256,1,,cg,0.5,us,25,0.25,0.5,0.75,0.25,spread,true,,,ok,,barrier,true,true\r\n"
            "barrier-cost,F1 S1,cuda:0,,,,x,\"a, \"\"b\"\"\",,,,,,,,,,,,skipped,\"two\nlines\",barrier,true,false\r\n");
}

TEST(csv, a_document_without_rows_has_a_header) {
  EXPECT_EQ(to_csv({}),
            "experiment,items,device,method,verified,verification,clock_mhz,status,reason,kind,ordered,rival\r\n");
}

}  // namespace
}  // namespace gpusync::tool
