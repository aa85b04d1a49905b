"""The wheel as its users meet it: built without CUDA, small, installed in a fresh environment, imported where there is no
GPU, with types that hold.
    wheel_test.py          exit code 77 if the package registry cannot be reached"""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MOST_BYTES = 2 << 20
UNREACHABLE = re.compile(r"No matching distribution|Could not find a version|Connection|Temporary failure|No module named")

USE = """
import os, sys
import gpusync
assert os.path.isfile(os.path.join(gpusync.include_dir(), "gpusync", "device.cuh")), gpusync.include_dir()
assert gpusync.include_dir().startswith(sys.prefix), gpusync.include_dir()
assert gpusync.nvrtc_options() == ("-std=c++17", "-I" + gpusync.include_dir())
try:
    gpusync.GridBarrier()
except gpusync.NoSuchDevice as error:
    print(error)
try:
    print(os.path.basename(gpusync.bitcode(90)))
except gpusync.NotAvailable as error:
    print(error)
print(gpusync.__version__)
"""

TYPED = """
import gpusync

barrier: gpusync.GridBarrier = gpusync.GridBarrier(0, blocks=132)
blocks: list[int] = [late.block for late in barrier.missing()]
most: int = gpusync.max_co_resident(0, 256).blocks
barrier.check_launch(0, (132,), 256)
"""
WRONG_TYPES = TYPED + "barrier.missing() + 1\nwrong: str = barrier.ptr\n"


class Failed(Exception):
    pass


def run(*command, **options):
    process = subprocess.run(command, capture_output=True, text=True, **options)
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit {process.returncode}\n{process.stdout}{process.stderr}")
    return process.stdout


def environment_in(folder):
    """The interpreter of a fresh environment. It has no pip of its own, which is most of what it takes to make one."""
    place = os.path.join(folder, "environment")
    run(sys.executable, "-m", "venv", "--without-pip", place)
    return os.path.join(place, "bin", "python")


def install(python, *what):
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", "--disable-pip-version-check", *what)


def built(folder):
    """The wheel, built without a CUDA compiler on the path."""
    path = os.pathsep.join(one for one in os.environ["PATH"].split(os.pathsep) if "cuda" not in one)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--disable-pip-version-check", "-w", folder, str(ROOT),
        env=dict(os.environ, PATH=path))
    return glob.glob(os.path.join(folder, "*.whl"))[0]


def wrong_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {f"gpusync/{one}" for one in ("py.typed", "__init__.py", "cupy.py", "numba.py", "triton.py", "torch.py", "jax.py",
                                           "include/gpusync/device.cuh", "include/gpusync/gpusync.cuh")}
    if (ROOT / "scripts/device-bitcode").exists() and any(shutil.which(f"clang++{one}") for one in ("", "-14", "-15", "-16")):
        wanted.add("gpusync/bitcode/gpusync-sm_70.bc")
    yield from (f"{one} is not in the wheel" for one in sorted(wanted - names))
    yield from (f"{one} is in the wheel" for one in sorted(names) if "__pycache__" in one or "tests/" in one)
    size = os.path.getsize(wheel)
    print(f"{os.path.basename(wheel)}: {size / 1024:.0f} KiB, {len(names)} files")
    if size > MOST_BYTES:
        yield f"it has {size} bytes, more than {MOST_BYTES}"


def wrong_types(python, folder):
    """What mypy says of a user's program; nothing where there is no mypy to be had."""
    try:
        install(python, "mypy")
    except Failed:
        print("mypy cannot be had: types are not tested")
        return
    for name, text, right in (("typed.py", TYPED, True), ("wrong_types.py", WRONG_TYPES, False)):
        file = os.path.join(folder, name)
        pathlib.Path(file).write_text(text, encoding="utf-8")
        said = subprocess.run([python, "-m", "mypy", "--strict", file], capture_output=True, text=True, cwd=folder)
        errors = said.stdout.count("error:")
        if (errors != 0) if right else (errors != 2):
            yield f"mypy on {name}: {said.stdout}{said.stderr}"
    said = subprocess.run([python, "-m", "mypy", "--cache-dir", os.path.join(folder, "mypy")], capture_output=True, text=True, cwd=ROOT)
    if said.returncode != 0:
        yield f"mypy on the package: {said.stdout}{said.stderr}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        try:
            wheel = built(folder)
        except Failed as error:
            print(error)
            return 77 if UNREACHABLE.search(str(error)) else 1
        failures = list(wrong_contents(wheel))
        python = environment_in(folder)
        install(python, "--no-index", wheel)
        try:
            print(run(python, "-c", USE, cwd=folder), end="")
        except Failed as error:
            failures.append(str(error))
        failures += wrong_types(python, folder)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
