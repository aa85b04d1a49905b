// Everything of the OpenCL side. Link gpusync::opencl.
#pragma once

#include <gpusync/opencl/device.hpp>
#include <gpusync/opencl/error.hpp>
#include <gpusync/opencl/launch.hpp>
#include <gpusync/opencl/pace.hpp>
#include <gpusync/opencl/phased.hpp>
#include <gpusync/opencl/program.hpp>
#include <gpusync/opencl/registry.hpp>
#include <gpusync/opencl/residency.hpp>
#include <gpusync/opencl/storage.hpp>
#include <gpusync/opencl/ticks.hpp>
