"""The device functions as LLVM bitcode, by each clang of this machine: what Triton links. And kernels with all device headers.
    bitcode_test.py [PTXAS]     exit code 77 if there is no clang"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMES = {"gpusync_enter", "gpusync_sync", "gpusync_arrive", "gpusync_wait", "gpusync_sync_for", "gpusync_sync_or",
         "gpusync_sync_count", "gpusync_sync_add"}
# Kernels with all of gpusync/device.cuh.
KERNELS = str(ROOT / "tests/packaging/device_kernels.cu")
# The fence that each architecture is to have, and the other's.
FENCES = {70: ("fence.acq_rel.gpu", "fence.release.gpu"), 90: ("fence.release.gpu", "fence.acq_rel.gpu")}


def ptx_of(clang, bitcode):
    """PTX by clang's own code generator; for sm_80, as those before 16 know no newer one."""
    process = subprocess.run([clang, "-x", "ir", bitcode, "--target=nvptx64-nvidia-cuda", "-nocudalib", "-S", "-o", "-",
                              "-Xclang", "-target-cpu", "-Xclang", "sm_80", "-Wno-override-module"],
                             capture_output=True, text=True)
    if process.returncode != 0:
        raise RuntimeError(process.stderr)
    return process.stdout


def wrong_in(ptx, number):
    defined = set(re.findall(r"\.visible \.func .*?(\w+)\($", ptx, re.MULTILINE))
    if not NAMES <= defined:
        yield f"no {', '.join(sorted(NAMES - defined))}"
    if ".extern .func" in ptx:
        yield f"calls what it does not bring: {re.findall(r'.extern .func.*', ptx)}"
    has, has_not = FENCES[number]
    if has not in ptx or has_not in ptx:
        yield f"{ptx.count(has)} {has} and {ptx.count(has_not)} {has_not}"
    state = re.search(r"\.shared .*\[(\d+)\]", ptx)
    if not state or int(state.group(1)) > 2300:
        yield f"its state in shared memory: {state and state.group(0)}"


def made_of(source, clang, folder):
    """What scripts/device-bitcode has to say; empty if it has made the files."""
    process = subprocess.run([str(ROOT / "scripts/device-bitcode"), folder, *source], capture_output=True, text=True,
                             env=dict(os.environ, CLANG=clang))
    return process.stderr if process.returncode != 0 else ""


def wrong_for_ptxas(ptxas, ptx, number, folder):
    file = os.path.join(folder, "functions.ptx")
    # The instructions stand in asm statements: their architecture is the text's, and not the one that clang was given.
    text = re.sub(r"\.version \d+\.\d+", ".version 8.0", re.sub(r"\.target sm_\d+", f".target sm_{max(number, 75)}", ptx))
    pathlib.Path(file).write_text(text, encoding="utf-8")
    process = subprocess.run([ptxas, f"-arch=sm_{max(number, 75)}", "-c", file, "-o", os.path.join(folder, "functions.o")],
                             capture_output=True, text=True)
    if process.returncode != 0:
        yield process.stderr


def main():
    clangs = sorted({os.path.realpath(found) for found in map(shutil.which, ("clang++", "clang++-14", "clang++-15",
                                                                            "clang++-16")) if found})
    if not clangs:
        print("there is no clang++")
        return 77
    ptxas = sys.argv[1] if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else None
    failures, made = [], 0
    for clang in clangs:
        with tempfile.TemporaryDirectory() as folder:
            words = made_of([], clang, folder)
            if clang == clangs[0]:
                words = words or made_of([KERNELS], clang, folder)
            if words:
                failures.append(f"{clang}: {words}")
                continue
            for number in FENCES:
                ptx = ptx_of(clang, os.path.join(folder, f"gpusync-sm_{number}.bc"))
                failures += [f"{clang}, sm_{number}: {words}" for words in wrong_in(ptx, number)]
                if ptxas:
                    failures += [f"{clang}, sm_{number}: {words}" for words in wrong_for_ptxas(ptxas, ptx, number, folder)]
                made += 1
                if clang == clangs[0]:
                    kernels = ptx_of(clang, os.path.join(folder, f"device_kernels-sm_{number}.bc"))
                    if ptxas:
                        failures += [f"{clang}, kernels, sm_{number}: {words}" for words in
                                     wrong_for_ptxas(ptxas, kernels, number, folder)]
                    made += 1
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{made} files of bitcode by {len(clangs)} compilers{'' if ptxas else ', not assembled'}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
