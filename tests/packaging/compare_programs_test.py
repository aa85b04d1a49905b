#!/usr/bin/env python3
"""Checks scripts/compare-programs with programs that only pretend to measure.

usage: compare_programs_test.py ROOT
"""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(sys.argv.pop(1))

# Each run of a program takes its next time; a row of it alone, one that is published, and one of axes as it was asked.
PROGRAM = '''#!/usr/bin/env python3
import json, pathlib, sys
asked = sys.argv[1:]
runs = pathlib.Path(__file__ + ".runs")
number = len(runs.read_text().splitlines()) if runs.exists() else 0
with open(runs, "a") as file: file.write(" ".join(asked) + "\\n")
if {fails}: sys.exit("There is no axis 'shap'.")
def row(method, us, wrong=False, ordered=True):
    return {{"device": "host", "method": method, "status": "failed" if wrong else "ok", "verified": not wrong,
            "ordered": ordered, "reason": "Wrong results: 3 of 4 checked words." if wrong else None,
            "axes": {{"shape": "2x1"}}, "metrics": {{"step_time": {{"value": us}}}}}}
rows = [row("graph", {times}[number]), row("same", 5.0), row("only-{name}", 1.0), row("published: graph", 9.0),
        row("tree-2-none", 1.0, wrong=True, ordered=False)]
if {wrong}: rows.append(row("cg", 1.0, wrong=True))
json.dump({{"context": {{"tool": {{"git": "{name}"}}, "started": "2026-01-02T03:04:05Z", "devices": [{{"name": "Some GPU"}}]}},
           "rows": rows}}, open(asked[asked.index("--json") + 1], "w"))
'''


class ComparePrograms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def program(self, name, times, wrong=False, fails=False):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(PROGRAM.format(name=name, times=times, wrong=wrong, fails=fails))
        os.chmod(path, 0o755)
        return path

    def run_script(self, *arguments):
        return subprocess.run([os.path.join(ROOT, "scripts", "compare-programs"), *arguments], capture_output=True,
                              text=True, timeout=60)

    def asked(self, program):
        with open(program + ".runs") as file:
            return file.read().splitlines()

    def test_says_which_rows_differ_in_all_rounds(self):
        old, new = self.program("old", [2.0, 2.2, 2.1]), self.program("new", [1.0, 1.1, 1.05])
        ended = self.run_script(old, new, "-d", "host", "-n", "3", "-a", "shape=2x1", "grid-barriers")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout.splitlines(), [
            "before: old, 2026-01-02, Some GPU", "after: new, 2026-01-02, Some GPU",
            "grid-barriers: 2 rows, 1 equal within 1 %; ratios 0.500 0.500 0.500 0.500 1.000 1.000 1.000",
            "  0.500 [0.500, 0.500]  shape=2x1  graph  step_time  2.1 -> 1.05"])
        self.assertEqual(len(self.asked(old)), 3)
        self.assertIn("run grid-barriers -d host --quick -a shape=2x1 --json", self.asked(old)[0])

    def test_says_nothing_of_a_row_that_rounds_do_not_agree_on(self):
        old, new = self.program("old", [2.0, 2.0, 2.0]), self.program("new", [2.2, 2.2, 1.9])
        ended = self.run_script(old, new, "-n", "3", "grid-barriers")
        self.assertIn("1 equal within 1 %", ended.stdout)
        self.assertNotIn("->", ended.stdout)

    def test_takes_more_programs_and_prints_each_run(self):
        programs = [self.program(name, times) for name, times in
                    (("old", [2.0, 2.1]), ("new", [1.0, 1.1]), ("third", [3.0, 3.3]))]
        ended = self.run_script(programs[0], programs[1], "--also", programs[2], "-n", "2", "--each", "grid-barriers")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("also-1: third", ended.stdout)
        self.assertIn("grid-barriers, also-1: 2 rows", ended.stdout)
        each = [line.split() for line in ended.stdout.splitlines() if " graph " in line and "->" not in line]
        self.assertEqual(each, [["shape=2x1", "graph", "step_time", "2", "1", "3", "2.1", "1.1", "3.3"]])
        self.assertIn("in the order of the runs: before after also-1 before after also-1", ended.stdout)

    def test_ends_at_a_wrong_result(self):
        ended = self.run_script(self.program("old", [2.0]), self.program("new", [1.0], wrong=True), "-n", "1", "grid-barriers")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("cg {'shape': '2x1'}: Wrong results: 3 of 4 checked words.", ended.stderr)

    def test_passes_on_what_a_program_says_that_does_not_run(self):
        ended = self.run_script(self.program("old", [2.0]), self.program("new", [1.0], fails=True), "-n", "1", "grid-barriers")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("There is no axis 'shap'.", ended.stderr)


if __name__ == "__main__":
    unittest.main()
