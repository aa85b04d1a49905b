"""Bad input: one sentence that names the culprit and what is allowed, exit 2, under a second, nothing half-written."""

import json
import os
import tempfile
import unittest

from tool import ToolTest, run

QUICK_HOST = ["run", "barrier-cost", "-d", "host", "--quick"]


class Usage(ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def assert_folder_empty(self):
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_unknown_experiment(self):
        self.assert_one_sentence(run("run", "no-such", "--json", self.path("x.json")), 2, "no-such", "barrier-cost")
        self.assert_folder_empty()

    def test_unknown_kind_of_device(self):
        self.assert_one_sentence(run("run", "barrier-cost", "-d", "abacus"), 2, "abacus", "cuda:N", "host")
        self.assert_one_sentence(run("run", "barrier-cost", "-d", "cuda:x"), 2, "cuda:x")

    def test_device_that_is_not_there(self):
        self.assert_one_sentence(run("run", "barrier-cost", "-d", "cuda:77"), 3, "cuda:77", "host")

    def test_malformed_axes(self):
        for axis, word in [("blocks=0", "1 to 65535"), ("blocks=9:1", "9:1 is empty"), ("blocks=x", "'x'"),
                           ("blocks=", "''"), ("blocks", "NAME=VALUES"), ("stores=2", "0 to 1"),
                           ("colour=3", "the axes are blocks, threads, stores, method"), ("method=prayer", "lock-based")]:
            with self.subTest(axis):
                self.assert_one_sentence(run(*QUICK_HOST, "-a", axis, "--json", self.path("x.json")), 2, word)
        self.assert_folder_empty()

    def test_unwritable_outputs(self):
        self.assert_one_sentence(run(*QUICK_HOST, "--json", "/nonexistent/x.json"), 2, "/nonexistent/x.json")
        self.assert_one_sentence(run(*QUICK_HOST, "--csv", self.folder.name), 2, self.folder.name)

    def test_one_bad_output_leaves_no_other_behind(self):
        self.assert_one_sentence(run(*QUICK_HOST, "--json", self.path("good.json"), "--md", "/nonexistent/x.md"), 2,
                                 "/nonexistent/x.md")
        self.assert_folder_empty()

    def test_two_outputs_on_stdout(self):
        self.assert_one_sentence(run(*QUICK_HOST, "--json", "-", "--csv", "-"), 2, "standard output")

    def test_outputs_that_cannot_be_meant(self):
        same = self.path("same")
        self.assert_one_sentence(run(*QUICK_HOST, "--json", same, "--csv", same), 2, "same file")
        self.assert_one_sentence(run(*QUICK_HOST, "--json", ""), 2)
        self.assert_folder_empty()

    def test_names_with_line_breaks_stay_on_one_line(self):
        self.assert_one_sentence(run("run", "a\nb"), 2, "a b")
        self.assert_one_sentence(run("run", "barrier-cost", "-d", "a\nb"), 2)

    def test_unknown_flags_and_commands(self):
        for arguments in [["run"], ["frobnicate"], [], ["run", "barrier-cost", "--nonsense"], ["report"],
                          ["run", "barrier-cost", "-a"], ["--quiet", "--verbose", "list"]]:
            with self.subTest(arguments):
                self.assert_one_sentence(run(*arguments), 2)

    def test_result_files_that_are_none(self):
        good = {"schema": "gpusync-results/2", "context": {"complete": True}, "rows": []}
        text = json.dumps(good)
        cases = {"truncated.json": text[: len(text) // 2], "other.json": json.dumps({**good, "schema": "gpusync-results/99"}),
                 "foreign.json": '{"benchmarks": []}', "empty.json": "", "list.json": "[1, 2]"}
        for name, contents in cases.items():
            with self.subTest(name):
                with open(self.path(name), "w", encoding="utf-8") as file:
                    file.write(contents)
                self.assert_one_sentence(run("report", self.path(name), "-o", self.path("page.html")), 2, name)
                self.assertFalse(os.path.exists(self.path("page.html")))
        self.assert_one_sentence(run("report", self.path("absent.json"), "-o", self.path("page.html")), 2, "absent.json")

    def test_an_existing_output_survives_a_failed_command(self):
        with open(self.path("kept.html"), "w", encoding="utf-8") as file:
            file.write("kept")
        self.assert_one_sentence(run("report", "/nonexistent.json", "-o", self.path("kept.html")), 2)
        with open(self.path("kept.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")

    def test_help_of_an_experiment_says_what_is_taken_unasked(self):
        for name, lines in {"smith-waterman": ("-a mismatch=… ", "default: -1)", "default: 4096 on CUDA, 1024 elsewhere"),
                            "bitonic-sort": ("-a type=… ", "default: float32)", "default: 262144 on CUDA"),
                            "barrier-cost": ("-a stores=… ", "default: 0,1)")}.items():
            outcome = run("run", name, "--help")
            self.assertEqual(outcome.code, 0)
            for line in lines:
                self.assertIn(line, outcome.out)
        for each in json.loads(run("list", "--json").out)["experiments"]:
            for axis in each["axes"]:
                self.assertIn("default", axis)
                self.assertTrue(axis["default"], (each["name"], axis))

    def test_help_and_version(self):
        for arguments in [["--help"], ["run", "--help"], ["--version"]]:
            outcome = run(*arguments)
            self.assertEqual(outcome.code, 0)
            self.assertNotEqual(outcome.out, "")
        self.assertIn("cuda:N", run("--help").out)


if __name__ == "__main__":
    unittest.main()
