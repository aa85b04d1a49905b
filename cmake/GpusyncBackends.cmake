# Decides which backends are built: sets GPUSYNC_WITH_CUDA and GPUSYNC_WITH_OPENCL.

# gpusync_gpu_architectures(VARIABLE): what CMAKE_CUDA_ARCHITECTURES is unless the user says.
# GPUSYNC_GPUS all, for what is installed and carried to other machines: machine code for each kind of GPU that gpusync
# is tested to compile for (tests/packaging/every_instantiation.cu), and PTX at both ends, from which the driver compiles
# for the kinds between and for later ones.
# GPUSYNC_GPUS here, a sixth of the work: for the GPUs of this machine, or, where there is none or nvcc does not know
# it, PTX for the oldest. Of all single choices that one compiles soonest, for nothing is assembled; and the driver
# takes it on every GPU, though without what only newer ones have: the tool then leaves out those methods (code_for()).
# Where there is none kernels are only compiled to see that they compile: GPUSYNC_NO_GPU_HERE, nvcc does not optimize
# them, and the tool refuses GPUs, if it is carried to any.
function(gpusync_gpu_architectures variable)
  set(found 75-virtual)
  set(none_here FALSE)
  if(NOT GPUSYNC_GPUS STREQUAL "here")
    set(found 75-virtual 80-real 86-real 90-real 100-real 120)
  else()
    find_program(GPUSYNC_NVIDIA_SMI nvidia-smi)
    mark_as_advanced(GPUSYNC_NVIDIA_SMI)
    set(none_here TRUE)
    if(GPUSYNC_NVIDIA_SMI)
      # Not CMake's "native", which is an error where there is no GPU.
      execute_process(COMMAND ${GPUSYNC_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE here OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
      if(code EQUAL 0 AND here)
        set(none_here FALSE)
      endif()
      execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
      string(REGEX REPLACE "[ \n]+" ";" here "${here}")
      list(REMOVE_DUPLICATES here)
      list(TRANSFORM here REPLACE "\\." "")
      set(usable ${here})
      foreach(architecture IN LISTS here)
        if(NOT architecture MATCHES "^[0-9]+$" OR NOT known MATCHES "sm_${architecture}[ \n]")
          list(REMOVE_ITEM usable ${architecture})
        endif()
      endforeach()
      if(code EQUAL 0 AND usable AND usable STREQUAL here)
        list(TRANSFORM usable APPEND "-real" OUTPUT_VARIABLE found)
      endif()
    endif()
  endif()
  set(${variable} ${found} PARENT_SCOPE)
  set(GPUSYNC_NO_GPU_HERE ${none_here} PARENT_SCOPE)  # not cached: who names architectures later has asked for them
endfunction()

set(GPUSYNC_WITH_CUDA FALSE)
set(GPUSYNC_NO_GPU_HERE FALSE)
if(NOT GPUSYNC_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      gpusync_gpu_architectures(CMAKE_CUDA_ARCHITECTURES)
    endif()
    enable_language(CUDA)
    if(GPUSYNC_NO_GPU_HERE)
      if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
        string(APPEND CMAKE_CUDA_FLAGS " -Ofc=max")  # half of the work
      endif()
      string(REGEX REPLACE "-O[0-9]" "-O0" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")  # of host code that is not run
    endif()
    # Debian 12's CMake takes a library for granted that CUDA 13 has no more, but only for projects that ask for 3.25.
    set(gpusync_asks_for ${CMAKE_MINIMUM_REQUIRED_VERSION})
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
    find_package(CUDAToolkit REQUIRED)
    set(CMAKE_MINIMUM_REQUIRED_VERSION ${gpusync_asks_for})
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

set(gpusync_cuda ${GPUSYNC_WITH_CUDA})
if(GPUSYNC_WITH_CUDA)
  string(JOIN " " gpusync_cuda "for" ${CMAKE_CUDA_ARCHITECTURES})
endif()
message(STATUS "gpusync ${PROJECT_VERSION}: CUDA ${gpusync_cuda}, OpenCL ${GPUSYNC_WITH_OPENCL}")
