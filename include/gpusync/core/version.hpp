// The version of the library; the build reads it from here.
#pragma once

#define GPUSYNC_VERSION_MAJOR 0
#define GPUSYNC_VERSION_MINOR 1
#define GPUSYNC_VERSION_PATCH 0
#define GPUSYNC_VERSION_STRING "0.1.0"
