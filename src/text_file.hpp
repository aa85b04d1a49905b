// A text file, compressed or not.
#pragma once

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usage_error.hpp"

namespace gpusync::tool {

/// A file that is read piece by piece, and decompressed on the way if gzip has made it, of one member or several.
/// Throws usage_error when it cannot be read as a whole: also where something else stands behind the compressed data,
/// which zlib's own files pass over.
class text_file {
 public:
  /// `name`: of the file, as it is to be shown; `wanted`: what a sentence on it ends with, e.g. "; expected a table".
  text_file(const std::string& path, std::string name, std::string wanted = "")
      : name_(std::move(name)), wanted_(std::move(wanted)) {
    struct stat about {};
    if (stat(path.c_str(), &about) != 0) fail(std::strerror(errno));
    if (S_ISDIR(about.st_mode)) fail("it is a folder");
    file_.reset(std::fopen(path.c_str(), "rb"));
    if (!file_) fail(std::strerror(errno));
    if (S_ISREG(about.st_mode)) size_ = static_cast<uint64_t>(about.st_size);
    fill(2);
    compressed_ = begins_member();
    if (compressed_ && inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) fail("there is no memory left");
  }
  text_file(const text_file&) = delete;
  text_file& operator=(const text_file&) = delete;
  ~text_file() {
    if (compressed_) inflateEnd(&stream_);
  }

  /// Bytes of text, where that is known before it is read: 0 of what is compressed, or no regular file.
  uint64_t size() const { return compressed_ ? 0 : size_; }

  /// The next piece; empty at the end.
  std::string_view next() {
    if (!compressed_) {
      fill(1);
      const std::string_view piece(read_.data() + begin_, end_ - begin_);
      begin_ = end_;
      return piece;
    }
    for (;;) {
      fill(within_ ? 1 : 2);
      if (begin_ == end_) {
        if (within_) fail("its gzip data is cut off");
        return {};
      }
      if (!within_) {
        if (!begins_member()) fail("behind its gzip data stands something else");
        inflateReset(&stream_);
        within_ = true;
      }
      const size_t found = inflated();
      if (found != 0) return {text_.data(), found};
    }
  }

 private:
  static constexpr size_t buffer_bytes = 1 << 17;

  bool begins_member() const { return end_ - begin_ >= 2 && std::memcmp(read_.data() + begin_, "\x1f\x8b", 2) == 0; }

  /// Has so many bytes at hand, if the file has them.
  void fill(size_t least) {
    if (end_ - begin_ >= least) return;
    std::memmove(read_.data(), read_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    while (end_ < least) {
      const size_t bytes = std::fread(read_.data() + end_, 1, read_.size() - end_, file_.get());
      if (bytes == 0) break;
      end_ += bytes;
    }
    if (std::ferror(file_.get()) != 0) fail(std::strerror(errno));
  }

  /// Decompresses of what is at hand as much as there is room for.
  size_t inflated() {
    stream_.next_in = reinterpret_cast<Bytef*>(read_.data() + begin_);
    stream_.avail_in = static_cast<uInt>(end_ - begin_);
    stream_.next_out = reinterpret_cast<Bytef*>(text_.data());
    stream_.avail_out = static_cast<uInt>(text_.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    begin_ = end_ - stream_.avail_in;
    if (code == Z_STREAM_END) {
      within_ = false;
    } else if (code == Z_MEM_ERROR) {
      fail("there is no memory left");
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fail(fmt::format("its gzip data is damaged ({})", stream_.msg != nullptr ? stream_.msg : "unknown"));
    }
    return text_.size() - stream_.avail_out;
  }

  struct closing {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[noreturn]] void fail(const std::string& reason) const {
    throw usage_error(fmt::format("'{}' cannot be read: {}{}.", name_, reason, wanted_));
  }

  std::string name_;
  std::string wanted_;
  std::unique_ptr<std::FILE, closing> file_;
  uint64_t size_ = 0;
  std::vector<char> read_ = std::vector<char>(buffer_bytes);  ///< of the file: [begin_, end_) is at hand
  size_t begin_ = 0;
  size_t end_ = 0;
  bool compressed_ = false;
  bool within_ = false;  ///< a member
  z_stream stream_{};
  std::vector<char> text_ = std::vector<char>(buffer_bytes);  ///< of a member
};

}  // namespace gpusync::tool
