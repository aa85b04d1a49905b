// A CUDA driver that only pretends: two H200s in the host's memory, kernels that do nothing, and errors on request.
// What gpusync's Python says about errors is tested with it, where there is no GPU. Built as libcuda.so.1.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int success = 0, invalid_value = 1, out_of_memory = 2, invalid_context = 201, too_large = 720;
constexpr int device_count = 2, sm_count = 132;

struct function {
  int registers, static_shared, most_threads, most_dynamic, cluster;
  std::vector<size_t> parameters;
};
struct memory {
  size_t bytes;
  int device;
  bool on_host;
};
struct launch {
  const function* kernel;
  unsigned blocks, threads, shared;
  uint64_t stream;
  std::vector<std::string> arguments;
};

std::vector<int> contexts;
std::map<uint64_t, memory> allocated;
std::map<std::string, int> failures;
std::vector<launch> launches;
uint64_t capturing = ~uint64_t{0};

/// The code that a call of this name was told to fail with, once.
int told(const char* name) {
  const auto found = failures.find(name);
  if (found == failures.end()) return success;
  const int code = found->second;
  failures.erase(found);
  return code;
}

int blocks_per_sm(const function& kernel, unsigned threads, size_t shared) {
  if (threads > static_cast<unsigned>(kernel.most_threads)) return -1;
  const unsigned warps = (threads + 31) / 32;
  const unsigned by_registers = 65536 / 4 / ((kernel.registers * 32 + 255) / 256 * 256) * 4 / warps;
  const size_t taken = (kernel.static_shared + shared + 1024 + 127) / 128 * 128;
  return static_cast<int>(std::min({2048 / (warps * 32), by_registers, static_cast<unsigned>(233472 / taken), 32u}));
}

}  // namespace

#define FAILS_IF_TOLD \
  if (const int code = told(__func__); code != success) return code

extern "C" {

// What tests ask for.
void fake_fail(const char* name, int code) {
  failures[name] = code;
}
void fake_capture(uint64_t stream) {
  capturing = stream;
}
void* fake_function(int registers, int static_shared, int most_threads, int cluster, int count, const int* sizes) {
  return new function{registers, static_shared, most_threads, 48 * 1024, cluster, {sizes, sizes + count}};
}
size_t fake_launches() {
  return launches.size();
}
void fake_last_launch(unsigned* blocks, unsigned* threads, unsigned* shared, uint64_t* stream) {
  *blocks = launches.back().blocks, *threads = launches.back().threads;
  *shared = launches.back().shared, *stream = launches.back().stream;
}
void fake_last_argument(unsigned i, void* out) {
  const std::string& one = launches.back().arguments.at(i);
  std::memcpy(out, one.data(), one.size());
}
size_t fake_allocations() {
  return allocated.size();
}
size_t fake_contexts() {
  return contexts.size();
}

// The driver.
int cuInit(unsigned) {
  FAILS_IF_TOLD;
  const char* code = std::getenv("FAKE_CUDA_INIT");
  return code == nullptr ? success : std::atoi(code);
}
int cuGetErrorName(int code, const char** text) {
  *text = code == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == too_large   ? "CUDA_ERROR_TOO_LARGE"
                                : "CUDA_ERROR";
  return code == 12345 ? invalid_value : success;
}
int cuGetErrorString(int code, const char** text) {
  *text = code == out_of_memory ? "out of memory" : code == 100 ? "no CUDA-capable device is detected" : "an error";
  return code == 12345 ? invalid_value : success;
}
int cuDeviceGetCount(int* count) {
  FAILS_IF_TOLD;
  *count = device_count;
  return success;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return success;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "NVIDIA H200", static_cast<size_t>(size));
  return success;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  static const std::map<int, int> all{{1, 1024},   {16, sm_count}, {39, 2048},   {75, 9},   {76, 0},    {81, 233472},
                                      {82, 65536}, {95, 1},        {97, 232448}, {106, 32}, {111, 1024}};
  const auto found = all.find(which);
  if (found == all.end()) return invalid_value;
  *value = found->second;
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  FAILS_IF_TOLD;
  *context = reinterpret_cast<void*>(static_cast<uintptr_t>(device) + 1);
  return success;
}
int cuCtxPushCurrent_v2(void* context) {
  contexts.push_back(static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1);
  return success;
}
int cuCtxPopCurrent_v2(void** context) {
  if (contexts.empty()) return invalid_context;
  *context = reinterpret_cast<void*>(static_cast<uintptr_t>(contexts.back()) + 1);
  contexts.pop_back();
  return success;
}
int cuCtxGetDevice(int* device) {
  if (contexts.empty()) return invalid_context;
  *device = contexts.back();
  return success;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  FAILS_IF_TOLD;
  if (contexts.empty()) return invalid_context;
  *address = reinterpret_cast<uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  allocated[*address] = {bytes, contexts.back(), false};
  return success;
}
int cuMemFree_v2(uint64_t address) {
  if (allocated.erase(address) == 0) return invalid_value;
  std::free(reinterpret_cast<void*>(address));
  return success;
}
int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  FAILS_IF_TOLD;
  *address = std::calloc(1, bytes);
  allocated[reinterpret_cast<uint64_t>(*address)] = {bytes, 0, true};
  return success;
}
int cuMemHostGetDevicePointer_v2(uint64_t* on_device, void* address, unsigned) {
  *on_device = reinterpret_cast<uint64_t>(address);
  return success;
}
int cuMemFreeHost(void* address) {
  FAILS_IF_TOLD;
  if (allocated.erase(reinterpret_cast<uint64_t>(address)) == 0) return invalid_value;
  std::free(address);
  return success;
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  FAILS_IF_TOLD;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return success;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  FAILS_IF_TOLD;
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return success;
}
int cuPointerGetAttribute(void* value, int which, uint64_t address) {
  FAILS_IF_TOLD;
  auto found = allocated.upper_bound(address);
  if (found == allocated.begin()) return invalid_value;
  --found;
  if (address >= found->first + found->second.bytes) return invalid_value;
  switch (which) {
    case 2: *static_cast<unsigned*>(value) = found->second.on_host ? 1 : 2; return success;
    case 9: *static_cast<int*>(value) = found->second.device; return success;
    case 11: *static_cast<uint64_t*>(value) = found->first; return success;
    case 12: *static_cast<size_t*>(value) = found->second.bytes; return success;
    default: return invalid_value;
  }
}
int cuStreamSynchronize(void*) {
  return success;
}
int cuStreamIsCapturing(void* stream, int* status) {
  *status = reinterpret_cast<uint64_t>(stream) == capturing;
  return success;
}
int cuStreamGetId(void* stream, unsigned long long* number) {
  if (reinterpret_cast<uint64_t>(stream) == capturing) return 900;
  *number = reinterpret_cast<uint64_t>(stream) * 10;
  return success;
}
int cuModuleLoadData(void** module, const void*) {
  FAILS_IF_TOLD;
  *module = &launches;
  return success;
}
int cuModuleGetFunction(void** kernel, void*, const char*) {
  FAILS_IF_TOLD;
  *kernel = new function{32, 0, 1024, 48 * 1024, 0, {8, 8, 8, 4}};
  return success;
}
int cuFuncGetAttribute(int* value, int which, const function* kernel) {
  FAILS_IF_TOLD;
  const std::map<int, int> all{{0, kernel->most_threads}, {1, kernel->static_shared}, {4, kernel->registers},
                               {8, kernel->most_dynamic}, {11, kernel->cluster},      {12, kernel->cluster},
                               {13, kernel->cluster}};
  const auto found = all.find(which);
  if (found == all.end()) return invalid_value;
  *value = found->second;
  return success;
}
int cuFuncSetAttribute(function* kernel, int which, int value) {
  FAILS_IF_TOLD;
  if (which != 8) return invalid_value;
  kernel->most_dynamic = value;
  return success;
}
int cuFuncGetParamInfo(const function* kernel, size_t i, size_t* offset, size_t* size) {
  if (i >= kernel->parameters.size()) return invalid_value;
  *offset = 0;
  *size = kernel->parameters[i];
  return success;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const function* kernel, int threads, size_t shared) {
  FAILS_IF_TOLD;
  *blocks = blocks_per_sm(*kernel, static_cast<unsigned>(threads), shared);
  return *blocks < 0 ? invalid_value : success;
}
int cuLaunchCooperativeKernel(const function* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void* stream, void** arguments) {
  FAILS_IF_TOLD;
  const unsigned blocks = gx * gy * gz, threads = bx * by * bz;
  if (blocks > static_cast<unsigned>(sm_count * blocks_per_sm(*kernel, threads, shared))) return too_large;
  launch made{kernel, blocks, threads, shared, reinterpret_cast<uint64_t>(stream), {}};
  for (size_t i = 0; i < kernel->parameters.size(); ++i) {
    made.arguments.emplace_back(static_cast<const char*>(arguments[i]), kernel->parameters[i]);
  }
  launches.push_back(made);
  return success;
}

}  // extern "C"
