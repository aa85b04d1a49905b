# Looks for NCCL with its barrier for kernels (2.28 or later), which one experiment measures beside the library's own.
# Sets GPUSYNC_WITH_NCCL, gpusync_nccl_include and gpusync_nccl_library.
#
# Header and library must be of one version, so they are taken from one place: GPUSYNC_NCCL_ROOT if that is set; or else
# the CUDA toolkit, the system's folders, or the Python package nvidia-nccl-cu13, in this order. What is found is not kept
# in the cache: it follows GPUSYNC_NCCL_ROOT.

# gpusync_nccl_in(PLACE INCLUDE_FOLDERS LIBRARY_FOLDERS)
function(gpusync_nccl_in place include_folders library_folders)
  if(GPUSYNC_WITH_NCCL)
    return()
  endif()
  find_path(include nccl_device.h PATHS ${include_folders} NO_DEFAULT_PATH NO_CACHE)
  find_library(library NAMES nccl libnccl.so.2 PATHS ${library_folders} NO_DEFAULT_PATH NO_CACHE)
  if(NOT include OR NOT library OR NOT EXISTS ${include}/nccl.h)
    return()
  endif()
  file(STRINGS ${include}/nccl.h version REGEX "#define NCCL_VERSION_CODE [0-9]+")
  string(REGEX MATCH "[0-9]+$" version "${version}")
  if(NOT version GREATER_EQUAL 22800)
    return()
  endif()
  message(STATUS "NCCL ${version}, ${place}: ${library}")
  set(GPUSYNC_WITH_NCCL TRUE PARENT_SCOPE)
  set(gpusync_nccl_include ${include} PARENT_SCOPE)
  set(gpusync_nccl_library ${library} PARENT_SCOPE)
endfunction()

set(GPUSYNC_WITH_NCCL FALSE)
if(NOT GPUSYNC_NCCL STREQUAL "OFF")
  if(GPUSYNC_NCCL_ROOT)
    gpusync_nccl_in("as GPUSYNC_NCCL_ROOT says" ${GPUSYNC_NCCL_ROOT}/include
      "${GPUSYNC_NCCL_ROOT}/lib;${GPUSYNC_NCCL_ROOT}/lib64")
  else()
    gpusync_nccl_in("of the toolkit" "${CUDAToolkit_INCLUDE_DIRS}" "${CUDAToolkit_LIBRARY_DIR}")
    gpusync_nccl_in("of the system" "/usr/local/include;/usr/include"
      "/usr/local/lib;/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE};/usr/lib64;/usr/lib")
    if(NOT GPUSYNC_WITH_NCCL)
      execute_process(COMMAND python3 -c "import nvidia.nccl as m; print(list(m.__path__)[0])"
        OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
      if(code EQUAL 0)
        gpusync_nccl_in("of Python" ${package}/include ${package}/lib)
      endif()
    endif()
  endif()
  if(GPUSYNC_NCCL STREQUAL "ON" AND NOT GPUSYNC_WITH_NCCL)
    message(FATAL_ERROR "GPUSYNC_NCCL is ON, but no NCCL 2.28 or later was found with nccl.h, nccl_device.h and libnccl. "
      "Say where it is: -DGPUSYNC_NCCL_ROOT=... has include/ and lib/. "
      "One way to get it: pip install nvidia-nccl-cu13.")
  endif()
endif()
