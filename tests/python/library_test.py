"""libgpusync_c where there is no GPU: what it computes on the host is what Python does, and what it refuses it says in a sentence.
    library_test.py LIBRARY"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

if len(sys.argv) != 2:
    sys.exit(__doc__.strip())
LIBRARY = os.path.abspath(sys.argv.pop())
FOLDER = tempfile.TemporaryDirectory()
os.environ["GPUSYNC_LIBRARY"] = LIBRARY

import gpusync  # noqa: E402
from gpusync import _layout, _library  # noqa: E402


def call(name, *arguments):
    return getattr(_library._get(), name)(*arguments)


class Library(unittest.TestCase):
    def refused(self, kind, words, name, *arguments):
        with self.assertRaises(kind) as caught:
            _library._call(name, *arguments)
        self.assertIn(words, str(caught.exception))

    def test_versions_agree(self):
        function = _library._get().gpusync_version
        function.restype = ctypes.c_char_p
        self.assertEqual(function().decode(), gpusync.__version__)

    def test_images_are_pythons(self):
        for blocks in (1, 132, 4224):
            size = ctypes.c_uint64()
            _library._call("gpusync_image_bytes", ctypes.c_uint64(blocks), ctypes.byref(size))
            self.assertEqual(size.value, gpusync.image_bytes(blocks))
            image = ctypes.create_string_buffer(size.value)
            _library._call("gpusync_write_image", ctypes.c_uint64(blocks), 132, ctypes.c_uint64(0x7F0000000000),
                           ctypes.c_uint64(0x7E0000000040), image, size)
            self.assertEqual(image.raw, _layout.image(blocks, 132, 0x7F0000000000, 0x7E0000000040))

    def test_what_it_refuses(self):
        size, image = ctypes.c_uint64(), ctypes.create_string_buffer(64)
        for blocks in (0, _layout.MAX_BLOCKS + 1):
            self.refused(gpusync.InvalidArgument, f"serves 1 to {_layout.MAX_BLOCKS} blocks, not {blocks}.",
                         "gpusync_image_bytes", ctypes.c_uint64(blocks), ctypes.byref(size))
        self.refused(gpusync.InvalidArgument, "this buffer has 64", "gpusync_write_image", ctypes.c_uint64(132), 132,
                     ctypes.c_uint64(0), ctypes.c_uint64(0), image, ctypes.c_uint64(64))
        self.refused(gpusync.InvalidArgument, "a multiple of 128 bytes", "gpusync_write_image", ctypes.c_uint64(132), 132,
                     ctypes.c_uint64(4), ctypes.c_uint64(0), image, ctypes.c_uint64(64))
        self.refused(gpusync.InvalidArgument, "No place for the number was given, but null.", "gpusync_image_bytes",
                     ctypes.c_uint64(132), None)
        for name in ("address", "capacity", "placed", "describe", "report", "missing"):
            out = ctypes.create_string_buffer(64)
            words = (out, ctypes.c_size_t(64))
            more = {"describe": words, "report": words, "missing": (out, ctypes.c_size_t(1), out)}.get(name, (out,))
            self.refused(gpusync.InvalidArgument, "No barrier was given, but null.", f"gpusync_barrier_{name}", None, *more)
        call("gpusync_barrier_destroy", None)

    def test_a_device_that_is_not_there(self):
        self.refused(gpusync.NoSuchDevice, "There is no CUDA device 99" if os.path.exists("/dev/nvidia0") else
                     "No CUDA device can be used", "gpusync_barrier_create", 99, ctypes.c_uint64(132),
                     ctypes.byref(ctypes.c_void_p()))

    def test_as_c_and_as_cpp(self):
        source, program = str(ROOT / "tests/python/c_interface.c"), os.path.join(FOLDER.name, "c_interface")
        for language in (("cc", "-x", "c", "-std=c99"), ("c++", "-x", "c++", "-std=c++17")):
            subprocess.run([*language, "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}", source, "-x", "none",
                            LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", program], check=True)
            process = subprocess.run([program], capture_output=True, text=True)
            self.assertEqual((process.returncode, process.stdout), (0, ""))

    def test_nothing_else_can_be_linked_to(self):
        names = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
        found = {line.split()[-1] for line in names.splitlines()}
        header = (ROOT / "include/gpusync/c.h").read_text(encoding="utf-8")
        self.assertTrue(found)
        self.assertEqual([name for name in found if f" {name}(" not in header.replace("*", "* ")], [])
        promised = set(re.findall(r"\b(gpusync_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)))
        self.assertEqual(promised - found, set())


if __name__ == "__main__":
    unittest.main()
