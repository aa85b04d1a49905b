// Files that are either written whole or not at all.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpusync::tool {

/// An output could be opened, but not written: the disk is full, the pipe is closed. The contents are still
/// the caller's to save elsewhere.
class output_error : public std::runtime_error {
 public:
  output_error(const std::string& path, const std::string& reason);
  const std::string& path() const { return path_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string path_;
  std::string reason_;
};

/// One output. A regular file is written to a temporary file in the same folder, which takes the target's
/// place on commit(): until then an existing target is untouched, and a destroyed output_file leaves nothing
/// behind, nor does a killed program where the file system has files without a name. "-" and "/dev/stdout" are
/// standard output, written on commit(); so are other devices and pipes.
class output_file {
 public:
  /// Opens the temporary file at once, so that a path that cannot be written is found before anything is
  /// measured. The file gets the permissions of the one that it replaces, or those of a new file; a symbolic
  /// link stays and its target is replaced. Throws usage_error naming the path and the reason.
  explicit output_file(std::string path);
  /// Removes the temporary file unless commit() succeeded.
  ~output_file();
  output_file(output_file&& other) noexcept;
  output_file& operator=(output_file&&) = delete;

  /// Appends to what commit() will write.
  void write(std::string_view text) { contents_ += text; }

  /// Writes everything, flushes it to the disk and puts it in the target's place. Throws output_error naming
  /// the path and the reason, after removing the temporary file. To be called once.
  void commit();

  /// Whether it is the file that this path leads to, however either is spelled. Never for a device that keeps nothing,
  /// like /dev/null: it may take several outputs.
  bool goes_to(const std::string& path) const;

  /// The path as the user gave it.
  const std::string& path() const { return path_; }
  /// What was written so far, also after a failed commit().
  const std::string& contents() const { return contents_; }
  bool is_stdout() const { return target_.empty(); }

 private:
  void open_temporary();
  void name_temporary(const std::function<bool(const char*)>& make);
  void write_all();
  void discard() noexcept;

  std::string path_;
  std::string target_;     // where links lead; empty: standard output
  std::string temporary_;  // its name; empty: written directly, or not yet named
  std::string contents_;
  int descriptor_ = -1;
  bool is_nameless_ = false;
  bool keeps_nothing_ = false;
};

/// Commits a file; what cannot be written where the user wanted it is saved elsewhere, for measurements must not be
/// lost to a full disk. Returns what became of it then, as a sentence; else nothing.
std::optional<std::string> commit_or_save(output_file& file);

/// Removes the temporary files of all outputs that are not committed, for a program that is about to end without
/// running destructors. May be called from a signal handler.
void remove_temporary_files() noexcept;

}  // namespace gpusync::tool
