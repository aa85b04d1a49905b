// Ctrl-C.
#pragma once

namespace gpusync::tool {

/// Notes which of these signals are ignored, as nohup has it: they stay so. To be called first of all, before drivers
/// take the signals.
void note_ignored_interrupts();

/// From now on SIGINT, SIGTERM and SIGHUP ask the program to stop in its own time; a second one ends it at once (exit
/// code 130) and leaves no half-written file. The first is answered at once, `in_words` on stderr. To be called again
/// after libraries were loaded that take the signals for themselves, as OpenCL drivers do.
void catch_interrupts(bool in_words);

/// Whether the user has asked to stop.
bool interrupted();

}  // namespace gpusync::tool
