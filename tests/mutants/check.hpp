// A program of small checks, each of which finds mutants of the library out: see README.md.
//
//   PROGRAM            all checks
//   PROGRAM CHECK      one of them
//
// With -DGPUSYNC_ONLY_CHECK="CHECK" the program has that one alone: nothing of the others is compiled to machine code.
//
// Exit code 0: all hold; 1: one does not, throws, or takes too long; 2: there is no such check. Plain, for it is
// compiled once for each mutant.
#pragma once

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

namespace gpusync::test {

struct named_check {
  const char* name;
  void (*run)();  // null in a program that has only another
};

#ifndef GPUSYNC_ONLY_CHECK
#define GPUSYNC_ONLY_CHECK ""
#endif
constexpr bool is_compiled(std::string_view name) {
  constexpr std::string_view only = GPUSYNC_ONLY_CHECK;
  return only.empty() || only == name;
}
/// The named_check of a function.
#define GPUSYNC_CHECK(function) \
  { #function, gpusync::test::is_compiled(#function) ? function : nullptr }

inline std::atomic<int> failures{0};

/// Says `what` should have been so, unless it was. May be called by any thread.
inline void expect(bool right, const char* what) {
  if (right) return;
  std::printf("  not so: %s\n", what);
  ++failures;
}

/// A mutant that waits for ever has been found out too, but only by somebody who waits no longer. Nothing that a check
/// does takes a tenth of this, however busy the machine, nor of the processors' time a fifth of this, for who waits
/// polls.
inline constexpr unsigned patience_in_seconds = 15, patience_of_processors = 4;

inline void give_up(int) {
  const char words[] = "  not so: it comes to an end\n";
  (void)!write(STDOUT_FILENO, words, sizeof(words) - 1);
  _exit(1);
}

/// SIGPROF comes when all threads together have used so many seconds more; 0: never.
inline void allow_processors(unsigned seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

template <size_t Count>
int run_checks(const named_check (&checks)[Count], int words, char** word) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  signal(SIGALRM, give_up);
  signal(SIGPROF, give_up);
  bool found = false;
  for (const named_check& one : checks) {
    if (one.run == nullptr || (words > 1 && std::strcmp(word[1], one.name) != 0)) continue;
    found = true;
    std::printf("%s\n", one.name);
    alarm(patience_in_seconds);
    allow_processors(patience_of_processors);
    try {
      one.run();
    } catch (const std::exception& thrown) {
      expect(false, thrown.what());
    }
    alarm(0);
    allow_processors(0);
  }
  if (!found) return 2;
  return failures == 0 ? 0 : 1;
}

}  // namespace gpusync::test
