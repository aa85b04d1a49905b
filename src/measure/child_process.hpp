// Child processes that may hang: they are ended when they take too long.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include <gpusync/core/error.hpp>

namespace gpusync::tool {

/// How long a child may take.
struct child_limits {
  std::chrono::milliseconds limit;
  /// Once the child has written `ready` in a line of its own, it may take `after_ready` from then on. Empty: there is
  /// no such line.
  std::string ready = {};
  std::chrono::milliseconds after_ready{0};
};

/// What came of a child.
struct child_outcome {
  bool ended = false;      ///< false: it took too long, and was killed
  bool was_ready = false;  ///< it had written the line that child_limits names
  int exit_code = -1;      ///< -1 if it was killed, by whomever
  std::string output;      ///< its standard output
};

/// Runs `command` (argv, the first found as execvp() finds it) and waits for its end. Its standard error is this
/// process's, or goes to `output` too if `with_errors`; its environment is this process's with `more` ("NAME=value").
/// Throws gpusync::error if there can be no further process; a program that cannot be run ends with exit code 127.
inline child_outcome run_child(const std::vector<std::string>& command, const child_limits& limits,
                               bool with_errors = false, const std::vector<std::string>& more = {}) {
  using clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> names;
  for (const std::string& word : more) names.push_back(const_cast<char*>(word.c_str()));
  for (char** inherited = environ; *inherited != nullptr; ++inherited) names.push_back(*inherited);
  names.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw error("There is no pipe to a child process.");
  const pid_t child = fork();
  if (child == -1) {
    close(ends[0]);
    close(ends[1]);
    throw error("There is no further process.");
  }
  if (child == 0) {
    dup2(ends[1], 1);
    if (with_errors) dup2(ends[1], 2);
    execvpe(arguments[0], arguments.data(), names.data());
    _exit(127);
  }
  close(ends[1]);
  child_outcome found;
  const std::string ready = limits.ready + "\n";
  auto deadline = clock::now() + limits.limit;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock::now());
    pollfd waited{ends[0], POLLIN, 0};
    const int events = left.count() <= 0 ? 0 : poll(&waited, 1, static_cast<int>(left.count()));
    if (events == -1 && errno == EINTR) continue;
    if (events == 0) {
      kill(child, SIGKILL);
      break;
    }
    char bytes[4096];
    const ssize_t count = read(ends[0], bytes, sizeof(bytes));
    if (count == -1 && errno == EINTR) continue;
    if (count <= 0) {
      found.ended = true;
      break;
    }
    found.output.append(bytes, static_cast<size_t>(count));
    if (!limits.ready.empty() && !found.was_ready && found.output.find(ready) != std::string::npos) {
      found.was_ready = true;
      deadline = clock::now() + limits.after_ready;
    }
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  if (found.ended && WIFEXITED(status)) found.exit_code = WEXITSTATUS(status);
  return found;
}

}  // namespace gpusync::tool
