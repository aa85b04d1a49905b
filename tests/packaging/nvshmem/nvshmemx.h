// See nvshmem.h.
#pragma once
