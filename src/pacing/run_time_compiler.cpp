#include "pacing/run_time_compiler.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace gpusync::tool {

namespace {

// Of nvrtc.h, whose interface has been the same since CUDA 11.1: so a build needs no toolkit for it.
using nvrtc_program = struct nvrtc_program_of_library*;
using nvrtc_result = int;
constexpr nvrtc_result nvrtc_success = 0, nvrtc_compilation_failed = 6;

std::vector<std::filesystem::path> toolkits() {
  std::vector<std::filesystem::path> found;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0') found.emplace_back(folder);
  }
  found.emplace_back("/usr/local/cuda");
  return found;
}

void* open_nvrtc() {
  constexpr const char* names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
  for (const char* name : names) {
    if (void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
    for (const std::filesystem::path& toolkit : toolkits()) {
      for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
        if (void* const handle = dlopen((toolkit / folder / name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
      }
    }
  }
  throw error(
      "There is no libnvrtc.so.13 or libnvrtc.so.12 here, which compiles CUDA files at run time: install the CUDA "
      "toolkit "
      "(on Debian and Ubuntu: cuda-nvrtc-13-0 and cuda-cudart-dev-13-0), or name its folder in CUDA_HOME or "
      "LD_LIBRARY_PATH.");
}

/// The folder that a loaded library lies in.
std::filesystem::path folder_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::canonical(map->l_name, failed);
  return failed ? std::filesystem::path(map->l_name).parent_path() : whole.parent_path();
}

}  // namespace

/// The functions of libnvrtc. It stays loaded: it has threads of its own.
struct run_time_compiler::library {
  library() : handle(open_nvrtc()) {
    find(version, "nvrtcVersion");
    find(error_string, "nvrtcGetErrorString");
    find(count_architectures, "nvrtcGetNumSupportedArchs");
    find(get_architectures, "nvrtcGetSupportedArchs");
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(add_name, "nvrtcAddNameExpression");
    find(compile, "nvrtcCompileProgram");
    find(lowered_name, "nvrtcGetLoweredName");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(ptx_size, "nvrtcGetPTXSize");
    find(ptx, "nvrtcGetPTX");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
    check(version(&major, &minor), "nvrtcVersion");
    // It asks for a second library by name, wherever it lies itself: one that is loaded already is found.
    const std::filesystem::path folder = folder_of(handle);
    (void)dlopen((folder / fmt::format("libnvrtc-builtins.so.{}.{}", major, minor)).c_str(), RTLD_NOW | RTLD_GLOBAL);
    find_headers(folder);
    int count = 0;
    check(count_architectures(&count), "nvrtcGetNumSupportedArchs");
    architectures.resize(static_cast<size_t>(count));
    check(get_architectures(architectures.data()), "nvrtcGetSupportedArchs");
  }

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr) throw error(fmt::format("The libnvrtc that was found is too old: it has no {}().", name));
  }

  void check(nvrtc_result code, const char* call) const {
    if (code != nvrtc_success) throw error(fmt::format("{} failed: {}.", call, error_string(code)));
  }

  void find_headers(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> candidates{folder.parent_path() / "include",
                                                  folder.parent_path().parent_path() / "include",
                                                  folder.parent_path().parent_path().parent_path() / "include"};
    for (const std::filesystem::path& toolkit : toolkits()) candidates.push_back(toolkit / "include");
    std::error_code ignored;
    for (const std::filesystem::path& each : candidates) {
      if (!std::filesystem::exists(each / "cuda_fp16.h", ignored)) continue;
      headers.push_back(each.string());
      if (std::filesystem::exists(each / "cccl", ignored)) headers.push_back((each / "cccl").string());
      return;
    }
  }

  void* handle;
  int major = 0, minor = 0;
  std::vector<int> architectures;
  std::vector<std::string> headers;  ///< folders of the toolkit's
  nvrtc_result (*version)(int*, int*);
  const char* (*error_string)(nvrtc_result);
  nvrtc_result (*count_architectures)(int*);
  nvrtc_result (*get_architectures)(int*);
  nvrtc_result (*create)(nvrtc_program*, const char*, const char*, int, const char* const*, const char* const*);
  nvrtc_result (*destroy)(nvrtc_program*);
  nvrtc_result (*add_name)(nvrtc_program, const char*);
  nvrtc_result (*compile)(nvrtc_program, int, const char* const*);
  nvrtc_result (*lowered_name)(nvrtc_program, const char*, const char**);
  nvrtc_result (*log_size)(nvrtc_program, size_t*);
  nvrtc_result (*log)(nvrtc_program, char*);
  nvrtc_result (*ptx_size)(nvrtc_program, size_t*);
  nvrtc_result (*ptx)(nvrtc_program, char*);
  nvrtc_result (*cubin_size)(nvrtc_program, size_t*);
  nvrtc_result (*cubin)(nvrtc_program, char*);
};

run_time_compiler::run_time_compiler() : library_(std::make_unique<library>()) {}
run_time_compiler::~run_time_compiler() = default;

std::string run_time_compiler::version() const {
  return fmt::format("{}.{}", library_->major, library_->minor);
}

namespace {

/// What stands in the include file of the mark, whose macro is defined before the program.
constexpr const char* mark_header = "gpusync/pace/mark.cuh";

}  // namespace

compiled_kernel run_time_compiler::compile(const compile_request& request) const {
  const library& nvrtc = *library_;
  const auto largest = std::ranges::upper_bound(nvrtc.architectures, request.architecture);
  if (largest == nvrtc.architectures.begin()) {
    throw error(fmt::format("NVRTC {} compiles nothing for sm_{}: the oldest that it knows is sm_{}.", version(),
                            request.architecture, nvrtc.architectures.empty() ? 0 : nvrtc.architectures.front()));
  }
  const int architecture = *std::prev(largest);
  const bool is_known = architecture == request.architecture;
  std::vector<std::string> options{fmt::format("--gpu-architecture={}_{}", is_known ? "sm" : "compute", architecture),
                                   "--std=c++17"};
  for (const std::string& each : request.definitions) options.push_back("-D" + each);
  for (const std::string& each : request.folders) options.push_back("-I" + each);
  for (const std::string& each : nvrtc.headers) options.push_back("-I" + each);
  std::vector<const char*> words;
  for (const std::string& each : options) words.push_back(each.c_str());

  nvrtc_program program = nullptr;
  const char* const no_text = "";
  nvrtc.check(nvrtc.create(&program, request.text.c_str(), request.path.c_str(), 1, &no_text, &mark_header),
              "nvrtcCreateProgram");
  const struct destroyed {
    const library& of;
    nvrtc_program& program;
    ~destroyed() { (void)of.destroy(&program); }
  } at_end{nvrtc, program};

  const auto text_of = [&](auto size_of, auto copy, const char* call) {
    size_t size = 0;
    nvrtc.check(size_of(program, &size), call);
    std::string text(size, '\0');
    if (size > 0) nvrtc.check(copy(program, text.data()), call);
    return text;
  };
  nvrtc.check(nvrtc.add_name(program, request.kernel.c_str()), "nvrtcAddNameExpression");
  const nvrtc_result built = nvrtc.compile(program, static_cast<int>(words.size()), words.data());
  if (built != nvrtc_success) {
    std::string log = text_of(nvrtc.log_size, nvrtc.log, "nvrtcGetProgramLog");
    log.erase(std::min(log.find('\0'), log.size()));
    throw compile_failure(built == nvrtc_compilation_failed
                              ? fmt::format("'{}' does not compile", request.path)
                              : fmt::format("NVRTC {} failed: {}", version(), nvrtc.error_string(built)),
                          log);
  }
  compiled_kernel found;
  const char* symbol = nullptr;
  nvrtc.check(nvrtc.lowered_name(program, request.kernel.c_str(), &symbol), "nvrtcGetLoweredName");
  found.symbol = symbol;
  found.ptx = text_of(nvrtc.ptx_size, nvrtc.ptx, "nvrtcGetPTX");
  found.image = is_known ? text_of(nvrtc.cubin_size, nvrtc.cubin, "nvrtcGetCUBIN") : found.ptx;
  return found;
}

}  // namespace gpusync::tool
