// Child processes that may hang: they are ended when they take too long.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include <gpusync/core/error.hpp>

namespace gpusync::test {

using namespace std::chrono_literals;

struct outcome {
  bool hung = false;   ///< was ended after it had said "ready" and then nothing for long
  std::string output;  ///< both streams
};

/// Runs `command`. Getting ready (compiling) may take a minute; what comes after the child has said "ready", `limit`.
inline outcome watch(const std::vector<std::string>& command, std::chrono::milliseconds limit = 5s) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw error("There is no pipe.");
  const pid_t child = fork();
  if (child == -1) throw error("There is no further process.");
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  outcome found;
  auto deadline = std::chrono::steady_clock::now() + 60s;
  bool ready = false;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waited{ends[0], POLLIN, 0};
    if (left <= 0ms || poll(&waited, 1, static_cast<int>(left.count())) == 0) {
      found.hung = ready;
      kill(child, SIGKILL);
      break;
    }
    char bytes[4096];
    const ssize_t count = read(ends[0], bytes, sizeof(bytes));
    if (count <= 0) break;
    found.output.append(bytes, static_cast<size_t>(count));
    if (!ready && found.output.find("ready\n") != std::string::npos) {
      ready = true;
      deadline = std::chrono::steady_clock::now() + limit;
    }
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return found;
}

}  // namespace gpusync::test
