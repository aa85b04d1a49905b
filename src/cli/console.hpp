// Where talk goes: stderr, as much of it as the user wants. Data goes to stdout and not through here.
#pragma once

#include <chrono>
#include <string>

namespace gpusync::tool {

enum class verbosity { quiet, normal, verbose };

/// How to talk, from the command line and the environment.
struct console_options {
  verbosity level = verbosity::normal;
  bool color_data = false;  ///< stdout is a terminal and colour was not refused
  bool terminal = false;    ///< stderr is a terminal: a progress bar may move

  /// `no_color` also holds where NO_COLOR is set to anything but an empty string (no-color.org).
  static console_options detect(verbosity level, bool no_color);
};

/// Progress with the time left: a bar that moves on a terminal, a line now and then elsewhere, nothing if quiet.
class progress_display {
 public:
  progress_display(const console_options& options, std::string title);
  ~progress_display();
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  /// `fraction` of the work is done (0..1), `what` is being done. Cheap enough to call often.
  void update(double fraction, const std::string& what);
  /// Removes the bar; called by the destructor too.
  void finish();

 private:
  using clock = std::chrono::steady_clock;
  std::string time_left(double fraction) const;

  console_options options_;
  std::string title_;
  clock::time_point begin_ = clock::now();
  clock::time_point shown_{};
  bool drawn_ = false;
};

/// One line of talk on stderr, unless quiet.
void say(const console_options& options, const std::string& line);

}  // namespace gpusync::tool
