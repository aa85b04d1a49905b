#include "cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <iterator>

#include "results/output_file.hpp"

namespace gpusync::tool {

namespace {

volatile std::sig_atomic_t asked = 0;
volatile std::sig_atomic_t answers = 0;
constexpr char answer[] = "\ngpusync: stopping after what runs now; a second Ctrl-C ends it at once.\n";

constexpr int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
bool ignored[std::size(interrupts)] = {};

void on_signal(int) {
  if (asked != 0) {
    remove_temporary_files();
    _exit(130);
  }
  asked = 1;
  if (answers != 0) (void)!write(STDERR_FILENO, answer, sizeof answer - 1);
}

}  // namespace

void note_ignored_interrupts() {
  for (size_t i = 0; i < std::size(interrupts); ++i) {
    struct sigaction before {};
    ignored[i] = sigaction(interrupts[i], nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
  }
}

void catch_interrupts(bool in_words) {
  answers = in_words ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  // Again, for drivers take all of them.
  for (size_t i = 0; i < std::size(interrupts); ++i)
    (void)sigaction(interrupts[i], ignored[i] ? &ignore : &action, nullptr);
}

bool interrupted() {
  return asked != 0;
}

}  // namespace gpusync::tool
