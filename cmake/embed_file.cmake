# Run by gpusync_embed: writes INPUT as a character array into the header OUTPUT.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" length)
# Lines of 64 bytes first: one regular expression over a large file would take very long.
string(REGEX REPLACE "(................................................................................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
get_filename_component(name ${INPUT} NAME)
file(WRITE ${OUTPUT}
"// Made from ${name} at build time.
#pragma once

namespace gpusync::embedded {
inline constexpr char ${SYMBOL}[] = {
${bytes}'\\0'};
}  // namespace gpusync::embedded
")
