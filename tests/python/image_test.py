"""A barrier's buffer as Python writes it is C++'s, bit by bit.
    image_test.py COMPILER"""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "python"))

from gpusync import _layout  # noqa: E402


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "image")
        subprocess.run([sys.argv[1], "-std=c++17", "-O0", f"-I{ROOT / 'include'}", "-o", program, str(HERE / "image.cpp")],
                       check=True)
        data = subprocess.run([program], check=True, capture_output=True).stdout
    compared, wrong, at, defaults = 0, 0, 0, 0
    while True:
        line, _, _ = data[at:at + 300].partition(b"\n")
        at += len(line) + 1
        if not line[:1].isdigit():
            break
        blocks, sm_count, address, report, size, *plans = map(int, line.split())
        expected, at = data[at:at + size], at + size
        mine = _layout.image(blocks, sm_count, address, report,
                             [_layout.Plan(*plans[i:i + 5]) for i in range(0, len(plans), 5)])
        # The first rules of each shape are the default.
        defaults += _layout.image(blocks, sm_count, address, report) == expected
        compared += 1
        if mine != expected or _layout.image_bytes(blocks) != size or _layout.report_address(mine) != report:
            wrong += 1
            place = next((i for i, (a, b) in enumerate(zip(mine, expected)) if a != b), min(len(mine), len(expected)))
            print(f"FAILED: {line.decode()}: {len(mine)} bytes, the first other one at {place}")
    words = f"A barrier of 132 blocks takes {_layout.image_bytes(132)} bytes; this buffer has 16."
    if line.decode() != words:
        wrong += 1
        print(f"FAILED: C++ says {line.decode()!r} of a buffer that is too small, not {words!r}")
    if compared != 48 or defaults != 16:
        wrong += 1
        print(f"FAILED: {compared} images, of which {defaults} are as by default, and not 16 of 48")
    print(f"{compared} images compared, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
