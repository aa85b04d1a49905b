// A text file, compressed or not.
#pragma once

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "usage_error.hpp"

namespace gpusync::tool {

/// A file that is read piece by piece, and decompressed on the way if gzip has made it. Throws usage_error, with the
/// file's `name` as it is to be shown, when it cannot be read.
class text_file {
 public:
  /// `most`: bytes that may be read; only a file that is not compressed is known to have more before it is read.
  text_file(const std::string& path, std::string name, uint64_t most) : name_(std::move(name)) {
    struct stat about {};
    if (stat(path.c_str(), &about) != 0) fail(std::strerror(errno));
    if (S_ISDIR(about.st_mode)) fail("it is a folder");
    errno = 0;
    file_.reset(gzopen(path.c_str(), "rb"));
    if (!file_) fail(errno == 0 ? "there is no memory left" : std::strerror(errno));
    gzbuffer(file_.get(), buffer_bytes);
    if (S_ISREG(about.st_mode) && gzdirect(file_.get()) != 0 && static_cast<uint64_t>(about.st_size) > most) {
      throw usage_error(fmt::format("'{}' is {} bytes large, and only {} bytes may be read into memory.", name_,
                                    about.st_size, most));
    }
  }

  /// The next piece; empty at the end.
  std::string_view next() {
    const int bytes = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int code = Z_OK;
    const char* const words = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) fail(std::strerror(errno));
    // What a cut file begins with is read without complaint before its end is missed.
    if (code == Z_BUF_ERROR) fail("its gzip data is cut off");
    if (bytes < 0 || code < 0) fail(fmt::format("its gzip data is damaged ({})", words));
    return {buffer_.data(), static_cast<size_t>(bytes)};
  }

 private:
  static constexpr unsigned buffer_bytes = 1 << 17;

  struct closing {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };

  [[noreturn]] void fail(const std::string& reason) const {
    throw usage_error(fmt::format("'{}' cannot be read: {}.", name_, reason));
  }

  std::string name_;
  std::unique_ptr<gzFile_s, closing> file_;
  std::vector<char> buffer_ = std::vector<char>(buffer_bytes);
};

}  // namespace gpusync::tool
