#include "results/markdown.hpp"

#include <gtest/gtest.h>

#include "sample_rows.hpp"

namespace gpusync::tool {
namespace {

TEST(markdown, golden) {
  document results = h200_document({barrier_row("cg", 1.28), barrier_row("a|<b>", 1.2)});
  results.context["complete"] = false;
  EXPECT_EQ(to_markdown(results), R"(# gpusync results

**INCOMPLETE: the run was cut short.**

- Use a\|&lt;b>: 1.20 us a step, 1.07x faster than cooperative groups' grid sync (NVIDIA H200, 132 blocks of 256 threads, stores in flight). a\|&lt;b> takes 1.20 us a step; cooperative groups' grid sync takes 1.28 us (1.07x).

## barrier-cost on NVIDIA H200

| blocks | threads | stores | method        |   value |     ± |   n | ratio | verified | remark |
|--------|---------|--------|---------------|--------:|------:|----:|------:|---------:|--------|
| 132    | 256     | 1      | **a\|&lt;b>** | 1.20 us | 0.010 |  25 | 1.00x |      yes |        |
| 132    | 256     | 1      | cg            | 1.28 us | 0.010 |  25 | 1.07x |      yes |        |

The value is a median, ± half the interquartile range over n samples; the ratio is to the fastest method with verified results.

### Run

- Complete: no

### Device cuda:0

- ID: cuda:0
- Name: NVIDIA H200
)");
}

}  // namespace
}  // namespace gpusync::tool
