// What may hang or crash, in a process of its own that watched_test watches and ends.
//   opencl_watched late SYNC GROUPS ITEMS [POLLS]  one barrier to which all work-groups but the first come late
//   opencl_watched checked SYNC GROUPS ITEMS       the same, launched by the library
//   opencl_watched phased SYNC GROUPS ITEMS        the same as a phased grid of so many virtual work-groups
//   opencl_watched race SYNC                       one work-group whose work-items read what the others wrote
// SYNC is an algorithm of the library, "printed:NAME" for printed/NAME.cl, or "none". Says "ready" before what may hang
// and "wrong N" after it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>

#include <gpusync/opencl/opencl.hpp>

namespace {

namespace ocl = gpusync::opencl;

/// In every work-group but the first the last work-item stays away until the first work-group has been let go, or for
/// long. The first then looks whether all have written.
constexpr const char* late_text = R"(
__kernel void late(__global uint* storage, volatile __global int* printed, volatile __global uint* words, uint patience) {
  if (GPUSYNC_TRIAL(storage)) return;
  gpusync_barrier grid = gpusync_barrier_of(storage);
  volatile __global uint* let_go = words;
  volatile __global uint* wrong = words + 1;
  volatile __global uint* written = words + 2;
  const uint group = (uint)get_group_id(0), last = (uint)get_local_size(0) - 1;
  if (group != 0 && get_local_id(0) == last) {
    for (uint i = 0; i < patience && *let_go == 0; ++i) {
    }
  }
  written[get_global_id(0)] = 1;
  SYNC;
  if (group == 0 && get_local_id(0) == 0) {
    for (uint i = 0; i < get_global_size(0); ++i) {
      if (written[i] == 0) atomic_inc(wrong);
    }
    atomic_inc(let_go);
  }
}
)";

constexpr const char* race_text = R"(
__kernel void race(__global uint* storage, volatile __global int* printed, __global uint* words, uint phases) {
  gpusync_barrier grid = gpusync_barrier_of(storage);
  const uint items = (uint)get_local_size(0), item = (uint)get_local_id(0);
  uint wrong = 0;
  for (uint phase = 1; phase <= phases; ++phase) {
    __global uint* half_of_words = words + 2 + phase % 2 * items;
    half_of_words[item] = phase * 64 + item;
    SYNC;
    const uint next = (item + 1) % items;
    if (half_of_words[next] != phase * 64 + next) ++wrong;
  }
  if (wrong != 0) atomic_add((volatile __global uint*)words + 1, wrong);
}
)";

constexpr const char* phased_text = R"(
static void write(volatile __global uint* written, uint group) {
  written[group * get_local_size(0) + get_local_id(0)] = 1;
}
static void look(volatile __global uint* written, volatile __global uint* wrong, uint groups) {
  for (uint i = 0; i < groups * get_local_size(0); ++i) {
    if (written[i] == 0) atomic_inc(wrong);
  }
}
__kernel void phased(__global uint* storage, __global uint* grid_words, volatile __global uint* words) {
  __local gpusync_phased_local shared;
  gpusync_phased grid;
  if (!gpusync_phased_enter(storage, grid_words, &shared, &grid)) return;
  const uint groups = gpusync_virtual_groups(&grid);
  for (uint phase = 0; phase < 2; ++phase) {
    GPUSYNC_FOR_EACH_GROUP(&grid, group,
                           phase == 0 ? write(words + 2, group) : look(words + 2, words + 1, groups));
    gpusync_end_phase(&grid);
  }
}
)";

struct text {
  std::string source;
  const ocl::barrier_algorithm* algorithm = &ocl::lock_based;
};

text text_of(const std::string& sync, gpusync::ordering order, const std::string& kernel) {
  const std::string prefix = "printed:";
  text found;
  std::string call = "";
  std::string before;
  if (sync.rfind(prefix, 0) == 0) {
    std::ifstream file(GPUSYNC_PRINTED_FOLDER "/" + sync.substr(prefix.size()) + ".cl");
    std::ostringstream all;
    all << file.rdbuf();
    before = all.str();
    if (before.empty()) throw gpusync::error("There is no " + sync);
    call = "gpu_sync(printed)";
  } else if (sync != "none") {
    found.algorithm = nullptr;
    for (const ocl::barrier_algorithm* each : ocl::barrier_algorithms) {
      if (sync == each->family) found.algorithm = each;
    }
    if (found.algorithm == nullptr) throw gpusync::error("There is no barrier " + sync);
    call = "gpusync_sync(&grid)";
  }
  found.source = ocl::barrier_source(*found.algorithm, order) + before + "\n#define SYNC " + call + "\n" + kernel;
  return found;
}

/// Says how many words of the first phase the second one missed, under all schedules.
int run_phased(const std::string& sync, uint32_t groups, uint32_t items) {
  const ocl::barrier_algorithm& algorithm = *text_of(sync, gpusync::ordering::acquire_release, "").algorithm;
  const cl::Device device = ocl::all_devices().at(0);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  std::vector<cl::Kernel> kernels;
  for (const ocl::phased_schedule schedule : ocl::phased_schedules) {
    kernels.emplace_back(ocl::build(context, device, ocl::phased_source(schedule, algorithm) + phased_text), "phased");
  }
  std::puts("ready");
  std::fflush(stdout);
  cl_uint wrong = 0;
  for (cl::Kernel& kernel : kernels) {
    ocl::phased_storage storage(queue, groups, algorithm);
    const size_t bytes = (2 + size_t{groups} * items) * sizeof(cl_uint);
    const cl::Buffer words(context, CL_MEM_READ_WRITE, bytes);
    queue.enqueueFillBuffer(words, cl_uint{0}, 0, bytes);
    kernel.setArg(2, words);
    ocl::launch_phased(queue, kernel, storage, groups, cl::NDRange(items));
    cl_uint found = 0;
    queue.enqueueReadBuffer(words, CL_TRUE, sizeof(cl_uint), sizeof(cl_uint), &found);
    wrong += found;
  }
  std::printf("wrong %u\n", wrong);
  return 0;
}

int run(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "phased") {
    return run_phased(argv[2], static_cast<uint32_t>(std::atoi(argv[3])), static_cast<uint32_t>(std::atoi(argv[4])));
  }
  if (argc < 3) throw gpusync::error("usage: opencl_watched late|checked|phased|race SYNC [GROUPS ITEMS [POLLS]]");
  const std::string scenario = argv[1], sync = argv[2];
  const bool race = scenario == "race";
  const auto groups = static_cast<size_t>(race ? 1 : std::atoi(argv[3]));
  const auto items = static_cast<size_t>(race ? 4 : std::atoi(argv[4]));

  const cl::Device device = ocl::all_devices().at(0);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  cl_uint wrong = 0;
  for (const auto order : {gpusync::ordering::acquire_release, gpusync::ordering::fence}) {
    const text made = text_of(sync, order, race ? race_text : late_text);
    cl::Kernel kernel(ocl::build(context, device, made.source), race ? "race" : "late");
    const auto capacity = static_cast<uint32_t>(groups);
    const auto once = [&](size_t number, cl_uint last) {
      ocl::barrier_storage storage(queue, capacity, *made.algorithm);
      // The centralized one counts down from the number of work-groups; the decentralized one's flags begin at zero.
      std::vector<cl_int> printed(groups, 0);
      if (sync == "printed:centralized") printed[0] = static_cast<cl_int>(number);
      std::vector<cl_uint> words(2 + 2 * groups * items, 0);
      const auto flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
      const cl::Buffer printed_buffer(context, flags, printed.size() * sizeof(cl_int), printed.data());
      const cl::Buffer buffer(context, flags, words.size() * sizeof(cl_uint), words.data());
      kernel.setArg(0, storage.buffer());
      kernel.setArg(1, printed_buffer);
      kernel.setArg(2, buffer);
      kernel.setArg(3, last);
      const cl::NDRange global(number * items), local(items);
      if (scenario == "checked") {
        ocl::launch(queue, kernel, storage, global, local);
      } else {
        queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, local);
      }
      queue.enqueueReadBuffer(buffer, CL_TRUE, sizeof(cl_uint), sizeof(cl_uint), &wrong);
    };
    if (race) {
      once(1, 4);
      if (wrong != 0) break;
    } else {
      once(1, 0);  // compiles
      std::puts("ready");
      std::fflush(stdout);
      once(groups, argc > 5 ? static_cast<cl_uint>(std::atol(argv[5])) : 200'000'000u);
      break;
    }
  }
  std::printf("wrong %u\n", wrong);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    std::printf("refused: %s\n", failure.what());
    return 2;
  }
}
