// Programs: what goes wrong in building one is shown.
#include "fixture.hpp"

namespace gpusync::opencl::test {

namespace {

class program : public device_test {};

TEST_F(program, that_does_not_compile_shows_the_log_with_the_users_own_lines) {
  try {
    build(context, device, barrier_source() + "\n\n__kernel void broken() { this_is_undeclared(); }\n");
    FAIL() << "the program compiled";
  } catch (const build_failure& failure) {
    EXPECT_EQ(failure.code(), CL_BUILD_PROGRAM_FAILURE);
    EXPECT_NE(failure.log().find("this_is_undeclared"), std::string::npos);
    EXPECT_NE(std::string(failure.what()).find(failure.log()), std::string::npos);
    EXPECT_NE(std::string(failure.what()).find(name_of(device)), std::string::npos);
    // NVIDIA's compiler takes no notice of #line, so its lines count from the start of the library's text.
    if (ordering_means_of(device) != ordering_means::ptx) {
      EXPECT_NE(failure.log().find(":3:"), std::string::npos) << failure.log();
    }
  }
}

TEST_F(program, text_compiles_as_opencl_c_1_2_too) {
  for (const barrier_method& method : barrier_methods()) {
    cl::Program plain(context, barrier_source(*method.algorithm, method.order) + ring_text);
    EXPECT_NO_THROW(plain.build({device}, "-cl-std=CL1.2")) << method.name();
  }
  cl::Program windows(context, pace_source() +
                                   "__kernel void none(__global uint* w) { gpusync_window at = "
                                   "gpusync_window_of(w); gpusync_end_epoch(&at); }");
  EXPECT_NO_THROW(windows.build({device}, "-cl-std=CL1.2"));
}

TEST_F(program, text_can_be_included_from_the_librarys_files) {
  if (!is_pocl()) GTEST_SKIP() << "a device's own compiler need not find files of this machine";
  for (const barrier_algorithm* algorithm : barrier_algorithms) {
    EXPECT_NO_THROW(build(context, device, "#include <gpusync/opencl/gpusync.cl>\n" + ring_text,
                          std::string("-I " GPUSYNC_INCLUDE_FOLDER " -DGPUSYNC_ALGORITHM=") + algorithm->file));
  }
  EXPECT_NO_THROW(
      build(context, device, "#include <gpusync/opencl/gpusync.cl>\n" + ring_text, "-I " GPUSYNC_INCLUDE_FOLDER));
}

TEST_F(program, calibrated_ticks_grow_with_the_time) {
  using namespace std::chrono_literals;
  const auto one = ticks_for(queue, 1ms), ten = ticks_for(queue, 10ms);
  EXPECT_GT(one, 0u);
  EXPECT_NEAR(static_cast<double>(ten) / static_cast<double>(one), 10.0, 0.01);
  EXPECT_GT(ticks_for(queue, -1ms), 0u);
}

}  // namespace

}  // namespace gpusync::opencl::test
