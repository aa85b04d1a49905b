# Run at every build: writes the state of the source tree into OUTPUT, touching it only when that changed.
cmake_minimum_required(VERSION 3.25.1)
find_package(Git QUIET)
set(state "unknown")
if(DEFINED ENV{GPUSYNC_GIT_STATE})
  # For a tree that was exported to another machine: whoever did that says which commit it is.
  set(state "$ENV{GPUSYNC_GIT_STATE}")
elseif(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE code)
  if(code EQUAL 0)
    set(state ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"// The commit that this was built from; -dirty if files had changed since.
#pragma once
#define GPUSYNC_GIT_STATE \"@state@\"
" @ONLY)
