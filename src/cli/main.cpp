// The command line: parses, calls a command, and turns failures into one sentence and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <gpusync/core/error.hpp>
#include <gpusync/core/version.hpp>
#include "cli/commands.hpp"
#include "cli/help_files.hpp"
#include "cli/interrupt.hpp"
#include "harness/experiment.hpp"
#include "nearest.hpp"
#include "number_in.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

int code(exit_code value) {
  return static_cast<int>(value);
}

/// The text on one line, ending in a full stop if it does not ask.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (!text.empty() && text.back() != '.' && text.back() != '?') text += '.';
  return text;
}

/// One sentence on stderr, on one line whatever the user has put into the names in it.
int fail(exit_code value, const std::string& sentence) {
  fmt::print(stderr, "gpusync: {}\n", one_line(sentence));
  return code(value);
}

/// Options that every command takes.
struct common_options {
  bool quiet = false, verbose = false, no_color = false;

  console_options console() const {
    const verbosity level = quiet ? verbosity::quiet : verbose ? verbosity::verbose : verbosity::normal;
    return console_options::detect(level, no_color);
  }
};

/// Of a number. Unlike CLI::Range it takes no NaN.
std::function<std::string(const std::string&)> number_from(double least, double most) {
  return [=](const std::string& text) -> std::string {
    if (const auto value = number_in<double>(text); value && *value >= least && *value <= most) return "";
    return fmt::format("'{}' is no number from {} to {}", text, least, most);
  };
}

/// Of a whole number, which may be written as 1e6 or 2^20 too: what is read then are its digits.
CLI::Validator whole_number_from(uint64_t least, uint64_t most) {
  const auto read_digits = [=](std::string& text) -> std::string {
    std::optional<double> value = power_of_two_in(text);
    if (!value) value = number_in<double>(text);
    // Doubles hold every whole number up to 2^53.
    if (!value || *value != std::floor(*value) || *value < static_cast<double>(least) ||
        *value > std::min(static_cast<double>(most), 0x1p53)) {
      return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
    }
    text = fmt::format("{}", static_cast<uint64_t>(*value));
    return "";
  };
  return {read_digits, ""};
}

/// Takes one value each time it is given, and may be given again.
void once_each(CLI::Option* option) {
  option->allow_extra_args(false);
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands({})) names.push_back(each->get_name());
  return names;
}

/// What stands for a command and is none: the first argument that is no option.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.empty() && word.front() == '-') continue;
    const std::vector<std::string> known = commands_of(app);
    return std::find(known.begin(), known.end(), word) == known.end() ? word : "";
  }
  return "";
}

option_help help_of(const CLI::Option& option) {
  option_help known{{}, option.get_items_expected_max() == 0 ? "" : option.get_type_name(), option.get_description()};
  for (const std::string& name : option.get_snames()) known.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) known.names.push_back("--" + name);
  if (!known.value_name.empty()) {
    known.takes = known.value_name == "FILE"         ? value_kind::file
                  : known.value_name == "DEVICE"     ? value_kind::device
                  : known.value_name == "EXPERIMENT" ? value_kind::experiment
                                                     : value_kind::text;
  }
  return known;
}

std::vector<option_help> options_of(const CLI::App& app) {
  std::vector<option_help> all;
  for (const CLI::Option* option : app.get_options()) all.push_back(help_of(*option));
  return all;
}

/// What --help says, as data.
program_help help_of(const CLI::App& app) {
  program_help program{app.get_description(), app.get_footer(), options_of(app), {}, {}};
  for (const CLI::App* command : app.get_subcommands({})) {
    command_help known{command->get_name(), command->get_description(), options_of(*command)};
    std::erase_if(known.options, [](const option_help& one) {  // that of the program
      return std::find(one.names.begin(), one.names.end(), "--help") != one.names.end();
    });
    program.commands.push_back(std::move(known));
  }
  for (const experiment* one : all_experiments()) program.experiments.push_back(one->name);
  return program;
}

/// What a command takes if that is one argument, in words; empty if it takes none, or several.
std::string the_only_argument(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() || option->get_items_expected_max() != 1) continue;
    std::string what = option->get_description();  // "One of bash, zsh, fish"
    what.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(what.front())));
    return what;
  }
  return "";
}

/// Whether help is asked for. What is wrong besides matters to nobody then.
bool asks_for_help(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

/// One sentence on a command line that cannot be read, with what is allowed.
std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& wrong, int argc, char** argv) {
  const std::vector<std::string> commands = commands_of(app);
  const std::string word = unknown_command(app, argc, argv);
  if (!word.empty()) {
    return fmt::format("There is no command '{}': there is {}.{}", word, fmt::join(commands, ", "),
                       did_you_mean(word, commands));
  }
  const std::vector<CLI::App*> given = app.get_subcommands();
  if (given.empty())
    return fmt::format("A command is required: {}. `gpusync --help` says more.", fmt::join(commands, ", "));
  const CLI::App& command = *given.front();
  const std::string help = fmt::format("`gpusync {} --help` says what is allowed.", command.get_name());
  for (const std::string& extra : app.remaining(true)) {
    if (!extra.starts_with('-')) {
      const std::string taken = the_only_argument(command);
      if (taken.empty()) continue;
      return fmt::format("gpusync {} takes {} at a time; '{}' is too many. {}", command.get_name(), taken, extra, help);
    }
    std::vector<std::string> known;
    for (const CLI::App* each : {&app, &command}) {
      for (const CLI::Option* option : each->get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
    }
    return fmt::format("There is no option '{}' of gpusync {}: {}{}", extra, command.get_name(), help,
                       did_you_mean(extra, known));
  }
  return one_line(wrong.what()) + " " + help;
}

/// A descriptor that is closed would be given to the next file that is opened, and what goes to a standard stream into
/// that file. So reading finds nothing, remarks go nowhere, and what is to be printed fails in words.
void open_closed_streams() {
  for (const auto& [descriptor, stand_in] : {std::pair{0, "/dev/null"}, {1, "/dev/full"}, {2, "/dev/null"}}) {
    if (fcntl(descriptor, F_GETFD) == -1) (void)!open(stand_in, O_RDWR);  // takes the lowest that is free
  }
}

void add_pace(CLI::App& app, pace_options& pacing, std::function<void()> call) {
  auto* pace =
      app.add_subcommand("pace", "Whether artificial barriers pay in a kernel of yours, and whose doing a gain is");
  pace->add_option("file", pacing.file, "A CUDA file whose loops are marked by GPUSYNC_PACE()")
      ->required()
      ->type_name("FILE");
  pace->add_option("--kernel", pacing.kernel, "The kernel, a template's with its arguments: 'solver::relax<float>'")
      ->required()
      ->type_name("NAME");
  pace->add_option("--blocks", pacing.blocks, "Blocks of the grid: 264, or 256x4")->required()->type_name("SIZE");
  pace->add_option("--threads", pacing.threads, "Threads of a block: 256, or 32x8")->required()->type_name("SIZE");
  pace->add_option("--shared", pacing.shared, "Bytes of dynamic shared memory")->type_name("BYTES");
  once_each(pace->add_option("--arg", pacing.arguments,
                             "An argument of the kernel, in their order: 'float[2^26]=random', 'int[1000]', 8192, 1.5f")
                ->type_name("ARGUMENT"));
  once_each(pace->add_option("-D,--define", pacing.definitions, "A macro for the compiler")->type_name("NAME=VALUE"));
  once_each(
      pace->add_option("-I,--include", pacing.folders, "A folder of headers for the compiler")->type_name("FILE"));
  pace->add_option("--every", pacing.every, "Intervals to try, of marks with an argument")
      ->type_name("LIST")
      ->capture_default_str();
  once_each(
      pace->add_option("-d,--device", pacing.devices, "CUDA device; the default is the first")->type_name("DEVICE"));
  pace->add_option("--arch", pacing.architecture, "Compile for this one instead of the device's: 90")
      ->type_name("NUMBER");
  pace->add_flag("--quick", pacing.quick, "Fewer rounds");
  pace->add_flag("--dry-run", pacing.dry, "Compile all variants, and run none; with --arch it needs no device");
  pace->add_option("--json", pacing.json, "Write the result document to this file (- is stdout)")->type_name("FILE");
  pace->footer(
      "Exit code 1: a variant was refused, for its results differ or it never ends, or nothing could be measured.");
  pace->callback(std::move(call));
}

void add_advise(CLI::App& app, advise_options& asked, std::function<void()> call) {
  auto* advise = app.add_subcommand("advise", "How the blocks of your computation should wait, and what a step takes");
  const auto count = [](uint64_t most) { return whole_number_from(1, most); };
  const auto amount = number_from(0, 1e12);
  advise->add_option("--blocks", asked.blocks, "Blocks of the grid, on each GPU")
      ->required()
      ->type_name("NUMBER")
      ->transform(count(2147483647));
  advise->add_option("--threads", asked.threads, "Threads of a block")
      ->required()
      ->type_name("NUMBER")
      ->transform(count(1024));
  advise->add_option("--step-us", asked.step_us, "Mean time of a block's work in a step, in microseconds")
      ->required()
      ->type_name("US")
      ->check(number_from(0, 1e9));
  advise->add_option("--steps", asked.steps, "Steps of a run")
      ->required()
      ->type_name("NUMBER")
      ->transform(count(1'000'000'000'000'000));
  advise->add_option("--skew-us", asked.skew_us, "Of the step's time, the mean of what differs between blocks")
      ->type_name("US")
      ->check(number_from(0, 1e9));
  advise->add_option("--skew", asked.skew, "How it differs: uniform, as it is without this, or exponential")
      ->type_name("FORM");
  advise->add_option("--store-bytes", asked.stored_bytes, "Bytes that a block writes in a step for others")
      ->type_name("BYTES")
      ->check(amount)
      ->capture_default_str();
  advise->add_option("--keep-bytes", asked.kept_bytes, "Bytes that a block could keep on the chip from step to step")
      ->type_name("BYTES")
      ->check(amount)
      ->capture_default_str();
  advise->add_option("--waits-for", asked.waits_for, "Whom a block waits for: all, or 2, 4 or 8 neighbours")
      ->type_name("WHOM")
      ->capture_default_str();
  advise->add_option("--gpus", asked.gpus, "GPUs, each with so many blocks")
      ->type_name("NUMBER")
      ->transform(count(1024))
      ->capture_default_str();
  advise
      ->add_option("--resident", asked.resident,
                   "Blocks that run at once on the whole GPU, if it is not threads that limit them")
      ->type_name("NUMBER")
      ->transform(count(4294967295));
  advise
      ->add_option("--from", asked.from,
                   "Take the costs from this document of gpusync run step-costs; several: from all rows")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  advise
      ->add_option("-d,--device", asked.device,
                   "A device here or in the document, or a recorded one: nvidia-h200, nvidia-h100-80gb-hbm3")
      ->type_name("DEVICE");
  advise->add_flag("--explain", asked.explain, "Show the terms of every prediction");
  advise->add_flag("--json", asked.as_json, "As JSON");
  advise->footer("Without --from the costs are those recorded of this device, or of an NVIDIA H200.");
  advise->callback(std::move(call));
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"To GPU synchronize or not? Measures what waiting costs on this machine, and says which way to wait."};
  app.name("gpusync");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "gpusync " GPUSYNC_VERSION_STRING);
  const std::string exit_codes =
      "Exit codes: 0 done, 1 a measurement or a check failed, 2 wrong usage, 3 no such device.";
  const std::string devices_and_codes =
      "DEVICE is cuda:N, opencl:N or host; the default is the first that exists in that order and that the experiment "
      "runs on.\n" +
      exit_codes;
  app.footer(exit_codes);  // commands take it over as they are added
  common_options common;
  auto* quiet = app.add_flag("--quiet", common.quiet, "No progress and no remarks on stderr");
  app.add_flag("--verbose", common.verbose, "More remarks on stderr")->excludes(quiet);
  app.add_flag("--no-color", common.no_color, "No colour in tables (also: the environment variable NO_COLOR)");

  exit_code result = exit_code::done;
  bool as_json = false;
  auto* devices = app.add_subcommand("devices", "What can be measured on this machine");
  devices->add_flag("--json", as_json, "As JSON");
  devices->callback([&] { result = run_devices(common.console(), as_json); });

  auto* list =
      app.add_subcommand("list", "Experiments by name; with names what each needs, and which paper items it covers");
  std::vector<std::string> listed;
  list->add_option("experiment", listed, "Experiments to say all about; without, an index")->type_name("EXPERIMENT");
  list->add_flag("--json", as_json, "As JSON");
  list->callback([&] { result = run_list(common.console(), listed, as_json); });

  run_options options;
  options.command.assign(argv, argv + argc);
  auto* run = app.add_subcommand("run", "Measure, check and print");
  run->add_option("experiment", options.experiments, "Experiments to run (see gpusync list)")
      ->required()
      ->type_name("EXPERIMENT");
  once_each(
      run->add_option("-d,--device", options.devices, "Device to measure; may be given again")->type_name("DEVICE"));
  once_each(
      run->add_option("-a,--axis", options.axes,
                      "Values to sweep: blocks=1,2,4 or blocks=1:132:10 or elements=2^16:2^26; may be given again")
          ->type_name("AXIS=VALUES"));
  run->add_flag("--quick", options.quick, "Fewer shapes and samples: seconds instead of minutes");
  run->add_flag("--no-samples", options.no_samples, "Leave the samples of rounds out of the JSON document");
  run->add_option("--json", options.json, "Write the result document to this file (- is stdout)")->type_name("FILE");
  run->add_option("--csv", options.csv, "Write the rows as CSV (- is stdout)")->type_name("FILE");
  run->add_option("--md", options.markdown, "Write the tables as Markdown (- is stdout)")->type_name("FILE");
  run->add_option("--matches", options.matches,
                  "Write the matches that alignment finds to this file, as mummer prints them (- is stdout)")
      ->type_name("FILE");
  run->add_flag("--dry-run", options.dry, "Say what would be measured and how long it takes; measure nothing");
  run->add_flag("--resume", options.resume, "Go on where a run with the same --json FILE was cut short");
  run->footer(devices_and_codes);
  run->footer([&] { return describe_axes(options.command); });
  run->callback([&] { result = run_run(common.console(), options); });

  reproduce_options reproducing;
  reproducing.command = options.command;
  auto* reproduce =
      app.add_subcommand("reproduce", "All experiments that this machine can run: one document, one page");
  once_each(reproduce->add_option("-d,--device", reproducing.devices, "Device to measure; may be given again")
                ->type_name("DEVICE"));
  reproduce->add_flag("--quick", reproducing.quick, "A minute on a GPU, three on two processors");
  reproduce->add_option("--time", reproducing.seconds, "Seconds to measure in")
      ->type_name("SECONDS")
      ->check(number_from(1, 1e6));
  reproduce->add_option("-o,--output", reproducing.folder, "The folder for results.json and report.html")
      ->required()
      ->type_name("FILE");
  reproduce->footer(
      "Without --quick ten minutes on a GPU. Each experiment gets an equal part of the time; the same command goes on "
      "with what was cut short or not reached.");
  reproduce->callback([&] { result = run_reproduce(common.console(), reproducing); });

  std::vector<std::string> inputs;
  std::string output;
  auto* report = app.add_subcommand("report", "One self-contained web page from result documents");
  report->add_option("results", inputs, "Result documents")->required()->type_name("FILE");
  report->add_option("-o,--output", output, "The page to write (- is stdout)")->required()->type_name("FILE");
  bool refit = false;
  report->add_flag("--refit", refit, "Fit today's models to the rows, in place of the fits in the documents");
  report->callback([&] { result = run_report(common.console(), inputs, output, refit); });

  compare_options comparing;
  auto* compare = app.add_subcommand("compare", "What became faster and slower between two result documents");
  compare->add_option("documents", comparing.documents, "BEFORE.json AFTER.json, and more such pairs")
      ->required()
      ->expected(2, 1000)
      ->type_name("FILE");
  compare->add_option("--least", comparing.least_effect_percent, "Percent that a time must change by to matter")
      ->check(number_from(0, 1000))
      ->type_name("PERCENT")
      ->capture_default_str();
  compare->add_option("--confidence", comparing.confidence_percent, "Percent, for all rows together")
      ->check(number_from(50, 99.999))
      ->type_name("PERCENT")
      ->capture_default_str();
  compare->add_flag("--json", comparing.as_json, "As JSON");
  compare->footer(
      "Exit code 1: something is slower, or failed that was right, or nothing could be compared. Pairs of runs taken "
      "in turns tell more.");
  compare->callback([&] { result = run_compare(common.console(), comparing); });

  advise_options asked;
  add_advise(app, asked, [&] { result = run_advise(common.console(), asked); });

  tune_options tuning;
  auto* tune = app.add_subcommand(
      "tune", "Measure the design space of grid barriers, reductions and halos, write the default table");
  once_each(tune->add_option("-d,--device", tuning.devices, "Device to tune for; the default is the first that exists")
                ->type_name("DEVICE"));
  tune->add_option("-o,--output", tuning.output,
                   "The table to write (- is stdout, the default); FILE.hpp: a header of the rules for barriers")
      ->type_name("FILE");
  tune->add_option("--only", tuning.only, "Measure only this part of the table")
      ->type_name("PART")
      ->check(CLI::IsMember({"barriers", "reductions", "halos"}));
  tune->add_option("--from", tuning.from, "Measure nothing: make a header of this table")->type_name("FILE");
  tune->footer(devices_and_codes);
  tune->callback([&] { result = run_tune(common.console(), tuning); });

  pace_options pacing;
  pacing.command = options.command;
  add_pace(app, pacing, [&] { result = run_pace(common.console(), pacing); });

  auto* doctor = app.add_subcommand("doctor", "What on this machine spoils measurements or is missing");
  doctor->footer("Exit code 0 whatever it finds; the last line says what to do.");
  doctor->callback([&] { result = run_doctor(common.console()); });

  auto* coverage = app.add_subcommand("coverage", "Every item of the papers, what reproduces it, and how far");
  coverage->add_flag("--json", as_json, "As JSON");
  coverage->callback([&] { result = run_coverage(common.console(), as_json); });

  std::string shell;
  auto* completions = app.add_subcommand("completions", "A script that lets a shell complete gpusync's words");
  completions->add_option("shell", shell, fmt::format("One of {}", fmt::join(known_shells, ", ")))
      ->required()
      ->type_name("SHELL");
  completions->callback([&] { fmt::print("{}", completions_for(shell, help_of(app))); });

  auto* manual = app.add_subcommand("manual", "The manual page, for man: gpusync manual > gpusync.1");
  manual->callback([&] { fmt::print("{}", manual_page(help_of(app), GPUSYNC_VERSION_STRING)); });

  app.footer(devices_and_codes);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& wrong) {
    if (asks_for_help(argc, argv) && unknown_command(app, argc, argv).empty()) {
      fmt::print("{}", app.help());
      return code(exit_code::done);
    }
    return fail(exit_code::usage, what_is_wrong(app, wrong, argc, argv));
  }
  return code(result);
}

/// Whether nobody reads what standard output is piped to, as in `gpusync list | head -1`.
bool reader_has_gone() {
  pollfd output{1, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/// What the program ends with when standard output did not take everything: a reader who had enough is no failure.
int end_without_output(int result, int error) {
  if (error == EPIPE || reader_has_gone()) return result;
  const std::string why = error != 0 ? fmt::format(": {}", std::strerror(error)) : "";
  return fail(exit_code::failed, "Standard output could not be written" + why);
}

/// The same when everything may have been written: it may still stand in the buffer.
int end_with_output(int result) {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  return is_flushed && std::ferror(stdout) == 0 ? result : end_without_output(result, errno);
}

}  // namespace
}  // namespace gpusync::tool

int main(int argc, char** argv) {
  using namespace gpusync;
  using namespace gpusync::tool;
  open_closed_streams();
  note_ignored_interrupts();
  // A reader that has gone and a file that has its most bytes are errors of writing, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return end_with_output(parse_and_run(argc, argv));
  } catch (const usage_error& wrong) {
    return fail(exit_code::usage, wrong.what());
  } catch (const no_such_device& missing) {
    return fail(exit_code::no_such_device, missing.what());
  } catch (const std::bad_alloc&) {
    return fail(exit_code::failed, "This machine has too little memory for what was asked. Ask for less at a time.");
  } catch (const std::system_error& failure) {
    // Whoever writes much to standard output may find out before the end.
    if (std::ferror(stdout) != 0) return end_without_output(code(exit_code::done), failure.code().value());
    return fail(exit_code::failed, failure.what());
  } catch (const std::exception& failure) {
    return fail(exit_code::failed, failure.what());
  }
}
