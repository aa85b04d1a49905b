"""Every device header, and the kernels of every example and measurement, under NVRTC with gpusync.nvrtc_options() alone: no
toolkit's headers, and no host's.
    nvrtc_test.py FOLDER     where NVRTC's wheel is put if it is not there; exit code 77 if it cannot be had"""

import ast
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ARCHITECTURES = ("compute_75", "compute_90")
# What device.cuh brings, and what is for kernels besides.
HEADERS = ("gpusync/device.cuh", "gpusync/device_functions.cuh")


def have_nvrtc(folder):
    sys.path.insert(0, str(folder))
    if not list(pathlib.Path(folder).glob("nvidia/cu*/lib/libnvrtc.so.*")):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check",
                        "--root-user-action=ignore", "--target", str(folder), "nvidia-cuda-nvrtc"], capture_output=True)


def device_headers():
    """Those of the library that a kernel may include: all .hpp and .cuh that tests/packaging/nvrtc_test.cpp does, and the
    front doors."""
    text = (ROOT / "tests/packaging/nvrtc_test.cpp").read_text(encoding="utf-8")
    return [*HEADERS, *(line.split("<")[1].split(">")[0] for line in text.splitlines()
                        if line.startswith("#include <gpusync/"))]


def sources():
    """Name and source of all that is to compile."""
    yield from ((header, f"#include <{header}>\n#include <{header}>\n") for header in device_headers())
    yield "device_kernels.cu", (ROOT / "tests/packaging/device_kernels.cu").read_text(encoding="utf-8")
    for file in sorted([*(ROOT / "examples/python").glob("*.py"), *(ROOT / "bench/python").glob("*.py")]):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "#include <gpusync/device" in node.value:
                if "#include <" in node.value and "{BODY}" not in node.value and "\n" in node.value.strip():
                    yield file.name, node.value
    sys.path.insert(0, str(ROOT / "bench/python"))
    import kernels

    yield "bench/python", kernels.SOURCE
    yield "bench/python, numbers in memory", kernels.FROM_MEMORY_SOURCE


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    have_nvrtc(os.path.abspath(sys.argv[1]))
    sys.path.insert(0, str(ROOT / "python"))
    import gpusync
    from gpusync import _nvrtc

    try:
        version = _nvrtc.version()
    except gpusync.NotAvailable as error:
        print(error)
        return 77
    compiled, failures = 0, []
    for name, source in sources():
        for architecture in ARCHITECTURES:
            try:
                _nvrtc.compile_source(source, architecture, gpusync.nvrtc_options(), "source.cu")
                compiled += 1
            except gpusync.Error as error:
                failures.append(f"{name} for {architecture}: {error}")
    # It must be able to fail.
    try:
        _nvrtc.compile_source("#include <gpusync/no_such.cuh>\n", ARCHITECTURES[0], gpusync.nvrtc_options())
        failures.append("a header that is not there was found")
    except _nvrtc.CompileError:
        pass
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"NVRTC {version[0]}.{version[1]}: {compiled} compiled, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
