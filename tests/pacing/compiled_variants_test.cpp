// NVRTC on the examples, in every variant: needs no device. Skipped where there is no NVRTC.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "pacing/kernel_text.hpp"
#include "pacing/paced_program.hpp"
#include "usage_error.hpp"

#if defined(__SANITIZE_ADDRESS__)
/// Threads of the run-time compiler that are still ending make LeakSanitizer's search end with a fault of its own.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier): AddressSanitizer's name
  return "detect_leaks=0";
}
#endif

namespace gpusync::tool {
namespace {

/// Null where there is none.
const run_time_compiler* compiler() {
  static const std::unique_ptr<run_time_compiler> found = []() -> std::unique_ptr<run_time_compiler> {
    try {
      return std::make_unique<run_time_compiler>();
    } catch (const error& missing) {
      EXPECT_NE(std::string(missing.what()).find("libnvrtc"), std::string::npos);
      return nullptr;
    }
  }();
  return found.get();
}

class CompiledVariants : public testing::Test {
 protected:
  void SetUp() override {
    if (compiler() == nullptr) GTEST_SKIP() << "there is no NVRTC here";
  }
  void TearDown() override {
    std::error_code ignored;
    if (!file_.empty()) std::filesystem::remove(file_, ignored);
  }

  /// A file with that text.
  std::string file_of(const std::string& text) {
    file_ = std::filesystem::path(testing::TempDir()) / ("paced_" + std::to_string(getpid()) + ".cu");
    std::ofstream(file_) << text;
    return file_.string();
  }

  std::filesystem::path file_;
};

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

struct example {
  const char *file, *kernel;
  uint64_t threads;
  size_t parameters;
};

TEST_F(CompiledVariants, ExamplesCompileForOldAndNewDevices) {
  for (const example& one : {example{"transpose.cu", "transpose", 1024, 4},
                             {"vector_add.cu", "add", 1024, 4},
                             {"stencil.cu", "stencil", 128, 4},
                             {"marked_wrongly.cu", "sums", 256, 3}}) {
    const std::string path = std::string(GPUSYNC_EXAMPLES) + "/pace/" + one.file;
    const paced_source source = read_paced({path, one.kernel, {}, {}, {4, 16, 64}, one.threads});
    for (const int architecture : {75, 90, 120}) {
      std::string plain;
      for (const pace_variant& variant : source.variants) {
        SCOPED_TRACE(std::string(one.file) + " " + variant.name + " " + std::to_string(architecture));
        const compiled_kernel compiled = compile_variant(*compiler(), source, variant, architecture);
        EXPECT_EQ(compiled.image.substr(1, 3), "ELF");
        const kernel_text text = read_ptx(compiled.ptx, compiled.symbol);
        EXPECT_EQ(text.parameters.size(), one.parameters);
        if (variant.form == variant_form::none) plain = text.body;
        const int barriers = count(text.body, "bar.sync") - count(plain, "bar.sync");
        const int groups = count(text.body, "barrier.cta.sync") + count(text.body, "barrier.sync");
        EXPECT_EQ(barriers > 0, variant.form == variant_form::block);
        EXPECT_EQ(groups > 0, variant.form == variant_form::warps);
        EXPECT_EQ(count(text.body, "bar.warp.sync") > count(plain, "bar.warp.sync"),
                  variant.form == variant_form::warp);
        EXPECT_TRUE(variant.form != variant_form::none || count(text.body, "begin inline asm") == 0);
      }
    }
  }
}

TEST_F(CompiledVariants, MessagesHaveTheFilesOwnNameAndLines) {
  const std::string path = file_of(
      "#include <gpusync/pace/mark.cuh>\n\n__global__ void k(int n) {\n  GPUSYNC_PACE(n);\n  n = missing;\n}\n");
  const paced_source source = read_paced({path, "k", {}, {}, {4}, 64});
  for (const pace_variant& variant : source.variants) {
    try {
      (void)compile_variant(*compiler(), source, variant, 90);
      FAIL() << variant.name;
    } catch (const compile_failure& failure) {
      EXPECT_NE(failure.log().find(path + "(5): error"), std::string::npos) << failure.log();
      EXPECT_NE(std::string(failure.what()).find("does not compile"), std::string::npos);
    }
  }
}

TEST_F(CompiledVariants, ArgumentsOfMarksAreIntegers) {
  const paced_source source =
      read_paced({file_of("__global__ void k(float x) { GPUSYNC_PACE(x); }"), "k", {}, {}, {4}, 64});
  EXPECT_NO_THROW((void)compile_variant(*compiler(), source, source.variants[0], 90));
  try {
    (void)compile_variant(*compiler(), source, source.variants[1], 90);
    FAIL();
  } catch (const compile_failure& failure) {
    EXPECT_NE(failure.log().find("takes an integer"), std::string::npos) << failure.log();
    EXPECT_NE(std::string(failure.what()).find("compiler-fence"), std::string::npos);
  }
}

TEST_F(CompiledVariants, TemplatesNamespacesAndDefinitions) {
  const paced_source source =
      read_paced({file_of("namespace a { template <class T, int N> __global__ void k(T* out, T x) {\n"
                          "  for (int i = 0; i < COUNT; ++i) { out[i] = x + N; GPUSYNC_PACE(i); } } }\n"),
                  "k<double, 3>",
                  {"COUNT=100"},
                  {},
                  {4},
                  64});
  EXPECT_EQ(source.expression(), "::a::k<double, 3>");
  const compiled_kernel plain = compile_variant(*compiler(), source, source.variants[0], 90);
  const compiled_kernel block = compile_variant(*compiler(), source, source.variants[3], 90);
  EXPECT_TRUE(source.variants[3].is_barrier());
  EXPECT_NO_THROW(check_paced(source, plain, block, {parse_argument("double[100]"), parse_argument("1.0")}));
  EXPECT_THROW(check_paced(source, plain, block, {parse_argument("double[100]"), parse_argument("1.0f")}), usage_error);
}

TEST_F(CompiledVariants, AMarkThatIsNeverPassedIsRefused) {
  const paced_source source =
      read_paced({file_of("__device__ void f() { GPUSYNC_PACE(); }\n__global__ void k(int* a) { *a = 1; }\n"),
                  "k",
                  {},
                  {},
                  {4},
                  64});
  const compiled_kernel plain = compile_variant(*compiler(), source, source.variants[0], 90);
  const compiled_kernel block = compile_variant(*compiler(), source, source.variants[3], 90);
  try {
    check_paced(source, plain, block, {parse_argument("int[1]")});
    FAIL();
  } catch (const usage_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("passes none of the marks"), std::string::npos);
  }
}

TEST_F(CompiledVariants, NewerDevicesThanTheCompilerGetPtx) {
  const paced_source source = read_paced({file_of("__global__ void k() { GPUSYNC_PACE(); }"), "k", {}, {}, {4}, 64});
  const compiled_kernel future = compile_variant(*compiler(), source, source.variants[0], 999);
  EXPECT_EQ(future.image, future.ptx);
  EXPECT_THROW((void)compile_variant(*compiler(), source, source.variants[0], 30), error);
}

TEST(PacedProgram, FilesThatCannotBeReadAreNamed) {
  for (const char* path : {"/no/such/file.cu", "/"}) {
    try {
      (void)read_paced({path, "k", {}, {}, {4}, 64});
      FAIL();
    } catch (const usage_error& refused) {
      EXPECT_NE(std::string(refused.what()).find(path), std::string::npos);
    }
  }
}

TEST(PaceVariants, OfEachIntervalTheControlsAndTheBarriers) {
  const auto names = [](bool arguments, uint64_t threads) {
    std::string all;
    for (const pace_variant& each : pace_variants(arguments, {4}, threads)) all += each.name + " ";
    return all;
  };
  EXPECT_EQ(names(false, 256), "none compiler-fence warp-sync block ");
  EXPECT_EQ(names(false, 288), "none compiler-fence warp-sync block warps-8 ");
  EXPECT_EQ(names(true, 64), "none compiler-fence warp-sync block compiler-fence/4 warp-sync/4 block/4 ");
}

}  // namespace
}  // namespace gpusync::tool
