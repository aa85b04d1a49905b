# What `cmake --install` puts where. Afterwards
#   find_package(gpusync CONFIG REQUIRED)                     gives gpusync::gpusync
#   find_package(gpusync CONFIG REQUIRED COMPONENTS opencl)   gives gpusync::opencl too
# The library is headers only, so its package lies in share/ and serves every architecture.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/gpusync)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gpusync TYPE INCLUDE
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN "*.h" PATTERN "*.cl")
install(TARGETS gpusync EXPORT gpusync_targets)
install(EXPORT gpusync_targets FILE gpusync-targets.cmake NAMESPACE gpusync:: DESTINATION ${package_dir})

if(GPUSYNC_WITH_OPENCL)
  # Made at build time; here they must be made also where nothing of ours is compiled.
  set_target_properties(gpusync_opencl_sources PROPERTIES EXCLUDE_FROM_ALL FALSE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/gpusync/opencl/generated/gpusync TYPE INCLUDE)
  # A file of its own, read only on request: not everybody who uses the library has OpenCL.
  install(TARGETS gpusync_opencl EXPORT gpusync_opencl_targets)
  install(EXPORT gpusync_opencl_targets FILE gpusync-opencl-targets.cmake NAMESPACE gpusync::
    DESTINATION ${package_dir})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gpusync-config.cmake.in gpusync-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(gpusync-config-version.cmake COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gpusync-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/gpusync-config-version.cmake
  DESTINATION ${package_dir})

if(GPUSYNC_BUILD_TOOL)
  install(TARGETS gpusync_cli RUNTIME)
  # What the program says of itself, in the places where shells and man look. Another machine's program cannot be asked.
  if(NOT CMAKE_CROSSCOMPILING)
    install(CODE [[
      function(gpusync_say file)
        set(path "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/${file}")
        get_filename_component(folder "${path}" DIRECTORY)
        file(MAKE_DIRECTORY "${folder}")
        execute_process(COMMAND "$<TARGET_FILE:gpusync_cli>" ${ARGN} OUTPUT_FILE "${path}" COMMAND_ERROR_IS_FATAL ANY)
        message(STATUS "Installing: ${path}")
      endfunction()
      gpusync_say(bash-completion/completions/gpusync completions bash)
      gpusync_say(zsh/site-functions/_gpusync completions zsh)
      gpusync_say(fish/vendor_completions.d/gpusync.fish completions fish)
      gpusync_say(man/man1/gpusync.1 manual)]])
  endif()
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC)
install(FILES ${PROJECT_SOURCE_DIR}/README.md TYPE DOC OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ TYPE DOC FILES_MATCHING PATTERN "*.md")
