# Files that the tool carries in itself, each as a generated header <embedded/NAME.hpp> with the array of that name.
set(embedded_dir ${CMAKE_CURRENT_BINARY_DIR}/generated/embedded)
function(gpusync_embed_in_tool name file)
  gpusync_embed(${embedded_dir}/${name}.hpp ${name} ${file})
  target_sources(gpusync_tool PRIVATE ${embedded_dir}/${name}.hpp)
endfunction()

# Result documents, the coverage list and the web page.
gpusync_embed_in_tool(results_schema_json results/results.schema.json)
gpusync_embed_in_tool(items_json experiments/items.json)
gpusync_embed_in_tool(claims_json experiments/claims.json)
gpusync_embed_in_tool(shen_2013_published_json experiments/shen_2013/published.json)
gpusync_embed_in_tool(report_template_html report/template.html)
gpusync_embed_in_tool(report_style_css report/style.css)
gpusync_embed_in_tool(report_script_js report/report.js)
find_file(GPUSYNC_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
if(NOT GPUSYNC_CHART_JS)
  message(FATAL_ERROR "Chart.js, which the report carries, was not found. On Debian: apt-get install libjs-chart.js. "
    "Elsewhere set GPUSYNC_CHART_JS to the path of chart.min.js 3.9.")
endif()
gpusync_embed_in_tool(chart_js ${GPUSYNC_CHART_JS})

if(GPUSYNC_WITH_OPENCL)
  gpusync_embed_in_tool(average_cl workloads/average/average.cl)
  gpusync_embed_in_tool(oversubscription_cl workloads/oversubscription/oversubscription.cl)
  gpusync_embed_in_tool(thesis_average_cl workloads/thesis_average/thesis_average.cl)
endif()
