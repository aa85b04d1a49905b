# gpusync_embed(OUTPUT SYMBOL FILE): at build time, makes the header OUTPUT that defines
#   inline constexpr char SYMBOL[]  -  the bytes of FILE and a terminating zero
# in namespace gpusync::embedded. For files that a program must carry in itself: OpenCL C, web pages, schemas.
function(gpusync_embed output symbol file)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DSYMBOL=${symbol}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    COMMENT "Embedding ${symbol}"
    VERBATIM)
endfunction()
