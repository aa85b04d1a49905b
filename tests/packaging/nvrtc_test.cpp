// Compiles a kernel with the grid barrier under NVRTC, and looks at the instructions that came out.
//   nvrtc_test ARCHITECTURE INCLUDE_DIRECTORY…
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

namespace {

const char* const source = R"(
#include <gpusync/core/config.hpp>
#include <gpusync/core/cuda_grid.cuh>
#include <gpusync/core/cuda_memory.cuh>
#include <gpusync/core/deadline.hpp>
#include <gpusync/core/ordering.hpp>
#include <gpusync/core/phase.hpp>
#include <gpusync/core/arrival_log.hpp>
#include <gpusync/core/version.hpp>
#include <gpusync/core/wait.hpp>
#include <gpusync/grid/barrier.hpp>
#include <gpusync/grid/layout.hpp>
#include <gpusync/grid/lock_based.hpp>
#include <gpusync/grid/registry.hpp>
#include <gpusync/neighbours/channel.hpp>
#include <gpusync/neighbours/flags.hpp>
#include <gpusync/neighbours/halo.hpp>
#include <gpusync/pace/block_pace.hpp>
#include <gpusync/pace/grid_window.hpp>
#include <gpusync/phased/phased_grid.hpp>
#include <gpusync/phased/state.hpp>

using barrier = gpusync::basic_grid_barrier<gpusync::grid::lock_based<gpusync::ordering::acquire_release>,
                                            gpusync::cuda_grid>;

extern "C" __global__ void sync(barrier b) { b.sync(); }

extern "C" __global__ void sync_for(barrier b) {
  using namespace gpusync::literals;
  if (b.sync_for(5_ms) == gpusync::wait_status::timed_out) return;
  auto token = b.arrive();
  b.wait(static_cast<barrier::arrival_token&&>(token));
}

using phased = gpusync::basic_phased_grid<gpusync::phased::claiming,
                                          gpusync::grid::lock_based<gpusync::ordering::acquire_release>,
                                          gpusync::cuda_grid>;

extern "C" __global__ void phases(phased grid, gpusync::phased_state<float> state) {
  grid.run(10, [&](gpusync::uint32_t block, gpusync::uint32_t) { state.of(block)[threadIdx.x] += 1; });
}

extern "C" __global__ void neighbours(gpusync::basic_halo<float, gpusync::cuda_grid> halo, float* values) {
  halo.put(threadIdx.x, values[threadIdx.x]);
  halo.send();
  halo.receive();
  values[threadIdx.x] = halo.get(halo.word(0, threadIdx.x));
  halo.next();
}

extern "C" __global__ void streams(gpusync::basic_channels<float, gpusync::cuda_grid> channels, float* values) {
  auto in = channels.receiver(0);
  auto out = channels.sender(1);
  out.put(threadIdx.x, in.get(threadIdx.x) + values[threadIdx.x]);
  in.next();
  out.next();
}

extern "C" __global__ void paced(gpusync::basic_grid_window<gpusync::cuda_grid> window, float* values) {
  using form = gpusync::pace::lead<2>;
  __shared__ gpusync::basic_pace_memory<form, gpusync::cuda_grid> memory;
  gpusync::basic_block_pace<form, gpusync::cuda_grid> pace(memory);
  for (int i = 0; i < 10; ++i) {
    values[threadIdx.x] += 1;
    pace.visit();
    window.end_epoch();
  }
}
)";

void require(nvrtcResult code, const char* call) {
  if (code == NVRTC_SUCCESS) return;
  std::printf("%s failed: %s\n", call, nvrtcGetErrorString(code));
  std::exit(1);
}

/// The PTX, or the end of the program with the compiler's log.
std::string compile(const std::vector<std::string>& options) {
  nvrtcProgram program = nullptr;
  require(nvrtcCreateProgram(&program, source, "barrier.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  const nvrtcResult built = nvrtcCompileProgram(program, static_cast<int>(words.size()), words.data());
  size_t size = 0;
  require(nvrtcGetProgramLogSize(program, &size), "nvrtcGetProgramLogSize");
  std::string text(size, '\0');
  require(nvrtcGetProgramLog(program, text.data()), "nvrtcGetProgramLog");
  std::printf("%s\n", text.c_str());
  require(built, "nvrtcCompileProgram");
  require(nvrtcGetPTXSize(program, &size), "nvrtcGetPTXSize");
  text.assign(size, '\0');
  require(nvrtcGetPTX(program, text.data()), "nvrtcGetPTX");
  require(nvrtcDestroyProgram(&program), "nvrtcDestroyProgram");
  return text;
}

int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

bool contains(const std::string& text, const char* expression) {
  return std::regex_search(text, std::regex(expression));
}

/// `ptx` without the bodies of functions whose mangled names contain `name`.
std::string without(std::string ptx, const std::string& name) {
  size_t at = 0;
  while ((at = ptx.find("\n.func", at)) != std::string::npos) {
    const size_t end = ptx.find("\n}", at);
    const size_t body = ptx.find("\n{", at);
    if (end == std::string::npos || body == std::string::npos) break;
    const std::string head = ptx.substr(at, body - at);
    if (body < end && head.find(';') == std::string::npos && head.find(name) != std::string::npos) {
      ptx.erase(at, end - at);
    } else {
      ++at;
    }
  }
  return ptx;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::printf("usage: nvrtc_test ARCHITECTURE INCLUDE_DIRECTORY...\n");
    return 2;
  }
  std::vector<std::string> options = {"-std=c++17", std::string("-arch=") + argv[1]};
  for (int i = 2; i < argc; ++i) options.push_back(std::string("-I") + argv[i]);
  const std::string ptx = compile(options);

  // The unbounded barrier alone: the report of a missing block has relaxed loads of its own.
  const size_t begin = ptx.find(".entry sync(");
  const std::string sync = begin == std::string::npos ? "" : ptx.substr(begin, ptx.find(".entry", begin + 1) - begin);
  expect(contains(sync, R"(atom\.release\.gpu\.global\.add\.u32)"), "a block arrives with one releasing add");
  expect(contains(sync, R"(ld\.relaxed\.gpu\.global\.u32)"), "it polls with relaxed loads");
  expect(contains(sync, R"(ld\.acquire\.gpu\.global\.u32)"), "it leaves with an acquiring load");
  // What ends a launch writes its reason to the host's memory, fenced, and never returns: no part of a barrier. A
  // halo's table and its plain data are no words that are waited for.
  std::string barriers = without(ptx, "cuda_grid4fail");
  expect(barriers.size() < ptx.size(), "what ends a launch is a function of its own");
  const size_t halo = barriers.find(".visible .entry neighbours(");
  expect(halo != std::string::npos, "the halo's kernel is there");
  if (halo != std::string::npos) barriers.erase(halo, barriers.find("\n}", halo) - halo);
  barriers = without(without(barriers, "neighbour"), "basic_halo");
  // Weak or volatile accesses to the barrier's words would race, and a generic one would cost a look at the
  // space.
  expect(!contains(barriers, R"(\b(ld|st)\.(volatile\.|weak\.)?(global\.)?[usb]32)"), "no weak access to shared words");
  expect(!contains(barriers, R"(\b(membar|fence)\b)"), "no fence beside the release and the acquire");
  if (failures != 0) std::printf("%s\n", ptx.c_str());
  return failures == 0 ? 0 : 1;
}
