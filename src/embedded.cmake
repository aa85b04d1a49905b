# Files that the tool carries in itself, each as a generated header <embedded/NAME.hpp> with the array of that name.
set(embedded_dir ${CMAKE_CURRENT_BINARY_DIR}/generated/embedded)
function(gpusync_embed_in_tool name file)
  gpusync_embed(${embedded_dir}/${name}.hpp ${name} ${file})
  target_sources(gpusync_tool PRIVATE ${embedded_dir}/${name}.hpp)
endfunction()
