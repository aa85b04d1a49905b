"""gpusync pace: what is wrong with a command line, a file or a machine is said before anything runs. Verdicts need a GPU:
tests/cuda/pace_command_test.py."""

import os
import tempfile
import unittest

from tool import ToolTest, run

MARKED = """#include <gpusync/pace/mark.cuh>
__global__ void scale(float* data, int n) {
  for (int i = 0; i < n; ++i) {
    data[(size_t)i * blockDim.x + threadIdx.x] *= 2;
    GPUSYNC_PACE(i);
  }
}
"""


class Pace(ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = self.write(MARKED)
        self.usual = ["--kernel", "scale", "--blocks", "1", "--threads", "64", "--arg", "float[6400]", "--arg", "100"]

    def write(self, text):
        path = os.path.join(self.folder.name, "kernel.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def compile(self, *more, arguments=None):
        return run("pace", self.file, *(arguments or self.usual), "--dry-run", "--arch", "90", *more)

    def skip_without_compiler(self, outcome):
        if "There is no libnvrtc" in outcome.err:
            self.assert_one_sentence(outcome, 1, "CUDA toolkit")
            self.skipTest("there is no NVRTC")

    def replaced(self, option, value):
        words = list(self.usual)
        words[words.index(option) + 1] = value
        return words

    def test_wrong_words_are_refused_by_name(self):
        for option, value in [("--blocks", "0"), ("--blocks", "1x2x3x4"), ("--threads", "64x"), ("--threads", "2048"),
                              ("--arg", "flaot[3]"), ("--kernel", "scael")]:
            with self.subTest(option=option, value=value):
                outcome = run("pace", self.file, *self.replaced(option, value))
                self.assert_one_sentence(outcome, 2, value)
        for more in [["--every", "1"], ["--shared", "-1"], ["--arch", "x"], ["-D", "1=2"], ["--kernels", "x"]]:
            with self.subTest(more=more):
                self.assert_one_sentence(run("pace", self.file, *self.usual, *more), 2, more[0])

    def test_what_is_required(self):
        for option in ("--kernel", "--blocks", "--threads"):
            at = self.usual.index(option)
            self.assert_one_sentence(run("pace", self.file, *self.usual[:at], *self.usual[at + 2:]), 2, option)
        self.assert_one_sentence(run("pace", *self.usual), 2, "file")

    def test_files_that_cannot_be_read(self):
        self.assert_one_sentence(run("pace", self.file + "x", *self.usual), 2, self.file + "x", "No such file")
        self.assert_one_sentence(run("pace", self.folder.name, *self.usual), 2, self.folder.name, "folder")

    def test_unknown_kernels_are_told_those_that_are_there(self):
        outcome = run("pace", self.file, *self.replaced("--kernel", "scales"))
        self.assert_one_sentence(outcome, 2, "scales", "it has scale", "Did you mean scale?")

    def test_unmarked_kernels_are_told_where_a_mark_could_go(self):
        self.write(MARKED.replace("    GPUSYNC_PACE(i);\n", ""))
        outcome = run("pace", self.file, *self.usual)
        self.assert_one_sentence(outcome, 2, "has no mark", "GPUSYNC_PACE(i);", "line 3")

    def test_devices(self):
        self.assert_one_sentence(run("pace", self.file, *self.usual, "-d", "host"), 2, "host", "CUDA")
        self.assert_one_sentence(run("pace", self.file, *self.usual, "-d", "cuda:99"), 3, "cuda:99")
        self.assert_one_sentence(run("pace", self.file, *self.usual, "-d", "host", "-d", "host"), 2, "one device")
        if "cuda:0" not in run("devices").out:
            self.assert_one_sentence(run("pace", self.file, *self.usual), 3, "needs a CUDA device")

    def test_a_dry_run_compiles_without_a_device(self):
        outcome = self.compile()
        self.skip_without_compiler(outcome)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("none, compiler-fence, warp-sync, block, compiler-fence/4", outcome.out)
        self.assertEqual(self.compile("--every", "32").out.count("/32"), 3)

    def test_the_compilers_message_names_the_files_lines(self):
        self.write(MARKED.replace("*= 2", "*= two"))
        outcome = self.compile()
        self.skip_without_compiler(outcome)
        self.assertEqual(outcome.code, 2)
        self.assertIn(f"{self.file}(4): error", outcome.err)
        self.assertIn('"two" is undefined', outcome.err)
        self.assertTrue(outcome.err.strip().split("\n")[-1].startswith("gpusync: "), outcome.err)
        self.assertEqual(self.compile("-D", "two=2").code, 0)

    def test_missing_headers_are_told_about_host_code(self):
        self.write("#include <vector>\n" + MARKED)
        outcome = self.compile()
        self.skip_without_compiler(outcome)
        self.assertEqual(outcome.code, 2)
        self.assertIn("__CUDACC_RTC__", outcome.err)

    def test_headers_beside_the_file_and_in_named_folders(self):
        os.mkdir(os.path.join(self.folder.name, "more"))
        for name, text in [("near.h", "#define NEAR 1\n"), ("more/far.h", "#define FAR 1\n")]:
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.write('#include "near.h"\n#include <far.h>\n' + MARKED.replace("*= 2", "*= NEAR + FAR"))
        outcome = self.compile("-I", os.path.join(self.folder.name, "more"))
        self.skip_without_compiler(outcome)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(self.compile().code, 2)

    def test_arguments_that_do_not_fit(self):
        outcome = self.compile()
        self.skip_without_compiler(outcome)
        for arguments, word in [(self.usual[:-2], "takes 2 arguments"), (self.replaced("--arg", "double[10]"), "double[10]"),
                                (self.usual[:-1] + ["1.5f"], "1.5f")]:
            # The kernel is compiled before its parameters are known.
            self.assert_one_sentence(self.compile(arguments=arguments), 2, word, within=5.0)

    def test_nothing_is_written_where_nothing_is_measured(self):
        result = os.path.join(self.folder.name, "out.json")
        run("pace", self.file, *self.usual, "-d", "cuda:99", "--json", result)
        self.assertFalse(os.path.exists(result))


if __name__ == "__main__":
    unittest.main()
