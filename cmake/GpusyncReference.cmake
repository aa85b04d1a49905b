# Target `reference`: the API reference, HTML, in BUILD/reference/html. It needs Doxygen; nothing else does.
find_program(GPUSYNC_DOXYGEN doxygen)
mark_as_advanced(GPUSYNC_DOXYGEN)
if(GPUSYNC_DOXYGEN)
  file(READ ${PROJECT_SOURCE_DIR}/docs/Doxyfile doxyfile)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/reference/Doxyfile @ONLY CONTENT "${doxyfile}
PROJECT_NUMBER = ${PROJECT_VERSION}
INPUT = ${PROJECT_SOURCE_DIR}/include/gpusync ${PROJECT_SOURCE_DIR}/docs/reference.dox
STRIP_FROM_PATH = ${PROJECT_SOURCE_DIR}
OUTPUT_DIRECTORY = ${PROJECT_BINARY_DIR}/reference
")
  add_custom_target(reference COMMAND ${GPUSYNC_DOXYGEN} ${PROJECT_BINARY_DIR}/reference/Doxyfile
    COMMENT "The API reference: ${PROJECT_BINARY_DIR}/reference/html/index.html" VERBATIM)
endif()
