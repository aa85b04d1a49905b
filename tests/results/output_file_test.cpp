#include "results/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

namespace fs = std::filesystem;

class output_file_test : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gpusync-output-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  static std::string refusal(const std::string& path) {
    try {
      const output_file file(path);
      return "";
    } catch (const usage_error& error) {
      return error.what();
    }
  }

  fs::path folder_;
};

TEST_F(output_file_test, appears_whole_on_commit_with_the_permissions_of_a_new_file) {
  output_file file(path("r.json"));
  file.write("one ");
  EXPECT_FALSE(fs::exists(path("r.json")));
  file.write("two");
  file.commit();
  EXPECT_EQ(contents(path("r.json")), "one two");
  EXPECT_EQ(files(), 1u);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(path("r.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
}

TEST_F(output_file_test, leaves_nothing_behind_unless_committed) {
  {
    output_file file(path("r.json"));
    file.write("half");
    EXPECT_FALSE(fs::exists(path("r.json")));
    const output_file moved(std::move(file));
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(output_file_test, a_killed_program_leaves_nothing_behind) {
  const int probe = ::open(folder_.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (probe < 0) GTEST_SKIP() << "this file system has no files without a name";
  ::close(probe);
  const pid_t child = ::fork();
  if (child == 0) {
    output_file file(path("r.json"));
    file.write("half");
    (void)::raise(SIGKILL);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(files(), 0u);
}

TEST_F(output_file_test, a_file_has_one_name_however_it_is_spelled_and_before_it_exists) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  fs::create_directory("sub");
  fs::create_symlink("r.json", "link");
  {
    const output_file file("r.json");
    for (const char* name : {"r.json", "./r.json", "sub/../r.json", "link", "./link"}) {
      EXPECT_TRUE(file.goes_to(name)) << name;
      EXPECT_TRUE(output_file(name).goes_to(path("r.json"))) << name;
    }
    EXPECT_TRUE(file.goes_to(path("r.json")));
    EXPECT_FALSE(file.goes_to("sub/r.json"));
    EXPECT_FALSE(file.goes_to("./r.json.partial"));
  }
  fs::current_path(before);
}

TEST_F(output_file_test, replaces_an_existing_file_only_on_commit_and_keeps_its_permissions) {
  put(path("r.json"), "old");
  ASSERT_EQ(::chmod(path("r.json").c_str(), 0640), 0);
  { output_file(path("r.json")).write("half"); }
  EXPECT_EQ(contents(path("r.json")), "old");
  output_file file(path("r.json"));
  file.write("new");
  file.commit();
  EXPECT_EQ(contents(path("r.json")), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path("r.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(output_file_test, follows_a_link_even_to_a_file_that_is_not_there_yet) {
  fs::create_symlink("target.json", path("link.json"));
  output_file file(path("link.json"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(contents(path("target.json")), "new");
  fs::create_symlink("circle", path("circle"));
  EXPECT_NE(refusal(path("circle")), "");
}

TEST_F(output_file_test, a_path_that_cannot_be_written_is_refused_at_once) {
  EXPECT_NE(refusal("").find("the name is empty"), std::string::npos);
  EXPECT_NE(refusal(folder_.string()).find("it is a folder"), std::string::npos);
  EXPECT_NE(refusal(folder_.string() + "/").find("it names a folder"), std::string::npos);
  EXPECT_NE(refusal(path("no/r.json")).find("does not exist"), std::string::npos);
  put(path("file"), "");
  EXPECT_NE(refusal(path("file/r.json")), "");
  EXPECT_NE(refusal(path(std::string(300, 'x'))).find("too long"), std::string::npos);
  EXPECT_NE(refusal("/proc/r.json").find("/proc"), std::string::npos);
  EXPECT_EQ(files(), 1u);
}

TEST_F(output_file_test, a_file_without_write_permission_is_refused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anything";
  put(path("r.json"), "old");
  ASSERT_EQ(::chmod(path("r.json").c_str(), 0444), 0);
  EXPECT_NE(refusal(path("r.json")).find("Permission denied"), std::string::npos);
}

TEST_F(output_file_test, a_full_device_is_reported_and_the_contents_can_be_saved_elsewhere) {
  output_file file("/dev/full");
  file.write("precious");
  try {
    file.commit();
    FAIL() << "a full device took the file";
  } catch (const output_error& error) {
    EXPECT_EQ(error.path(), "/dev/full");
    EXPECT_STREQ(error.what(), "cannot write '/dev/full': No space left on device");
  }
  EXPECT_EQ(file.contents(), "precious");
}

TEST_F(output_file_test, a_failed_commit_keeps_the_old_file_and_removes_the_temporary_one) {
  put(path("r.json"), "old");
  // A limit on the size of files stands in for a full disk.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 1000, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  output_file file(path("r.json"));
  file.write(std::string(5000, 'x'));
  EXPECT_THROW(file.commit(), output_error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(contents(path("r.json")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(output_file_test, a_dash_is_standard_output) {
  testing::internal::CaptureStdout();
  output_file file("-");
  EXPECT_TRUE(file.is_stdout());
  file.write("text\n");
  file.commit();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text\n");
}

}  // namespace
}  // namespace gpusync::tool
