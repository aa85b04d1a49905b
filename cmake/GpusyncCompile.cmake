# How the project's own sources are compiled; users of the library get none of this.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# Device code is C++17: CMake 3.25.1 would silently compile 20 as 17.
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)

add_library(gpusync_compile INTERFACE)
target_compile_options(gpusync_compile INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wno-sign-conversion>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;--Wno-deprecated-gpu-targets>)
# NVIDIA's header for its grid barrier includes half of libcu++, for what is not used here: 3 s in every CUDA source.
target_compile_definitions(gpusync_compile INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:_CG_LIMIT_INCLUDED_DEPENDENCIES>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns falsely of overlapping and overlong strings (GCC bug 105651).
  target_compile_options(gpusync_compile INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-stringop-overflow>")
endif()
# A tenth of what GCC takes goes into collecting what it needs no longer. Here it begins with that at 1 GB, and uses a third
# more memory at most. nvcc's host compiler is GCC, unless the user has named another, which would warn of the option.
set(gpusync_gcc_memory --param=ggc-min-heapsize=1000000)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(gpusync_compile INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${gpusync_gcc_memory}>)
  if(NOT CMAKE_CUDA_HOST_COMPILER)
    target_compile_options(gpusync_compile INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${gpusync_gcc_memory}>)
  endif()
endif()
if(GPUSYNC_WARNINGS_AS_ERRORS)
  target_compile_options(gpusync_compile INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()

# How many sources are made of many: one for each processor of this machine.
cmake_host_system_information(RESULT gpusync_processors QUERY NUMBER_OF_LOGICAL_CORES)

# gpusync_together(OUTPUT SOURCE…): a source that includes these, which are named from here or by their full paths. Headers
# are most of what a CUDA source takes to compile, and CMake unites such sources only since 3.31.
function(gpusync_together output)
  set(text)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source)
    string(APPEND text "#include \"${source}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()

# gpusync_unite(VARIABLE OUTPUT SOURCE…): in this list, a source OUTPUT of this build folder replaces these.
function(gpusync_unite variable output)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/together/${output})
  gpusync_together(${output} ${ARGN})
  list(REMOVE_ITEM ${variable} ${ARGN})
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM ${variable} ${ARGN})
  set(${variable} ${${variable}} ${output} PARENT_SCOPE)
endfunction()

# gpusync_unite_evenly(VARIABLE OUTPUT COUNT SOURCE…): as gpusync_unite(), but COUNT sources OUTPUT_0, OUTPUT_1, … of about as
# many each.
function(gpusync_unite_evenly variable output count)
  cmake_path(GET output EXTENSION LAST_ONLY suffix)
  cmake_path(REMOVE_EXTENSION output LAST_ONLY)
  set(place 0)
  foreach(source IN LISTS ARGN)
    math(EXPR part "${place} % ${count}")
    list(APPEND part_${part} ${source})
    math(EXPR place "${place} + 1")
  endforeach()
  foreach(part RANGE ${count})
    if(DEFINED part_${part})
      gpusync_unite(${variable} ${output}_${part}${suffix} ${part_${part}})
    endif()
  endforeach()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()
