#include "results/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "results/text.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

namespace fs = std::filesystem;

/// Names of temporary files that a signal handler can read: fixed memory, and a flag that is set last and cleared
/// first.
struct emergency_entry {
  std::atomic<bool> used{false};
  std::array<char, 4096> path{};
};
std::array<emergency_entry, 8> emergency_list;

void remember(const std::string& path) {
  for (emergency_entry& entry : emergency_list) {
    if (entry.used || path.size() >= entry.path.size()) continue;
    path.copy(entry.path.data(), path.size());
    entry.path[path.size()] = '\0';
    entry.used = true;
    return;
  }
}

void forget(const std::string& path) {
  for (emergency_entry& entry : emergency_list) {
    if (entry.used && path == entry.path.data()) entry.used = false;
  }
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw usage_error(
      fmt::format("cannot write '{}': {}; give a file in an existing, writable folder, or - for standard "
                  "output",
                  printable(path), reason));
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Where `path` leads if it is a symbolic link, even to a file that does not exist yet; of links in a circle, one of
/// them.
fs::path follow_links(const std::string& path, std::error_code& error) {
  constexpr int most_links = 40;  // as the kernel has it
  fs::path target = path;
  for (int i = 0; i < most_links && fs::is_symlink(target, error); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;
  }
  return target;
}

/// The same, but a link that cannot be followed is refused.
std::string link_target(const std::string& path) {
  std::error_code error;
  const fs::path target = follow_links(path, error);
  std::error_code ignored;
  if (fs::is_symlink(target, ignored)) refuse(path, error ? error.message() : std::strerror(ELOOP));
  return target.string();
}

/// One name for a file that need not exist: from the root, and without what can be spelled in several ways.
fs::path one_name(const std::string& path, std::error_code& error) {
  const fs::path target = fs::absolute(follow_links(path, error), error);
  return fs::weakly_canonical(target, error);
}

/// Flushes to the disk what can be: pipes and some file systems have nothing to flush.
bool flushed(int descriptor) {
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

void flush_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)flushed(descriptor);  // the file itself is on the disk
  ::close(descriptor);
}

}  // namespace

output_error::output_error(const std::string& path, const std::string& reason)
    : std::runtime_error(fmt::format("cannot write '{}': {}", printable(path), reason)), path_(path), reason_(reason) {}

output_file::output_file(std::string path) : path_(std::move(path)) {
  if (path_.empty()) refuse(path_, "the name is empty");
  if (path_.find('\0') != std::string::npos) refuse(path_, "the name contains a zero byte");
  if (path_ == "-" || path_ == "/dev/stdout") return;
  if (path_.back() == '/') refuse(path_, "it names a folder");
  target_ = link_target(path_);

  struct stat existing {};
  if (::stat(target_.c_str(), &existing) != 0) {
    if (errno == ENOENT && !fs::exists(folder_of(target_))) {
      refuse(path_, fmt::format("the folder '{}' does not exist", printable(folder_of(target_))));
    }
    if (errno != ENOENT) refuse(path_, std::strerror(errno));
    open_temporary();
    return;
  }
  if (S_ISDIR(existing.st_mode)) refuse(path_, "it is a folder");
  if (::access(target_.c_str(), W_OK) != 0) refuse(path_, std::strerror(errno));
  if (!S_ISREG(existing.st_mode)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse(path_, std::strerror(errno));
    keeps_nothing_ = S_ISCHR(existing.st_mode) && ::isatty(descriptor_) == 0;
    return;
  }
  open_temporary();
  (void)::fchmod(descriptor_, existing.st_mode & 0777);
}

bool output_file::goes_to(const std::string& path) const {
  if (is_stdout()) return path == "-" || path == "/dev/stdout";
  if (keeps_nothing_) return false;
  std::error_code error;
  if (fs::equivalent(target_, path, error)) return true;
  std::error_code our_error, their_error;
  const fs::path ours = one_name(target_, our_error), theirs = one_name(path, their_error);
  return !our_error && !their_error && ours == theirs;
}

output_file::output_file(output_file&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      contents_(std::move(other.contents_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_nameless_(other.is_nameless_),
      keeps_nothing_(other.keeps_nothing_) {}

output_file::~output_file() {
  discard();
}

void output_file::open_temporary() {
  // Without a name: of a program that is killed nothing is left. Not every file system has such files.
  descriptor_ = ::open(folder_of(target_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  is_nameless_ = descriptor_ >= 0;
  if (is_nameless_) return;
  name_temporary([this](const char* name) {
    descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return descriptor_ >= 0;
  });
  if (temporary_.empty()) {
    refuse(path_, fmt::format("in the folder '{}': {}", printable(folder_of(target_)), std::strerror(errno)));
  }
}

/// Leaves temporary_ empty, and errno as it is, if `make` fails for another reason than that there is such a file.
void output_file::name_temporary(const std::function<bool(const char*)>& make) {
  static std::atomic<unsigned> count = 0;
  for (;;) {  // a name that an earlier process with this id left behind is passed over
    temporary_ = fmt::format("{}/.gpusync-{}-{}.tmp", folder_of(target_), ::getpid(), count++);
    if (make(temporary_.c_str())) break;
    if (errno == EEXIST) continue;
    temporary_.clear();
    return;
  }
  remember(temporary_);
}

void output_file::commit() {
  if (is_stdout()) {
    if (std::fwrite(contents_.data(), 1, contents_.size(), stdout) != contents_.size() || std::fflush(stdout) != 0) {
      throw output_error("standard output", std::strerror(errno));
    }
    return;
  }
  write_all();
  if (temporary_.empty()) return;  // a device or a pipe
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    discard();
    throw output_error(path_, std::strerror(error));
  }
  forget(temporary_);
  temporary_.clear();
  flush_folder(folder_of(target_));
}

void output_file::write_all() {
  const auto fail = [&](int error) {
    discard();
    throw output_error(path_, std::strerror(error));
  };
  for (size_t written = 0; written < contents_.size();) {
    const ssize_t count = ::write(descriptor_, contents_.data() + written, contents_.size() - written);
    if (count < 0 && errno != EINTR) fail(errno);
    if (count > 0) written += static_cast<size_t>(count);
  }
  if (!flushed(descriptor_)) fail(errno);
  if (is_nameless_) {
    const std::string open_file = fmt::format("/proc/self/fd/{}", descriptor_);
    name_temporary([&](const char* name) {
      return ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
    if (temporary_.empty()) fail(errno);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
}

void output_file::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    forget(temporary_);
  }
  temporary_.clear();
}

void remove_temporary_files() noexcept {
  for (const emergency_entry& entry : emergency_list) {
    if (entry.used) ::unlink(entry.path.data());
  }
}

namespace {

/// Returns what became of it, as a sentence.
std::string save_elsewhere(const output_error& failure, const std::string& contents) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/gpusync-rescued-XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor >= 0) {
    if (FILE* file = fdopen(descriptor, "w")) {
      const bool written = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
      if (std::fclose(file) == 0 && written) {
        return fmt::format("{} could not be written ({}); its contents were saved as {}.", failure.path(),
                           failure.reason(), path);
      }
    }
    std::remove(path.c_str());
  }
  (void)std::fwrite(contents.data(), 1, contents.size(), stdout);
  return fmt::format("{} could not be written ({}), nor a file in its stead; its contents went to standard output.",
                     failure.path(), failure.reason());
}

}  // namespace

std::optional<std::string> commit_or_save(output_file& file) {
  try {
    file.commit();
    return std::nullopt;
  } catch (const output_error& failure) {
    return save_elsewhere(failure, file.contents());
  }
}

}  // namespace gpusync::tool
