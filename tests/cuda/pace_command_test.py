#!/usr/bin/env python3
"""gpusync pace on a GPU: the verdict on each example, by the command in its head, and what it must refuse.

usage: pace_command_test.py GPUSYNC SOURCE [RUNS]

Exit code 77: there is no CUDA device. RUNS independent runs of each example (default 1)."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

SKIPPED = 77
# The finding, the exit code, and a word of the last line.
EXPECTED = {
    "transpose": ("barrier-gains", 0, "Yes, block"),
    "vector_add": ("loses", 0, "No: every barrier loses"),
    "stencil": ("compiler-gains", 0, "the compiler's doing"),
    "marked_wrongly": ("marked-wrongly", 1, "Marked wrongly, refused: block"),
}
# In the marks' place the argument is evaluated, and changes the loop.
CHANGES_RESULTS = """__global__ void k(int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += i;
    GPUSYNC_PACE(i++);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
# Which thread comes first is by chance, so that no two runs agree.
CHANGES_BY_ITSELF = """__global__ void k(int* out, int* next, int n) {
  for (int i = 0; i < n; ++i) {
    out[(blockIdx.x * blockDim.x + threadIdx.x) * n + i] = atomicAdd(next, 1);
    GPUSYNC_PACE();
  }
}
"""
WRITES_ELSEWHERE = """__global__ void k(int* out, int n) {
  for (int i = 0; i < n; ++i) {
    out[(size_t)i << 40] = i;
    GPUSYNC_PACE();
  }
}
"""

failures = []


def expect(right, what):
    print(("ok      " if right else "FAILED  ") + what, flush=True)
    if not right:
        failures.append(what)


def pace(tool, words, folder):
    path = os.path.join(folder, "out.json")
    if os.path.exists(path):
        os.remove(path)
    process = subprocess.run([tool, "pace", *words, "--json", path], capture_output=True, text=True, timeout=600)
    found = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    return process, found


def command_of(path):
    """What stands behind "gpusync pace" in the head of an example."""
    with open(path, encoding="utf-8") as file:
        head = file.read().split("*/")[0]
    command = re.search(r"(?s)^\s*gpusync pace (.*)", head, re.M).group(1).replace("\\\n", " ")
    return shlex.split(command)


def try_example(tool, source, name, folder):
    words = command_of(os.path.join(source, "examples", "pace", name + ".cu"))
    words[0] = os.path.join(source, words[0])
    process, found = pace(tool, words, folder)
    finding, code, sentence = EXPECTED[name]
    last = (process.stdout.strip().split("\n") or [""])[-1]
    expect(process.returncode == code, f"{name}: exit code {process.returncode}, wanted {code} {process.stderr[-300:]}")
    expect(found is not None and found["context"]["pace"]["finding"] == finding, f"{name}: {last}")
    expect(sentence in last, f"{name}: the last line says {sentence!r}")
    if found is None:
        return
    for row in found["rows"]:
        time = row["metrics"].get("kernel_time", {})
        print(f"        {row['method']:20} {row['status']:8} {time.get('value')} us  {row['reason'] or ''}")
    if name == "marked_wrongly":
        return
    share = found["context"]["pace"]
    total = share["compilers_share"]["percent"] + share["barriers_share"]["percent"]
    expect(abs(total - share["total"]["percent"]) < 0.3, f"{name}: the shares add up to the gain")
    expect(all(row["verified"] for row in found["rows"] if row["status"] == "ok"), f"{name}: every run was checked")


def try_text(tool, text, arguments, folder):
    path = os.path.join(folder, "kernel.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    words = [path, "--kernel", "k", "--blocks", "64", "--threads", "64", "--quick"]
    for each in arguments:
        words += ["--arg", each]
    return pace(tool, words, folder)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip())
    tool, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    devices = json.loads(subprocess.run([tool, "devices", "--json"], capture_output=True, text=True, check=True).stdout)
    if not any(each["kind"] == "cuda" for each in devices["devices"]):
        print("there is no CUDA device")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(int(sys.argv[3]) if len(sys.argv) == 4 else 1):
            for name in EXPECTED:
                try_example(tool, source, name, folder)
        process, found = try_text(tool, CHANGES_RESULTS, ["int[4096]", "1000"], folder)
        expect(process.returncode == 1 and found["context"]["pace"]["finding"] == "marked-wrongly" and
               "Its arrays differ" in process.stdout, "an argument that changes the loop is refused")
        process, found = try_text(tool, CHANGES_BY_ITSELF, ["int[409600]", "int[1]", "100"], folder)
        expect(process.returncode == 1 and found is None and "from run to run" in process.stderr,
               f"a kernel that differs from run to run cannot be checked: {process.stderr.strip()[-200:]}")
        process, found = try_text(tool, WRITES_ELSEWHERE, ["int[4096]", "100"], folder)
        expect(process.returncode == 1 and found is None and "even without barriers" in process.stderr,
               f"a kernel that fails is said so: {process.stderr.strip()[-200:]}")
        process, found = try_text(tool, CHANGES_RESULTS, ["int[2^38]", "1000"], folder)
        expect(process.returncode == 1 and "MiB" in process.stderr, f"arrays that do not fit: {process.stderr.strip()[-200:]}")
    print("all right" if not failures else f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
