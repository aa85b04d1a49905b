"""The second wheel: the command line that has been built, installed in a fresh environment.
    tool_wheel_test.py GPUSYNC          exit code 77 if the package registry cannot be reached"""

import glob
import os
import subprocess
import sys
import tempfile
import zipfile

from wheel_test import ROOT, UNREACHABLE, Failed, environment_in, install, run


def wheel_of(tool, folder):
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--disable-pip-version-check", "-w", folder,
        str(ROOT / "python/tool"), f"--config-settings=cmake.define.GPUSYNC_BUILT_TOOL={tool}")
    return glob.glob(os.path.join(folder, "*.whl"))[0]


def failures_of(tool, wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        programs = [one for one in archive.namelist() if "/scripts/" in one]
    if len(programs) != 1 or not programs[0].endswith(".data/scripts/gpusync"):
        yield f"the wheel's programs are {programs}"
    print(f"{os.path.basename(wheel)}: {os.path.getsize(wheel) / 1024:.0f} KiB")
    if os.path.getsize(wheel) > os.path.getsize(tool) / 2:
        yield f"it has {os.path.getsize(wheel)} bytes for a program of {os.path.getsize(tool)}"
    python = environment_in(folder)
    program = os.path.join(os.path.dirname(python), "gpusync")
    install(python, "--no-index", wheel)
    for words in (["--version"], ["list"], ["coverage"]):
        if run(program, *words, cwd=folder) != run(tool, *words, cwd=folder):
            yield f"gpusync {' '.join(words)} says other things than {tool}"
    found = run(program, "run", "barrier-cost", "-d", "host", "--quick", "-a", "blocks=2", "-a", "threads=1", cwd=folder)
    if not found.strip().splitlines()[-1].endswith("."):
        yield f"gpusync run ends with {found.strip().splitlines()[-1]!r}"


def main():
    tool = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        try:
            wheel = wheel_of(tool, folder)
        except Failed as error:
            print(error)
            return 77 if UNREACHABLE.search(str(error)) else 1
        failures = list(failures_of(tool, wheel, folder))
        other = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--disable-pip-version-check", "-w", folder,
                                str(ROOT / "python/tool"), f"--config-settings=cmake.define.GPUSYNC_BUILT_TOOL={sys.executable}"],
                               capture_output=True, text=True, check=False)
        if other.returncode == 0 or "is no gpusync that runs here" not in other.stdout + other.stderr:
            failures.append(f"another program: {other.stdout}{other.stderr}")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
