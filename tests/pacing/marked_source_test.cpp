// What the scan of a CUDA file finds.
#include "pacing/marked_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/refusal.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

std::string marks_refusal(const std::string& text, const std::string& name) {
  const marked_source source = scan_source(text);
  return test::refusal<usage_error>([&] { require_marks(source, find_kernel(source, name, "f.cu"), "f.cu"); });
}

TEST(MarkedSource, KeepsCodeAndPlacesAndDropsTheRest) {
  const std::string text =
      "int a; // GPUSYNC_PACE() \\\n still a comment\n"
      "/* { \n */ int b = 1'000'000; char c = '{', d = '\\''; const char* s = \"} \\\" // \";\n"
      "auto r = R\"x(}}} \" )x\"; int e;\n";
  const std::string clean = without_remarks(text);
  ASSERT_EQ(clean.size(), text.size());
  EXPECT_EQ(std::ranges::count(clean, '\n'), std::ranges::count(text, '\n'));
  EXPECT_EQ(clean.find_first_of("{}"), std::string::npos);
  EXPECT_EQ(clean.find("GPUSYNC"), std::string::npos);
  for (const char* kept : {"int a;", "int b = 1'000'000;", "int e;"}) EXPECT_NE(clean.find(kept), std::string::npos);
  EXPECT_EQ(clean.find("int e;"), text.find("int e;"));
}

TEST(MarkedSource, KnowsDirectivesAndWhatIsLeftOut) {
  const marked_source source = scan_source(
      "#if 0\n__global__ void old() { GPUSYNC_PACE(1); }\n#if 1\n}\n#endif\n#else\n"
      "__global__ void now(int n) { for (;;) { } }\n#endif\n"
      "#ifndef GPUSYNC_PACE\n#define GPUSYNC_PACE(...) \\\n  ((void)0)\n#endif\n");
  ASSERT_EQ(source.kernels.size(), 1u);
  EXPECT_EQ(source.kernels[0].name, "now");
  EXPECT_EQ(source.kernels[0].line, 7);
  EXPECT_EQ(source.kernels[0].marks, 0);
  EXPECT_EQ(source.marks_elsewhere, 0);
}

TEST(MarkedSource, FindsMarksInKernelsFunctionsAndMacros) {
  const marked_source source = scan_source(
      "#define STEP(i) GPUSYNC_PACE(i)\n"
      "__device__ void helper() { GPUSYNC_PACE(); }\n"
      "__global__ void k(int n) { for (int i = 0; i < n; ++i) { GPUSYNC_PACE (); /* GPUSYNC_PACE(i) */ } }\n");
  EXPECT_EQ(source.marks_elsewhere, 2);
  EXPECT_EQ(source.kernels.at(0).marks, 1);
  EXPECT_TRUE(source.marks_have_arguments);
  EXPECT_FALSE(scan_source("__global__ void k() { GPUSYNC_PACE( ); }").marks_have_arguments);
  EXPECT_TRUE(scan_source("__global__ void k() { GPUSYNC_PACE(i + 1); }").marks_have_arguments);
  EXPECT_EQ(scan_source("__global__ void k() { int GPUSYNC_PACE_OF; }").kernels.at(0).marks, 0);
}

TEST(MarkedSource, ReadsKernelsWithTheirNamespacesAttributesAndParameters) {
  const marked_source source = scan_source(
      "__global__ void announced(int);\n"
      "namespace a::b { namespace {\n"
      "template <class T, int N>\n__global__ void __launch_bounds__(256, (2)) first(const T* __restrict__ in, T "
      "(&x)[2]) {}\n"
      "template <> __global__ void first<int, 1>(int) {}\n"
      "} }\n"
      "extern \"C\" {\nstatic __global__ __launch_bounds__(64) void second(pair<int, float> p, int n = f(1, 2)) { if "
      "(n) {} }\n}\n"
      "__global__ void third(void) {}\n");
  ASSERT_EQ(source.kernels.size(), 3u);
  EXPECT_EQ(source.kernels[0].name, "a::b::first");
  EXPECT_TRUE(source.kernels[0].is_template);
  EXPECT_EQ(source.kernels[0].parameters, (std::vector<std::string>{"const T* __restrict__ in", "T (&x)[2]"}));
  EXPECT_EQ(source.kernels[1].name, "second");
  EXPECT_FALSE(source.kernels[1].is_template);
  EXPECT_EQ(source.kernels[1].parameters, (std::vector<std::string>{"pair<int, float> p", "int n = f(1, 2)"}));
  EXPECT_TRUE(source.kernels[2].parameters.empty());
}

TEST(MarkedSource, FindsLoopsThatUseMemory) {
  const marked_source source = scan_source(
      "__global__ void k(float* a, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += 32)\n    for (int j = 0; j < n; ++j) a[i] += a[j];\n"
      "  while (n > 0) n -= 1;\n"
      "  do { n += *a; } while (n < 5);\n"
      "  for (float* p = a; p < a + n; ++p) if (n) *p = 1; else { atomicAdd(p, 1); }\n"
      "  int m = n * n;\n}\n");
  const std::vector<source_loop>& loops = source.kernels.at(0).loops;
  ASSERT_EQ(loops.size(), 5u);
  EXPECT_EQ(loops[0].line, 2);
  EXPECT_EQ(loops[0].index, "i");
  EXPECT_TRUE(loops[0].uses_memory && loops[0].names_thread && loops[0].has_loop);
  EXPECT_EQ(loops[1].line, 3);
  EXPECT_TRUE(loops[1].uses_memory && !loops[1].names_thread && !loops[1].has_loop);
  EXPECT_FALSE(loops[2].uses_memory);
  EXPECT_TRUE(loops[3].uses_memory);
  EXPECT_EQ(loops[3].header, "do");
  EXPECT_TRUE(loops[4].uses_memory);
}

TEST(MarkedSource, UnmarkedKernelsAreToldWhereAMarkCouldStand) {
  const std::string told = marks_refusal(
      "__global__ void k(float* a, int n) {\n  for (int i = 0; i < n; ++i) {\n    a[i] = 1;\n  }\n  while (n) "
      "--n;\n}\n",
      "k");
  for (const char* part : {"f.cu", "GPUSYNC_PACE(i);", "line 2, for (int i = 0; i < n; ++i)"}) {
    EXPECT_NE(told.find(part), std::string::npos) << told;
  }
  EXPECT_EQ(told.find("line 5"), std::string::npos) << told;
  EXPECT_NE(marks_refusal("__global__ void k(int n) { while (n) --n; }", "k").find("no loop"), std::string::npos);
  EXPECT_EQ(marks_refusal("__global__ void k(int n) { while (n) GPUSYNC_PACE(); }", "k"), "");
  // Marks of another kernel are none of this one; those of a function may be.
  EXPECT_NE(marks_refusal("__global__ void k() {} __global__ void l() { GPUSYNC_PACE(); }", "k"), "");
  EXPECT_EQ(marks_refusal("__device__ void f() { GPUSYNC_PACE(); } __global__ void k() { f(); }", "k"), "");
}

TEST(MarkedSource, KernelsAreFoundByTheirNamesOrRefusedWithWhatThereIs) {
  const marked_source source = scan_source(
      "namespace a { __global__ void relax(int) {} } namespace b { __global__ void relax(float) {}\n"
      "template <class T> __global__ void sweep(T) {} }\n");
  const auto told = [&](const std::string& name) {
    return test::refusal<usage_error>([&] { (void)find_kernel(source, name, "f.cu"); });
  };
  EXPECT_EQ(find_kernel(source, "a::relax", "f.cu").name, "a::relax");
  EXPECT_EQ(find_kernel(source, "::b::relax", "f.cu").name, "b::relax");
  EXPECT_EQ(find_kernel(source, "sweep<float>", "f.cu").name, "b::sweep");
  EXPECT_NE(told("relax").find("a::relax(int) in line 1; b::relax(float)"), std::string::npos) << told("relax");
  EXPECT_NE(told("sweep").find("sweep<float>"), std::string::npos) << told("sweep");
  EXPECT_NE(told("swep").find("a::relax, b::relax, b::sweep"), std::string::npos) << told("swep");
  EXPECT_NE(
      test::refusal<usage_error>([] { (void)find_kernel(scan_source("int x;"), "k", "f.cu"); }).find("no __global__"),
      std::string::npos);
}

TEST(MarkedSource, SeesNeighboursThatAreFarApart) {
  const auto strided = [](const std::string& body) {
    return scan_source("__global__ void k(float* a, int n) { " + body + " }").kernels.at(0).strided;
  };
  EXPECT_EQ(strided("int x = blockIdx.x * 32 + threadIdx.x % 32; a[(size_t)x * n + 1] = 0;"),
            std::vector<std::string>{"a[(size_t)x * n + 1]"});
  EXPECT_FALSE(strided("a[threadIdx.x * n] = 0;").empty());
  EXPECT_TRUE(strided("int x = threadIdx.x; a[n * n + x] = 0;").empty());
  EXPECT_TRUE(strided("int row = threadIdx.x / 32; a[row * n + threadIdx.x % 32] = 0;").empty());
  EXPECT_TRUE(strided("int y = threadIdx.y; a[y * n + threadIdx.x] = 0;").empty());
}

TEST(MarkedSource, SurvivesTextThatIsNoProgram) {
  for (const char* text : {"",
                           "{",
                           "}",
                           "__global__",
                           "__global__ void k(",
                           "__global__ void k(int) {",
                           "/*",
                           "\"",
                           "R\"(",
                           "#if 0",
                           "#",
                           "\\",
                           "__global__ void k() { for",
                           "__global__ void k() { for ( } )",
                           "namespace",
                           "template <> __global__",
                           "__global__ void k() { do",
                           "'",
                           "((((",
                           "GPUSYNC_PACE("}) {
    EXPECT_NO_THROW((void)scan_source(text)) << text;
  }
}

}  // namespace
}  // namespace gpusync::tool
