// What the OpenCL side throws, besides the errors of the whole library.
#pragma once

#include <string>
#include <utility>

#include <gpusync/core/error.hpp>
#include <gpusync/opencl/clhpp.hpp>

namespace gpusync::opencl {

/// The name of an OpenCL error code: "CL_OUT_OF_RESOURCES"; "unknown OpenCL error" for a vendor's own.
inline const char* error_name(cl_int code) {
  switch (code) {
#define GPUSYNC_OPENCL_NAME(name) \
  case name: return #name;
    GPUSYNC_OPENCL_NAME(CL_SUCCESS)
    GPUSYNC_OPENCL_NAME(CL_DEVICE_NOT_FOUND)
    GPUSYNC_OPENCL_NAME(CL_DEVICE_NOT_AVAILABLE)
    GPUSYNC_OPENCL_NAME(CL_COMPILER_NOT_AVAILABLE)
    GPUSYNC_OPENCL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    GPUSYNC_OPENCL_NAME(CL_OUT_OF_RESOURCES)
    GPUSYNC_OPENCL_NAME(CL_OUT_OF_HOST_MEMORY)
    GPUSYNC_OPENCL_NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
    GPUSYNC_OPENCL_NAME(CL_MEM_COPY_OVERLAP)
    GPUSYNC_OPENCL_NAME(CL_BUILD_PROGRAM_FAILURE)
    GPUSYNC_OPENCL_NAME(CL_MAP_FAILURE)
    GPUSYNC_OPENCL_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    GPUSYNC_OPENCL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    GPUSYNC_OPENCL_NAME(CL_COMPILE_PROGRAM_FAILURE)
    GPUSYNC_OPENCL_NAME(CL_LINKER_NOT_AVAILABLE)
    GPUSYNC_OPENCL_NAME(CL_LINK_PROGRAM_FAILURE)
    GPUSYNC_OPENCL_NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_VALUE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_DEVICE_TYPE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_PLATFORM)
    GPUSYNC_OPENCL_NAME(CL_INVALID_DEVICE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_CONTEXT)
    GPUSYNC_OPENCL_NAME(CL_INVALID_QUEUE_PROPERTIES)
    GPUSYNC_OPENCL_NAME(CL_INVALID_COMMAND_QUEUE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_MEM_OBJECT)
    GPUSYNC_OPENCL_NAME(CL_INVALID_BINARY)
    GPUSYNC_OPENCL_NAME(CL_INVALID_BUILD_OPTIONS)
    GPUSYNC_OPENCL_NAME(CL_INVALID_PROGRAM)
    GPUSYNC_OPENCL_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_KERNEL_NAME)
    GPUSYNC_OPENCL_NAME(CL_INVALID_KERNEL_DEFINITION)
    GPUSYNC_OPENCL_NAME(CL_INVALID_KERNEL)
    GPUSYNC_OPENCL_NAME(CL_INVALID_ARG_INDEX)
    GPUSYNC_OPENCL_NAME(CL_INVALID_ARG_VALUE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_ARG_SIZE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_KERNEL_ARGS)
    GPUSYNC_OPENCL_NAME(CL_INVALID_WORK_DIMENSION)
    GPUSYNC_OPENCL_NAME(CL_INVALID_WORK_GROUP_SIZE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_WORK_ITEM_SIZE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_GLOBAL_OFFSET)
    GPUSYNC_OPENCL_NAME(CL_INVALID_EVENT_WAIT_LIST)
    GPUSYNC_OPENCL_NAME(CL_INVALID_EVENT)
    GPUSYNC_OPENCL_NAME(CL_INVALID_OPERATION)
    GPUSYNC_OPENCL_NAME(CL_INVALID_BUFFER_SIZE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
    GPUSYNC_OPENCL_NAME(CL_INVALID_PROPERTY)
    GPUSYNC_OPENCL_NAME(CL_INVALID_COMPILER_OPTIONS)
    GPUSYNC_OPENCL_NAME(CL_INVALID_LINKER_OPTIONS)
    GPUSYNC_OPENCL_NAME(CL_PLATFORM_NOT_FOUND_KHR)
#undef GPUSYNC_OPENCL_NAME
    default: return "unknown OpenCL error";
  }
}

/// A call of OpenCL failed. code() is OpenCL's error code.
class opencl_failure : public runtime_failure {
 public:
  /// `call`: what failed, as a noun; `detail`: more, appended as it is.
  opencl_failure(const std::string& call, cl_int code, const std::string& detail = "")
      : runtime_failure(call + " failed: " + error_name(code) + " (" + std::to_string(code) + ")." + detail, code) {}

  /// The code's name: "CL_OUT_OF_RESOURCES".
  const char* name() const { return error_name(code()); }
};

/// A program did not compile.
class build_failure : public opencl_failure {
 public:
  /// `code`: OpenCL's; `log`: what the compiler said, which may be empty.
  build_failure(const std::string& device, const std::string& options, cl_int code, const std::string& log)
      : opencl_failure("Building an OpenCL program for " + device + " with options \"" + options + "\"", code,
                       " The compiler says:\n" + (log.empty() ? std::string("(nothing)") : log)),
        log_(log) {}

  /// What the compiler said.
  const std::string& log() const { return log_; }

 private:
  std::string log_;
};

/// Runs `body` and returns what it returns; an error of the OpenCL bindings comes out as opencl_failure.
template <class Body>
decltype(auto) checked(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const cl::Error& failure) {
    throw opencl_failure(failure.what(), failure.err());
  }
}

}  // namespace gpusync::opencl
