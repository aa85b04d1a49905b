# Decides which backends are built: sets GPUSYNC_WITH_CUDA and GPUSYNC_WITH_OPENCL.

set(GPUSYNC_WITH_CUDA FALSE)
if(NOT GPUSYNC_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      # Machine code for Hopper, and PTX that the driver can compile for anything from Turing on.
      set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90)
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(GPUSYNC_WITH_CUDA TRUE)
  elseif(GPUSYNC_CUDA STREQUAL "ON")
    message(FATAL_ERROR "GPUSYNC_CUDA is ON, but no CUDA compiler was found. Put nvcc on the PATH or set CUDACXX.")
  endif()
endif()

set(GPUSYNC_WITH_OPENCL FALSE)
if(NOT GPUSYNC_OPENCL STREQUAL "OFF")
  find_package(OpenCL QUIET)
  find_path(GPUSYNC_CLHPP_INCLUDE_DIR CL/opencl.hpp)
  if(OpenCL_FOUND AND GPUSYNC_CLHPP_INCLUDE_DIR)
    set(GPUSYNC_WITH_OPENCL TRUE)
  elseif(GPUSYNC_OPENCL STREQUAL "ON")
    message(FATAL_ERROR "GPUSYNC_OPENCL is ON, but the OpenCL loader or CL/opencl.hpp was not found. "
      "On Debian: apt-get install ocl-icd-opencl-dev opencl-clhpp-headers.")
  endif()
endif()

message(STATUS "gpusync ${PROJECT_VERSION}: CUDA ${GPUSYNC_WITH_CUDA}, OpenCL ${GPUSYNC_WITH_OPENCL}")
