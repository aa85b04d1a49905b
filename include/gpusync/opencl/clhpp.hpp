// The OpenCL C++ bindings, configured as this library needs them.
#pragma once

// Link the CMake target gpusync::opencl, or define these before any other include of CL/opencl.hpp.
#if !defined(CL_HPP_ENABLE_EXCEPTIONS) || !defined(CL_HPP_TARGET_OPENCL_VERSION)
#error "gpusync needs CL_HPP_ENABLE_EXCEPTIONS and CL_HPP_TARGET_OPENCL_VERSION=300: link gpusync::opencl"
#endif

#include <CL/opencl.hpp>
